# The field metric: what stat's metrics are for each sample of a group.
. "$SUPPORT/lib.sh"
need python3
tacho record -q -c 1000000 -e '{task-clock,page-faults,context-switches}:S' -o a.data sh -c \
	'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; ls / >/dev/null; i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' \
	2>err || skip "cannot record: $(head -n 1 err)"
tacho script -i a.data -F comm,tid,time,event,period,metric >out 2>err || { cat err; fail "script"; }
[ ! -s err ] || { cat err; fail "a message"; }
grep -q 'metric: .* faults/sec  page_faults_per_second$' out || { head out; fail "no metric"; }
python3 - <<'P'
import re
counts, n = {}, 0
for line in open('out'):
	if 'metric:' in line:
		assert counts, line
		value, name = float(line.split('metric:')[1].split()[0]), line.split()[-1]
		if name != 'page_faults_per_second':
			continue
		expected = counts.get('page-faults', 0) * 1e9 / counts['task-clock']
		assert abs(value - expected) <= 0.06, (line, counts)
		n += 1
		counts = {}
	else:
		period, event = re.search(r':\s+(\d+)\s+([\w-]+): *$', line).groups()
		if event == 'task-clock':
			counts = {}
		counts[event] = int(period)
assert n > 10, n
P
# Options that leave samples out leave their metrics out.
[ -z "$(tacho script -i a.data -F +metric --tid 1)" ] || fail "metrics of samples that are not shown"
# Without groups there are none.
tacho record -q -e cpu-clock -o b.data true
tacho script -i b.data -F +metric 2>err >out || fail "without groups"
grep -q "the field 'metric' is empty: .*{A,B}:S" err || { cat err; fail "no note"; }
! grep metric: out || fail "a metric of no group"
