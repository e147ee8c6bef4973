# -L: 8 characters of the command, and the CPU without brackets.
. "$SUPPORT/lib.sh"
ln -s "$(command -v sleep)" a-long-name
tacho record -q -e cpu-clock --sample-cpu -o a.data ./a-long-name 0 2>err || skip "cannot record: $(head -n 1 err)"
[ "$(tacho script -i a.data | wc -l)" -gt 0 ] || skip "no sample"
tacho script -i a.data -F comm,tid,cpu,time | grep -v 'tacho  *[0-9]' >plain
tacho script -L -i a.data -F comm,tid,cpu,time | grep -v '^   tacho' >short
awk '{ gsub(/[][]/, "", $3); printf "%8.8s %7d %3d %13s \n", $1, $2, $3, $4 }' plain >want
diff want short || fail "not the same samples in the short form"
tacho script --Latency -i a.data --show-task-events | grep -q '^a-long-n  *[0-9]*  *[0-9]* .* PERF_RECORD_COMM' ||
	fail "other records"
