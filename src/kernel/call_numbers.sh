#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes src/kernel/call_numbers.h, which is checked in: the system calls of each architecture by
# number, from the kernel's own headers for programs. Needs a C preprocessor and, of Debian,
# linux-libc-dev on amd64 and linux-libc-dev-{armhf,ppc64el,s390x}-cross.
#
#   call_numbers.sh [ROOT] >call_numbers.h       ROOT: where the packages were unpacked, if not /
#
# Names are those of the kernel's functions, as LTTng's events have them, where the headers' are
# older ones (stat is newstat). What a table does not know keeps its number (event/syscalls.c).
set -eu
root=${1:-}

# HEADER-DIRECTORY HEADER FLAGS
numbers()
{
	printf '#include <%s>\n' "$2" | cpp -undef -nostdinc $3 -I"$1" -dM - |
		awk '$2 ~ /^__NR_/ {print "#undef", $2; print substr($2, 6), $2}' | sort >/tmp/call_numbers.$$
	{ printf '#include <%s>\n' "$2"
	  grep -v '^#' /tmp/call_numbers.$$ | sed 's/\(.*\) \(.*\)/CALL "\1" \2/'
	} | cpp -undef -nostdinc -P $3 -I"$1" - | sed -n 's/^CALL "\([a-z_0-9]*\)" (*\([0-9 +()]*\)$/\1 \2/p' |
		awk '{name = $1; sub(/^[^ ]* /, ""); gsub(/[() ]/, "")
			n = split($0, part, "+"); sum = 0; for (i = 1; i <= n; i++) sum += part[i]
			print sum, name}' | sort -n
	rm -f /tmp/call_numbers.$$
}

# NAME 64-BIT?
table()
{
	awk -v title="$1" -v wide="$2" '
	function out(word) {
		if (length(line) + length(word) > 78) {
			printf "\t\"%s\"\n", line
			line = ""
		}
		line = line word " "
	}
	BEGIN {
		split("uname newuname umount2 umount umount oldumount _sysctl sysctl sendfile " \
		      (wide ? "sendfile64 stat newstat lstat newlstat fstat newfstat " \
			      "fstatat newfstatat" \
			    : "sendfile stat newstat lstat newlstat fstat newfstat " \
			      "_newselect select select old_select mmap old_mmap mmap2 mmap_pgoff"),
		      pair, " ")
		for (i = 1; i in pair; i += 2)
			now[pair[i]] = pair[i + 1]
		printf "static const char %s[] =\n", title
	}
	$1 < 1024 && !($1 in name) {
		name[$1] = $2 in now ? now[$2] : $2
		last = $1
	}
	END {
		for (i = 0; i <= last; i++)
			out(i in name ? name[i] : "-")
		printf "\t\"%s\";\n", line
	}'
}

cat <<END
/* SPDX-License-Identifier: MIT */
/* System calls by number, - where there is none. Made by call_numbers.sh: do not edit. */
END
numbers "$root/usr/include/x86_64-linux-gnu" asm/unistd_64.h '' | table calls_x86_64 1
numbers "$root/usr/include/x86_64-linux-gnu" asm/unistd_32.h '' | table calls_i386 ''
numbers "$root/usr/include" asm-generic/unistd.h \
	"-D__x86_64__ -D__ARCH_WANT_RENAMEAT -D__ARCH_WANT_NEW_STAT -I$root/usr/include/x86_64-linux-gnu" |
	table calls_arm64 1
numbers "$root/usr/arm-linux-gnueabihf/include" asm/unistd.h '-D__ARM_EABI__' | table calls_arm ''
numbers "$root/usr/powerpc64le-linux-gnu/include" asm/unistd.h '-D__powerpc64__' | table calls_ppc64 1
numbers "$root/usr/s390x-linux-gnu/include" asm/unistd.h '-D__s390x__' | table calls_s390x 1
