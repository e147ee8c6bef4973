# Known exits, accesses and times of two virtual machines, on Intel, AMD and arm64, as perf shows them; filters, keys, damage.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
need python3
python3 "$SUPPORT/kvm-recording"
tacho kvm -i one.data stat report --json >one.json
python3 - <<'P'
import json
d = json.load(open('one.json'))
assert d['schema'] == 'tacho.kvm-stat/1' and d['event'] == 'vmexit', d
rows = {r['name']: r for r in d['rows']}
assert [r['name'] for r in d['rows']] == ['CPUID', 'HLT', 'UNKNOWN:0x3e7', 'UNKNOWN:0x80000021'], d
cpuid = rows['CPUID']
assert (cpuid['count'], cpuid['sum_ns'], cpuid['min_ns'], cpuid['max_ns'], cpuid['mean_ns']) == (2, 4000, 1000, 3000, 2000), cpuid
assert abs(cpuid['error_ns'] - 1000) < 1e-6, cpuid
assert rows['HLT']['sum_ns'] == 50000 and rows['UNKNOWN:0x80000021']['max_ns'] == 7, d
P
first() {	# WORDS...: the name in the first row
	tacho kvm stat report -i one.data "$@" | sed -n '7s/^ *\([^ ]*\) .*/\1/p'
}
[ "$(first)" = CPUID ] && [ "$(first -k time)" = HLT ] && [ "$(first -k mean_t)" = HLT ] && [ "$(first -k min_t)" = HLT ] || fail "keys"
[ "$(first --time 0.000019,0.000025)" = CPUID ] && tacho kvm stat report -i one.data --time 0.000019,0.000025 | grep -q 'Total Samples:1,' || fail "--time"
[ -z "$(first --vcpu 2)" ] && [ "$(first --vcpu 3)" = CPUID ] && [ -z "$(first -p 8)" ] && [ "$(first -p 9,7)" = CPUID ] || fail "filters"
cp one.data perf.data.guest
tacho kvm stat report | grep -q 'Total Samples:5, Total events handled time:54.11us.' || fail "perf.data.guest is not read"
# Kernels that do not say which processor: that of the recording.
for name in intel amd; do
	for event in vmexit mmio ioport; do
		tacho kvm stat report --event $event -i $name.data >new.txt
		tacho kvm stat report --event $event -i $name-old.data | diff new.txt - || fail "$name-old: $event"
	done
done
tacho kvm stat report -i wrong.data >out 2>err || fail "wrong.data: $(cat err)"
tacho kvm stat report --event mmio -i wrong.data >out 2>err || fail "wrong.data: $(cat err)"
refused 129 tacho kvm stat report -k bogus -i one.data
refused 129 tacho kvm stat report --event bogus -i one.data
refused 129 tacho kvm stat report -p x -i one.data
refused 129 tacho kvm stat
refused 129 tacho kvm stat ls
refused 129 tacho kvm
refused 129 tacho kvm record true
refused 129 tacho kvm --guestkallsyms x stat report
refused 1 tacho kvm stat report -i missing.data
survives 60 amd.data kvm stat report
survives 40 amd.data kvm stat report --event mmio --json
