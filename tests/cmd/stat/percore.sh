# The term percore sums the CPUs of a core; --percore-show-thread shows that sum for each of its CPUs.
. "$SUPPORT/lib.sh"
tacho stat -a -A -x, -e software/cs,percore/,cs sleep 0.05 2>rows || skip "$(cat rows)"
grep -q '^S[0-9]*-D[0-9]*-C[0-9]*,[0-9]*,[0-9]*,,software/cs,percore/' rows || fail "$(cat rows)"
tacho stat -a -A --percore-show-thread -x';' -e software/cs,percore/ -e cs sleep 0.05 2>rows
n=$(getconf _NPROCESSORS_ONLN)
[ "$(grep -c '^CPU[0-9]*;[0-9]*;;software/cs,percore/;' rows)" = "$n" ] || fail "$(cat rows)"
[ "$(grep -c '^CPU[0-9]*;[0-9]*;;cs;' rows)" = "$n" ] || fail "$(cat rows)"
# The sum over the CPUs of a core, for each of them.
python3 - <<'P2'
import collections
counts = collections.defaultdict(dict)
for line in open("rows"):
    place, value, _, event, *_ = line.split(";")
    counts[event][int(place[3:])] = int(value)
core = {}
for cpu in counts["cs"]:
    with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list") as f:
        core[cpu] = f.read()
sums = collections.Counter()
for cpu, n in counts["cs"].items():
    sums[core[cpu]] += n
for cpu, n in counts["software/cs,percore/"].items():
    # The two events are read one after the other.
    assert abs(n - sums[core[cpu]]) <= max(20, sums[core[cpu]] // 4), (counts, core)
P2
refused 129 tacho stat --percore-show-thread -e cs true
refused 129 tacho stat -a -A --hybrid-merge -e cs true
refused 129 tacho stat --cputype nothing -e cs true
refused 129 tacho stat --pmu-filter nothing -e cs true
tacho stat --hybrid-merge -x, -e cs true 2>rows
grep -q ',,cs,' rows || fail "$(cat rows)"
