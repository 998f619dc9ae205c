/* SPDX-License-Identifier: MIT */
/* See sites.h. */
#include "symbols/sites.h"

#include <string.h>

#define PAGE UINT64_C(4096)
#define CALL_BYTES 8 /* of the longest call that is known, and one */
#define FRAME_BYTES 4     /* of the instructions that make one */
#define PROLOGUE_BYTES 24 /* with what may stand before a frame is made */
#define PLACES_MAX (UINT64_C(1) << 20)
#define MOST(n) ((n) * 6 / 10)

/* The last `size` bytes before a return address are "call *…": opcode FF /2 with its address form
 * (Intel SDM, volume 2, 2.1.5). */
static bool is_indirect(const uint8_t *bytes, unsigned size)
{
	unsigned form, base;

	if (bytes[0] != 0xff || (bytes[1] >> 3 & 7) != 2)
		return false;
	form = bytes[1] >> 6;
	base = bytes[1] & 7;
	switch (form) {
	case 3:
		return size == 2;
	case 0:
		if (base == 4)
			return size == ((bytes[2] & 7) == 5 ? 7u : 3u);
		return size == (base == 5 ? 6u : 2u);
	case 1:
		return size == (base == 4 ? 4u : 3u);
	default:
		return size == (base == 4 ? 7u : 6u);
	}
}

static struct site x86_call(const uint8_t *bytes, uint64_t address)
{
	const uint8_t *end = bytes + CALL_BYTES;
	int32_t distance;

	if (end[-5] == 0xe8) {
		memcpy(&distance, end - 4, sizeof distance);
		return (struct site) {SITE_DIRECT, address + (uint64_t) (int64_t) distance};
	}
	for (unsigned size = 2; size < CALL_BYTES; size++)
		if (is_indirect(end - size, size))
			return (struct site) {SITE_INDIRECT, 0};
	return (struct site) {SITE_NONE, 0};
}

/* BL and BLR (Arm ARM, C6.2). */
static struct site arm_call(const uint8_t *bytes, uint64_t address)
{
	uint32_t word, back;

	memcpy(&word, bytes + CALL_BYTES - 4, sizeof word);
	if ((word & 0xfc000000) == 0x94000000) {
		back = word & 0x03ffffff;
		return (struct site) {SITE_DIRECT,
				      address - 4 + ((uint64_t) back << 2) -
					      (back & 0x02000000 ? UINT64_C(1) << 28 : 0)};
	}
	return (struct site) {(word & 0xfffffc1f) == 0xd63f0000 ? SITE_INDIRECT : SITE_NONE, 0};
}

struct site site_before(struct code_file *file, uint64_t address)
{
	uint8_t bytes[CALL_BYTES];
	enum code_machine machine = code_machine(file);

	if (machine == CODE_OTHER_MACHINE || address < CALL_BYTES ||
	    !code_bytes(file, address - CALL_BYTES, bytes, sizeof bytes))
		return (struct site) {SITE_UNKNOWN, 0};
	return machine == CODE_X86_64 ? x86_call(bytes, address) : arm_call(bytes, address);
}

/* Compilers may put some instructions before it: it is looked for among the first bytes. */
static bool makes_frame(enum code_machine machine, const uint8_t *bytes, size_t at)
{
	static const uint8_t push_mov[] = {0x55, 0x48, 0x89, 0xe5};
	uint32_t word;

	if (machine == CODE_X86_64)
		return memcmp(bytes + at, push_mov, sizeof push_mov) == 0;
	memcpy(&word, bytes + at, sizeof word);
	return at % 4 == 0 && (GUINT32_FROM_LE(word) & 0xff407fff) == 0xa9007bfd;
}

enum own_frame frame_made_at(struct code_file *file, uint64_t start, uint64_t size)
{
	enum code_machine machine = code_machine(file);
	uint8_t bytes[PROLOGUE_BYTES];

	size = MIN(size, sizeof bytes);
	if (machine == CODE_OTHER_MACHINE || !size || !code_bytes(file, start, bytes, size))
		return OWN_FRAME_UNKNOWN;
	for (size_t i = 0; i + FRAME_BYTES <= size; i++)
		if (makes_frame(machine, bytes, i))
			return OWN_FRAME_MADE;
	return OWN_FRAME_NONE;
}

struct fitting {
	struct code_file *file;
	uint64_t begin, end; /* from the first to the last executable byte */
	const uint64_t *returns;
	size_t count;
};

/* How well return addresses fit a place; a direct call of a function is the best sign. */
static uint32_t score(const struct fitting *fitting, uint64_t base, struct fit *fit)
{
	uint32_t sum = 0;

	fit->base = base;
	fit->returns = fit->behind_calls = 0;
	for (size_t i = 0; i < fitting->count; i++) {
		uint64_t offset = fitting->returns[i] - base;
		struct site site;

		if (offset <= fitting->begin || offset > fitting->end)
			continue;
		fit->returns++;
		site = site_before(fitting->file, offset);
		if (site.kind == SITE_INDIRECT) {
			fit->behind_calls++;
			sum++;
		} else if (site.kind == SITE_DIRECT && site.target >= fitting->begin &&
			   site.target < fitting->end) {
			fit->behind_calls++;
			sum += code_is_function(fitting->file, site.target) ? 4 : 2;
		}
	}
	return sum;
}

/* The places from `low` on, page by page. */
static struct fit best_place(const struct fitting *fitting, uint64_t low, uint64_t high)
{
	struct fit best = {.end = FIT_NONE};
	uint32_t highest = 0;

	for (uint64_t base = low; base <= high; base += PAGE) {
		struct fit fit = {.end = FIT_FOUND};
		uint32_t sum = score(fitting, base, &fit);

		if (best.end != FIT_NONE && sum == highest)
			best.end = FIT_SEVERAL;
		if (best.end == FIT_NONE || sum > highest) {
			best = fit;
			highest = sum;
		}
	}
	if (best.end == FIT_FOUND && best.behind_calls < MOST(best.returns))
		best.end = FIT_NONE;
	return best;
}

struct fit fit_base(struct code_file *file, const uint64_t *ran, size_t ran_count,
		    const uint64_t *returns, size_t returns_count)
{
	struct fitting fitting = {.file = file, .returns = returns, .count = returns_count};
	struct fit none = {.end = FIT_NONE};
	const uint64_t *all = ran_count ? ran : returns;
	size_t count = ran_count ? ran_count : returns_count;
	uint64_t lowest = UINT64_MAX, highest = 0, low, high, fixed;

	if (!count || !code_executable(file, &fitting.begin, &fitting.end))
		return none;
	for (size_t i = 0; i < count; i++) {
		lowest = MIN(lowest, all[i]);
		highest = MAX(highest, all[i]);
	}
	if (highest - lowest >= fitting.end - fitting.begin || lowest < fitting.begin)
		return none;
	low = highest < fitting.end ? 0 : (highest - fitting.end + PAGE) / PAGE * PAGE;
	high = (lowest - fitting.begin) / PAGE * PAGE;
	if (code_fixed_base(file, &fixed)) {
		if (fixed < low || fixed > high)
			return none;
		low = high = fixed;
	}
	if (low > high || (high - low) / PAGE > PLACES_MAX)
		return none;
	return best_place(&fitting, low, high);
}
