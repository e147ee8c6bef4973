# -D: nothing is counted before, and the time elapsed, intervals and time-outs begin then.
# run: plain alone
. "$SUPPORT/lib.sh"
tacho stat -D 1000 -e task-clock "$TEST_BIN/spin" -t 2 2>text
head -n 2 text
awk '/seconds time elapsed/ { exit !($1 >= 0.1 && $1 < 1.95) }' text || fail "$(cat text)"
awk '/msec task-clock/ { exit !($1 < 1950) }' text || fail "$(cat text)"
tacho stat -D 1000 -I 100 -x, -e task-clock "$TEST_BIN/spin" -t 1.7 2>rows
awk -F, '/task-clock/ && !n++ { exit !($1 < 0.99) }' rows || fail "first interval: $(cat rows)"
