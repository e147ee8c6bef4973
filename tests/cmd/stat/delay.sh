# -D: nothing is counted before, and the time elapsed, intervals and time-outs begin then.
. "$SUPPORT/lib.sh"
tacho stat -D 300 -e task-clock "$TEST_BIN/spin" -t 0.5 2>text
head -n 2 text
awk '/seconds time elapsed/ { exit !($1 >= 0.1 && $1 < 0.45) }' text || fail "$(cat text)"
awk '/msec task-clock/ { exit !($1 < 450) }' text || fail "$(cat text)"
tacho stat -D 200 -I 100 -x, -e task-clock "$TEST_BIN/spin" -t 0.45 2>rows
awk -F, '/task-clock/ && !n++ { exit !($1 < 0.19) }' rows || fail "first interval: $(cat rows)"
