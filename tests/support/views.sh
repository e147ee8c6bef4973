# Words for tests of `tacho snoop`: `. "$SUPPORT/views.sh"`.

WORK="$TEST_BIN/view-work"

need_views() {
	need_root
	need_tracefs
	need python3
	tacho snoop exec --json -- true >probe.json 2>probe.err || { cat probe.err >&2; fail "snoop does not run"; }
	ways="--no-bpf"
	! grep -q '"in_kernel": true' probe.json || ways="--bpf --no-bpf"
	[ "$ways" != --no-bpf ] || grep -q '"why_samples": "' probe.json || fail "no reason: $(cat probe.json)"
	idle_is_sampled && return
	ways=${ways#--no-bpf}
	ways=${ways% --no-bpf}
	[ -n "$ways" ] || skip "the kernel has lost the events of an idle task for good: perf sees no switches from it either"
	echo "without --no-bpf: the kernel has lost the events of an idle task for good" >&2
}

# Whether perf gets the switches from the idle task of each CPU to a program. A task whose recursion counter the kernel has
# forgotten to decrement has no software events and tracepoints any more, until it ends.
idle_is_sampled() {
	command -v perf >/dev/null || return 0
	for idle_cpu in $(seq 0 $(($(nproc) - 1))); do
		perf record -q -a -e sched:sched_switch -o idle.data -- taskset -c "$idle_cpu" "$WORK" functions 20 >idle.out 2>&1 || return 0
		[ "$(perf script -i idle.data 2>/dev/null | grep -c 'next_comm=view-work')" -ge 5 ] || return 1
	done
}

# The rows of a view as JSON, in rows.json; what the command printed in out. --bpf is the default where it works.
view() {	# WAY VIEW ARG...
	view_way=$1
	shift
	[ "$view_way" = --no-bpf ] && set -- --no-bpf "$@"
	tacho snoop --json -o rows.json "$@" >out 2>err || { cat err >&2; fail "snoop $* ($view_way) fails"; }
	[ ! -s err ] || { cat err >&2; fail "snoop $* ($view_way) reports something"; }
	case $view_way in
	--bpf) grep -q '"in_kernel": true' rows.json || fail "snoop $* does not run in the kernel" ;;
	*) grep -q '"in_kernel": false' rows.json || fail "snoop $* ignores --no-bpf" ;;
	esac
}

# Rows for which a python expression is true: its names are the keys of the row, and `row`.
rows() {	# EXPRESSION [VALUE]: prints VALUE of each, or their number
	python3 -c '
import json, sys
found = []
for line in open("rows.json"):
    row = json.loads(line)
    if "schema" not in row and eval("(" + sys.argv[1] + ")", {}, dict(row, row=row)):
        found.append(row)
if len(sys.argv) > 2:
    for row in found:
        print(eval(sys.argv[2], {}, dict(row, row=row)))
else:
    print(len(found))
' "$@"
}

is() {	# WHAT ACTUAL EXPECTED
	[ "$2" = "$3" ] || { head -n 40 rows.json >&2 2>/dev/null || true; fail "$way: $1: $2, expected $3"; }
}

at_least() {	# WHAT ACTUAL LEAST [MOST]
	[ "$2" -ge "$3" ] && [ "$2" -le "${4:-$2}" ] || { head -n 40 rows.json >&2 2>/dev/null || true; fail "$way: $1: $2, expected $3 to ${4:-}"; }
}
