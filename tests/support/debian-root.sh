# Debian in a directory, for tests that install. Sourced; needs root, debootstrap and unshare.

# Prints why such a root cannot be made here; nothing if it can.
no_debian_root() {
	[ "$(id -u)" = 0 ] || { echo "needs root for chroot"; return; }
	command -v debootstrap >/dev/null || { echo "needs debootstrap"; return; }
	command -v unshare >/dev/null || { echo "needs unshare"; return; }
	unshare --mount true 2>/dev/null || echo "may not create a mount namespace"
}

# Where this machine gets its own packages from.
debian_mirror() {
	local found
	found=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb  *\(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list \
		/etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
		awk '/debian\/*$/ && !n++') || true
	echo "${found:-http://deb.debian.org/debian}"
}

# Mounts end with the command's mount namespace.
in_debian_root() {	# DIR COMMAND...: runs it in the root, with the kernel's file systems
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
		unshare --mount sh -ec 'root=$1; shift
			mount -t proc proc "$root/proc"
			mount --rbind /sys "$root/sys"
			mount --rbind /dev "$root/dev"
			exec chroot "$root" "$@"' sh "$@"
}

# Without dpkg-dev, which a bare Debian does not have: meson then does not know the directory of libraries.
bootstrap_debian_root() {	# DIR PACKAGE...
	local dir=$1
	shift
	debootstrap --variant=minbase bookworm "$dir" "$(debian_mirror)" || { echo "debootstrap cannot fetch Debian"; return 77; }
	cp /etc/resolv.conf "$dir/etc/"
	echo force-unsafe-io >"$dir/etc/dpkg/dpkg.cfg.d/unsafe-io"
	in_debian_root "$dir" sh -c "apt-get update -qq && apt-get install -y -qq --no-install-recommends $*" ||
		{ echo "packages cannot be installed in the root"; return 77; }
	rm -rf "$dir"/var/cache/apt/archives/*.deb
}

# A fresh copy of a root with these packages, from CACHE if it was made before. Status 77: it cannot be made here.
debian_root() {		# CACHE DIR LOG PACKAGE...
	local cache=$1 dir=$2 log=$3 cached
	shift 3
	cached=$cache/bookworm-$(printf '%s\n' "$@" | md5sum | cut -c 1-12).tar
	mkdir -p "$cache" "$dir"
	if [ -e "$cached" ]; then
		tar -C "$dir" -xf "$cached"
		cp /etc/resolv.conf "$dir/etc/"
		return
	fi
	bootstrap_debian_root "$dir" "$@" >"$log" 2>&1 || { tail -n 3 "$log"; return 77; }
	rm -f "$cache"/*.tar "$cache"/*.part
	tar -C "$dir" -cf "$cached.part" .
	mv "$cached.part" "$cached"
}

# The source tree as a clone would have it, with uncommitted changes.
copy_source_tree() {	# TOP DIR
	mkdir -p "$2"
	(cd "$1" && git ls-files -z --cached --others --exclude-standard | xargs -0 -r ls -d 2>/dev/null | tar -cf - -T -) |
		tar -C "$2" -xf -
}
