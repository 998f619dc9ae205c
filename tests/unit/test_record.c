/* SPDX-License-Identifier: MIT */
/* The tables of all that a trace is made of (util/records.h) are whole: the compiler's debug
 * information says which members each structure has, and every one has a row. So a member that
 * is added without a row fails here, and what walks the tables cannot leave it out.
 */
#include <fcntl.h>
#include <glib.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <unistd.h>

#include "locks/locks.h"
#include "timeline/callstack.h"
#include "timeline/counts.h"
#include "timeline/sample.h"
#include "timeline/timeline_records.h"
#include "trace/trace.h"
#include "trace/trace_records.h"

struct check {
	const struct record *record;
	uint8_t *rows; /* by byte: some row's */
	guint members; /* met */
};

static const char *name_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name ? name : "(no name)";
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned which, Dwarf_Word otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr(die, which, &attribute), &number) != 0)
		return otherwise;
	return number;
}

static void check_members(struct check *check, Dwarf_Die *type, Dwarf_Word offset);

/* In a structure without a name, each by itself; of a union what its rows say. */
static void check_member(struct check *check, Dwarf_Die *member, Dwarf_Word offset)
{
	Dwarf_Word begin = offset + number_of(member, DW_AT_data_member_location, 0), size = 1;
	Dwarf_Word bit = number_of(member, DW_AT_data_bit_offset, UINT64_MAX);
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	g_assert_nonnull(dwarf_formref_die(dwarf_attr(member, DW_AT_type, &attribute), &type));
	dwarf_peel_type(&type, &type);
	if (!dwarf_diename(member) ||
	    (dwarf_tag(&type) == DW_TAG_structure_type && !dwarf_diename(&type))) {
		check_members(check, &type, begin);
		return;
	}
	if (bit != UINT64_MAX)
		begin = offset + bit / 8;
	else
		g_assert_cmpint(dwarf_aggregate_size(&type, &size), ==, 0);
	check->members++;
	for (Dwarf_Word i = begin; i < begin + size; i++)
		if (!check->rows[i])
			g_error("struct %s: its member %s has no row in the table of records",
				check->record->name, name_of(member));
}

static void check_members(struct check *check, Dwarf_Die *type, Dwarf_Word offset)
{
	Dwarf_Die member;

	if (dwarf_child(type, &member) != 0)
		return;
	do {
		if (dwarf_tag(&member) == DW_TAG_member)
			check_member(check, &member, offset);
	} while (dwarf_siblingof(&member, &member) == 0);
}

/* The structure of that name, as this file was compiled with it. */
static bool find_type(Dwarf *dwarf, const char *name, Dwarf_Die *found)
{
	Dwarf_Off at = 0, next;
	size_t header;

	for (; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
		Dwarf_Die unit;

		if (!dwarf_offdie(dwarf, at + header, &unit) || dwarf_child(&unit, found) != 0)
			continue;
		do {
			if (dwarf_tag(found) == DW_TAG_structure_type &&
			    !dwarf_hasattr(found, DW_AT_declaration) &&
			    g_strcmp0(dwarf_diename(found), name) == 0)
				return true;
		} while (dwarf_siblingof(found, found) == 0);
	}
	return false;
}

static void cover(const struct record *record, uint8_t *rows)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];

		g_assert_cmpuint(field->offset + field->size, <=, record->size);
		if (field->kind == FIELD_HOST)
			g_assert_cmpuint(i, ==, 0);
		for (uint32_t k = field->offset; k < field->offset + field->size; k++) {
			if (rows[k] && !field->when) /* but a union's, of which one counts */
				g_error("struct %s: a second row has bytes of %s", record->name,
					field->name);
			rows[k] = 1;
		}
	}
}

static void check_record(Dwarf *dwarf, const struct record *record)
{
	g_autofree uint8_t *rows = g_malloc0(record->size);
	struct check check = {record, rows, 0};
	Dwarf_Die type;

	cover(record, rows);
	if (record->size == sizeof(uint32_t)) /* a number, in an array of them */
		return;
	if (!find_type(dwarf, record->name, &type))
		g_error("no struct %s is known: is test_record.c compiled with -g?", record->name);
	g_assert_cmpint(dwarf_bytesize(&type), ==, record->size);
	check_members(&check, &type, 0);
	g_assert_cmpuint(check.members, >, 0);
}

/* With all records that it leads to, each once. */
static void check_all(Dwarf *dwarf, const struct record *record, GPtrArray *seen)
{
	if (g_ptr_array_find(seen, record, NULL))
		return;
	g_ptr_array_add(seen, (gpointer) record);
	check_record(dwarf, record);
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];

		if (field->kind >= FIELD_RECORD && field->kind <= FIELD_PAGES) {
			g_assert_nonnull(field->record);
			check_all(dwarf, field->record, seen);
		}
	}
}

static void test_complete(void)
{
	g_autoptr(GPtrArray) seen = g_ptr_array_new();
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);

	g_assert_nonnull(dwarf);
	check_all(dwarf, &trace_record, seen);
	for (int i = 0; i < TIMELINE_STORES; i++) {
		check_all(dwarf, store_records[i], seen);
		g_assert_cmpuint(store_records[i]->size, ==, timeline_stores[i].record_size);
	}
	g_assert_cmpuint(seen->len, >=, 40);
	dwarf_end(dwarf);
	close(fd);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/complete", test_complete);
	return g_test_run();
}
