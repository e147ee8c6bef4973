# Summaries that BPF programs count in the kernel have the same calls and errors as those counted from events, by thread, cgroup and
# in total, also of thousands of threads whose IDs are used again.
. "$SUPPORT/lib.sh"
need_root
need python3
cat >work.py <<'PY'
import os, threading
def work():
    for i in range(50):
        try: os.close(1000)
        except OSError: pass
ts = [threading.Thread(target=work) for i in range(4)]
[t.start() for t in ts]
[t.join() for t in ts]
for i in range(20):
    if os.fork() == 0: os._exit(0)
    os.wait()
PY
tacho trace -e close -o got true 2>err || skip "may not trace: $(tail -n 1 err)"
! grep -q 'strings are not shown' err || skip "BPF programs cannot be loaded"
cat >check.py <<'PY'
import re, sys
def table(path):	# call -> [calls, errors] over all threads; number of threads
	rows, n = {}, 0
	for line in open(path):
		m = re.match(r"   (\w+) +(\d+) +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+%$", line)
		n += bool(re.match(r" \S+ \(\d+\), \d+ events", line))
		if m:
			r = rows.setdefault(m[1], [0, 0])
			r[0] += int(m[2]); r[1] += int(m[3])
	return rows, n
(a, na), (b, nb) = table(sys.argv[1]), table(sys.argv[2])
steady = ("close", "clone", "clone3", "wait4", "execve", "openat", "rt_sigaction", "getdents64")	# futex, mmap depend on scheduling
assert na == nb, (na, nb)
for call in steady:
	assert a.get(call) == b.get(call), (call, a.get(call), b.get(call))
assert a["close"][1] >= 200 and a["execve"][0] == 1, a
PY
python3 work.py
for mode in thread cgroup total; do
	tacho trace -s --summary-mode $mode -o kernel python3 work.py
	tacho trace -S --summary-mode $mode -o all python3 work.py
	sed -n '/Summary of events/,$p' all >events
	python3 check.py kernel events || fail "$mode: $(diff kernel events)"
done
tacho trace -s --errno-summary --summary-mode total -o got python3 work.py
grep -qE '^	+EBADF: 2[0-9][0-9]$' got || fail "errors: $(cat got)"
tacho trace -c -o got python3 work.py
grep -qE '^ *[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9]+ +2[0-9][0-9] close$' got || fail "-c: $(cat got)"
tacho trace --json -s --errno-summary -o got python3 work.py
python3 - <<'PY' || fail "--json -s: $(cat got)"
import json
rows = [json.loads(line) for line in open("got")]
assert all(r["schema"] == "tacho.trace-summary/1" and r["of"] == "thread" and r["comm"] for r in rows), rows
calls = [c for r in rows for c in r["calls"] if c["name"] == "close"]
assert sum(c["errors"] for c in calls) >= 200 and any(c["errnos"].get("EBADF", 0) >= 50 for c in calls), calls
assert all(c["min_ns"] <= c["mean_ns"] <= c["max_ns"] and c["total_ns"] >= c["max_ns"] for c in calls)
PY
# No event of a call reaches the command: a ring buffer of one page is enough.
tacho trace -s -m 1 -o got dd if=/dev/zero of=/dev/null bs=1 count=50000 2>err
! grep -q lost err || fail "$(cat err)"
[ "$(awk '$1 == "read" { print $2 }' got)" -ge 50000 ] || fail "-m 1: $(cat got)"
