# Softirqs of the loopback interface and of timers are found, as often as the kernel counts them.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need python3
net_rx() {
	awk '/^ *NET_RX:/ { for (i = 2; i <= NF; i++) sum += $i } END { print sum }' /proc/softirqs
}
before=$(net_rx)
tacho kwork -k softirq record -q -m 4096 -o kwork.data -- python3 -c '
import socket
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
a.bind(("127.0.0.1", 0))
for i in range(2000):
    b.sendto(b"x", a.getsockname())
    a.recv(10)
' || fail "cannot record"
after=$(net_rx)
tacho kwork report -i kwork.data --json >json 2>err
[ ! -s err ] || { cat err; exit 0; }	# events were lost
python3 - $((after - before)) <<'P'
import json
import sys
rows = [r for r in json.load(open('json'))['rows'] if r['name'] == '(s)NET_RX:3']
n, counted = sum(r['runs']['count'] for r in rows), int(sys.argv[1])
assert n >= 1000, rows
assert n <= counted and n >= 0.5 * counted, (n, counted)
assert all(r['delays']['count'] <= r['runs']['count'] and r['runs']['max_ns'] <= r['runs']['sum_ns'] for r in rows)
P
tacho kwork top -i kwork.data >top.txt 2>err && grep -q "record them with 'kwork -k sched" err || fail "no hint about switches"
