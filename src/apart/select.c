/* SPDX-License-Identifier: MIT */
/* See select.h. */
#include "apart/select.h"

void put_in_place(double *values, guint count, guint place)
{
	guint low = 0, high = count - 1;

	while (low < high) {
		double pivot = values[low + (high - low) / 2], at;
		guint i = low, k = high;

		for (;; i++, k--) {
			while (values[i] < pivot)
				i++;
			while (values[k] > pivot)
				k--;
			if (i >= k)
				break;
			at = values[i];
			values[i] = values[k];
			values[k] = at;
		}
		if (place <= k)
			high = k;
		else
			low = k + 1;
	}
}
