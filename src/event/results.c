/* SPDX-License-Identifier: MIT */
/* See results.h. */
#include "event/results.h"

#include <glib.h>
#include <string.h>

static const struct {
	int16_t number;
	const char *name;
} errors[] = {
	{1, "EPERM"},
	{2, "ENOENT"},
	{3, "ESRCH"},
	{4, "EINTR"},
	{5, "EIO"},
	{6, "ENXIO"},
	{7, "E2BIG"},
	{8, "ENOEXEC"},
	{9, "EBADF"},
	{10, "ECHILD"},
	{11, "EAGAIN"},
	{12, "ENOMEM"},
	{13, "EACCES"},
	{14, "EFAULT"},
	{15, "ENOTBLK"},
	{16, "EBUSY"},
	{17, "EEXIST"},
	{18, "EXDEV"},
	{19, "ENODEV"},
	{20, "ENOTDIR"},
	{21, "EISDIR"},
	{22, "EINVAL"},
	{23, "ENFILE"},
	{24, "EMFILE"},
	{25, "ENOTTY"},
	{26, "ETXTBSY"},
	{27, "EFBIG"},
	{28, "ENOSPC"},
	{29, "ESPIPE"},
	{30, "EROFS"},
	{31, "EMLINK"},
	{32, "EPIPE"},
	{33, "EDOM"},
	{34, "ERANGE"},
	{35, "EDEADLK"},
	{36, "ENAMETOOLONG"},
	{37, "ENOLCK"},
	{38, "ENOSYS"},
	{39, "ENOTEMPTY"},
	{40, "ELOOP"},
	{42, "ENOMSG"},
	{43, "EIDRM"},
	{44, "ECHRNG"},
	{45, "EL2NSYNC"},
	{46, "EL3HLT"},
	{47, "EL3RST"},
	{48, "ELNRNG"},
	{49, "EUNATCH"},
	{50, "ENOCSI"},
	{51, "EL2HLT"},
	{52, "EBADE"},
	{53, "EBADR"},
	{54, "EXFULL"},
	{55, "ENOANO"},
	{56, "EBADRQC"},
	{57, "EBADSLT"},
	{59, "EBFONT"},
	{60, "ENOSTR"},
	{61, "ENODATA"},
	{62, "ETIME"},
	{63, "ENOSR"},
	{64, "ENONET"},
	{65, "ENOPKG"},
	{66, "EREMOTE"},
	{67, "ENOLINK"},
	{68, "EADV"},
	{69, "ESRMNT"},
	{70, "ECOMM"},
	{71, "EPROTO"},
	{72, "EMULTIHOP"},
	{73, "EDOTDOT"},
	{74, "EBADMSG"},
	{75, "EOVERFLOW"},
	{76, "ENOTUNIQ"},
	{77, "EBADFD"},
	{78, "EREMCHG"},
	{79, "ELIBACC"},
	{80, "ELIBBAD"},
	{81, "ELIBSCN"},
	{82, "ELIBMAX"},
	{83, "ELIBEXEC"},
	{84, "EILSEQ"},
	{85, "ERESTART"},
	{86, "ESTRPIPE"},
	{87, "EUSERS"},
	{88, "ENOTSOCK"},
	{89, "EDESTADDRREQ"},
	{90, "EMSGSIZE"},
	{91, "EPROTOTYPE"},
	{92, "ENOPROTOOPT"},
	{93, "EPROTONOSUPPORT"},
	{94, "ESOCKTNOSUPPORT"},
	{95, "EOPNOTSUPP"},
	{96, "EPFNOSUPPORT"},
	{97, "EAFNOSUPPORT"},
	{98, "EADDRINUSE"},
	{99, "EADDRNOTAVAIL"},
	{100, "ENETDOWN"},
	{101, "ENETUNREACH"},
	{102, "ENETRESET"},
	{103, "ECONNABORTED"},
	{104, "ECONNRESET"},
	{105, "ENOBUFS"},
	{106, "EISCONN"},
	{107, "ENOTCONN"},
	{108, "ESHUTDOWN"},
	{109, "ETOOMANYREFS"},
	{110, "ETIMEDOUT"},
	{111, "ECONNREFUSED"},
	{112, "EHOSTDOWN"},
	{113, "EHOSTUNREACH"},
	{114, "EALREADY"},
	{115, "EINPROGRESS"},
	{116, "ESTALE"},
	{117, "EUCLEAN"},
	{118, "ENOTNAM"},
	{119, "ENAVAIL"},
	{120, "EISNAM"},
	{121, "EREMOTEIO"},
	{122, "EDQUOT"},
	{123, "ENOMEDIUM"},
	{124, "EMEDIUMTYPE"},
	{125, "ECANCELED"},
	{126, "ENOKEY"},
	{127, "EKEYEXPIRED"},
	{128, "EKEYREVOKED"},
	{129, "EKEYREJECTED"},
	{130, "EOWNERDEAD"},
	{131, "ENOTRECOVERABLE"},
	{132, "ERFKILL"},
	{512, "ERESTARTSYS"},
	{513, "ERESTARTNOINTR"},
	{514, "ERESTARTNOHAND"},
	{516, "ERESTART_RESTARTBLOCK"},
};

const char *result_name(int64_t result)
{
	for (size_t i = 0; i < G_N_ELEMENTS(errors); i++)
		if (errors[i].number == -result)
			return errors[i].name;
	return NULL;
}

