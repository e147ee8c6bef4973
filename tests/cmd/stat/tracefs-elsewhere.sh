# tracefs is found where it is mounted, even if that is not the usual place: tracepoints are listed, counted, recorded and traced,
# and probes defined. Without it, each command says how to mount it.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need unshare
mkdir "else where"
cat >inside.sh <<'E2'
mount --make-rprivate / && mount -t tracefs none "else where" || exit 77
for usual in /sys/kernel/tracing /sys/kernel/debug/tracing; do
	umount -l $usual 2>/dev/null
	[ ! -e $usual/events ] || exit 77
done
set -e
tacho list 'sched:sched_switch' | grep -q sched_switch
tacho stat -x, -o counts -e sched:sched_process_exit sh -c '(exit 0); :'
grep -q '^[1-9].*sched:sched_process_exit' counts
tacho record -q -e sched:sched_process_exit -o p.data true
tacho script -i p.data -F trace | grep -q 'comm=true'
tacho stat --by comm -e sched:sched_process_exit true 2>by || tacho stat --by comm -e sched:sched_process_exit true >by
grep -q true by
tacho trace -e sched:sched_process_exit -o trace.txt true
grep -q sched_process_exit trace.txt
if [ -w "else where/uprobe_events" ]; then
	tacho probe -l >/dev/null
fi
umount -l "else where"
! tacho stat -e sched:sched_process_exit true 2>err
grep -q 'mount -t tracefs' err
! tacho record -o q.data -e sched:sched_process_exit true 2>err
grep -q 'mount -t tracefs' err
! tacho probe -l 2>err
grep -q 'mount -t tracefs' err
! tacho trace -e sched:sched_process_exit true 2>err
grep -q 'mount -t tracefs' err
! tacho list sched:sched_switch 2>err
grep -q 'tracefs is not mounted' err
E2
status=0
unshare -m sh inside.sh >log 2>&1 || status=$?
[ $status != 77 ] || skip "cannot move tracefs: $(cat log)"
[ $status = 0 ] || fail "$(cat log; cat err by 2>/dev/null)"
