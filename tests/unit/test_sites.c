/* SPDX-License-Identifier: MIT */
/* Whether a function makes a frame of its own (symbols/sites.h), of functions written byte by byte:
 * those that do, and what only looks alike. Worked out by hand from the Intel 64 and the Arm
 * manuals: 55 is push %rbp, 48 89 e5 mov %rsp,%rbp; fd7bbfa9 is stp x29, x30, [sp, #-16]!.
 */
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/sites.h"

#define TEXT 0x4000u /* where functions lie in the file; one each 64 bytes */
#define STEP 64u
#define MACHINE 18 /* where an ELF header has it */
#define AARCH64 183

struct function {
	const char *bytes;
	uint64_t size;
	enum own_frame frame;
};

static const struct function on_x86[] = {
	/* push %rbp; mov %rsp,%rbp; pop %rbp; ret */
	{"0x55,0x48,0x89,0xe5,0x5d,0xc3", 6, OWN_FRAME_MADE},
	/* endbr64 first */
	{"0xf3,0x0f,0x1e,0xfa,0x55,0x48,0x89,0xe5,0x5d,0xc3", 10, OWN_FRAME_MADE},
	/* mov %edi,%eax; ret */
	{"0x89,0xf8,0xc3", 3, OWN_FRAME_NONE},
	/* push %rbp; push %rbx; pop %rbx; pop %rbp; ret: kept, but no frame made */
	{"0x55,0x53,0x5b,0x5d,0xc3", 5, OWN_FRAME_NONE},
	/* push %rbp; mov %rsi,%rbp; pop %rbp; ret: the register is one like any other */
	{"0x55,0x48,0x89,0xf5,0x5d,0xc3", 6, OWN_FRAME_NONE},
	/* ret; what follows is another function's */
	{"0xc3,0x55,0x48,0x89,0xe5,0x5d,0xc3", 1, OWN_FRAME_NONE},
	/* twenty nops, then a frame: the last that is looked at */
	{"0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,"
	 "0x90,"
	 "0x90,0x90,0x55,0x48,0x89,0xe5,0x5d,0xc3",
	 26, OWN_FRAME_MADE},
	/* one nop more */
	{"0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,0x90,"
	 "0x90,"
	 "0x90,0x90,0x90,0x55,0x48,0x89,0xe5,0x5d,0xc3",
	 27, OWN_FRAME_NONE},
	/* nobody knows how long it is */
	{"0x55,0x48,0x89,0xe5,0x5d,0xc3", 0, OWN_FRAME_UNKNOWN},
};

static const struct function on_arm[] = {
	/* stp x29, x30, [sp, #-16]!; ret */
	{"0xfd,0x7b,0xbf,0xa9,0xc0,0x03,0x5f,0xd6", 8, OWN_FRAME_MADE},
	/* paciasp first */
	{"0x3f,0x23,0x03,0xd5,0xfd,0x7b,0xbf,0xa9,0xc0,0x03,0x5f,0xd6", 12, OWN_FRAME_MADE},
	/* stp x29, x30, [sp, #16], as after sub sp, sp, #32 */
	{"0xff,0x83,0x00,0xd1,0xfd,0x7b,0x01,0xa9", 8, OWN_FRAME_MADE},
	/* mov x0, x1; ret */
	{"0xe0,0x03,0x01,0xaa,0xc0,0x03,0x5f,0xd6", 8, OWN_FRAME_NONE},
	/* stp x19, x20, [sp, #-16]!: other registers */
	{"0xf3,0x53,0xbf,0xa9,0xc0,0x03,0x5f,0xd6", 8, OWN_FRAME_NONE},
	/* ldp x29, x30, [sp], #16: it takes them back */
	{"0xfd,0x7b,0xc1,0xa8,0xc0,0x03,0x5f,0xd6", 8, OWN_FRAME_NONE},
	/* the right bytes, two off: no instruction begins there */
	{"0xe0,0x03,0xfd,0x7b,0xbf,0xa9,0x01,0xaa", 8, OWN_FRAME_NONE},
};

/* The program's path; NULL and skipped where there is no assembler for it. */
static char *assemble(const char *folder, const struct function *functions, guint count)
{
	g_autofree char *source = g_build_filename(folder, "code.s", NULL);
	g_autofree char *path = g_build_filename(folder, "code", NULL);
	g_autofree char *command = NULL;
	g_autoptr(GString) text = g_string_new(".text\n");

	for (guint i = 0; i < count; i++)
		g_string_append_printf(text,
				       ".balign %u\n.globl f%u\n.type f%u, @function\n"
				       "f%u: .byte %s\n.size f%u, . - f%u\n",
				       STEP, i, i, i, functions[i].bytes, i, i);
	g_assert_true(g_file_set_contents(source, text->str, -1, NULL));
	command = g_strdup_printf("gcc -nostdlib -shared -Wl,-Ttext=0x%x -o '%s' '%s' 2>/dev/null",
				  TEXT, path, source);
	return system(command) == 0 ? g_steal_pointer(&path) : NULL;
}

static void set_machine(const char *path, uint8_t machine)
{
	g_autofree char *bytes = NULL;
	gsize length;

	g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
	g_assert_cmpuint(length, >, MACHINE + 1);
	bytes[MACHINE] = (char) machine;
	bytes[MACHINE + 1] = 0;
	g_assert_true(g_file_set_contents(path, bytes, (gssize) length, NULL));
}

static void check(const struct function *functions, guint count, uint8_t machine,
		  enum code_machine known)
{
	g_autofree char *folder = g_dir_make_tmp("whylate-sites-XXXXXX", NULL);
	g_autofree char *path = assemble(folder, functions, count), *why = NULL;
	g_autofree char *remove = g_strdup_printf("rm -r '%s'", folder);
	struct code_file *file = NULL;

	if (!path) {
		g_test_skip("gcc");
		g_assert_cmpint(system(remove), ==, 0);
		return;
	}
	set_machine(path, machine);
	code_open(path, NULL, 0, "", &file, &why);
	g_assert_nonnull(file);
	g_assert_cmpint(code_machine(file), ==, known);
	for (guint i = 0; i < count; i++) {
		g_test_message("function %u", i);
		g_assert_cmpint(frame_made_at(file, TEXT + i * STEP, functions[i].size), ==,
				known == CODE_OTHER_MACHINE ? OWN_FRAME_UNKNOWN
							    : functions[i].frame);
	}
	/* far behind the file's end */
	g_assert_cmpint(frame_made_at(file, 0x10000000, 16), ==, OWN_FRAME_UNKNOWN);
	code_close(file);
	g_assert_cmpint(system(remove), ==, 0);
}

static void x86(void)
{
	check(on_x86, G_N_ELEMENTS(on_x86), 62, CODE_X86_64);
}

static void arm(void)
{
	check(on_arm, G_N_ELEMENTS(on_arm), AARCH64, CODE_AARCH64);
}

/* RISC-V: nothing is claimed. */
static void another_machine(void)
{
	check(on_x86, G_N_ELEMENTS(on_x86), 243, CODE_OTHER_MACHINE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sites/frames/x86-64", x86);
	g_test_add_func("/sites/frames/aarch64", arm);
	g_test_add_func("/sites/frames/another-machine", another_machine);
	return g_test_run();
}
