# The functions that wait for locks, on this machine: without those that implement locks, and with --stack-skip as perf has them.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need python3
[ -e /sys/kernel/tracing/events/lock/contention_begin ] || skip "this kernel has no tracepoints of contention"
cat >fight.py <<'P'
import os
r, w = os.pipe()
for i in range(4):
    if os.fork() == 0:
        for j in range(5000):
            os.write(w, b'x' * 64)
        os._exit(0)
os.close(w)
while os.read(r, 4096):
    pass
P
tacho lock record -q -o lock.data python3 fight.py || fail "cannot record"
tacho lock contention -i lock.data -Y mutex --json >json
python3 - <<'P' || fail "$(head -c 2000 json)"
import json
rows = json.load(open('json'))['rows']
pipe = [r for r in rows if r['caller'] and 'pipe_' in r['caller']]
if not pipe:
    raise SystemExit('no contention' if rows else 0)
for r in rows:
    names = [c.split('+')[0] for c in r['chain'][:1]]
    assert not any(n.startswith(('mutex_lock', '__mutex', '_raw_spin', 'schedule', '__schedule')) for n in names), r
assert sum(r['contended'] for r in pipe) * 2 > sum(r['contended'] for r in rows), rows[:4]
P
# A part of a name selects call chains; all frames are shown with -v.
tacho lock contention -i lock.data -S pipe_write -v -q 2>write.txt
if [ -s write.txt ]; then
	grep -q '0xffff.*pipe_write+0x' write.txt || fail "$(head -n 20 write.txt)"
fi
tacho lock contention -i lock.data -S no_such_function -q 2>none
[ ! -s none ] || fail "$(cat none)"
perf=$("$SUPPORT/newest-perf" 2>err) || { echo "not compared: ${perf:-$(cat err)}"; exit 0; }
# perf leaves out a wait whose end has another call chain than its beginning.
"$perf" lock contention -i lock.data -x ';' 2>perf.csv </dev/null
tacho lock contention -i lock.data -x ';' --stack-skip=4 2>tacho.csv
grep -v '^#' perf.csv | cut -d';' -f1,5- | sort >perf.rows
grep -v '^#' tacho.csv | cut -d';' -f1,5- | sort >tacho.rows
same=$(comm -12 perf.rows tacho.rows | wc -l)
[ "$((same * 10))" -ge "$(($(wc -l <perf.rows) * 8))" ] || fail "only $same rows are the same: $(comm -23 perf.rows tacho.rows | head -n 5)"
