#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh [BUILD [CORPUS]]: which lines of each folder of the core the corpora reach, and
# with BUILD/report/ beside it which not (clang, llvm: source-based coverage).
# CORPUS: a directory of one folder for each target, if it is not the tree's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${1:-build-coverage}
corpus=${2:-$here/corpus}
profdata=$(command -v llvm-profdata llvm-profdata-14 | head -n 1)
cov=$(command -v llvm-cov llvm-cov-14 | head -n 1)
targets="events foreign metadata options packets saved symbols"

mkdir -p "$build"
cd "$build"
[ -e Makefile ] || "$top/configure" -q CC=clang \
	CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping'
programs=
for target in $targets; do
	programs="$programs fuzz_$target"
done
make -s -j"$(nproc)" $programs
objects=
for target in $targets; do
	LLVM_PROFILE_FILE=$target.profraw "./fuzz_$target" "$corpus/$target"
	objects="$objects -object ./fuzz_$target"
done
"$profdata" merge -o all.profdata $(printf '%s.profraw ' $targets)
"$cov" show $objects -instr-profile=all.profdata -format=text -output-dir=report "$top/src" \
	>/dev/null 2>&1 || true
"$cov" export $objects -instr-profile=all.profdata -summary-only 2>/dev/null | python3 -c '
import json, os, sys
sums = {}
for file in json.load(sys.stdin)["data"][0]["files"]:
    folder = os.path.dirname(file["filename"]).partition("/src/")[2]
    lines = file["summary"]["lines"]
    if folder:
        for name in (folder, "all but report") if folder != "report" else (folder,):
            old = sums.get(name, (0, 0))
            sums[name] = old[0] + lines["covered"], old[1] + lines["count"]
for name, (covered, count) in sorted(sums.items()):
    print("%-16s %5d of %5d lines  %.1f %%" % (name, covered, count, 100 * covered / count))'
