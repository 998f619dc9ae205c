/* SPDX-License-Identifier: MIT */
/* What lies at an address of a program or library: function, source line, calls inlined there.
 *
 * Part of symbols/. Reads ELF and DWARF with elfutils (libdw), in this process: for files that may
 * be hostile binary.h has the same in another one.
 *
 * Addresses are offsets from where the file was loaded: from the first byte of its first PT_LOAD
 * segment, which is what LTTng's statedump calls baddr, for position-independent files and others.
 *
 * Sources, in this order: the file's DWARF, .symtab, .gnu_debugdata, .dynsym, and the same of a
 * separate debug file (by build-id or .gnu_debuglink).
 */
#ifndef WHYLATE_SYMBOLS_CODE_H
#define WHYLATE_SYMBOLS_CODE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define CODE_ID_MAX 64 /* bytes; SHA-1 has 20 */

enum code_trouble {
	CODE_FINE,
	CODE_EXPORTS,    /* is stripped but for the functions that it offers to others */
	CODE_UNREADABLE, /* not a file that can be opened and read to its end */
	CODE_NOT_ELF,    /* no program or shared library */
	CODE_OTHER_ID,   /* another build of it */
	CODE_STRIPPED,   /* has no functions */
};

/* `line` is where `function` is at the address: that of the call, in frames but the first. */
struct code_frame {
	char *function; /* demangled, without parameters; NULL: not known */
	char *file;     /* NULL: not known */
	uint32_t line;  /* 0: not known */
};

enum own_frame {
	OWN_FRAME_UNKNOWN,
	OWN_FRAME_NONE, /* it begins without making one: it hides its caller */
	OWN_FRAME_MADE,
	OWN_FRAMES
};

struct code {
	uint8_t frame; /* enum own_frame; of the function */
	uint64_t start, size; /* of the function, in the same addresses; size 0: not known */
	GArray *frames;       /* struct code_frame: calls inlined there, innermost first, and last
				 the function */
	char *symbol;         /* the function's, as linkers have it; NULL: it has none */
};

struct code_file;

/* Opens `path`. `debug`: directories as libdw takes them, ":.debug:/usr/lib/debug". Anything but
 * CODE_FINE comes with `why`, for people, to be freed. With CODE_FINE and CODE_EXPORTS it is open,
 * else `file` is NULL. */
enum code_trouble code_open(const char *path, const uint8_t *id, size_t id_length,
			    const char *debug, struct code_file **file, char **why);
void code_close(struct code_file *file);

/* False: nothing is known of it, and `code` is as code_init() left it. */
bool code_at(struct code_file *file, uint64_t address, struct code *code);

enum code_machine { CODE_OTHER_MACHINE, CODE_X86_64, CODE_AARCH64 };
enum code_machine code_machine(const struct code_file *file);

/* From the first to the last byte of executable segments; false: it has none. */
bool code_executable(const struct code_file *file, uint64_t *begin, uint64_t *end);
/* The bytes there, of an executable segment; false: there are not so many. */
bool code_bytes(const struct code_file *file, uint64_t address, uint8_t *to, size_t count);
/* The program can only be loaded there. */
bool code_fixed_base(const struct code_file *file, uint64_t *base);
/* A function that has a name begins there. */
bool code_is_function(const struct code_file *file, uint64_t address);

void code_init(struct code *code);
void code_clear(struct code *code);

/* "ns::f<int>" for "_ZN2ns1fIiEEvi", as C++ and Rust name things; other names as they are. To
 * be freed. */
char *code_demangle(const char *name);

/* Of elfutils. */
const char *code_library_version(void);

/* "e9a377b4…", in hexadecimal digits; to be freed. */
char *build_id_text(const uint8_t *id, size_t length);

#endif
