/* SPDX-License-Identifier: MIT */
/* What lies at addresses of programs and libraries, held against nm and addr2line (binutils),
 * which share no code with elfutils; files that are missing, stripped, of another build, or
 * damaged; and where files are sought. The programs are compiled here.
 */
#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/binary.h"
#include "confine/confined.h"
#include "whylate/whylate.h"

static char *folder; /* for all files; removed at the end */
static GHashTable *made; /* programs that were compiled already */

/* --- other programs --------------------------------------------------------- */

static bool has(const char *program)
{
	g_autofree char *path = g_find_program_in_path(program);

	if (!path)
		g_test_skip(program);
	return path != NULL;
}

/* Output of a command line in `folder`, without its last newline; it must succeed. */
static char *run(const char *format, ...) G_GNUC_PRINTF(1, 2);
static char *run(const char *format, ...)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *command = NULL;
	char *output = NULL;
	int status = 0;
	va_list arguments;

	va_start(arguments, format);
	command = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_spawn_sync(folder, (char *[]) {(char *) "/bin/sh", (char *) "-c", command, NULL}, NULL,
		     G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, &error);
	g_assert_no_error(error);
	if (!g_spawn_check_wait_status(status, &error))
		g_error("%s: %s", command, error->message);
	return g_strchomp(output);
}

static void do_it(const char *command)
{
	g_free(run("%s", command));
}

static char *in_folder(const char *name)
{
	return g_build_filename(folder, name, NULL);
}

static const char c_source[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int innermost(int x)\n"
	"{\n"
	"	sink = x * 3;\n"
	"	return sink + 1;\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(int x)\n"
	"{\n"
	"	int y = innermost(x) + 2;\n"
	"	sink = y;\n"
	"	return y;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int x)\n"
	"{\n"
	"	for (int i = 0; i < x; i++)\n"
	"		sink += middle(i);\n"
	"	return sink;\n"
	"}\n"
	"static __attribute__((noinline)) int hidden(int x)\n"
	"{\n"
	"	return outer(x) - sink;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void) argv;\n"
	"	return hidden(argc) + outer(argc);\n"
	"}\n";

static const char cpp_source[] =
	"volatile int sink;\n"
	"namespace space {\n"
	"template <typename T> struct box {\n"
	"	T held;\n"
	"	__attribute__((noinline)) T add(T x) const { return sink + held + x; }\n"
	"	inline __attribute__((always_inline)) T twice(T x) { sink = x; return 2 * x; }\n"
	"};\n"
	"__attribute__((noinline)) long overloaded(long x) { return sink * x; }\n"
	"__attribute__((noinline)) int overloaded(int x) { return sink + x; }\n"
	"struct counter {\n"
	"	counter &operator+=(int x);\n"
	"	int count;\n"
	"};\n"
	"__attribute__((noinline)) counter &counter::operator+=(int x)\n"
	"{\n"
	"	box<int> b{x};\n"
	"	count += b.twice(x) + b.add(x);\n"
	"	return *this;\n"
	"}\n"
	"}\n"
	"namespace { __attribute__((noinline)) int unnamed(int x) { return sink - x; } }\n"
	"int main(int argc, char **)\n"
	"{\n"
	"	space::counter c{unnamed(argc)};\n"
	"	c += argc;\n"
	"	auto lambda = [&](int x) __attribute__((noinline)) { return sink + x; };\n"
	"	space::box<long> b{argc};\n"
	"	return c.count + lambda(2) + space::overloaded(argc) + space::overloaded(3L) + "
	"b.add(4);\n"
	"}\n";

/* Path of the program `name` made by this command, once; to be freed. */
static char *compile(const char *name, const char *command)
{
	if (g_hash_table_add(made, g_strdup(name)))
		do_it(command);
	return in_folder(name);
}

static char *c_program(void)
{
	return compile("prog", "gcc -O2 -g -fPIE -pie -o prog prog.c -Wl,--build-id");
}

/* --- against binutils ------------------------------------------------------- */

/* The file's own address of its first segment. */
static uint64_t first_address(const char *path)
{
	g_autofree char *text =
		run("readelf -lW '%s' | awk '$1 == \"LOAD\" { print $3; exit }'", path);

	return g_ascii_strtoull(text, NULL, 16);
}

struct function {
	uint64_t start, size;
	char *name;
};

static void function_clear(void *data)
{
	g_free(((struct function *) data)->name);
}

/* What `nm -S` lists as code with a size, demangled. */
static GArray *functions_of(const char *path, const char *more)
{
	g_autofree char *text = run("nm -S %s '%s' | grep -i ' [tw] ' | c++filt -p", more, path);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GArray *functions = g_array_new(FALSE, FALSE, sizeof(struct function));

	g_array_set_clear_func(functions, function_clear);
	for (char **line = lines; *line; line++) {
		struct function function = {0};
		char *end;

		function.start = g_ascii_strtoull(*line, &end, 16);
		function.size = g_ascii_strtoull(end, &end, 16);
		if (!function.size || !end[0] || !end[1] || !end[2])
			continue;
		function.name = g_strdup(end + 3);
		g_array_append_val(functions, function);
	}
	g_assert_cmpuint(functions->len, >, 0);
	return functions;
}

static const char *base_of(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* "name file:line; name file:line", of files their names only. */
static char *code_text(const struct code *code)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; code && i < code->frames->len; i++) {
		const struct code_frame *frame = &g_array_index(code->frames, struct code_frame, i);

		g_string_append_printf(text, "%s%s %s:%u", i ? "; " : "", frame->function,
				       frame->file ? base_of(frame->file) : "??", frame->line);
	}
	return g_string_free(text, FALSE);
}

