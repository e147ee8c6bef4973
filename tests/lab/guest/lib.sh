# What the scripts of cases use. They run with -eu in the guest; what they print is compared with
# the lines beside them, and what they leave in /out is carried to the host.

# near WHAT VALUE WANTED PERCENT: prints that it is so, or by how much it is not.
near() {
	awk -v what="$1" -v v="$2" -v w="$3" -v p="$4" 'BEGIN {
		off = (v - w) / w * 100; far = off < 0 ? -off : off
		if (v + 0 == v && far <= p) printf "%s: within %s %%\n", what, p
		else printf "%s: %s is %.3f %% away from %s, not within %s %%\n", what, v, off, w, p }'
}

# steadily COMMAND...: what it prints, with `near`, once all of that is so: in one of three tries. For
# guests that are not exact: each counter reads the clock for itself, and the host may stop between two.
steadily() {
	local try
	for try in 1 2 3; do
		"$@" >/tmp/tried
		grep -q ', not within ' /tmp/tried || break
	done
	cat /tmp/tried
}

# counts COMMAND...: of `tacho stat -x,` to the file /tmp/counts; what it says goes to stderr.
counts() {
	tacho stat -x, -o /tmp/counts "$@"
}

# field EVENT [N]: the Nth field of an event's row, its count by default.
field() {
	awk -F, -v name="$1" -v n="${2:-1}" '$3 == name { print $n; exit }' /tmp/counts
}

note() {
	echo "$*" >&2
}

load() {	# MODULE [PARAMETER...]
	local module=$1
	shift
	insmod "/modules/$module.ko" "$@"
}
