# If a clock is counted too, every event has a rate: for tasks and CPUs, with either clock.
# run: both
. "$SUPPORT/lib.sh"
rate() {	# EVENT ARGS...: checks the number after # on its line against value and clock
	rate_event=$1
	shift
	tacho stat "$@" "$TEST_BIN/spin" -c 0.2 -t 0.2 2>text || { cat text >&2; fail "stat $*"; }
	awk -v event="$rate_event" '
		$3 ~ /^(cpu|task)-clock/ { ms = $1; cpus = $5 }
		$2 == event { n = $1; rate = $4 }
		END { off = rate - n * 1000 / ms; exit !(ms > 0 && cpus > 0 && n > 0 && off * off <= 1 + rate * rate / 1e4) }
	' text || { cat text >&2; fail "no rate of $rate_event: $*"; }
}
rate page-faults -e task-clock,page-faults
rate minor-faults -e task-clock,minor-faults
[ "$(id -u)" = 0 ] || exit 0
for clock in cpu-clock task-clock; do
	rate cs -a -e $clock,cs
	rate minor-faults -a -e $clock,minor-faults
done
tacho stat -a -A -e cpu-clock,minor-faults sleep 0.1 2>text
[ "$(grep -c '^CPU.*minor-faults .*/sec' text)" = "$(grep -c '^CPU.*msec cpu-clock' text)" ] || { cat text >&2; fail "-A"; }
tacho stat -a -e minor-faults sleep 0.1 2>text
! grep -q '#' text || fail "a rate without a clock"
