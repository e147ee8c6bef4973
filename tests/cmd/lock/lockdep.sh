# Recordings of kernels with lockdep: classes of locks, readers, and events in an impossible order.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
need python3
cat >make.py <<'P'
import os
import random
import sys
sys.path.insert(0, os.environ['SUPPORT'])
from tracepoints import Recording

r = Recording(cpus=2)
fields = [('unsigned int', 'flags'), ('__data_loc char[]', 'name'), ('void *', 'lockdep_addr')]
acquire = r.event('lock:lock_acquire', fields)
acquired, contended, release = (r.event('lock:' + n, fields[1:]) for n in ('lock_acquired', 'lock_contended', 'lock_release'))
locks = [(0xffff888000001000 + 0x40 * i, ('&rq->__lock', 'tasklist_lock', '&mm->mmap_lock', 'a_lock_with_a_long_name')[i % 4]) for i in range(8)]
rng = random.Random(4)
tids = [11, 12, 13]
for tid in tids:
    r.comm(10, tid, f'thread{tid}', 500)
time = 1000
for i in range(400):
    tid, (address, name) = rng.choice(tids), rng.choice(locks)
    who = dict(cpu=tid % 2, pid=10, tid=tid)
    lock = dict(lockdep_addr=address, name=name)
    kind = rng.randrange(10)
    time += rng.randrange(100, 5000)
    if kind == 0:			# tried, or read: acquired at once, twice by the same thread
        flags = rng.choice([1, 2])
        r.sample(acquire, time=time, flags=flags, **who, **lock)
        if flags == 2:
            r.sample(acquire, time=time + 10, flags=2, **who, **lock)
            r.sample(release, time=time + 20, **who, **lock)
        r.sample(release, time=time + 30, **who, **lock)
    elif kind == 1 and i > 200:		# the release was lost
        r.sample(acquire, time=time, flags=0, **who, **lock)
        r.sample(acquired, time=time + 5, **who, **lock)
        r.sample(acquire, time=time + 50, flags=0, **who, **lock)
        r.sample(release, time=time + 60, **who, **lock)
    else:
        r.sample(acquire, time=time, flags=0, **who, **lock)
        if kind < 6:
            wait = rng.randrange(50, 2000000)
            r.sample(contended, time=time + 7, **who, **lock)
            time += wait
        r.sample(acquired, time=time + 7, **who, **lock)
        r.sample(release, time=time + 90, **who, **lock)
r.write(sys.argv[1])
P
stored lockdep.data python3 make.py lockdep.data

of_perf() {
	newest lock "$@" 2>&1
}

rows() {	# without the count of bad rows, which perf makes of those that it shows
	sed '/^===/,$d' | grep . | sort
}

for options in "" "-c" "-t" "-k wait_max -F wait_max,wait_min,avg_wait" "-E 3 -k wait_total" "-c -k contended -F contended" \
	"-k wait_min" "-t -k avg_wait"; do
	expected of_perf report -i lockdep.data $options >perf.txt
	tacho lock report -i lockdep.data $options 2>tacho.txt
	grep -q ' Name ' perf.txt || fail "perf shows nothing: $options"
	rows <perf.txt >perf.rows
	rows <tacho.txt >tacho.rows
	diff perf.rows tacho.rows || fail "not the same: $options"
done
expected of_perf report -i lockdep.data >perf.txt
tacho lock report -i lockdep.data 2>tacho.txt
diff perf.txt tacho.txt || fail "not the same lines"
for options in "" "-t" "-m"; do
	expected of_perf info -i lockdep.data $options | grep . | sort >perf.rows
	tacho lock info -i lockdep.data $options 2>&1 | sort >tacho.rows
	diff perf.rows tacho.rows || fail "not the same: info $options"
done

# The sums of JSON are those of all rows, whichever way they are grouped.
for by in "" "-c" "-t"; do
	tacho lock report --json -i lockdep.data $by |
		python3 -c 'import json, sys
a = json.load(sys.stdin)
print(a["schema"], *(sum(r[k] for r in a["rows"]) for k in ("acquired", "contended", "wait_ns")))
for r in a["rows"]:
    p = r["percentiles_ns"]
    assert not p or r["min_ns"] <= p["p50"] <= p["p90"] <= p["p99"] <= r["max_ns"], r'
done | sort -u >sums
[ "$(wc -l <sums)" = 1 ] && grep -q '^tacho.lock-report/1 [1-9]' sums || fail "sums differ: $(cat sums)"
