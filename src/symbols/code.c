/* SPDX-License-Identifier: MIT */
/* libdw, libdwfl, and libiberty's demangler: see code.h.
 *
 * The demangler is libiberty's, as binutils have it, since libdw has none: it knows C++ and both
 * ways in which Rust names things, where libstdc++'s knows C++ only; it is linked in, so that
 * nothing has to be there when whylate runs.
 */
#include "symbols/code.h"
#include "config.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#ifdef HAVE_LIBIBERTY_DEMANGLE_H
#include <libiberty/demangle.h>
#else
#include <demangle.h> /* Fedora's binutils-devel */
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine/confine.h"

struct unit {
	Dwarf_Addr low, high;
	Dwarf_Die die;
};

struct code_file {
	Dwfl_Callbacks callbacks;
	char *debug; /* owned; libdw keeps the address of it */
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;  /* libdw's addresses: the file's own and this */
	GElf_Addr first; /* the file's own address of its first loaded segment */
	GArray *units;   /* struct unit, by low; NULL: not made */
};

const char *code_library_version(void)
{
	return dwfl_version(NULL);
}

char *build_id_text(const uint8_t *id, size_t length)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < length; i++)
		g_string_append_printf(text, "%02x", id[i]);
	return g_string_free(text, FALSE);
}

/* --- opening --------------------------------------------------------------- */

static enum code_trouble say(enum code_trouble trouble, char **why, const char *text)
{
	*why = g_strdup(text);
	return trouble;
}

/* A file, and one that begins as ELF does. */
static enum code_trouble open_elf(const char *path, int *fd, char **why)
{
	char magic[SELFMAG];
	struct stat status;
	ssize_t got;

	/* not to wait for who writes to a FIFO of that name */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0 && errno == EACCES && confine_state().files)
		return say(CODE_UNREADABLE, why,
			   "may not be read: --binary-path names where programs are");
	if (*fd < 0 || fstat(*fd, &status) != 0)
		return say(CODE_UNREADABLE, why, g_strerror(errno));
	if (!S_ISREG(status.st_mode))
		return say(CODE_UNREADABLE, why,
			   S_ISDIR(status.st_mode) ? "is a directory" : "is not a plain file");
	got = pread(*fd, magic, sizeof magic, 0);
	if (got < 0)
		return say(CODE_UNREADABLE, why, g_strerror(errno));
	if (got == 0)
		return say(CODE_UNREADABLE, why, "is empty");
	if (got < SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return say(CODE_NOT_ELF, why, "is not an ELF file");
	return CODE_FINE;
}

/* libelf reads what is there of a file that was cut off; its symbols may be what is not. */
static bool is_whole(Elf *elf, uint64_t size)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return false;
	if (header.e_shoff &&
	    (header.e_shoff >= size ||
	     header.e_shnum * (uint64_t) header.e_shentsize > size - header.e_shoff))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr is;

		if (!gelf_getshdr(section, &is))
			return false;
		if (is.sh_type != SHT_NOBITS && is.sh_type != SHT_NULL &&
		    (is.sh_offset > size || is.sh_size > size - is.sh_offset))
			return false;
	}
	return true;
}

static enum code_trouble check_elf(int fd, char **why)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	enum code_trouble trouble = CODE_FINE;
	struct stat status;
	GElf_Ehdr header;

	if (fstat(fd, &status) != 0)
		trouble = say(CODE_UNREADABLE, why, g_strerror(errno));
	else if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		trouble = say(CODE_NOT_ELF, why, "is damaged: its ELF header cannot be read");
	else if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		trouble = say(CODE_NOT_ELF, why, "is neither a program nor a shared library");
	else if (!is_whole(elf, (uint64_t) status.st_size))
		trouble = say(CODE_UNREADABLE, why,
			      "is damaged: parts of it lie beyond its end, as if it were cut off");
	elf_end(elf);
	return trouble;
}

static GElf_Addr first_loaded(Elf *elf)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int) i, &segment) && segment.p_type == PT_LOAD)
			return segment.p_vaddr;
	}
	return 0;
}

static enum code_trouble report_file(struct code_file *file, const char *path, int fd, char **why)
{
	Elf *elf;

