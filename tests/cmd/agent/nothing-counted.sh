# An agent that can count nothing ends with one sentence; without a file, a user who may not count the machine gets
# the own processes.
. "$SUPPORT/lib.sh"
cat >none.toml <<'END'
[agent]
listen = []
store = ""
socket = "ctl.sock"
[profile]
enabled = false
[[source]]
events = ["no-such-event-1", "no-such-event-2", "no-such-event-3"]
END
STATE_DIRECTORY=$PWD
export STATE_DIRECTORY
[ "$(status_of timeout 20 tacho agent -c none.toml)" = 1 ] || { cat err; fail "the agent did not end with status 1"; }
[ "$(wc -l <err)" = 1 ] && grep -q "none of the 3 events can be counted: no-such-event-1 " err ||
	{ cat err; fail "not one sentence"; }

[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || exit 0
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] || exit 0
mkdir -m 777 home
chmod 755 .
(cd home && HOME=$PWD STATE_DIRECTORY=$PWD RUNTIME_DIRECTORY=$PWD unprivileged timeout -s TERM 5 tacho agent --listen 127.0.0.1:0 --store '' 2>../err) || :
grep -q "may not count the whole machine" err || skip "this build does not run as another user: $(head -3 err)"
grep -q 'counting [1-9][0-9]* of ' err || { cat err; fail "the own processes are not counted"; }
[ "$(wc -l <err)" -le 8 ] || { cat err; fail "too many lines"; }