bool result_number(const char *name, int64_t *result)
{
	for (size_t i = 0; i < G_N_ELEMENTS(errors); i++)
		if (strcmp(errors[i].name, name + (*name == '-')) == 0) {
			*result = -errors[i].number;
			return true;
		}
	return false;
}

bool result_is_unreachable(int64_t result)
{
	return result == -101 || result == -112 || result == -113;
}

static bool is_one_of(const char *call, const char *const *calls)
{
	for (; *calls; calls++)
		if (strcmp(*calls, call) == 0)
			return true;
	return false;
}

const char *result_meaning(const char *call, int64_t result)
{
	static const char *const lists[] = {"getdents", "getdents64", NULL},
				 *const reads[] = {"read",    "pread64",  "readv",      "preadv",
						   "preadv2", "sendfile", "sendfile64", NULL},
				 *const receives[] = {"recvfrom", "recvmsg", "recv", NULL},
				 *const waits[] = {"poll",        "ppoll",        "select",
						   "pselect6",    "_newselect",   "epoll_wait",
						   "epoll_pwait", "epoll_pwait2", NULL};

	if (result)
		return NULL;
	if (is_one_of(call, lists))
		return "no more entries";
	if (is_one_of(call, reads))
		return "the end";
	if (is_one_of(call, receives))
		return "closed by the peer, or nothing in it";
	return is_one_of(call, waits) ? "nothing came in time" : NULL;
}

#define ERRORS_MAX 4095 /* MAX_ERRNO of Linux */

/* Calls on connections, whose time limit is the peer's silence. */
static bool is_on_connection(const char *call)
{
	static const char *const calls[] = {"connect", "read",   "readv",    "recvfrom", "recvmsg",
					    "write",   "writev", "sendto",   "sendmsg",  "recv",
					    "send",    "splice", "sendfile", NULL};

	return is_one_of(call, calls);
}

/* … and on files, which they need. */
static bool is_on_file(const char *call)
{
	static const char *const calls[] = {"pread64",   "pwrite64",  "preadv", "pwritev",
					    "preadv2",   "pwritev2",  "fsync",  "fdatasync",
					    "fallocate", "ftruncate", NULL};

	return is_one_of(call, calls);
}

enum result_trouble result_trouble(const char *call, int64_t result)
{
	if (result < -ERRORS_MAX)
		return TROUBLE_NONE;
	switch (-result) {
	case 5: /* EIO */
	case 12: /* ENOMEM */
	case 23: /* ENFILE */
	case 24: /* EMFILE */
	case 27: /* EFBIG */
	case 28: /* ENOSPC */
	case 30: /* EROFS */
	case 35: /* EDEADLK */
	case 37: /* ENOLCK */
	case 105: /* ENOBUFS */
	case 116: /* ESTALE */
	case 117: /* EUCLEAN */
	case 122: /* EDQUOT */
		return TROUBLE_SHORT;
	case 11: /* EAGAIN; of others it means that there is nothing yet */
		return g_str_has_prefix(call, "clone") || g_str_has_suffix(call, "fork")
			       ? TROUBLE_SHORT
			       : TROUBLE_NONE;
	case 99: /* EADDRNOTAVAIL */
	case 100: /* ENETDOWN */
	case 101: /* ENETUNREACH */
	case 102: /* ENETRESET */
	case 103: /* ECONNABORTED */
	case 104: /* ECONNRESET */
	case 111: /* ECONNREFUSED */
	case 112: /* EHOSTDOWN */
	case 113: /* EHOSTUNREACH */
		return TROUBLE_PEER;
	case 107: /* ENOTCONN; of others, of who looks whether it is */
	case 110: /* ETIMEDOUT */
		return is_on_connection(call) ? TROUBLE_PEER : TROUBLE_NONE;
	case 9: /* EBADF; of others, of who closes all there may be */
		return is_on_connection(call) || is_on_file(call) ? TROUBLE_SHORT : TROUBLE_NONE;
	case 1: /* EPERM */
	case 13: /* EACCES */
	case 16: /* EBUSY */
	case 26: /* ETXTBSY */
	case 32: /* EPIPE */
	case 98: /* EADDRINUSE */
		return TROUBLE_DENIED;
	default:
		return TROUBLE_NONE;
	}
}

const char *result_limit(const char *call, int64_t result)
{
	static const struct {
		int error;
		const char *calls; /* that begin so; "": all others */
		const char *text;
	} limits[] = {
		{11, "clone", "no more processes allowed: pids.max or RLIMIT_NPROC"},
		{11, "fork", "no more processes allowed: pids.max or RLIMIT_NPROC"},
		{11, "vfork", "no more processes allowed: pids.max or RLIMIT_NPROC"},
		{12, "mmap", "no memory, or the limit of it: RLIMIT_AS, or what may be committed"},
		{12, "", "no memory"},
		{16, "", "it was in use"},
		{23, "", "the system's limit of open files: fs.file-max"},
		{24, "inotify_init", "fs.inotify.max_user_instances"},
		{24, "", "its limit of open files: RLIMIT_NOFILE"},
		{26, "", "the program's file was open for writing"},
		{28, "inotify_add_watch", "fs.inotify.max_user_watches"},
		{28, "", "no space left"},
		{98, "", "the address was in use"},
		{99, "connect", "no local port was free: net.ipv4.ip_local_port_range"},
		{104, "", "the other end reset the connection"},
		{122, "", "the disk quota was used up"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
		if (limits[i].error == -result && g_str_has_prefix(call, limits[i].calls))
			return limits[i].text;
	return NULL;
}
