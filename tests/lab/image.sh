# What a guest boots: tacho for its machine, kernel modules, and an initramfs of them.
# shellcheck shell=bash

cross_of() {	# ARCH: the prefix of its compiler
	[ "$1" = amd64 ] || echo aarch64-linux-gnu-
}

# The product for ARCH: the tree's own build, and one by the cross compiler.
build_tacho() {	# ARCH
	local dir=$SOURCE/build file=$CACHE/arm64.cross	# meson reads it again when it configures anew
	local args=(-Dwerror=true)
	if [ "$1" = arm64 ]; then
		fetch_sysroot || return 77
		dir=$SOURCE/build-arm64
		sed "s#@SYSROOT@#$CACHE/sysroot-arm64#g" "$LAB/arm64.cross.in" >"$file"
		# One that was configured with another cache would look for its libraries there.
		grep -qsF "$CACHE/sysroot-arm64/" "$dir/build.ninja" || rm -rf "$dir"
		args+=(--cross-file "$file" -Dtests=false -Dman=disabled -Dpage=disabled)
	fi
	if [ ! -e "$dir/build.ninja" ]; then
		rm -rf "$dir"
		meson setup "$dir" "$SOURCE" "${args[@]}" || return 1
	fi
	ninja -C "$dir" product
}

# All modules for a kernel: module/SUITE-ARCH/*.ko. Debian's of that time were built with gcc-12.
build_modules() {	# SUITE ARCH
	local dir=$OUT/module/$1-$2 cross
	cross=$(cross_of "$2")
	[ ! -e "$dir/ready" ] || return 0
	command -v "${cross}gcc-12" >/dev/null || { echo "${cross}gcc-12 is not installed"; return 77; }
	fetch_headers "$1" "$2" || return 77
	rm -rf "$dir"
	mkdir -p "$dir"
	cp "$LAB"/modules/* "$dir"
	make -C "$CACHE/kernel/$1-$2/headers/build" M="$dir" CROSS_COMPILE="$cross" CC="${cross}gcc-12" \
		modules && touch "$dir/ready"
}

# Where the shared libraries of ARCH are looked for.
library_dirs() {	# ARCH
	local root=$CACHE/sysroot-arm64
	if [ "$1" = arm64 ]; then
		echo "$root/lib $root/lib/aarch64-linux-gnu $root/usr/lib/aarch64-linux-gnu"
	else
		echo "/lib64 /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu"
	fi
}

# Copies what programs need, and what that needs. All go to /lib, where every loader looks.
copy_libraries() {	# ARCH ROOT PROGRAM...
	local arch=$1 root=$2 name dir file dirs
	shift 2
	dirs=$(library_dirs "$arch")
	for name in $(readelf -dlW "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p
			s#.*interpreter: .*/\([^]]*\)\].*#\1#p' | sort -u); do
		[ ! -e "$root/lib/$name" ] || continue
		for dir in $dirs; do
			file=$dir/$name
			[ ! -e "$file" ] || break
		done
		cp -L "$file" "$root/lib/$name" || return 1
		copy_libraries "$arch" "$root" "$root/lib/$name" || return 1
	done
}

pack() {	# ROOT OUT.cpio: the same bytes for the same files
	(cd "$1" && find . -print0 | LC_ALL=C sort -z |
		cpio --null -o -H newc --quiet --reproducible --owner 0:0) >"$2"
}

