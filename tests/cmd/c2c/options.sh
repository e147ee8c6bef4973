# JSON agrees with the text; what is refused; recording says what it needs.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/memory.sh"
tacho c2c report -i mem.data --json >out
python3 - <<'P'
import json
d = json.load(open('out'))
assert d['schema'] == 'tacho.c2c/1' and d['total']['records'] == 2000
assert d['total']['loads'] + d['total']['stores'] == 2000
lines = d['lines']
hitm = [line['counts']['local_hitm'] + line['counts']['remote_hitm'] for line in lines]
assert hitm == sorted(hitm, reverse=True) and all(hitm)
for key in 'records', 'loads', 'stores', 'remote_hitm':
    assert sum(line['counts'][key] for line in lines) == d['shared'][key] <= d['total'][key]
    for line in lines:
        assert sum(place['counts'][key] for place in line['code']) == line['counts'][key]
assert lines[0]['code'][0]['symbol'] in ('reader', 'writer') and lines[0]['code'][0]['cpus']
assert all(place['offset'] < 64 for line in lines for place in line['code'])
P
tacho c2c report -i mem.data -c tid >out
grep -q '50[123]:\(left\|right\|third\)' out || fail "$(head -n 100 out)"
for wrong in "-d peer" "-d some" "-c cpu" "-g" extra; do
	[ "$(status_of tacho c2c report -i mem.data $wrong)" = 129 ] && [ -s err ] || fail "$wrong: $(cat err)"
done
[ "$(status_of tacho c2c)" = 129 ] && [ "$(status_of tacho c2c show)" = 129 ] || fail "no verb"
tacho record -q -e cpu-clock:u -o plain.data true
[ "$(status_of tacho c2c report -i plain.data)" = 1 ] && grep -q 'no addresses and sources of data' err || fail "$(cat err)"
head -c 100000 mem.data >cut.data
[ "$(status_of tacho c2c report -i cut.data)" = 1 ] && [ -s err ] || fail "$(cat err)"

ls /sys/bus/event_source/devices/*/events/mem-loads >/dev/null 2>&1 || [ -d /sys/bus/event_source/devices/ibs_op ] || {
	[ "$(status_of tacho c2c record true)" = 1 ] && grep -q 'mem-loads and mem-stores of Intel' err || fail "$(cat err)"
	[ "$(status_of tacho mem record -e list)" = 1 ] && grep -q 'ibs_op' err || fail "$(cat err)"
}
