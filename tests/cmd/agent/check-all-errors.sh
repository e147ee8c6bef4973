# All errors of a configuration are reported, each once, with their place and hint; entries with an error cause no others.
. "$SUPPORT/lib.sh"
cat >tacho.toml <<'END'
[agent]
lisen = ["127.0.0.1:1"]
cpu_budget = "abc"
[[source]]
name = "a"
events = ["page-faults"]
interval = "5 parsecs"
[[source]]
name = "b"
events = ["page-faults"]
groups = ["0"]
per = "socket"
[[export]]
type = "promethius"
[[trigger]]
when = "rate(page-faults"
[frobnicate]
END
tacho agent --check -c tacho.toml 2>err >out && fail "no error"
[ ! -s out ] || fail "output: $(cat out)"
for place in "2:1: .agent. has no key 'lisen'" "3:14: cpu_budget" "7:12: interval" "14:8: no exporter" "17:2: " \
	"8:3: ..source.. 'b': groups of CPUs" "15:3: ..trigger.. 'trigger': when"; do
	[ "$(grep -c "^tacho agent: tacho.toml:$place" err)" = 1 ] || fail "$place: $(cat err)"
done
[ "$(grep -c '^tacho agent: ' err)" = 7 ] || fail "not seven errors: $(cat err)"
grep -q "did you mean 'listen'?" err || fail "no hint"
# A reload logs them all and changes nothing.
printf '[profile]\nenabled = false\n[[source]]\nname = "s"\nevents = ["page-faults"]\npids = [%d]\n' $$ >good.toml
cp good.toml live.toml
STATE_DIRECTORY=$PWD/state RUNTIME_DIRECTORY=$PWD/state
export STATE_DIRECTORY RUNTIME_DIRECTORY
mkdir state
tacho agent -c live.toml --listen 127.0.0.1:0 --store '' 2>log &
pid=$!
wait_for 20 grep -q link log
cp tacho.toml live.toml
kill -HUP $pid
wait_for 20 grep -q "not reloaded" log
wait_for 5 grep -q "interval: '5 parsecs'" log
kill $pid
wait $pid || true
[ "$(grep -c 'live.toml:[0-9]*:[0-9]*: ' log)" = 7 ] || fail "$(cat log)"
