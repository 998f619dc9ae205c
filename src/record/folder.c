/* SPDX-License-Identifier: MIT */
/* See folder.h. */
#include "record/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#define KALLSYMS "/proc/kallsyms"

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void) status;
	(void) type;
	(void) ftw;
	return remove(path);
}

void folder_remove(const char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void folder_add_copy(const char *directory, const char *from, const char *name)
{
	g_autofree char *path = g_build_filename(directory, name, NULL), *text = NULL;
	gsize length;

	if (g_file_get_contents(from, &text, &length, NULL))
		g_file_set_contents(path, text, (gssize) length, NULL);
}

/* Who may not see the kernel's addresses reads zeros, which name nothing. */
static bool has_addresses(const char *text)
{
	for (const char *line = text; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "")
		if (line[strspn(line, "0")] != ' ')
			return true;
	return false;
}

void folder_add_symbols(const char *directory)
{
	g_autofree char *path = g_build_filename(directory, "kallsyms", NULL), *text = NULL;
	g_autoptr(GError) cause = NULL;
	gsize length;

	if (!g_file_get_contents(KALLSYMS, &text, &length, NULL) || !has_addresses(text))
		fprintf(stderr,
			"whylate: " KALLSYMS " shows no addresses, so kernel functions will be "
			"numbers; as root: cat " KALLSYMS " > %s\n",
			path);
	else if (!g_file_set_contents(path, text, (gssize) length, &cause)) /* a full disk */
		fprintf(stderr,
			"whylate: kernel functions will be numbers (%s); as root: cat " KALLSYMS
			" > FILE elsewhere, then --kallsyms FILE\n",
			cause->message);
}
