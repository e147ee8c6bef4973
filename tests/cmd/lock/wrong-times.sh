# Events whose times go backwards: a wait or a delay of them counts as 0, not as 500 years.
. "$SUPPORT/lib.sh"
need python3
python3 - <<'P'
import os, struct, sys
sys.path.insert(0, os.environ['SUPPORT'])
from tracepoints import Recording
def write(r, path):
    # Each event is followed by two finished rounds (68), which order only what comes between them.
    rounds = 2 * struct.pack('<IHH', 68, 0, 8)
    r.records = [(i, n, record + rounds) for i, (t, n, record) in enumerate(r.records)]
    r.write(path)
r = Recording()
begin = r.event('lock:contention_begin', [('void *', 'lock_addr'), ('unsigned int', 'flags')])
end = r.event('lock:contention_end', [('void *', 'lock_addr'), ('int', 'ret')])
for t, ev in ((5000000, begin), (4000000, end), (6000000, begin), (8000000, end)):
    r.sample(ev, 0, 7, 7, t, lock_addr=0xffff888000001000, **({'flags': 1} if ev is begin else {'ret': 0}))
write(r, 'lock.data')
r = Recording()
raised = r.event('irq:softirq_raise', [('unsigned int', 'vec')])
entry = r.event('irq:softirq_entry', [('unsigned int', 'vec')])
leave = r.event('irq:softirq_exit', [('unsigned int', 'vec')])
for t, ev in ((5000000, raised), (4000000, entry), (3000000, leave), (6000000, raised), (7000000, entry), (9000000, leave)):
    r.sample(ev, 0, 7, 7, t, vec=1)
write(r, 'kwork.data')
P
small() {	# WORDS...: no number of the JSON is larger than the recording
	tacho "$@" --json >out 2>err || fail "$*: $(cat err)"
	python3 - <<'P' || fail "$* shows times that are too long: $(cat out)"
import json
def walk(v, key=''):
    if isinstance(v, dict):
        for k, x in v.items():
            walk(x, k)
    elif isinstance(v, list):
        for x in v:
            walk(x, key)
    elif key.endswith('_ns') and v is not None:
        assert v <= 9000000, (key, v)
for line in open('out'):
    run = json.loads(line)
    walk(run)
    assert run.get('from_ns', 0) <= run.get('to_ns', 0), run
P
}
small lock contention -l -i lock.data
grep -q '"waits": 2' out || fail "$(cat out)"
small kwork report -S -i kwork.data
small kwork latency -i kwork.data
small kwork timehist -i kwork.data
small kwork top -i kwork.data
