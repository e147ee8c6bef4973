# 512 CPUs: a preloaded library makes the machine seem to have them; an event of CPU n is opened on CPU n modulo the real number.
# run: plain
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
need_root
library=$TEST_BIN/libfake-cpus.so
[ -f "$library" ] || skip "no $library"
echo 0-511 >online
export FAKE_ONLINE=$PWD/online
faked() { LD_PRELOAD=$library "$@"; }
LD_PRELOAD=$library tacho record -q -a -F 2 -m 1 -e cpu-clock:u -o probe.data true 2>err ||
	skip "cannot record here: $(head -n 1 err)"
[ "$(tacho evlist -v -i probe.data >/dev/null; tacho script --header-only -i probe.data | grep -c 'cpu-clock:u.*id = {')" = 1 ] ||
	fail "no event"

top="top -F 4 -m 4 -d 0.5 -e cpu-clock:u"
faked tacho $top --stdio --interval-count 3 -E 5 >out 2>err </dev/null || { cat err; fail "--stdio"; }
[ ! -s err ] || { cat err; fail "messages"; }
[ "$(grep -c '^   PerfTop:' out)" = 3 ] || { cat out; fail "three tables"; }
faked tacho $top --json --interval-count 2 >out 2>err </dev/null || { cat err; fail "--json"; }
[ "$(grep -c '"schema": "tacho.top/1"' out)" = 2 ] || { cat out; fail "two lines"; }
# Too few file descriptors are an error that says how many are needed.
status=0
(ulimit -n 256 && faked tacho $top --stdio --interval-count 1 >out 2>err </dev/null) || status=$?
[ $status = 1 ] && grep -q 'file descriptors here, and the limit is 256' err || { cat err; fail "256 descriptors: $status"; }

terminal 60 15 "LD_PRELOAD=$library tacho $top"
shows "samples/s, lost"
pid=$(tmux_do list-panes -F '#{pane_pid}' | head -n 1)
top_pid=$(ps -o pid= --ppid "$pid" | tr -d ' ' | head -n 1)
open=$(ls "/proc/$top_pid/fd" | wc -l)
[ "$open" -gt 512 ] || fail "only $open descriptors"
rss=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$top_pid/status")
[ "$rss" -lt 400000 ] || fail "$rss kB"
press v; shows "Function"
press v; press v
press q
shows "status 0"
[ ! -d "/proc/$top_pid" ] || [ "$(cat "/proc/$top_pid/comm")" != tacho ] || fail "it is still there"
