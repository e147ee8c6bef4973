# --check --live: patterns that match nothing, CPUs that are not there, triggers on events that nothing counts, a used port, a store
# that cannot be written, receivers that do not answer. One reason for several events is one line.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
used=$(free_port)
python3 -m http.server --bind 127.0.0.1 "$used" >server.out 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
wait_url 10 "http://127.0.0.1:$used/"
dead=$(free_port)
cat >tacho.toml <<END
[agent]
listen = ["127.0.0.1:$used"]
store = "$PWD/no/such/dir/db"
[[source]]
name = "software"
events = ["context-switches", "{page-faults,minor-faults}"]
[[source]]
name = "ghosts"
events = ["page-faults"]
process = "no-such-program-*"
[[source]]
name = "groups"
events = ["page-faults"]
cgroups = ["/no-such-group/*"]
[[source]]
name = "far"
events = ["page-faults"]
groups = ["0", "4000"]
[[trigger]]
name = "never"
when = "rate(no-such-event) > 1"
[[trigger]]
name = "fine"
when = "rate(minor-faults) > 1"
[[export]]
type = "remote_write"
name = "dead"
url = "http://127.0.0.1:$dead/write"
[[export]]
type = "graphite"
name = "quiet"
address = "127.0.0.1:$dead"
[[export]]
type = "statsd"
name = "alive too"
address = "127.0.0.1:$dead"
[[export]]
type = "influxdb"
name = "alive"
url = "http://127.0.0.1:$used"
bucket = "b"
END
[ "$(status_of tacho agent --check --live -c tacho.toml)" = 1 ] || fail "no error: $(cat out)"
for line in "source 'ghosts': no process matches no-such-program-\*" "source 'groups': no cgroup matches" "source 'far': CPU 4000 is not online" \
	"trigger 'never': no source counts an event 'no-such-event'" "listen: 127.0.0.1:$used: Address already in use" \
	"store: cannot write to $PWD/no/such/dir/db" "export 'dead': http://127.0.0.1:$dead/write does not answer: Connection refused" \
	"export 'quiet': 127.0.0.1:$dead does not answer: Connection refused"; do
	grep -q "^live: $line" out || { cat out >&2; fail "nothing about: $line"; }
done
! grep -q "^live:.*\(fine\|alive\|software\)" out || fail "$(grep '^live' out)"
[ "$(grep -c '^live: ' out)" = 8 ] || fail "$(grep '^live' out)"
printf '[agent]\nlisten = ["127.0.0.1:%s"]\nstore = ""\n[[source]]\nname = "s"\nevents = ["page-faults"]\n' "$(free_port)" >good.toml
tacho agent --check --live -c good.toml >out || fail "$(cat out)"
grep -qx "live: everything answers" out || fail "$(cat out)"
# An address that the agent would refuse to listen on.
sed "s|127.0.0.1:|0.0.0.0:|" good.toml >far.toml
tacho agent --check -c far.toml >out 2>&1 && fail "no error: $(cat out)"
grep -q "listening on 0.0.0.0:.* without TLS" out && grep -q "insecure = true" out || fail "$(cat out)"
sed -i "s|^store|insecure = true\n&|" far.toml
tacho agent --check --live -c far.toml >out || fail "$(cat out)"
[ "$(status_of tacho agent --live -c good.toml)" = 129 ] || fail "--live without --check"
# One line for one reason.
has_pmu || [ "$(tacho agent --check -c /dev/null | grep -c 'cannot be counted')" = 1 ] || fail "the reason is repeated"
