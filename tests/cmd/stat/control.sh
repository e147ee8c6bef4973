# --control: counting is switched from outside; every command is answered.
. "$SUPPORT/lib.sh"
mkfifo ctl ack
exec 8<>ctl 9<>ack
tacho stat -x, -D -1 -e task-clock --control fifo:ctl,ack -- "$TEST_BIN/spin" -c 1 -t 1 2>rows &
tacho=$!
echo ping >&8
read -r answer <&9
echo "$answer"
echo enable >&8
read -r answer <&9
echo "$answer"
sleep 0.3
echo disable >&8
read -r answer <&9
echo "$answer"
wait $tacho
value=$(csv_value task-clock rows)
awk -v v="$value" 'BEGIN { exit !(v > 50 && v < 900) }' || fail "counted $value ms: $(cat rows)"
# stop ends a run that would go on
tacho stat -a -x, -e cs --control fifo:ctl,ack 2>rows &
tacho=$!
echo stop >&8
read -r answer <&9
wait $tacho
[ "$(wc -l <rows)" = 1 ] || fail "$(cat rows)"
# -D: what comes before the delay is not counted
tacho stat -x, -D 500 -e task-clock -- "$TEST_BIN/spin" -c 0.6 -t 0.6 2>rows
value=$(csv_value task-clock rows)
awk -v v="$value" 'BEGIN { exit !(v > 10 && v < 595) }' || fail "after a delay: $(cat rows)"
# Every run opens the fifo and lets it go again.
( ulimit -n 24; tacho stat -r 40 -x, -e cs --control fifo:ctl,ack true 2>rows ) || fail "-r: $(tail -n 3 rows)"
