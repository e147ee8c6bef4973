# Damaged recordings; output that cannot be written, with the reason.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
need_root
need_tracefs
tacho kwork -k irq,softirq,workqueue,sched record -o kwork.data -- sh -c 'cat /etc/* >/dev/null 2>&1; sleep 0.1' >rec 2>&1 || skip "$(cat rec)"
survives 25 kwork.data kwork report -S
survives 25 kwork.data kwork latency
survives 25 kwork.data kwork timehist
survives 25 kwork.data kwork top
[ -c /dev/full ] || exit 0
status=0
tacho kwork timehist -i kwork.data >/dev/full 2>err || status=$?
[ $status = 1 ] && grep -q 'No space left on device' err || fail "status $status: $(cat err)"
