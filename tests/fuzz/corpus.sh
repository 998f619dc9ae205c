#!/bin/sh
# SPDX-License-Identifier: MIT
# corpus.sh BUILD NEW: the smallest corpora that reach as much of the code as those of the tree
# and of NEW together (a directory with one of inputs for each target), in place of the tree's.
# BUILD: a build of coverage.sh, brought up to date here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
new=$(cd "$2" && pwd)

for target in events foreign metadata options packets saved symbols; do
	old=$here/corpus/$target
	picked=$(mktemp -d)
	mkdir -p "$old" "$new/$target"
	make -s -C "$build" "fuzz_$target"
	# the target's own main() is in the way of pick.c's: a second one with it instead
	(cd "$build" && clang -fprofile-instr-generate -o "pick_$target" \
		-I"$top/src" -x c "$here/pick.c" -x none "tests/fuzz/$target.o" libwhylate.a \
		$(pkg-config --cflags --libs glib-2.0 jansson libdw libseccomp sqlite3 zlib libzstd) -liberty -lm)
	find "$old" "$new/$target" -type f -size -16k -print0 | LC_ALL=C sort -z |
		xargs -0 -n 20000 env LLVM_PROFILE_FILE=/dev/null "$build/pick_$target" >"$picked/list"
	while read -r input; do
		cp "$input" "$picked/$(sha256sum <"$input" | cut -c 1-10)"
	done <"$picked/list"
	rm "$picked/list"
	rm -rf "$old"
	mv "$picked" "$old"
	chmod 755 "$old"
	chmod 644 "$old"/*
	echo "$target: $(ls "$old" | wc -l) inputs, $(cat "$old"/* | wc -c) bytes"
done
