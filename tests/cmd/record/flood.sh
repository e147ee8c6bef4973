# Too many samples for a tiny ring buffer: all losses are counted, and mappings are complete.
# run: both
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
need_root
need_tracefs
tacho record -m 1 -e raw_syscalls:sys_enter -o file sh -c 'dd if=/dev/zero of=/dev/null bs=1 \
	count=100000 2>/dev/null; for i in 1 2 3; do ls / >/dev/null; done' 2>err
lost=$(sed -n 's/^\[ tacho record: Lost \([0-9]*\) of [0-9]* samples of raw_syscalls:sys_enter.*/\1/p' err)
all=$(( $(said err) + ${lost:-0} ))
[ $all -ge 200000 ] && [ $all -le 202000 ] || { cat err; fail "$all events instead of some 200000"; }
[ "$(perf_samples file)" = "$(said err)" ] || fail "perf reads $(perf_samples file) of $(said err)"
if [ "${lost:-0}" -gt 0 ]; then
	perf report -i file --stats 2>/dev/null | grep -q 'LOST_SAMPLES events: ' || fail "no LOST_SAMPLES"
	# Each of them is told twice, as it happened and at the end, and counts once.
	tacho report -i file --stdio 2>/dev/null | grep -q "^# Total Lost Samples: $lost\$" || fail "not $lost lost"
	perf report -i file --stats 2>/dev/null | sed 's/^  *//' >perf.txt
	tacho report -i file --stats | sed 's/^  *//' | diff perf.txt - || fail "--stats differs"
fi
# dd and three times ls, each with its own map, ld.so and libc at least
execs=$(perf script -i file --show-mmap-events 2>/dev/null | grep -c 'MMAP2.*/ls$' || true)
[ "$execs" = 3 ] || fail "$execs maps of ls instead of 3"