	file->dwfl = dwfl_begin(&file->callbacks);
	if (file->dwfl) {
		int own = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* which libdw closes, if it takes it */

		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_offline(file->dwfl, path, path, own);
		if (!file->module && own >= 0)
			close(own);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	elf = file->module ? dwfl_module_getelf(file->module, &file->bias) : NULL;
	if (!elf) {
		*why = g_strdup_printf("is damaged: %s", dwfl_errmsg(-1));
		return CODE_UNREADABLE;
	}
	file->first = first_loaded(elf);
	return CODE_FINE;
}

static enum code_trouble check_id(struct code_file *file, const uint8_t *id, size_t length,
				  char **why)
{
	g_autofree char *expected = build_id_text(id, length), *found = NULL;
	const unsigned char *bits = NULL;
	GElf_Addr address;
	int has;

	if (!length)
		return CODE_FINE;
	has = dwfl_module_build_id(file->module, &bits, &address);
	if (has > 0 && (size_t) has == length && memcmp(bits, id, length) == 0)
		return CODE_FINE;
	found = has > 0 ? build_id_text(bits, (size_t) MIN(has, CODE_ID_MAX)) : NULL;
	*why = found ? g_strdup_printf("is another build: its build-id is %s, that of the traced "
				       "one %s",
				       found, expected)
		     : g_strdup_printf("has no build-id, and the traced one has %s", expected);
	return CODE_OTHER_ID;
}

static bool is_function(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       symbol->st_shndx != SHN_UNDEF;
}

static bool has_section(Elf *elf, GElf_Word type, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names = 0;

	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr is;
		const char *its =
			gelf_getshdr(section, &is) ? elf_strptr(elf, names, is.sh_name) : NULL;

		if (its && (type ? is.sh_type == type : strcmp(its, name) == 0))
			return true;
	}
	return false;
}

static enum code_trouble check_functions(struct code_file *file, char **why)
{
	int count = dwfl_module_getsymtab(file->module);
	const char *debug_file = NULL;
	Dwarf_Addr bias;
	bool any = false;
	Elf *elf;

	if (dwfl_module_getdwarf(file->module, &bias))
		return CODE_FINE;
	for (int i = 1; i < count && !any; i++) {
		GElf_Sym symbol;

		any = dwfl_module_getsym(file->module, i, &symbol, NULL) && is_function(&symbol) &&
		      GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE;
	}
	if (!any)
		return say(CODE_STRIPPED, why,
			   "is stripped: it has no names of functions, and no "
			   "debug file of it was found");
	dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
	elf = dwfl_module_getelf(file->module, &file->bias);
	if (debug_file || has_section(elf, SHT_SYMTAB, NULL) ||
	    has_section(elf, 0, ".gnu_debugdata"))
		return CODE_FINE;
	return say(CODE_EXPORTS, why,
		   "is stripped: it names only the functions that it exports, "
		   "and no debug file of it was found");
}

enum code_trouble code_open(const char *path, const uint8_t *id, size_t id_length,
			    const char *debug, struct code_file **opened, char **why)
{
	struct code_file *file = g_new0(struct code_file, 1);
	enum code_trouble trouble;
	int fd = -1;

	elf_version(EV_CURRENT);
	*why = NULL;
	*opened = NULL;
	file->debug = g_strdup(debug);
	file->callbacks = (Dwfl_Callbacks) {.find_elf = dwfl_build_id_find_elf,
					    .find_debuginfo = dwfl_standard_find_debuginfo,
					    .section_address = dwfl_offline_section_address,
					    .debuginfo_path = &file->debug};
	trouble = open_elf(path, &fd, why);
	if (trouble == CODE_FINE)
		trouble = check_elf(fd, why);
	if (trouble == CODE_FINE)
		trouble = report_file(file, path, fd, why);
	if (trouble == CODE_FINE)
		trouble = check_id(file, id, id_length, why);
	if (trouble == CODE_FINE)
		trouble = check_functions(file, why);
	if (fd >= 0)
		close(fd);
	if (trouble == CODE_FINE || trouble == CODE_EXPORTS)
		*opened = file;
	else
		code_close(file);
	return trouble;
}

void code_close(struct code_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	if (file->units)
		g_array_free(file->units, TRUE);
	g_free(file->debug);
	g_free(file);
}

/* --- looking up ------------------------------------------------------------ */

static void clear_frame(void *data)
{
	struct code_frame *frame = data;

	g_free(frame->function);
	g_free(frame->file);
}