/* The same of what `program` (addr2line, or one like it) says for each address of a list. */
static GPtrArray *addr2line(const char *program, const char *path, const GString *addresses)
{
	g_autofree char *list = in_folder("addresses"), *text = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
	GString *one = NULL;

	g_assert_true(g_file_set_contents(list, addresses->str, -1, NULL));
	text = run("%s -a -f -i -e '%s' <addresses | c++filt -p", program, path);
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++)
		if (g_str_has_prefix(*line, "0x")) {
			if (one)
				g_ptr_array_add(all, g_string_free(one, FALSE));
			one = g_string_new(NULL);
		} else {
			const char *place = base_of(line[1]);
			int number = atoi(strrchr(place, ':') + 1); /* "??:?", "a.c:3 (…)" */

			g_assert_nonnull(one);
			g_string_append_printf(one, "%s%s %.*s:%d", one->len ? "; " : "", *line,
					       (int) (strrchr(place, ':') - place), place, number);
			line++;
		}
	if (one)
		g_ptr_array_add(all, g_string_free(one, FALSE));
	return all;
}

/* Each byte of each function: start and size as nm has them, the rest as addr2line. */
static void compare_all(const char *path, const char *program)
{
	GArray *functions = functions_of(path, "");
	GString *addresses = g_string_new(NULL);
	uint64_t first = first_address(path);
	struct code_file *file;
	GPtrArray *expected;
	guint at = 0, inlined = 0;
	char *why;

	g_assert_cmpint(code_open(path, NULL, 0, "", &file, &why), ==, CODE_FINE);
	for (guint i = 0; i < functions->len; i++) {
		struct function *function = &g_array_index(functions, struct function, i);

		for (uint64_t k = 0; k < function->size; k++)
			g_string_append_printf(addresses, "%" G_GINT64_MODIFIER "x\n",
					       function->start + k);
	}
	expected = addr2line(program, path, addresses);
	for (guint i = 0; i < functions->len; i++) {
		struct function *function = &g_array_index(functions, struct function, i);

		for (uint64_t k = 0; k < function->size; k++) {
			g_autofree char *text = NULL;
			struct code code;

			code_init(&code);
			g_assert_true(code_at(file, function->start + k - first, &code));
			text = code_text(&code);
			g_assert_cmpstr(text, ==, g_ptr_array_index(expected, at++));
			g_assert_cmpuint(code.start + first, ==, function->start);
			g_assert_cmpuint(code.size, ==, function->size);
			g_assert_cmpstr(g_array_index(code.frames, struct code_frame,
						      code.frames->len - 1)
						.function,
					==, function->name);
			inlined += code.frames->len > 1;
			code_clear(&code);
		}
	}
	g_assert_cmpuint(at, ==, expected->len);
	g_test_message("%u addresses, %u of them in inlined calls", at, inlined);
	g_assert_cmpuint(inlined, >, 0);
	code_close(file);
	g_ptr_array_free(expected, TRUE);
	g_string_free(addresses, TRUE);
	g_array_free(functions, TRUE);
}

struct build {
	const char *name, *compiler, *other, *command;
};

/* Without _start and its like, which have no lines. binutils 2.40's addr2line does not see inlined
 * calls of several ranges as clang writes them for DWARF 5 (DW_FORM_rnglistx). */
