# SPDX-License-Identifier: MIT
# Sourced by ./try and ./check, in the tree's root: installs the Debian
# packages that are missing, makes configure, builds out of tree. The only
# thing it touches outside the tree is those packages.
# The sourcing script sets `me`, its own name for messages.

say()
{
	echo "$me: $*"
}

die()
{
	echo "$me: $*" >&2
	exit 1
}

# To build and run whylate.
build_packages="autoconf automake make gcc libc6-dev pkgconf
	libbabeltrace2-dev libdw-dev libglib2.0-dev libiberty-dev libjansson-dev libmicrohttpd-dev libseccomp-dev libsqlite3-dev
	libzstd-dev xz-utils zlib1g-dev"
# To check it besides: babeltrace2 loads the plugin, prove is in perl; build-essential, debhelper and lintian
# make and judge the Debian package, mandoc the manual pages; the engines that whylate batch plans jobs for are
# asked themselves (tests/slurm.t, tests/engines.t); liblttng-ctl0 has the schema that session profiles are held
# to. What belongs to clang's version: need_clang_runtime. A|B: whichever of them the system has.
check_packages="babeltrace2 build-essential clang debhelper gnupg groff-base iproute2 liblttng-ctl0|liblttng-ctl0t64
	libxml2-utils lintian lld llvm mandoc munge
	openssh-client openssh-server parallel perl slurm-wlm systemd
	protobuf-compiler python3 python3-jsonschema python3-selenium xz-utils"
# What not every system has as a package: clang-format of the one version that .clang-format is for; a browser that
# opens the report's pages (Ubuntu's is a snap, which needs a running snapd). Tests that need them say so without.
wanted_packages="clang-format-19 chromium chromium-driver"
# The client of trace viewers runs on node (need_client); whoever has that from elsewhere, whose
# package excludes Debian's, keeps it.
command -v node >/dev/null || check_packages="$check_packages nodejs"
command -v npm >/dev/null || check_packages="$check_packages npm"

installed()
{
	dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Sets $missing to those of the packages named that are not installed.
find_missing()
{
	missing=
	for package in $*; do
		found=
		for one in $(echo "$package" | tr '|' ' '); do
			! installed "$one" || found=yes
		done
		[ "$found" ] || missing="$missing $package"
	done
}

# apt's lists, once a run.
update_packages()
{
	[ ! "${updated:-}" ] || return 0
	as_root apt-get -q update || die "apt-get update failed; needed are the packages:$missing"
	updated=yes
}

install_missing()
{
	wanted=$missing missing=
	for package in $wanted; do
		for one in $(echo "$package" | tr '|' ' '); do
			if [ "$one" = "$package" ] || available "$one"; then break; fi
		done
		missing="$missing $one"
	done
	say "installing Debian packages with apt-get:$missing"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 install --no-install-recommends $missing ||
		die "apt-get could not install:$missing"
}

# Installs those of the packages named that are missing.
need_packages()
{
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		die "this is not Debian: install what these Debian packages hold:" $* \
			"and build by hand: autoreconf -i && ./configure && make"
	fi
	find_missing $*
	[ "$missing" ] || return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		die "packages are missing and there is no sudo; as root: apt-get install" \
			"--no-install-recommends$missing"
	fi
	update_packages
	install_missing
}

# The system has it, as a package that holds what it is called: Ubuntu's chromium only says where its snap is.
available()
{
	LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep '^  Candidate: ' | grep -q -v -e '(none)' -e snap
}

# Installs those of the packages named that are missing and that this system has; says which it has not.
want_packages()
{
	find_missing $*
	[ "$missing" ] || return 0
	wanted=$missing missing= lacking=
	update_packages
	for package in $wanted; do
		if available "$package"; then missing="$missing $package"; else lacking="$lacking $package"; fi
	done
	[ ! "$missing" ] || install_missing
	[ ! "$lacking" ] || say "this system has no package$lacking: tests that need it are skipped, and say so"
}

# libFuzzer and clang's sanitizers: whatever clang this system has, it links with them.
need_clang_runtime()
{
	mkdir -p "$1"
	echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return n && *d > 9 ? -1 : 0; }' >"$1/runtime.c"
	clang -fsanitize=address,undefined,fuzzer -o "$1/runtime" "$1/runtime.c" >/dev/null 2>&1 && return 0
	version=$(clang -dumpversion) || die "clang does not say which version it is"
	need_packages "libclang-rt-${version%%.*}-dev"
	logged "$1/runtime.log" clang -fsanitize=address,undefined,fuzzer -o "$1/runtime" "$1/runtime.c"
}

# Runs a command with its output in a file; shows that if it fails.
logged()
{
	log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null && return 0
	tail -n 60 "$log" >&2
	die "failed: $* (its whole output: $log)"
}

older() # FILE THAN...: FILE is missing, or older than one of the others
{
	file=$1
	shift
	[ ! -e "$file" ] || [ "$(find "$@" -newer "$file" -print)" ]
}

# Run in the directory: the client itself comes without what it names as its dependencies, as one is of a
# repository, whose place npm 9 (Debian 12) cannot have overridden.
install_client()
{
	npm install --no-audit --no-fund --ignore-scripts &&
		npm pack tsp-typescript-client@0.9.0 &&
		mkdir -p node_modules/tsp-typescript-client &&
		tar -xzf tsp-typescript-client-0.9.0.tgz --strip-components=1 -C node_modules/tsp-typescript-client
}

# need_client DIRECTORY: installs the npm packages there that tests/serve.t drives the server with. After
# this no test needs a network.
need_client()
{
	older "$1/npm.log" tests/tsp/package.json tests/setup.sh || return 0
	say "installing npm packages in $1"
	mkdir -p "$1"
	cp tests/tsp/package.json "$1"
	logged "$1/npm.new" in_dir "$1" install_client
	mv "$1/npm.new" "$1/npm.log"
}

make_configure()
{
	if older configure configure.ac || older Makefile.in configure Makefile.am tests/tests.am ||
	   [ ! -e config.h.in ] || [ ! -e build-aux/ltmain.sh ]; then
		say "making configure (autoreconf)"
		mkdir -p build
		logged build/autoreconf.log autoreconf --force --install
	fi
}

jobs()
{
	nproc 2>/dev/null || echo 2
}

# build DIRECTORY [CONFIGURE-ARGUMENT]...: brings a build directory up to date, as far as
# make's target $goal needs it (all, if it is not set).
goal=all
build()
{
	dir=$1
	shift
	mkdir -p "$dir"
	if [ ! -e "$dir/config.status" ] || [ ! -e "$dir/Makefile" ] ||
	   [ "$(cat "$dir/arguments" 2>/dev/null)" != "$PWD $*" ]; then
		say "configuring in $dir"
		logged "$dir/configure.log" in_dir "$dir" "$PWD/configure" --quiet "$@"
		echo "$PWD $*" >"$dir/arguments"
	fi
	say "building in $dir"
	logged "$dir/make.log" make -C "$dir" -j"$(jobs)" "$goal"
}

in_dir()
{
	(cd "$1" && shift && "$@")
}

# Nothing of the caller's environment changes the outcome.
unset CDPATH MAKEFLAGS MAKELEVEL MFLAGS DESTDIR TESTS BABELTRACE_PLUGIN_PATH \
	LIBBABELTRACE2_INIT_LOG_LEVEL CC CFLAGS CPPFLAGS LDFLAGS CONFIG_SITE WHYLATE_BUILD
umask 022