void code_init(struct code *code)
{
	*code = (struct code) {.frames = g_array_new(FALSE, FALSE, sizeof(struct code_frame))};
	g_array_set_clear_func(code->frames, clear_frame);
}

void code_clear(struct code *code)
{
	if (code->frames)
		g_array_free(code->frames, TRUE);
	code->frames = NULL;
	g_clear_pointer(&code->symbol, g_free);
}

char *code_demangle(const char *name)
{
	char *demangled = cplus_demangle(name, DMGL_AUTO | DMGL_ANSI);
	char *copy = g_strdup(demangled ? demangled : name);

	free(demangled);
	return copy;
}

static int by_low(gconstpointer a, gconstpointer b)
{
	const struct unit *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

/* Where units of DWARF lie, by what they themselves say. */
static void list_units(struct code_file *file)
{
	Dwarf_Die *die = NULL;
	Dwarf_Addr bias;

	file->units = g_array_new(FALSE, FALSE, sizeof(struct unit));
	while ((die = dwfl_module_nextcu(file->module, die, &bias))) {
		struct unit unit = {.die = *die};
		ptrdiff_t at = 0;
		Dwarf_Addr base;

		while ((at = dwarf_ranges(die, at, &base, &unit.low, &unit.high)) > 0) {
			unit.low += bias;
			unit.high += bias;
			g_array_append_val(file->units, unit);
		}
	}
	g_array_sort(file->units, by_low);
}

/* The unit at `address` (libdw's). libdw finds those that .debug_aranges lists: gcc writes that
 * section, clang does not. */
static Dwarf_Die *unit_at(struct code_file *file, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *die = dwfl_module_addrdie(file->module, address, bias);
	guint low = 0, high;
	struct unit *unit;

	if (die || !dwfl_module_getdwarf(file->module, bias))
		return die;
	if (!file->units)
		list_units(file);
	high = file->units->len;
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(file->units, struct unit, middle).low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	unit = low ? &g_array_index(file->units, struct unit, low - 1) : NULL;
	return unit && address < unit->high ? &unit->die : NULL;
}

static const char *die_name(Dwarf_Die *die)
{
	static const unsigned which[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	const char *name = NULL;
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < G_N_ELEMENTS(which) && !name; i++)
		name = dwarf_formstring(dwarf_attr_integrate(die, which[i], &attribute));
	return name;
}

static bool is_mangled(const char *name)
{
	return g_str_has_prefix(name, "_Z") || g_str_has_prefix(name, "_R");
}

static void add_frame(struct code *code, const char *name, const char *path, int line)
{
	struct code_frame frame = {.function = name ? code_demangle(name) : NULL,
				   .file = g_strdup(path),
				   .line = line > 0 ? (uint32_t) line : 0};

	g_array_append_val(code->frames, frame);
}

static void called_from(Dwarf_Die *unit, Dwarf_Die *call, const char **path, int *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number = 0, file = 0;
	Dwarf_Files *files;
	size_t count;

	*path = NULL;
	*line = 0;
	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &number) == 0)
		*line = (int) MIN(number, INT32_MAX);
	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &file) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &count) == 0)
		*path = dwarf_filesrc(files, file, NULL, NULL);
}

/* The part of a function that `pc` is in: hot and cold parts lie apart. */
static void bounds(struct code_file *file, Dwarf_Die *function, Dwarf_Addr pc, Dwarf_Addr bias,
		   struct code *code)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &low, &high)) > 0)
		if (low <= pc && pc < high) {
			code->start = low + bias - file->bias - file->first;
			code->size = high - low;
			return;
		}
}

/* Inlined calls at `pc`, and the function they are in; false: DWARF has none there.
 * dwarf_getscopes() goes on with where an inlined function was written, dwarf_getscopes_die() with
 * what it is in. */