static const struct build builds[] = {
	{"pie", "gcc", "addr2line", "gcc -O2 -g -fPIE -pie -nostartfiles -e main -o pie prog.c"},
	{"fixed", "gcc", "addr2line",
	 "gcc -O2 -g -fno-pie -no-pie -nostartfiles -e main -o fixed prog.c"},
	{"library", "gcc", "addr2line", "gcc -O2 -g -fPIC -shared -nostartfiles -o library prog.c"},
	{"dwarf4", "gcc", "addr2line",
	 "gcc -O2 -gdwarf-4 -fPIE -pie -nostartfiles -e main -o dwarf4 prog.c"},
	{"clang", "clang", "llvm-addr2line",
	 "clang -O2 -g -fPIE -pie -nostartfiles -Wl,-e,main -o clang prog.c"},
	{"clang4", "clang", "addr2line",
	 "clang -O2 -gdwarf-4 -fno-pie -no-pie -nostartfiles -Wl,-e,main -o clang4 prog.c"},
	{"clang-c++4", "clang", "addr2line",
	 "clang -x c++ -O2 -gdwarf-4 -fPIE -pie -nostartfiles -Wl,-e,main -o clang-c++4 prog.cpp"},
	{"g++", "g++", "addr2line", "g++ -O2 -g -fPIE -pie -nostartfiles -e main -o g++ prog.cpp"},
	{"c++", "clang", "llvm-addr2line",
	 "clang -x c++ -O2 -g -fPIE -pie -nostartfiles -Wl,-e,main -o c++ prog.cpp"},
};

static void build_matches(const void *data)
{
	const struct build *build = data;
	g_autofree char *path = NULL;

	if (!has(build->compiler) || !has(build->other))
		return;
	path = compile(build->name, build->command);
	compare_all(path, build->other);
}

/* Names as c++filt writes them without parameters, and without the numbers that Rust tells builds
 * of a crate apart by; and names that are none. */
static void names(void)
{
	static const char *const mangled[] = {
		"_ZN5space3boxIiE3addEi",
		"_ZN5space7counterpLEi",
		"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		"_RNvC6_123foo3bar",
		"_RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3baz",
		"_ZL6hiddeni",
		"_ZN12_GLOBAL__N_17unnamedEi",
		"_ZN3fooILi3EE3barIdEEvT_",
		"main",
		"_Z",
		"_ZN",
		"__libc_start_main",
		"_ZTV3foo"};

	for (size_t i = 0; i < G_N_ELEMENTS(mangled); i++) {
		g_autofree char *expected =
			run("c++filt -p '%s' | sed 's/::h[0-9a-f]*$//; s/\\[[0-9a-f]*\\]//g'",
			    mangled[i]);
		g_autofree char *name = code_demangle(mangled[i]);

		g_assert_cmpstr(name, ==, expected);
	}
}

/* --- files that tell less ---------------------------------------------------- */

/* The function that holds each address of `path` as `other` knows it, and nothing else. */
static void same_functions(const char *path, const char *debug, const char *of, bool lines)
{
	GArray *functions = functions_of(of, "");
	struct code_file *file = NULL;
	char *why = NULL;

	code_open(path, NULL, 0, debug, &file, &why);
	g_assert_cmpstr(why, ==, NULL);
	for (guint i = 0; i < functions->len; i++) {
		struct function *function = &g_array_index(functions, struct function, i);
		struct code code;

		code_init(&code);
		g_assert_true(code_at(file, function->start + function->size / 2, &code));
		g_assert_cmpuint(code.start, ==, function->start);
		g_assert_cmpstr(g_array_index(code.frames, struct code_frame, code.frames->len - 1)
					.function,
				==, function->name);
		if (strcmp(function->name, "outer") == 0)
			g_assert_cmpint(g_array_index(code.frames, struct code_frame, 0).line != 0,
					==, lines);
		code_clear(&code);
	}
	code_close(file);
	g_array_free(functions, TRUE);
}

static char *opened(const char *name, const char *id, const char *debug, enum code_trouble trouble)
{
	g_autofree char *path = in_folder(name);
	struct binary *binary = binary_open(path, (const uint8_t *) id, id ? strlen(id) : 0, debug);
	char *why = g_strdup(binary_why(binary));

	g_assert_cmpint(binary_trouble(binary), ==, trouble);
	binary_free(binary);
	return why;
}

static void expect(const char *name, const char *id, enum code_trouble trouble, const char *words)
{
	g_autofree char *why = opened(name, id, "", trouble);

	if (!why || !strstr(why, words))
		g_error("%s: '%s' does not say '%s'", name, why, words);
}