# What every guest of ARCH has: busybox, init, tacho, the workload and the meter.
make_base() {	# ARCH: base-ARCH.cpio; and root-ARCH, for those who read recordings outside
	local arch=$1 root=$OUT/root-$1 cross build
	cross=$(cross_of "$arch")
	[ ! -e "$OUT/base-$arch.cpio" ] || return 0
	build=$SOURCE/build
	[ "$arch" = amd64 ] || build=$SOURCE/build-arm64
	rm -rf "$root"
	mkdir -p "$root"/{bin,lib,usr/lib,dev,proc,sys,tmp,root,etc,run}
	cp "$CACHE/busybox-$arch" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	ln -s lib "$root/lib64"
	cp "$LAB/guest/init" "$LAB/guest/lib.sh" "$root"
	cp "$build/tacho" "$root/bin/tacho"
	cp "$build/libtacho.so.0" "$root/lib"
	"${cross}strip" --strip-debug "$root/bin/tacho" "$root/lib/libtacho.so.0"
	"${cross}gcc" -O1 -g -static -no-pie -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -Wall -Werror \
		-o "$root/bin/work" "$LAB/guest/work.c" || return 1
	"${cross}gcc" -O2 -Wall -Werror -I "$SOURCE/include" -o "$root/bin/meter" "$LAB/guest/meter.c" \
		-Wl,--unresolved-symbols=ignore-in-shared-libs "$root/lib/libtacho.so.0" || return 1
	copy_libraries "$arch" "$root" "$root/bin/tacho" "$root/bin/meter" || return 1
	pack "$root" "$OUT/base-$arch.cpio"
}

# The agent, which brings many libraries along: for the cases that ask for it.
make_agent() {	# ARCH: agent-ARCH.cpio
	local root=$OUT/agent-$1 build=$SOURCE/build
	[ ! -e "$OUT/agent-$1.cpio" ] || return 0
	[ "$1" = amd64 ] || build=$SOURCE/build-arm64
	rm -rf "$root"
	mkdir -p "$root"/{bin,lib}
	cp "$build/tacho-agent" "$root/bin"
	"$(cross_of "$1")strip" --strip-debug "$root/bin/tacho-agent"
	copy_libraries "$1" "$root" "$root/bin/tacho-agent" && pack "$root" "$OUT/agent-$1.cpio"
}

# libdw, which tacho loads when it needs debug information.
make_libdw() {	# ARCH: libdw-ARCH.cpio
	local root=$OUT/libdw-$1 dir
	[ ! -e "$OUT/libdw-$1.cpio" ] || return 0
	rm -rf "$root"
	mkdir -p "$root/lib"
	for dir in $(library_dirs "$1"); do
		[ ! -e "$dir/libdw.so.1" ] || cp -L "$dir/libdw.so.1" "$root/lib"
	done
	[ -e "$root/lib/libdw.so.1" ] || { echo "libdw.so.1 is not installed"; return 77; }
	copy_libraries "$1" "$root" "$root/lib/libdw.so.1" && pack "$root" "$OUT/libdw-$1.cpio"
}

# perf's own tests of probes, from Debian's newest package, and the programs that they need besides busybox. amd64 only.
make_perf_tests() {	# perf-tests.cpio
	local root=$OUT/perf-tests name
	[ ! -e "$OUT/perf-tests.cpio" ] || return 0
	fetch_perf_tests || return 77
	rm -rf "$root"
	mkdir -p "$root"/{bin,lib,usr/bin,perf-bin}
	cp -r "$CACHE/perf-tests" "$root/perf-tests"
	for name in bash perl grep sed readlink cut mktemp; do
		cp -L "$(command -v "$name")" "$root/perf-bin/$name" || return 77
	done
	ln -s /perf-bin/bash "$root/bin/bash"
	ln -s /perf-bin/perl "$root/usr/bin/perl"
	ln -s /bin/tacho "$root/perf-bin/perf"
	copy_libraries amd64 "$root" "$root"/perf-bin/{bash,perl,grep,sed,readlink,cut,mktemp} && pack "$root" "$OUT/perf-tests.cpio"
}

# A case's own part: its script and its modules.
make_overlay() {	# CASE.sh DIR MODULE.ko...: DIR/case.cpio
	local script=$1 dir=$2 root=$2/root
	shift 2
	mkdir -p "$root/modules"
	cp "$script" "$root/case.sh"
	[ $# = 0 ] || cp "$@" "$root/modules"
	pack "$root" "$dir/case.cpio"
	rm -rf "$root"
}
