# Damaged recordings, and one with call chains but without idle time.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
need xz
xz -dc "$TEST_DATA/recordings/sched/export/sched.data.xz" >sched.data
tacho sched timehist -I -s --time ,1 -i sched.data >out 2>err && ! grep -v "^tacho" err || fail "$(cat err)"
survives 25 sched.data sched latency -p --percentiles
survives 25 sched.data sched timehist -V -w -M -n --state -P --show-prio --with-summary
survives 25 sched.data sched timehist -I -s
survives 25 sched.data sched map
for format in perfetto ftrace chrome; do
	survives 15 sched.data sched export -f $format
done