static void stripped(void)
{
	g_autofree char *path = NULL, *debug = in_folder("dbg"), *bare = in_folder("bare");
	g_autofree char *places = g_strconcat(":.debug:", debug, NULL);
	g_autofree char *id = NULL, *why = NULL;

	if (!has("gcc") || !has("strip"))
		return;
	path = c_program();
	do_it("strip -g -o nodebug prog");
	do_it("strip -o bare prog");
	same_functions(path, "", path, true);
	{
		g_autofree char *nodebug = in_folder("nodebug");

		same_functions(nodebug, "", path, false);
	}
	expect("bare", NULL, CODE_STRIPPED, "stripped");
	/* a library still has what it exports */
	do_it("gcc -O2 -g -fPIC -shared -nostartfiles -o lib prog.c && strip lib");
	expect("lib", NULL, CODE_EXPORTS, "exports");
	/* debug files: by build-id, by link, and of another build */
	id = run("readelf -n prog | sed -n 's/.*Build ID: //p'");
	g_free(run("mkdir -p dbg/.build-id/%.2s && objcopy --only-keep-debug prog "
		   "dbg/.build-id/%.2s/%s.debug",
		   id, id, id + 2));
	same_functions(bare, places, path, true);
	do_it("mkdir -p linked/.debug && objcopy --only-keep-debug prog linked/.debug/prog.debug "
	      "&& "
	      "cd linked && strip -o prog ../prog && cd .debug && objcopy "
	      "--add-gnu-debuglink=prog.debug ../prog");
	{
		g_autofree char *linked = in_folder("linked/prog");

		same_functions(linked, ":.debug", path, true);
	}
	g_free(run("gcc -O1 -g -o else prog.c && objcopy --only-keep-debug else "
		   "dbg/.build-id/%.2s/%s.debug",
		   id, id + 2));
	why = opened("bare", NULL, places, CODE_STRIPPED);
	g_assert_nonnull(why);
}

/* .gnu_debugdata, as Fedora's programs have it: names, no lines. */
static void mini_debug_info(void)
{
	g_autofree char *path = NULL, *mini = in_folder("mini");

	if (!has("gcc") || !has("objcopy") || !has("xz"))
		return;
	path = c_program();
	do_it("objcopy -S --remove-section .gnu_debuglink prog mini && "
	      "objcopy --only-keep-debug prog mini.sym && strip -g mini.sym && xz -k -f mini.sym "
	      "&& "
	      "objcopy --add-section .gnu_debugdata=mini.sym.xz mini");
	same_functions(mini, "", path, false);
}

static void not_the_one(void)
{
	g_autofree char *id = NULL;

	if (!has("gcc"))
		return;
	g_free(c_program());
	id = run("readelf -n prog | sed -n 's/.*Build ID: //p'");
	expect("prog", "another-build-id", CODE_OTHER_ID, id);
	expect("prog", "another-build-id", CODE_OTHER_ID, "616e6f746865722d6275696c642d6964");
	do_it("gcc -g -Wl,--build-id=none -o noid prog.c");
	expect("noid", "another-build-id", CODE_OTHER_ID, "no build-id");
	do_it("gcc -g -c -o object.o prog.c");
	expect("object.o", NULL, CODE_NOT_ELF, "neither a program nor");
	expect("prog.c", NULL, CODE_NOT_ELF, "not an ELF file");
	expect("nowhere", NULL, CODE_UNREADABLE, "No such file");
	expect(".", NULL, CODE_UNREADABLE, "directory");
	do_it(": >empty; mkfifo fifo; ln -s /dev/zero zero; ln -s loop loop");
	expect("empty", NULL, CODE_UNREADABLE, "empty");
	expect("fifo", NULL, CODE_UNREADABLE, "not a plain file");
	expect("zero", NULL, CODE_UNREADABLE, "not a plain file");
	expect("loop", NULL, CODE_UNREADABLE, "symbolic links");
	do_it("head -c 9000 prog >cut");
	expect("cut", NULL, CODE_UNREADABLE, "beyond its end");
	do_it("printf '\\177ELF' >magic");
	expect("magic", NULL, CODE_NOT_ELF, "damaged");
}

/* --- damaged files ----------------------------------------------------------- */

struct extent {
	gsize offset, size;
};

