/* SPDX-License-Identifier: MIT */
/* See confine_files.h. */
#include "confine/confine_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset /* one number on all architectures */
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define ASK_VERSION 1u
#define RULE_BELOW 1
/* what a rule for a file that is no directory may allow */
#define OF_FILES (FILES_EXECUTE | FILES_WRITE | FILES_READ | FILES_TRUNCATE)
/* not to be allowed at all, or only for what reads: FILES_… */
#define OF_READING (FILES_EXECUTE | FILES_READ | FILES_LIST)

struct ruleset {
	uint64_t files, network, scopes;
};

struct below {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

/* How many kinds of access to files each version knows, by how much of the structure it takes. */
static const struct {
	int bits;
	size_t size;
} versions[] = {{0, 0},   {13, 8},  {14, 8},  {15, 8}, {15, 16},
		{16, 16}, {16, 24}, {16, 24}, {16, 24}};

int files_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

	return version < 1 ? 0 : (int) version;
}

static void add(int ruleset, const struct files_rule *rule, uint64_t known)
{
	struct below below = {.rights = rule->rights & known};
	struct stat status;

	below.fd = open(rule->path, O_PATH | O_CLOEXEC);
	if (below.fd < 0)
		return;
	if (fstat(below.fd, &status) == 0) {
		if (!S_ISDIR(status.st_mode))
			below.rights &= OF_FILES;
		if (below.rights)
			syscall(SYS_landlock_add_rule, ruleset, RULE_BELOW, &below, 0);
	}
	close(below.fd);
}

int files_confine(const GArray *rules, bool network)
{
	int version = files_version(), fd, at = MIN(version, (int) G_N_ELEMENTS(versions) - 1);
	struct ruleset ruleset = {0};
	bool ok;

	if (!version)
		return 0;
	ruleset.files = (UINT64_C(1) << versions[at].bits) - 1;
	if (!rules)
		ruleset.files &= ~(OF_READING & ~FILES_EXECUTE);
	ruleset.network = network ? 0 : 3; /* binding and connecting, TCP */
	ruleset.scopes = 3;                /* sockets without a name, signals: to our own alone */
	fd = (int) syscall(SYS_landlock_create_ruleset, &ruleset, versions[at].size, 0);
	if (fd < 0)
		return 0;
	for (guint i = 0; rules && i < rules->len; i++)
		add(fd, &g_array_index(rules, struct files_rule, i), ruleset.files);
	ok = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close(fd);
	return ok ? version : 0;
}
