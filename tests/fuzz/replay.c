/* SPDX-License-Identifier: MIT */
/* main() of a fuzz target where libFuzzer is not: runs it once on each file, or on each
 * file in a directory.
 */
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "target.h"

static int files;

static void replay(const char *path)
{
	g_autofree char *bytes = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
	const char *name;
	gsize length;

	while (directory && (name = g_dir_read_name(directory))) {
		g_autofree char *inside = g_build_filename(path, name, NULL);

		replay(inside);
	}
	if (directory)
		return;
	if (!g_file_get_contents(path, &bytes, &length, &error)) {
		fprintf(stderr, "%s\n", error->message);
		exit(2);
	}
	files++;
	LLVMFuzzerTestOneInput((const uint8_t *) bytes, length);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	fprintf(stderr, "%d inputs\n", files);
	return files == 0;
}