/* The ELF header, program headers, the sections' table, and each section. */
static GArray *parts_of(const char *path)
{
	g_autofree char *text = run("readelf -SW '%s' | sed -n 's/^ *\\[ *[1-9][0-9]*\\] //p' | "
				    "awk '$2 != \"NOBITS\" { print $4, $5 }'",
				    path);
	g_autofree char *table = run("readelf -hW '%s' | sed -n 's/.*Start of section headers: *"
				     "\\([0-9]*\\).*/\\1/p'",
				     path);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct extent));
	struct extent fixed[] = {{4, 60}, {64, 56 * 10}, {(gsize) atol(table), 64 * 30}};

	g_array_append_vals(parts, fixed, G_N_ELEMENTS(fixed));
	for (char **line = lines; *line; line++) {
		struct extent part;
		char *end;

		part.offset = g_ascii_strtoull(*line, &end, 16);
		part.size = g_ascii_strtoull(end, NULL, 16);
		if (part.size)
			g_array_append_val(parts, part);
	}
	g_assert_cmpuint(parts->len, >, 20);
	return parts;
}

static void damage(char *bytes, const struct extent *part)
{
	int changes = g_test_rand_int_range(1, 8);

	for (int i = 0; i < changes; i++) {
		gsize at = part->offset + (gsize) g_test_rand_int_range(0, (gint32) part->size);

		bytes[at] = g_test_rand_bit() ? (char) 0xff : (char) g_test_rand_int();
	}
}

/* Whatever is in a file: an answer, or one reason why there is none, and no harm done here. */
static void damaged(void)
{
	g_autofree char *path = NULL, *copy = in_folder("mutant"), *whole = NULL;
	/* a confined child each: a tenth of a second with sanitizers */
	const int rounds = g_getenv("WHYLATE_LONG") ? 20000 : g_getenv("WHYLATE_PART") ? 50 : 300;
	int fine = 0, crashed = 0, refused = 0;
	GArray *functions, *parts;
	gsize length;

	if (!has("gcc") || !has("readelf"))
		return;
	path = c_program();
	functions = functions_of(path, "");
	parts = parts_of(path);
	g_assert_true(g_file_get_contents(path, &whole, &length, NULL));
	for (int i = 0; i < rounds; i++) {
		g_autofree char *bytes = g_memdup2(whole, length);
		struct binary *binary;

		damage(bytes, &g_array_index(parts, struct extent, (guint) i % parts->len));
		g_assert_true(g_file_set_contents(copy, bytes, (gssize) length, NULL));
		binary = binary_open(copy, NULL, 0, "");
		for (guint k = 0; k < functions->len && binary_is_open(binary); k++)
			binary_at(binary, g_array_index(functions, struct function, k).start + 3);
		g_assert_true((binary_trouble(binary) == CODE_FINE) == !binary_why(binary));
		g_assert_true(!binary_is_awake(binary) || binary_is_open(binary));
		fine += binary_is_open(binary);
		refused += !binary_is_open(binary);
		if (binary_why(binary) && strstr(binary_why(binary), "elfutils")) {
			crashed++;
			g_test_message("part %u: %s", (guint) i % parts->len, binary_why(binary));
		}
		binary_free(binary);
	}
	g_test_message("%d read, %d refused, on %d of them elfutils failed", fine, refused,
		       crashed);
	g_assert_cmpint(fine, >, 0);
	g_assert_cmpint(refused, >, 0);
	g_array_free(functions, TRUE);
	g_array_free(parts, TRUE);
}

/* 100,000 blocks in each other: libdw goes down by recursion, until there is no stack. */
static const char deep_source[] =
	"	.text\n"
	"	.globl main\n"
	"	.type main, @function\n"
	"main:	.zero 16\n"
	"	.size main, 16\n"
	"	.section .debug_abbrev, \"\", @progbits\n"
	"	.byte 1, 0x11, 1, 0x11, 0x01, 0x12, 0x0b, 0, 0\n" /* unit: low_pc, high_pc */
	"	.byte 2, 0x0b, 1, 0x11, 0x01, 0x12, 0x0b, 0, 0\n" /* block: the same */
	"	.byte 0\n"
	"	.section .debug_info, \"\", @progbits\n"
	"	.long end - begin\n"
	"begin:	.short 4\n"
	"	.long 0\n"
	"	.byte 8\n"
	"	.byte 1\n"
	"	.quad main\n"
	"	.byte 16\n"
	"	.rept 100000\n"
	"	.byte 2\n"
	"	.quad main\n"
	"	.byte 16\n"
	"	.endr\n"
	"	.zero 100001\n"
	"end:\n";

