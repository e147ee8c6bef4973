# Views of the kernel of formats and values that no kernel writes: each ends with a status, a reason, and without a sanitizer's word.
. "$SUPPORT/lib.sh"
need python3
try() {	# COMMAND...
	status=$(status_of timeout 60 tacho "$@" -i hostile.data)
	[ "$status" -lt 2 ] || fail "$seed: $*: status $status: $(tail -n 20 err)"
	! grep -qE 'Sanitizer|runtime error' err || fail "$seed: $*: $(head -n 20 err)"
	[ "$status" = 0 ] || [ -s err ] || fail "$seed: $*: fails without a word"
	[ "$(wc -c <out)" -lt 5000000 ] || fail "$seed: $*: writes $(wc -c <out) bytes"
}
make() {	# KIND
	"$SUPPORT/hostile-tracepoints" "$seed" "$1" hostile.data
}
for seed in 1 2 3 7; do
	make sched
	try sched latency -p --percentiles
	try sched timehist -w -M -V -S -P --state
	try sched map
	make kwork
	try kwork report -S
	try kwork timehist
	try kwork top
	make lock
	try lock contention -l
	try lock report
	make block
	try iostat --json
	make kvm
	try kvm stat report
	try kvm stat report --event mmio --json
	make chart
	try timechart -o -
	try timechart -t -o - --io-merge-dist 1s
done
