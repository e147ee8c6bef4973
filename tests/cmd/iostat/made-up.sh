# Known requests: sums, latencies and kinds by device; damaged recordings and wrong options.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
need python3
python3 - <<'P'
import os
import sys
sys.path.insert(0, os.environ['SUPPORT'])
from tracepoints import Recording
r = Recording(cpus=2)
common = [('dev_t', 'dev'), ('sector_t', 'sector'), ('unsigned int', 'nr_sector')]
issue = r.event('block:block_rq_issue', common + [('unsigned int', 'bytes'), ('char[10]', 'rwbs'), ('char[16]', 'comm')])
done = r.event('block:block_rq_complete', common + [('int', 'error'), ('char[10]', 'rwbs')])
on = dict(cpu=0, pid=5, tid=5)
def request(dev, sector, n, rwbs, start, end):
    if start:
        r.sample(issue, time=start, dev=dev, sector=sector, nr_sector=n, bytes=512 * n, rwbs=rwbs, comm='x', **on)
    r.sample(done, time=end, dev=dev, sector=sector, nr_sector=n, error=0, rwbs=rwbs, **on)
sda, nvme = 8 << 20, 259 << 20 | 3
for i in range(100):
    request(sda, 1000 + 8 * i, 8, 'WS', 1000000 + 10000 * i, 1000000 + 10000 * i + 1000 * (i + 1))	# 1 to 100 us
request(nvme, 5, 16, 'RA', 3000000, 3250000)
request(nvme, 5, 16, 'R', 4000000, 4050000)		# the same sectors again
request(nvme, 9, 16, 'R', 0, 4060000)			# its issue was not recorded
request(nvme, 100, 2048, 'DS', 5000000, 5000500)
r.write('made.data')
P
tacho iostat -i made.data --json >json
python3 - <<'P'
import json
a = json.load(open('json'))
assert a['schema'] == 'tacho.iostat/1' and a['lost'] == 0
rows = {(r['device'], r['op']): r for r in a['rows']}
w, r, d = rows[('8,0', 'write')], rows[('259,3', 'read')], rows[('259,3', 'discard')]
assert len(rows) == 3 and [w['requests'], w['bytes'], w['sum_ns'], w['max_ns'], w['unknown']] == [100, 100 * 4096, 5050000, 100000, 0], w
assert all(v <= w['percentiles_ns'][k] <= v * 65 // 64 for k, v in (('p50', 50000), ('p90', 90000), ('p99', 99000))), w
assert [r['requests'], r['bytes'], r['sum_ns'], r['max_ns'], r['unknown']] == [2, 16384, 300000, 250000, 1], r
assert [d['requests'], d['bytes'], d['sum_ns']] == [1, 1 << 20, 500], d
P
tacho iostat -i made.data | grep -q '^8,0         write            100          400       5[01] ' || fail "$(tacho iostat -i made.data)"
tacho iostat -i made.data --time 0.003,0.0035 --json | grep -q '"requests": 1, "bytes": 8192' || fail "--time"
survives 100 made.data iostat --json
refused 129 tacho iostat report
refused 1 tacho iostat -i no-such-file
tacho iostat -i - <made.data >pipe.txt
tacho iostat -i made.data >file.txt
cmp pipe.txt file.txt