/* What makes elfutils crash is one note, and names of nothing. */
static void crashes(void)
{
	GPtrArray *given = g_ptr_array_new_with_free_func(g_free), *notes;
	struct binaries *binaries;

	if (!has("gcc"))
		return;
	do_it("gcc -c -o deep.o deep.s && gcc -nostartfiles -no-pie -o deep deep.o -Wl,-e,main");
	g_ptr_array_add(given, g_strdup(folder));
	binaries = binaries_new(given, NULL);
	for (int i = 0; i < 3; i++)
		g_assert_nonnull(strstr(binaries_function(binaries, "/deep", NULL, 0, 0,
							  0x1000 + (uint64_t) i),
					"deep+0x100"));
	notes = binaries_notes(binaries);
	g_assert_cmpuint(notes->len, ==, 1);
	g_assert_cmpint(((struct binary_note *) g_ptr_array_index(notes, 0))->state, ==,
			BINARY_UNREADABLE);
	g_assert_nonnull(strstr(((struct binary_note *) g_ptr_array_index(notes, 0))->text,
				"elfutils, which reads it, crashed (Segmentation fault)"));
	g_ptr_array_free(notes, TRUE);
	binaries_free(binaries);
	g_ptr_array_free(given, TRUE);
}

/* --- a process for it ---------------------------------------------------------- */

static void odd_server(void *data, const void *question, size_t length, GByteArray *answer)
{
	volatile size_t much =
		3u * (CONFINED_BYTES / 2); /* compilers tell that 32 bits are too few */
	const char *what = question;
	char *block;

	(void) data;
	g_assert_cmpuint(length, ==, 1);
	switch (*what) {
	case 'a':
		abort();
	case 's':
		raise(SIGSEGV);
		break;
	case 'x':
		_exit(7);
	case 'h':
		for (;;)
			pause();
	case 'f': /* no processes, no files */
		g_byte_array_append(answer, (const guint8 *) (fork() < 0 ? "n" : "y"), 1);
		return;
	case 'm': /* not much more memory than there was: without reserving it */
		block = malloc(much);
		g_byte_array_append(answer, (const guint8 *) (block ? "y" : "n"), 1);
		free(block);
		return;
	case 'n':
		return; /* no answer */
	default:
		g_byte_array_append(answer, question, 1);
	}
}

static void ask_odd(struct confined *confined, char what, enum confined_end end, const char *why)
{
	g_autoptr(GByteArray) answer = g_byte_array_new();

	g_assert_cmpint(confined_ask(confined, &what, 1, answer, what == 'h' ? 300 : 20000), ==,
			end);
	if (why)
		g_assert_cmpstr(confined_why(confined), ==, why);
	if (end == CONFINED_ANSWERED && !why)
		g_assert_cmpint(answer->data[0], ==, what);
}

static void confinement(void)
{
	struct confined *confined = confined_new(odd_server, NULL);

	ask_odd(confined, 'e', CONFINED_ANSWERED, NULL);
	ask_odd(confined, 'a', CONFINED_CRASHED, "Aborted");
	ask_odd(confined, 'e', CONFINED_ANSWERED, NULL);
	ask_odd(confined, 's', CONFINED_CRASHED, "Segmentation fault");
	ask_odd(confined, 'x', CONFINED_CRASHED, "exit status 7");
	ask_odd(confined, 'n', CONFINED_CRASHED, "exit status 1");
	ask_odd(confined, 'h', CONFINED_SLOW, NULL);
	ask_odd(confined, 'e', CONFINED_ANSWERED, NULL);
	confined_stop(confined);
	ask_odd(confined, 'e', CONFINED_ANSWERED, NULL);
	confined_free(confined);
	g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1); /* none is left */
	g_assert_cmpint(errno, ==, ECHILD);
}

/* --- where files are sought ------------------------------------------------------ */

static void note_says(const struct binaries *binaries, enum binary_state state, const char *words)
{
	GPtrArray *notes = binaries_notes(binaries);
	struct binary_note *note;

	g_assert_cmpuint(notes->len, ==, 1);
	note = g_ptr_array_index(notes, 0);
	g_test_message("%s", note->text);
	g_assert_cmpint(note->state, ==, state);
	g_assert_cmpstr(note->path, ==, "/opt/app/bin/prog");
	if (!strstr(note->text, words))
		g_error("'%s' does not say '%s'", note->text, words);
	g_ptr_array_free(notes, TRUE);
}

