# A recording is controlled through a fifo, and acknowledges commands.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
mkfifo ctl ack
tacho record -e cpu-clock -D -1 --control fifo:ctl,ack -o file "$TEST_BIN/spin" -c 30 2>err &
pid=$!
exec 7<>ack
tell() {
	echo "$1" >ctl
	read -r answer <&7
	[ "$answer" = ack ] || fail "answer to $1: $answer"
}
tell ping
tell enable
sleep 0.3
tell disable
tell stop
wait $pid || [ $? -ge 128 ]
[ "$(said err)" -gt 0 ] || { cat err; fail "nothing recorded"; }
grep -q '^Events disabled$' err || fail "no message that it waits"

# With --overwrite each snapshot writes only what is new since the last one.
tacho record -e cpu-clock -c 1000000 --overwrite --control fifo:ctl,ack -o kept "$TEST_BIN/spin" -c 30 2>err &
pid=$!
kept_some() {
	tell snapshot
	tacho script -i kept 2>/dev/null | grep -q spin
}
tell ping
wait_for 20 kept_some
tell snapshot
tell stop
wait $pid || [ $? -ge 128 ]
n=$(tacho script -i kept -F tid,time 2>script.err | sort -u | wc -l)
[ "$n" -gt 0 ] && [ "$n" = "$(said err)" ] || { cat err script.err; fail "$n different samples"; }

# Enables and disables a single event by name.
tacho record -e cpu-clock,task-clock -D -1 --control fifo:ctl,ack -o one "$TEST_BIN/spin" -r runs -c 60 -t 60 2>err &
pid=$!
tell evlist
tell 'evlist -F'
wait_for 20 test -e runs
tell 'enable task-clock'
burns "$(cat runs)" 50
tell 'disable no-such-event'
tell stop
wait $pid || [ $? -ge 128 ]
[ "$(tacho script -i one -F event | tr -d ' ' | sort -u)" = task-clock: ] || { cat err; fail "not only task-clock"; }
[ "$(grep -c '^task-clock$' err)" = 1 ] && grep -q '^cpu-clock: sample_freq=' err || { cat err; fail "evlist"; }
grep -q "'no-such-event' is not an event" err || { cat err; fail "nothing said of a wrong name"; }
