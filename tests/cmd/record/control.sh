# A recording that is told what to do through a fifo, and answers.
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
grep -q '^Events disabled$' err || fail "not told that it waits"
