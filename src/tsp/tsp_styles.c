/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's styles: the same for all outputs. Part of tsp/. */
#include "tsp/outputs.h"

void output_styles(struct asking *asking)
{
	if (!output_row_find(asking, asking->given[1], NULL, NULL))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	json_begin(&asking->out, "styles", '{', LINES_NOT);
	put_styles(asking);
	json_end(&asking->out, '}');
	json_end(&asking->out, '}');
	model_end(asking);
}