struct found {
	const char *given, *beside; /* directories in `folder` */
	const char *id;             /* of prog, if it is "" */
	const char *name;           /* what main is called, NULL: main */
	int state;                  /* of the note, -1: none */
	const char *words;          /* of the note */
};

static const struct found finds[] = {
	{"root", NULL, "", NULL, -1, NULL},
	{"flat", NULL, "", NULL, -1, NULL},
	{NULL, "trace/out/kernel", "", NULL, -1, NULL},
	{"wrong", "trace/out/kernel", "", NULL, -1, NULL},
	{"debugroot", NULL, "", NULL, -1, NULL},
	{"wrong", NULL, "", "prog+0x", BINARY_OTHER, "/wrong/prog is another build"},
	{"nothing", NULL, "", "prog+0x", BINARY_MISSING, "/nothing/opt/app/bin/prog"},
	{"nothing", "trace/out/kernel/a/b", "", "prog+0x", BINARY_MISSING, "--binary-path"},
	{"flat", NULL, NULL, NULL, BINARY_UNCHECKED, "unchecked"},
	{"strip", NULL, "", "prog+0x", BINARY_STRIPPED, "stripped"},
	{"text", NULL, "", "prog+0x", BINARY_UNREADABLE, "not an ELF file"},
};

static void finding(void)
{
	g_autofree char *id = NULL, *main_text = NULL;
	uint8_t bytes[20];
	uint64_t main_at;

	if (!has("gcc") || !has("strip"))
		return;
	g_free(c_program());
	do_it("mkdir -p root/opt/app/bin flat trace wrong nothing strip text trace/out/kernel/a/b "
	      "&& "
	      "cp prog root/opt/app/bin && cp prog flat && cp prog trace && "
	      "gcc -O1 -o wrong/prog prog.c && strip -o strip/prog prog && cp prog.c text/prog");
	id = run("readelf -n prog | sed -n 's/.*Build ID: //p'");
	g_free(run(
		"mkdir -p debugroot/usr/lib/debug/.build-id/%.2s && objcopy --only-keep-debug prog "
		"debugroot/usr/lib/debug/.build-id/%.2s/%s.debug",
		id, id, id + 2));
	main_text = run("nm prog | sed -n 's/ T main$//p'");
	main_at = g_ascii_strtoull(main_text, NULL, 16);
	for (int i = 0; i < 20; i++)
		bytes[i] = (uint8_t) (g_ascii_xdigit_value(id[2 * i]) * 16 +
				      g_ascii_xdigit_value(id[2 * i + 1]));
	for (size_t i = 0; i < G_N_ELEMENTS(finds); i++) {
		const struct found *find = &finds[i];
		GPtrArray *given = g_ptr_array_new_with_free_func(g_free);
		g_autofree char *beside = find->beside ? in_folder(find->beside) : NULL;
		struct binaries *binaries;
		const char *name;

		if (find->given)
			g_ptr_array_add(given, in_folder(find->given));
		binaries = binaries_new(given, beside);
		name = binaries_function(binaries, "/opt/app/bin/prog", bytes, find->id ? 20 : 0,
					 0x7f0000000000, 0x7f0000000000 + main_at);
		g_assert_true(g_str_has_prefix(name, find->name ? find->name : "main"));
		g_assert_true(name == binaries_function(binaries, "/opt/app/bin/prog", bytes,
							find->id ? 20 : 0, 0, main_at));
		if (find->words)
			note_says(binaries, (enum binary_state) find->state, find->words);
		else {
			GPtrArray *notes = binaries_notes(binaries);

			g_assert_cmpuint(notes->len, ==, 0);
			g_ptr_array_free(notes, TRUE);
		}
		binaries_free(binaries);
		g_ptr_array_free(given, TRUE);
	}
}

/* More binaries than are kept open at a time. */
static void many(void)
{
	GPtrArray *given = g_ptr_array_new_with_free_func(g_free);
	struct binaries *binaries;
	GPtrArray *notes;

	if (!has("gcc"))
		return;
	g_free(c_program());
	do_it("mkdir -p many && for i in 0 1 2 3 4 5 6 7 8 9 10 11; do cp prog many/p$i; done");
	g_ptr_array_add(given, in_folder("many"));
	binaries = binaries_new(given, NULL);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 12; i++) {
			g_autofree char *path = g_strdup_printf("/p%d", i);
			const struct code *code;
			GArray *functions = functions_of("prog", "");
			struct function *one =
				&g_array_index(functions, struct function, (guint) round);

			code = binaries_code(binaries, path, NULL, 0, one->start);
			g_assert_nonnull(code);
			g_assert_cmpstr(g_array_index(code->frames, struct code_frame,
						      code->frames->len - 1)
						.function,
					==, one->name);
			g_array_free(functions, TRUE);
		}
	g_assert_cmpstr(binaries_function(binaries, "/p3", NULL, 0, 0x1000, 0x1003), ==, "p3+0x3");
	g_assert_cmpstr(binaries_function(binaries, "[vdso]", NULL, 0, 0x1000, 0x1a03), ==,
			"[vdso]+0xa03");
	g_assert_cmpstr(binaries_address(binaries, 0x7f0000001234), ==, "0x7f0000001234");
	notes = binaries_notes(binaries);
	g_assert_cmpuint(notes->len, ==, 13);
	g_ptr_array_free(notes, TRUE);
	binaries_free(binaries);
	g_ptr_array_free(given, TRUE);
}

