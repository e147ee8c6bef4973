# What a known program allocates is found, with the function that allocated it, and is freed again.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need python3
[ -e /sys/kernel/tracing/events/kmem/kmalloc ] || skip "this kernel has no tracepoints of the allocators"

# 3000 pipes, each of which is a structure and an array of buffers; and 2000 pages that are touched.
cat >pipes.py <<'P'
import os
for i in range(3000):
    a, b = os.pipe()
    os.close(a)
    os.close(b)
P
tacho kmem record -m 16M -o slab.data python3 pipes.py >rec 2>&1 || fail "$(cat rec)"
tacho kmem --caller --json -i slab.data stat >slab.json
python3 - <<'P'
import json
a = json.load(open('slab.json'))
assert a['schema'] == 'tacho.kmem/1' and 'pages' not in a, a.keys()
s = a['slab']
pipes = [c for c in s['callsites'] if c['callsite'].startswith('alloc_pipe_info')]
if a['lost']:
    raise SystemExit(0)		# the machine is so busy that nothing can be said
assert pipes and all(3000 <= c['count'] < 6000 for c in pipes), pipes
assert all(c['bytes_requested'] <= c['bytes_allocated'] for c in s['callsites'])
for key in 'count', 'bytes_requested', 'bytes_allocated':
    assert s[key] == sum(c[key] for c in s['callsites']), key
assert s['bytes_freed'] >= sum(c['bytes_allocated'] for c in pipes) * 0.9, (s['bytes_freed'], pipes)
P
tacho kmem --page record -m 16M -o page.data "$TEST_BIN/touch-pages" 2000 >rec 2>&1 || fail "$(cat rec)"
tacho kmem --page --caller --json stat -i page.data >page.json
python3 - <<'P'
import json
a = json.load(open('page.json'))
if a['lost']:
    raise SystemExit(0)
p = a['pages']
touched = [c for c in p['callsites'] if c['order'] == 0 and c['callsite'] and 'anonymous' in c['callsite']]
assert sum(c['allocated'] for c in touched) >= 2000, p['callsites'][:5]
assert sum(c['freed'] for c in touched) >= 1900, touched
assert all(c['migrate_type'] == 'MOVABLE' and 'GFP_HIGHUSER_MOVABLE' in c['gfp_flags'] for c in touched), touched
assert p['allocated'] == sum(c['allocated'] for c in p['callsites']) + p['failed']
assert p['freed'] - p['freed_unknown'] == sum(c['freed'] for c in p['callsites'])
assert sum(sum(v for k, v in o.items() if k != 'order') for o in p['by_order']) == p['allocated'] - p['failed']
P
# The text has the same numbers.
tacho kmem --page --caller -i page.data stat >page.txt
# Other programs touch pages meanwhile.
grep -q '^ *[0-9]* | *[1-9][0-9]\{3,\} |     0 |  MOVABLE | HUM|Z|C *| do_anonymous_page$' page.txt || fail "$(head -n 40 page.txt)"
grep -q '^# 00140dca: *HUM|Z|C: GFP_HIGHUSER_MOVABLE|__GFP_ZERO|__GFP_COMP$' page.txt || grep -q '^# [0-9a-f]*: *HUM|Z' page.txt || fail "no list of flags"
# Live pages: those that are not freed, which are all the same sums.
tacho kmem --page --alloc --live --json -i page.data stat >live.json
python3 - <<'P'
import json
p = json.load(open('live.json'))['pages']
assert all(b['allocated'] > b['freed'] for b in p['blocks']), p['blocks'][:3]
assert len(p['blocks']) <= p['allocated'] - (p['freed'] - p['freed_unknown'])
P
# A part of the time has a part of the events; the options of a table apply to that table.
first=$(tacho script -F time -i slab.data | sed -n '1s/[ :]//gp')
tacho kmem --json -i slab.data --time "$first,$first" stat >part.json
grep -q '"count": [0-9],\|"count": [0-9][0-9],' part.json || fail "more than one moment: $(cat part.json)"
tacho kmem --caller -l 2 --alloc -l 3 -i slab.data stat >both.txt
[ "$(grep -c '^ \.\.\. ' both.txt)" = 2 ] && [ "$(grep -c '^ 0x' both.txt)" = 3 ] || fail "$(cat both.txt)"
tacho kmem --caller --raw-ip -l 1 -i slab.data stat | grep -q '^ 0xffff' || fail "no address"
