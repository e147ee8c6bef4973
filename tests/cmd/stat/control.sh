# --control: counting is switched from outside; every command is answered.
# run: both
. "$SUPPORT/lib.sh"
mkfifo ctl ack
exec 8<>ctl 9<>ack
now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

tacho stat -x, -D -1 -e task-clock --control fifo:ctl,ack -- "$TEST_BIN/spin" -r runs -c 60 -t 60 2>rows &
tacho=$!
echo ping >&8
read -r answer <&9
echo "$answer"
wait_for 20 test -e runs
spin=$(cat runs)
burns $spin 100
from=$(now_ms)
echo enable >&8
read -r answer <&9
echo "$answer"
burns $spin 50
echo disable >&8
read -r answer <&9
echo "$answer"
took=$(($(now_ms) - from))
burns $spin $took	# with what was counted this is more than one CPU has in that time
kill $spin
wait $tacho || [ $? = 143 ] || fail "status of a killed command"
value=$(csv_value task-clock rows)
awk -v v="$value" -v took=$took 'BEGIN { exit !(v > 20 && v < took + 10) }' ||
	fail "counted $value ms in $took: $(cat rows)"
# one event alone, by its name
rm runs
tacho stat -x, -D -1 -e task-clock,cpu-clock --control fifo:ctl,ack -- "$TEST_BIN/spin" -r runs -c 60 -t 60 2>rows &
tacho=$!
wait_for 20 test -e runs
spin=$(cat runs)
echo 'enable cpu-clock' >&8
read -r answer <&9
burns $spin 50
kill $spin
wait $tacho || [ $? = 143 ] || fail "status of a killed command"
awk -F, '$3 == "cpu-clock" { one = $1 + 0 } $3 == "task-clock" { other = $1 + 0 } END { exit !(one > 20 && other == 0) }' rows ||
	fail "not only cpu-clock: $(cat rows)"
# stop ends the run
tacho stat -a -x, -e cs --control fifo:ctl,ack 2>rows &
tacho=$!
echo stop >&8
read -r answer <&9
wait $tacho
[ "$(wc -l <rows)" = 1 ] || fail "$(cat rows)"
# -D: nothing before the delay is counted
rm runs
tacho stat -x, -D 500 -e task-clock -- "$TEST_BIN/spin" -r runs -c 60 -t 60 2>rows &
tacho=$!
wait_for 20 grep -q 'Events enabled' rows
spin=$(cat runs)
burns $spin 50
kill -STOP $spin
used=$(used_ms $spin)
kill -KILL $spin
wait $tacho || [ $? = 137 ] || fail "status of a killed command"
value=$(csv_value task-clock rows)
awk -v v="$value" -v used=$used 'BEGIN { exit !(v > 20 && v < used) }' || fail "$used ms, after a delay: $(cat rows)"
# Every run opens and closes the fifo.
( ulimit -n 24; tacho stat -r 40 -x, -e cs --control fifo:ctl,ack true 2>rows ) || fail "-r: $(tail -n 3 rows)"
