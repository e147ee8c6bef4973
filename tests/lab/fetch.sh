# What the lab downloads, each thing once: kernels with their headers, busybox, and the libraries
# that tacho for arm64 is linked with. All of it is kept below $CACHE; `run --refresh` starts anew.
#
# Every suite gets an apt of its own (lists, an empty status, several architectures), so that the
# machine's is not touched. The archive's addresses are those of the machine's own apt sources.
# shellcheck shell=bash

# An archive's address: that of the suite in the machine's sources.
site_of() {	# SUITE
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' 2>/dev/null |
		awk -v suite="$1" '$1 == suite { print $2; exit }'
}

machine_suite() {
	# shellcheck source=/dev/null
	(. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

write_sources() {	# SUITE DIR: its lines of sources.list; bookworm's kernels come by way of -security
	local archive security key=/usr/share/keyrings/debian-archive-keyring.gpg
	archive=$(site_of "$(machine_suite)")
	security=$(site_of "$(machine_suite)-security")
	[ -n "$archive" ] || { echo "the apt sources name no Debian archive"; return 1; }
	echo "deb [signed-by=$key] $archive $1 main" >"$2/sources.list"
	if [ "$1" = bookworm ] && [ -n "$security" ]; then
		echo "deb [signed-by=$key] $security $1-security main" >>"$2/sources.list"
	fi
}

# A private apt for SUITE; sets APT_CONFIG for the caller.
use_suite() {	# SUITE
	local dir=$CACHE/apt/$1
	export APT_CONFIG=$dir/apt.conf
	# Lists are a day's: packages vanish from the archive.
	[ -z "$(find "$dir/ready" -mtime -1 2>/dev/null)" ] || return 0
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/empty"
	: >"$dir/status"
	(unset APT_CONFIG; write_sources "$1" "$dir") || return 1
	cat >"$dir/apt.conf" <<-EOF
		Dir::Etc::sourcelist "$dir/sources.list"; Dir::Etc::sourceparts "$dir/empty";
		Dir::Etc::preferencesparts "$dir/empty"; Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status"; Dir::Cache "$dir/cache";
		APT::Architecture "amd64"; #clear APT::Architectures;
		APT::Architectures:: "amd64"; APT::Architectures:: "arm64";
		APT::Sandbox::User "root"; Acquire::Languages "none"; Acquire::Retries "3"; APT::Update::Error-Mode "any";
	EOF
	if ! apt-get update >"$dir/log" 2>&1; then
		echo "the packages of $1 cannot be listed: $(grep -m 1 '^[EW]:' "$dir/log")"
		return 1
	fi
	touch "$dir/ready"
}

# The first package that PACKAGE depends on and whose name starts with PREFIX.
depends_on() {	# PACKAGE ARCH PREFIX
	apt-cache show "$1:$2" 2>/dev/null | grep -m 1 '^Depends:' | grep -o "$3[^ ,]*" | head -n 1
}

download() {	# DIR PACKAGE...: into DIR, without what they depend on
	local dir=$1
	shift
	mkdir -p "$dir"
	(cd "$dir" && apt-get download "$@") >"$CACHE/download.log" 2>&1 ||
		{ echo "cannot be fetched: $* ($(grep -m 1 '^E:' "$CACHE/download.log"))"; return 1; }
}

# A kernel by its meta package, which names the current one: versions vanish from the archive.
# From 6.19 on linux-image is empty and the kernel is in linux-binary.
fetch_kernel() {	# SUITE ARCH: kernel/SUITE-ARCH/{vmlinuz,release}
	local dir=$CACHE/kernel/$1-$2 image binary
	[ ! -e "$dir/release" ] || return 0
	use_suite "$1" || return 1
	image=$(depends_on "linux-image-cloud-$2" "$2" linux-image-)
	[ -n "$image" ] || { echo "$1 has no cloud kernel for $2"; return 1; }
	binary=$(depends_on "$image" "$2" linux-binary-)
	rm -rf "$dir"
	download "$dir" "${binary:-$image}:$2" || return 1
	dpkg-deb --fsys-tarfile "$dir"/*.deb | tar -x -O --wildcards '*/vmlinuz*' >"$dir/vmlinuz"
	[ -s "$dir/vmlinuz" ] || { echo "no vmlinuz in ${binary:-$image}"; return 1; }
	rm -f "$dir"/*.deb
	echo "${image#linux-image-}" >"$dir/release"
}

# Its headers, for modules; the makefile names /usr/src, and this is elsewhere. The archive has
# those of the current kernel alone.
fetch_headers() {	# SUITE ARCH: kernel/SUITE-ARCH/headers
	local dir=$CACHE/kernel/$1-$2 headers common kbuild deb current
	[ ! -e "$dir/headers/ready" ] || return 0
	use_suite "$1" || return 1
	current=$(depends_on "linux-image-cloud-$2" "$2" linux-image-)
	[ "linux-image-$(cat "$dir/release" 2>/dev/null)" = "$current" ] || rm -rf "$dir"
	fetch_kernel "$1" "$2" || return 1
	headers=linux-headers-$(cat "$dir/release")
	common=$(depends_on "$headers" "$2" linux-headers-)
	kbuild=$(depends_on "$headers" "$2" linux-kbuild-)
	rm -rf "$dir/headers" "$dir/deb"
	download "$dir/deb" "$headers:$2" "$common" "$kbuild:amd64" || return 1
	mkdir "$dir/headers"
	for deb in "$dir"/deb/*.deb; do
		dpkg-deb -x "$deb" "$dir/headers"
	done
	rm -rf "$dir/deb"
	sed -i "s#\([ =]\)/usr/src#\1$dir/headers/usr/src#" "$dir/headers/usr/src/$headers/Makefile"
	ln -s "usr/src/$headers" "$dir/headers/build"
	touch "$dir/headers/ready"
}

# A link to /lib of that machine would lead to this one's.
relative_links() {	# DIR
	local link
	find "$1" -type l -lname '/*' | while read -r link; do
		ln -sfrn "$1$(readlink "$link")" "$link"
	done
}

# Packages with all they depend on, unpacked into one tree.
fetch_tree() {	# SUITE DIR PACKAGE...
	local suite=$1 dir=$2 archives=$CACHE/apt/$1/cache/archives deb
	shift 2
	[ "$(cat "$dir/ready" 2>/dev/null)" != "$*" ] || return 0
	use_suite "$suite" || return 1
	rm -rf "$dir" "$archives"/*.deb
	mkdir -p "$dir"
	apt-get -y --no-install-recommends --download-only install "$@" >"$CACHE/download.log" 2>&1 ||
		{ echo "cannot be fetched: $* ($(grep -m 1 '^E:' "$CACHE/download.log"))"; return 1; }
	for deb in "$archives"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -f "$archives"/*.deb
	relative_links "$dir"
	echo "$*" >"$dir/ready"
}

# The libraries of tacho for arm64, without libsnmp, which brings half of Perl along: this agent is
# built without that exporter, and says so to who asks for it.
fetch_sysroot() {
	fetch_tree bookworm "$CACHE/sysroot-arm64" libc6-dev:arm64 linux-libc-dev:arm64 zlib1g-dev:arm64 \
		libzstd-dev:arm64 liblzma-dev:arm64 libiberty-dev:arm64 libsqlite3-dev:arm64 \
		libmicrohttpd-dev:arm64 libcurl4-openssl-dev:arm64 libseccomp-dev:arm64
}

fetch_busybox() {	# ARCH
	[ ! -e "$CACHE/busybox-$1" ] || return 0
	use_suite bookworm || return 1
	rm -rf "$CACHE/busybox"
	download "$CACHE/busybox" "busybox-static:$1" || return 1
	dpkg-deb --fsys-tarfile "$CACHE"/busybox/*.deb | tar -x -O ./bin/busybox >"$CACHE/busybox-$1"
	chmod +x "$CACHE/busybox-$1"
	rm -rf "$CACHE/busybox"
}

# The shell tests that come with perf: perf-tests/{base_probe,common,lib}.
fetch_perf_tests() {
	local dir=$CACHE/perf-tests
	[ ! -e "$dir/ready" ] || return 0
	use_suite sid || return 1
	rm -rf "$dir" "$CACHE/perf-deb"
	download "$CACHE/perf-deb" linux-perf:amd64 || return 1
	mkdir -p "$dir"
	dpkg-deb --fsys-tarfile "$CACHE"/perf-deb/*.deb |
		tar -x -C "$dir" --wildcards --transform 's#.*/tests/shell/##' '*/tests/shell/*probe*' '*/tests/shell/common/*' '*/tests/shell/lib/*'
	rm -rf "$CACHE/perf-deb"
	[ -e "$dir/base_probe/test_basic.sh" ] || { echo "linux-perf has no tests of probes"; return 1; }
	touch "$dir/ready"
}
