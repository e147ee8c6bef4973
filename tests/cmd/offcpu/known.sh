# run: plain alone
# Alone: without BPF the kernel loses events of ending tasks, such as the switch to the next one, so that a loaded machine counts less.
# How long a program is blocked, by stack, and who wakes it, in the kernel and on samples.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
blocked_ms() {	# FUNCTION FILE: in stacks with that function
	awk -v f="$1" 'index($0, f) { n += $NF } END { printf "%.0f\n", n / 1000000 }' "$2"
}
for way in $ways; do
	no=${way#--bpf}
	tacho offcpu $no -f folded -- "$WORK" functions 100 >folded 2>err || { cat err >&2; fail "$way fails"; }
	[ ! -s err ] || fail "$way: $(cat err)"
	# A hundred times a millisecond, and what the machine adds.
	at_least "ms in work_functions" "$(blocked_ms ';work_functions;' folded)" 105 500
	# usleep() has no frame pointer, which hides its caller.
	at_least "ms in factorial" "$(blocked_ms ';factorial;' folded)" 4 60
	grep -q '^view-work;.*work_functions;factorial;factorial;factorial;factorial;.*schedule' folded || fail "$way: $(cat folded)"

	tacho offcpu $no --min 50 -f folded -- sh -c 'sleep 0.1; "$0" functions 3' "$WORK" >folded
	at_least "ms of sleep" "$(blocked_ms 'sleep;' folded)" 100 400
	! grep -q '^view-work' folded || fail "$way: --min: $(cat folded)"

	tacho offcpu $no -- "$WORK" functions 5 >stacks
	grep -qE '^    -                view-work \([0-9]+\)$' stacks && grep -qE '^        [0-9.]+ us in [0-9]+$' stacks || fail "$way: $(cat stacks)"

	tacho offcpu $no --wakers -f folded -- "$WORK" pingpong 200 >folded
	grep -v '^[0-9]*$' folded >stacks
	at_least "woken by the other process" "$(grep -c '^view-work;.*;__schedule;.*pipe.*;waker view-work [0-9]*$' stacks)" 1
	tacho offcpu $no --wakers -o wakers.svg -- "$WORK" pingpong 200 >out
	python3 -c 'import xml.dom.minidom; assert "waker view-work" in xml.dom.minidom.parse("wakers.svg").toxml()'
done
refused 129 tacho offcpu --min -1 1
HOME=/ refused 1 unprivileged "$BUILD/tacho" offcpu 1
grep -q 'CAP_PERFMON' err || fail "$(cat err)"