static bool take_scopes(struct code_file *file, Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Addr bias,
			const char *symbol, struct code *code)
{
	Dwarf_Line *place = dwarf_getsrc_die(unit, pc);
	const char *path = place ? dwarf_linesrc(place, NULL, NULL) : NULL;
	Dwarf_Die *scopes = NULL, *chain = NULL;
	bool known = false;
	int line = 0, count = dwarf_getscopes(unit, pc, &scopes);

	if (place)
		dwarf_lineno(place, &line);
	count = count > 0 ? dwarf_getscopes_die(&scopes[0], &chain) : 0;
	for (int i = 0; i < count && !known; i++) {
		int tag = dwarf_tag(&chain[i]);
		const char *name = die_name(&chain[i]);

		if (tag == DW_TAG_inlined_subroutine) {
			add_frame(code, name, path, line);
			called_from(unit, &chain[i], &path, &line);
		} else if (tag == DW_TAG_subprogram) {
			/* what has no linkage name is better known by a symbol that is one */
			bool better =
				symbol && (!name || (!is_mangled(name) && is_mangled(symbol)));

			known = true;
			add_frame(code, better ? symbol : name, path, line);
			if (!code->size)
				bounds(file, &chain[i], pc, bias, code);
		}
	}
	if (!known && (symbol || path))
		add_frame(code, symbol, path, line);
	free(scopes);
	free(chain);
	return code->frames->len > 0;
}

bool code_at(struct code_file *file, uint64_t offset, struct code *code)
{
	GElf_Addr address = offset + file->first + file->bias;
	GElf_Off from_start = 0;
	GElf_Sym symbol = {0};
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit;
	const char *name =
		dwfl_module_addrinfo(file->module, address, &from_start, &symbol, NULL, NULL, NULL);

	if (name &&
	    (!*name || !is_function(&symbol) || (symbol.st_size && from_start >= symbol.st_size)))
		name = NULL;
	if (name) {
		code->start = offset - from_start;
		code->size = symbol.st_size;
		g_free(code->symbol);
		code->symbol = g_strdup(name);
	}
	unit = unit_at(file, address, &bias);
	if (unit && take_scopes(file, unit, address - bias, bias, name, code))
		return true;
	if (name)
		add_frame(code, name, NULL, 0);
	return name != NULL;
}

/* --- instructions ------------------------------------------------------------------ */

enum code_machine code_machine(const struct code_file *file)
{
	GElf_Addr bias;
	GElf_Ehdr header;
	Elf *elf = dwfl_module_getelf(file->module, &bias);

	if (!elf || !gelf_getehdr(elf, &header))
		return CODE_OTHER_MACHINE;
	return header.e_machine == EM_X86_64    ? CODE_X86_64
	       : header.e_machine == EM_AARCH64 ? CODE_AARCH64
						: CODE_OTHER_MACHINE;
}

/* Executable segment `i`; false: it is none. */
static bool executable_segment(Elf *elf, size_t i, GElf_Phdr *segment)
{
	return gelf_getphdr(elf, (int) i, segment) && segment->p_type == PT_LOAD &&
	       segment->p_flags & PF_X && segment->p_filesz;
}

bool code_executable(const struct code_file *file, uint64_t *begin, uint64_t *end)
{
	GElf_Addr bias;
	GElf_Phdr segment;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	size_t count = 0;

	*begin = UINT64_MAX;
	*end = 0;
	if (elf)
		elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		if (!executable_segment(elf, i, &segment))
			continue;
		*begin = MIN(*begin, segment.p_vaddr - file->first);
		*end = MAX(*end, segment.p_vaddr - file->first + segment.p_filesz);
	}
	return *begin < *end;
}

bool code_bytes(const struct code_file *file, uint64_t address, uint8_t *to, size_t size)
{
	GElf_Addr bias;
	GElf_Phdr segment;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	size_t count = 0;

	if (elf)
		elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t in;
		Elf_Data *data;

		if (!executable_segment(elf, i, &segment))
			continue;
		in = address + file->first - segment.p_vaddr;
		if (in >= segment.p_filesz || size > segment.p_filesz - in)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t) (segment.p_offset + in), size,
					    ELF_T_BYTE);
		if (!data || data->d_size != size)
			return false;
		memcpy(to, data->d_buf, size);
		return true;
	}
	return false;
}

bool code_fixed_base(const struct code_file *file, uint64_t *base)
{
	GElf_Addr bias;
	GElf_Ehdr header;
	Elf *elf = dwfl_module_getelf(file->module, &bias);

	*base = file->first;
	return elf && gelf_getehdr(elf, &header) && header.e_type == ET_EXEC;
}

bool code_is_function(const struct code_file *file, uint64_t address)
{
	GElf_Off from_start = 0;
	GElf_Sym symbol = {0};
	const char *name = dwfl_module_addrinfo(file->module, address + file->first + file->bias,
						&from_start, &symbol, NULL, NULL, NULL);

	return name && *name && !from_start && is_function(&symbol);
}
