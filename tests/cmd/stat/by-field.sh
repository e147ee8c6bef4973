# --by counts tracepoints by the value of a field; what it cannot do is refused with a reason.
. "$SUPPORT/lib.sh"
need_root
[ -r /sys/kernel/tracing/events/raw_syscalls/sys_exit/format ] || skip "no tracefs"
printf %s 12345 >five
tacho stat -x, -e syscalls:sys_exit_read --by ret head -c 100 five 2>got >out || fail "$(cat got)"
grep -qx '1,syscalls:sys_exit_read,5' got || fail "no read of five bytes: $(cat got)"
tacho stat -e syscalls:sys_exit_read --by ret head -c 100 five 2>got >out
grep -qE '^ +[0-9]+ +syscalls:sys_exit_read$' got || fail "no total: $(cat got)"
grep -qE '^ +1 +[0-9.]+%    5$' got || fail "no share: $(cat got)"
tacho stat --json -e syscalls:sys_exit_read --by ret head -c 100 five 2>got >out
python3 -c '
import json
r = json.load(open("got"))
assert r["schema"] == "tacho.stat-by/1" and r["field"] == "ret" and r["lost"] == 0, r
assert {"event": "syscalls:sys_exit_read", "value": "5", "count": 1} in r["counts"], r'
tacho stat -x, -e raw_syscalls:sys_exit --by id sh -c 'exit 7' 2>got && fail "the status is lost"
[ "$(wc -l <got)" -gt 5 ] || fail "few calls: $(cat got)"
tacho stat -e syscalls:sys_exit_read --by rte true 2>err && fail "an unknown field is accepted"
grep -q "sys_exit_read has no field 'rte'" err && grep -q 'its fields are .*ret' err || fail "$(cat err)"
tacho stat -e cpu-clock --by ret true 2>err && fail "an event without fields is accepted"
grep -q 'is not a tracepoint' err || fail "$(cat err)"
tacho stat --by ret true 2>err && fail "--by without -e is accepted"
grep -q 'needs the tracepoints' err || fail "$(cat err)"
tacho stat -I 100 -e syscalls:sys_exit_read --by ret true 2>err && fail "-I is accepted"
grep -q 'cannot be combined' err || fail "$(cat err)"
