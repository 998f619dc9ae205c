/* SPDX-License-Identifier: MIT */
/* Which packets are too far away; see outliers.h.
 *
 *   packets by time:  │▌││▌│││▌││▌│ … 200 years … │
 *                           median                 a damaged header: begin and end
 *                                                  agree with each other, not with the rest
 *
 * One such packet would make the trace two hundred years long, and all that is open at
 * its end wait as long. Distance is from the median, as any packet may be the wrong one.
 * Times that are no number of nanoseconds at all (64 bits, with room to take one from
 * another) are too far away from everything.
 */
#include "reader/outliers.h"
#include "util/when.h"

#define FAR_SECONDS (INT64_C(100) * 86400)
#define TIME_MAX (INT64_C(1) << 62) /* ns: until 2116 */
#define SECOND INT64_C(1000000000)

/* When the packet begins, or ends, in seconds. */
static int64_t seconds_of(const struct stream_directory *directory, uint64_t raw)
{
	uint64_t frequency = MAX(directory->frequency, 1);
	int128 cycles = (int128) raw + directory->offset_cycles;
	int128 seconds = cycles / frequency + directory->offset_s;

	return (int64_t) CLAMP(seconds, -INT64_MAX, INT64_MAX);
}

static bool is_time(int64_t seconds)
{
	return seconds > -TIME_MAX / SECOND / 2 && seconds < TIME_MAX / SECOND;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

/* Of the packets' begins, as far as they are times. */
static int64_t median(const GPtrArray *streams, guint first)
{
	g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (guint i = first; i < streams->len; i++) {
		const struct stream *stream = g_ptr_array_index(streams, i);

		for (guint k = 0; k < stream->packets->len; k++) {
			int64_t begin = seconds_of(
				g_ptr_array_index(stream->directories, k),
				g_array_index(stream->packets, struct ctf_packet, k).begin);

			if (is_time(begin))
				g_array_append_val(begins, begin);
		}
	}
	if (!begins->len)
		return 0;
	g_array_sort(begins, by_number);
	return g_array_index(begins, int64_t, begins->len / 2);
}

static bool is_far(const struct stream_directory *directory, const struct ctf_packet *packet,
		   int64_t middle)
{
	int64_t begin = seconds_of(directory, packet->begin),
		end = seconds_of(directory, packet->end);

	return !is_time(begin) || !is_time(end) || begin < middle - FAR_SECONDS ||
	       end > middle + FAR_SECONDS;
}

static void drop_far(struct stream *stream, int64_t middle)
{
	guint kept = 0;

	for (guint i = 0; i < stream->packets->len; i++) {
		const struct ctf_packet *packet =
			&g_array_index(stream->packets, struct ctf_packet, i);
		struct stream_directory *directory = g_ptr_array_index(stream->directories, i);

		if (is_far(directory, packet, middle)) {
			packet->file->lost += packet->size / 8;
			continue;
		}
		g_array_index(stream->packets, struct ctf_packet, kept) = *packet;
		stream->directories->pdata[kept++] = directory;
	}
	g_array_set_size(stream->packets, kept);
	g_ptr_array_set_size(stream->directories, (gint) kept);
}

void streams_drop_far(GPtrArray *streams, guint first)
{
	int64_t middle = median(streams, first);

	for (guint i = first; i < streams->len;) {
		struct stream *stream = g_ptr_array_index(streams, i);

		drop_far(stream, middle);
		if (stream->packets->len)
			i++;
		else
			g_ptr_array_remove_index(streams, i);
	}
}
