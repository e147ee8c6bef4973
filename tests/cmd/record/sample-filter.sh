# --filter for events without fields: a BPF program drops the samples that do not match. --setup-filter makes it available to
# users who may not load one.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need python3

# What cannot be a filter is refused where it is wrong, without root.
refused 129 tacho record -e cpu-clock --filter 'perod > 1' -o no true
grep -q "did you mean 'period'?" err || fail "$(cat err)"
refused 1 tacho record -e cpu-clock --filter 'cpu > 0' -o no true
grep -q 'PERF_SAMPLE_CPU' err && grep -q 'add --sample-cpu' err || fail "$(cat err)"
refused 129 tacho record --filter 'ip > 0' -o no true
refused 129 tacho record --setup-filter later
[ ! -e no ] || fail "a file of a refused recording"

need_root
tacho record -q -e cpu-clock --filter 'period > 0' -o all.data -- sh -c "$LOOP" 2>err || skip "$(head -n 1 err)"
[ "$(tacho script -i all.data | wc -l)" -gt 0 ] || fail "a filter that all samples match drops them"

filtered() {	# FILTER EXPRESSION OPTION...: all samples match the Python expression
	filter=$1
	expression=$2
	shift 2
	tacho record -q -o f.data "$@" --filter "$filter" -- sh -c "$LOOP; ls / >/dev/null" 2>err || { cat err; fail "$filter"; }
	tacho script -i f.data -G -F pid,tid,cpu,time,event,ip,period >f.txt 2>/dev/null || tacho script -i f.data -G -F pid,tid,time,event,ip,period >f.txt
	python3 - "$expression" "${least:-1}" <<-'P'
	import re, sys
	n = 0
	for line in open("f.txt"):
	    m = re.match(r"\s*(\d+)/(\d+)\s+(?:\[(\d+)\] +)?([\d.]+):\s+(\d+)\s+(\S+):\s+([0-9a-f]+)", line)
	    pid, tid, cpu, period, event, ip = int(m[1]), int(m[2]), int(m[3] or 0), int(m[5]), m[6], int(m[7], 16)
	    if not eval(sys.argv[1]):
	        sys.exit("does not match: " + line)
	    n += 1
	if n < int(sys.argv[2]):
	    sys.exit(f"only {n} samples")
	P
	[ $? = 0 ] || fail "$filter"
}
user='ip < 2**63'
least=20 filtered 'ip < 0x8000000000000000' "$user" -e cpu-clock -F 5000
least=0 filtered 'ip >= 0x8000000000000000' "ip >= 2**63" -e cpu-clock -F 5000
filtered 'cpu == 1' 'cpu == 1' -a -e cpu-clock -F 2000
least=0 filtered 'period > 300000, ip < 0x8000000000000000' "period > 300000 and $user" -e cpu-clock -F 5000
filtered 'ip & 1 || ip & 2' 'ip & 3' -e cpu-clock -F 5000
least=0 filtered 'pid == 1' 'False' -e cpu-clock
# Each event has its own filter; the samples of children are filtered as well.
tacho record -q -e cpu-clock -F 5000 --filter 'ip < 0x8000000000000000' -e page-faults --filter 'period > 1000000' -o two.data \
	-- sh -c "(sh -c '$LOOP')" 2>err || { cat err; fail "two events"; }
tacho script -i two.data -F event,ip >two.txt
! grep page-faults two.txt || fail "the filter of the second event"
grep -q cpu-clock two.txt && ! grep 'cpu-clock: *ffff' two.txt || fail "the filter of the first event"
# A cgroup by its path.
tacho record -q -a -e cpu-clock --all-cgroups --filter 'cgroup == /' -o root.data sleep 0.2 2>err || { cat err; fail "cgroup"; }
! tacho script -i root.data -F cgroup | grep -v '^ */ *$' || fail "samples of other cgroups"

# Another user: without a pinned program there is none; the private mount hides it from others.
need unshare setpriv mount
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip "users may not sample here"
cat >private.sh <<'S'
mount -t bpf bpf /sys/fs/bpf || exit 77
chmod 711 /sys/fs/bpf
user() { HOME=/nonexistent setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
chmod 777 .
! user "$TACHO" record -q -e cpu-clock:u --filter 'period < 5' -o u.data true 2>err || exit 77	# it may load programs
grep -q "let root run 'tacho record --setup-filter pin'" err || { cat err; exit 1; }
"$TACHO" record --setup-filter pin || exit 2
! "$TACHO" record --setup-filter pin 2>err && grep -q 'pinned already' err || exit 3
user "$TACHO" record -q -e cpu-clock:u --filter 'ip & 1' -o u.data sh -c "$1" || exit 4
user "$TACHO" script -i u.data -F ip >u.txt
[ -s u.txt ] && ! grep -v '[13579bdf]$' u.txt || exit 5
! user "$TACHO" record --setup-filter unpin 2>err && grep -q 'only root can' err || exit 6
"$TACHO" record --setup-filter unpin || exit 7
! "$TACHO" record --setup-filter unpin 2>err && grep -q 'no filter is pinned' err || exit 8
[ ! -e /sys/fs/bpf/tacho_filter ] || exit 9
chmod 700 /sys/fs/bpf
"$TACHO" record --setup-filter pin 2>err && grep -q 'chmod o+x /sys/fs/bpf' err || exit 10
S
[ -x "$TACHO" ] && setpriv --reuid=65534 --clear-groups test -x "$TACHO" || skip "other users cannot run $TACHO"
status=0
unshare -m sh private.sh "$LOOP" || status=$?
[ $status != 77 ] || skip "there is no private BPF file system, or every user may load programs"
[ $status = 0 ] || fail "step $status of another user"
