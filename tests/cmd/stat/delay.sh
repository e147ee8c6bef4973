# -D: nothing is counted before the delay has passed; the elapsed time, intervals and time-outs begin then.
# Each run as a whole takes at least as long as the delay and the elapsed time together, however late a
# busy machine wakes tacho, so these are compared.
# run: plain alone
. "$SUPPORT/lib.sh"

seconds() {	# COMMAND...: runs it, sets $took and $status
	took=$(date +%s.%N)
	status=0
	"$@" || status=$?
	took=$(awk -v from="$took" -v to="$(date +%s.%N)" 'BEGIN { print to - from }')
}

seconds tacho stat -D 1000 -e task-clock "$TEST_BIN/spin" -t 2 2>text
head -n 2 text
awk -v took="$took" '
	/msec task-clock/ { counted = $1 / 1000 }
	/seconds time elapsed/ { elapsed = $1 }
	END {
		if (elapsed < 0.1 || elapsed > took - 1) { print elapsed " s elapsed of " took; exit 1 }
		if (!counted || counted > elapsed + 0.01) { print counted " s counted in " elapsed; exit 1 }
	}' text || fail "$(cat text)"

seconds tacho stat -D 1000 -I 100 -x, -e task-clock "$TEST_BIN/spin" -t 1.7 2>rows
awk -F, -v took="$took" '
	/task-clock/ { n++; last = $1; counted += $2 / 1000 }
	END {
		if (n < 2 || last > took - 1) { print n " intervals, the last at " last " of " took; exit 1 }
		if (counted > last + 0.01) { print counted " s counted in " last; exit 1 }
	}' rows || fail "$(cat rows)"

seconds tacho stat -D 500 --timeout 300 -e task-clock "$TEST_BIN/spin" -t 10 2>text
[ $status = 143 ] || fail "--timeout did not end the command: status $status"
awk -v took="$took" '/seconds time elapsed/ { exit !($1 >= 0.3 && $1 <= took - 0.5 && took < 9) }' text ||
	fail "took $took s: $(cat text)"
