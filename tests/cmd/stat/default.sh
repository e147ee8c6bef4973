# Without -e: software events with their metrics. Events that this machine lacks have no rows, and are
# listed once, with the reason, below.
. "$SUPPORT/lib.sh"
tacho stat true 2>text
cat text
for metric in CPUs_utilized cs_per_second migrations_per_second page_faults_per_second; do
	[ "$(grep -c " # .*  $metric\$" text)" = 1 ] || fail "no $metric"
done
if has_pmu; then
	grep -q ' instructions' text || fail "no instructions"
else
	! grep -q '<not supported>' text || fail "unsupported rows are shown"
	[ "$(grep -c 'cycles, instructions, branches, branch-misses: ' text)" = 1 ] ||
		fail "the reason is not given once"
	tacho stat -v true 2>text
	grep -q '<not supported> *cycles' text || fail "-v does not show them"
fi
tacho stat -d -a -x, sleep 0.01 2>rows
grep -q ',cpu-clock,' rows || fail "a machine's time is cpu-clock"
