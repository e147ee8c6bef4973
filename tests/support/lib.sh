# Words for command tests: `. "$SUPPORT/lib.sh"`.

# perf 6.1's recorder crashes now and then while another recorder asks the kernel (6.18) for build
# ids in maps: its maps then carry some it did not ask for. Where it does not, its other commands may
# crash on what it wrote. It is given another try, and where it never succeeds there is nothing to
# compare with.
perf() {
	live_perf "$@"
}

live_perf() {
	perf_tries=0
	while :; do
		perf_status=0
		command perf "$@" || perf_status=$?
		[ "${1:-}" = record ] || return $perf_status
		[ $perf_status -ne 0 ] || perf_reads_its "$@" || perf_status=134
		[ $perf_status -ge 128 ] || return $perf_status
		[ $perf_tries -lt 6 ] || skip "perf crashes whenever it records"
		perf_tries=$((perf_tries + 1))
		sleep 0.5
	done
}

perf_reads_its() {	# RECORD'S WORDS: whether perf survives reading the file after -o
	while [ $# -gt 1 ] && [ "$1" != -o ]; do
		shift
	done
	[ -f "${2:-}" ] || return 0
	perf_read=0
	command perf script -F comm -i "$2" >/dev/null 2>&1 || perf_read=$?
	[ $perf_read -lt 128 ]
}

skip() {	# REASON: this machine cannot run the test
	echo "$*"
	exit 77
}

fail() {
	echo "$*" >&2
	exit 1
}

need() {	# COMMAND...
	for need_command in "$@"; do
		command -v "$need_command" >/dev/null || skip "needs the command $need_command"
	done
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# Two new cgroups for this test, $mount/$name and $mount/$name/b, where perf events look for them.
need_cgroups() {
	need_root
	mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	[ -n "$mount" ] || mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$mount" ] || skip "no cgroup hierarchy is mounted"
	name=tacho-test-$$
	mkdir "$mount/$name" "$mount/$name/b" 2>err || skip "may not make a cgroup: $(cat err)"
	trap 'wait_for 20 rmdir "$mount/$name/b"; wait_for 20 rmdir "$mount/$name"' EXIT	# of tasks that just ended
}

need_tracefs() {
	[ -r /sys/kernel/tracing/events/syscalls ] || [ -r /sys/kernel/debug/tracing/events/syscalls ] ||
		skip "needs tracefs with the syscalls events, readable by this user"
}

has_pmu() {
	for pmu in /sys/bus/event_source/devices/cpu /sys/bus/event_source/devices/cpu_* \
		/sys/bus/event_source/devices/arm*; do
		[ ! -e "$pmu" ] || return 0
	done
	return 1
}

csv_value() {	# EVENT FILE: the value field of that event's row of stat -x,
	awk -F, -v event="$1" '$3 == event { print $1; found = 1; exit } END { exit !found }' "$2"
}

within() {	# PERCENT ACTUAL EXPECTED
	awk -v p="$1" -v a="$2" -v e="$3" 'BEGIN {
		off = e == 0 ? (a == 0 ? 0 : 100) : (a - e) / e * 100
		if (off < 0)
			off = -off
		printf "%s, expected %s: %.3f %% off\n", a, e, off
		exit !(off <= p)
	}' || fail "more than $1 % off"
}

status_of() {	# COMMAND...: runs it with its output in ./out and ./err, prints its exit status
	set +e
	"$@" >out 2>err </dev/null
	echo $?
	set -e
}

wait_for() {	# SECONDS COMMAND...: until it succeeds
	wait_left=$(($1 * 10))
	shift
	until "$@" >wait.out 2>&1; do
		wait_left=$((wait_left - 1))
		if [ "$wait_left" -le 0 ]; then
			tail -n 20 wait.out >&2
			[ ! -s agent.err ] || tail -n 20 agent.err >&2
			fail "waited in vain for: $*"
		fi
		sleep 0.1
	done
}

# Whether SIGINT has a handler in a process: a recorder that was just started may not be that far, or still be the shell, which
# has one as well.
heeds() {	# PID
	grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status" && ! grep -qE '^Name:[[:space:]]*(ba|da)?sh$' "/proc/$1/status"
}

is_counting() {	# PID [N]: has a counter open, or N of them
	[ "$(ls -l "/proc/$1/fd" | grep -c perf_event)" -ge "${2:-1}" ]
}

used_ms() {	# PID: the CPU time of a process, of which the kernel tells steps of 10 ms
	awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"
}

has_used() {	# PID MSEC
	[ "$(used_ms "$1")" -ge "$2" ]
}

burns() {	# PID MSEC: waits until the process has used that much more of a CPU
	wait_for 60 has_used "$1" $(($(used_ms "$1") + $2))
}

# A refusal is one message: it names the command, says nothing on stdout, shows no sanitizer's
# or shell's noise, and the process was not killed.
refused() {	# WANTED_STATUS COMMAND...
	refused_wanted=$1
	shift
	refused_status=$(status_of "$@")
	case " $refused_wanted " in
	*" $refused_status "*) ;;
	*) cat err >&2; fail "status $refused_status, expected $refused_wanted: $*" ;;
	esac
	[ ! -s out ] || fail "output on stdout: $*"
	[ "$(grep -c '^tacho[ a-z]*: ' err)" = 1 ] || { cat err >&2; fail "not one message: $*"; }
	head -n 1 err | grep -q '^tacho[ a-z]*: ' || { cat err >&2; fail "noise: $*"; }
	[ "$(wc -l <err)" -le 6 ] || { cat err >&2; fail "too long: $*"; }
}

# Runs as a user who may do nothing special, from a directory that user can enter.
unprivileged() {	# COMMAND...
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		--no-new-privs "$@"
}
