# Words for command tests: `. "$SUPPORT/lib.sh"`.

# perf 6.1's recorder crashes now and then while another recorder asks the kernel (6.18) for build
# ids in maps: its maps then carry some it did not ask for. Where it does not, its other commands may
# crash on what it wrote. It is given another try.
perf() {
	perf_tries=0
	while :; do
		perf_status=0
		command perf "$@" || perf_status=$?
		[ "${1:-}" = record ] || return $perf_status
		[ $perf_status -ne 0 ] || perf_reads_its "$@" || perf_status=134
		[ $perf_status -ge 128 ] && [ $perf_tries -lt 6 ] || return $perf_status
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
