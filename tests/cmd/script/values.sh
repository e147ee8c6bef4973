# Samples of a group recorded with :S stand for one sample of each counter, weighing what it counted
# since: also where counters are inherited, and each thread has its own. Two counters of the same
# agree.
. "$SUPPORT/lib.sh"
need cc python3
cat >w.c <<'C'
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void touch(long pages) {
	char *p = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, pages * 4096, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		p[i * 4096] = 1;
}
int main(void) {
	touch(2000);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) { touch(3000); _exit(0); }
	while (wait(0) > 0) ;
	touch(2000);
}
C
cc -O1 -o w w.c
tacho record -q -c 100 -e '{page-faults,minor-faults}:S' -o file ./w 2>err || skip "cannot record here: $(cat err)"
tacho evlist -v -i file | grep -q 'inherit: 1' || skip "this kernel does not inherit what samples read"
tacho script -i file -F pid,event,period >lines
tacho script -i file --json >json
tacho report -i file --stdio -s pid,sym -n --time 30%-70% >window
python3 - <<'END'
import collections, json
sums = collections.defaultdict(collections.Counter)
for line in open("lines"):
    pid, period, event = line.split()[:3]
    assert int(period) < 1000, line
    sums[event.rstrip(":")][pid] += int(period)
# the last one is not counted as a minor one yet, and one that was tried again is one only once
assert all(0 <= n - sums["minor-faults"][pid] <= 5 for pid, n in sums["page-faults"].items()), sums
counts = sorted(sums["page-faults"].values())
assert len(counts) == 4, counts
assert all(2900 <= n <= 3300 for n in counts[:3]) and 3900 <= counts[3] <= 4300, counts
rows = [json.loads(line) for line in open("json")]
assert sum(row["period"] for row in rows) == sum(counts) + sum(sums["minor-faults"].values()), "JSON"
END
[ "$(tacho report -i file --stats | grep -c ' SAMPLE events: *1[23][0-9]$')" = 2 ] ||
	{ tacho report -i file --stats; fail "--stats does not count both events"; }
awk '/^# Samples:/ { n = $3 } /^# Event count/ && $NF > n * 105 { exit 1 }' window || { cat window; fail "what was before the window is in it"; }
tacho data convert --to-json out.json -i file >out 2>err || fail "$(cat err)"
[ "$(python3 -c 'import json; print(len(json.load(open("out.json"))["samples"]))')" = "$(wc -l <lines)" ] || fail "convert"