/* --- a recorded trace ------------------------------------------------------------- */

/* The functions that the shipped trace enters: address - baddr, as nm names it. */
static void recorded(void)
{
	static const char *const wanted[] = {"main",           "comm_select",  "http_read_reply",
					     "store_swap_out", "store_create", "fact"};
	const char *source = g_getenv("WHYLATE_SOURCE");
	g_autofree char *trace = NULL, *program = NULL, *base_text = NULL, *entries = NULL;
	g_auto(GStrv) lines = NULL;
	g_autoptr(GHashTable) met = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct binaries *binaries;
	GArray *functions;
	uint64_t base;

	if (!source || !has("babeltrace2") || !has("nm"))
		return;
	trace = run("'%s/tests/unpack' ust-func", source);
	program = g_build_filename(trace, "proxyapp", NULL);
	functions = functions_of(program, "");
	base_text = run("babeltrace2 '%s' | sed -n 's/.*bin_info:.*baddr = \\(0x[0-9A-F]*\\),.*"
			"proxyapp\".*/\\1/p' | head -n 1",
			trace);
	base = g_ascii_strtoull(base_text, NULL, 16);
	entries = run("babeltrace2 '%s' | sed -n 's/.*func_entry:.*{ addr = "
		      "\\(0x[0-9A-F]*\\),.*/\\1/p' | "
		      "sort -u",
		      trace);
	lines = g_strsplit(entries, "\n", -1);
	g_assert_cmpuint(base, >, 0);
	binaries = binaries_new(NULL, trace);
	for (char **line = lines; *line; line++) {
		uint64_t address = g_ascii_strtoull(*line, NULL, 16);
		const char *name =
			binaries_function(binaries, "/in/bin/proxyapp", NULL, 0, base, address);
		bool known = false;

		for (guint i = 0; i < functions->len && !known; i++) {
			struct function *function = &g_array_index(functions, struct function, i);

			known = function->start == address - base;
			if (known)
				g_assert_cmpstr(name, ==, function->name);
		}
		g_assert_true(known);
		g_hash_table_add(met, g_strdup(name));
	}
	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
		g_assert_true(g_hash_table_contains(met, wanted[i]));
	binaries_free(binaries);
	g_array_free(functions, TRUE);
}

static void write_source(const char *name, const char *text)
{
	g_autofree char *path = in_folder(name);

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

int main(int argc, char **argv)
{
	int status;

	g_test_init(&argc, &argv, NULL);
	folder = g_dir_make_tmp("test_binary-XXXXXX", NULL);
	g_assert_nonnull(folder);
	made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	write_source("prog.c", c_source);
	write_source("prog.cpp", cpp_source);
	write_source("deep.s", deep_source);
	g_test_add_func("/binary/confinement", confinement);
	for (size_t i = 0; i < G_N_ELEMENTS(builds); i++) {
		g_autofree char *path = g_strconcat("/binary/addr2line/", builds[i].name, NULL);

		g_test_add_data_func(path, &builds[i], build_matches);
	}
	g_test_add_func("/binary/names", names);
	g_test_add_func("/binary/stripped", stripped);
	g_test_add_func("/binary/mini-debug-info", mini_debug_info);
	g_test_add_func("/binary/not-the-one", not_the_one);
	g_test_add_func("/binary/damaged", damaged);
	g_test_add_func("/binary/crashes", crashes);
	g_test_add_func("/binary/finding", finding);
	g_test_add_func("/binary/many", many);
	g_test_add_func("/binary/recorded", recorded);
	status = g_test_run();
	g_free(run("rm -rf '%s'", folder));
	g_hash_table_destroy(made);
	g_free(folder);
	return status;
}
