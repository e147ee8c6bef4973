# perf reads what is recorded in a command: as many samples, the events, rows in a report.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
perf_reads plain cpu-clock -e cpu-clock sh -c "$LOOP"
perf_reads default "$(has_pmu && echo cycles:P || echo cpu-clock)" sh -c "$LOOP"
perf_reads chains cpu-clock -e cpu-clock -g sh -c "$LOOP"
perf_reads period cpu-clock -e cpu-clock -c 1000000 sh -c "$LOOP"
perf_reads several cpu-clock,page-faults -e cpu-clock,page-faults sh -c "$LOOP; ls / >/dev/null"
perf_reads thread cpu-clock -e cpu-clock --per-thread sh -c "$LOOP"
perf_reads stacks cpu-clock -e cpu-clock --call-graph dwarf,4096,raw sh -c "$LOOP"
perf_reads packed cpu-clock -e cpu-clock -z sh -c "$LOOP"
perf_reads fields cpu-clock -e cpu-clock -d -P -s --sample-cpu -W --switch-events sh -c "$LOOP"
perf_reads regs cpu-clock -e cpu-clock --intr-regs --user-regs=ip,sp sh -c "$LOOP"
perf_reads clock cpu-clock -e cpu-clock -k monotonic_raw sh -c "$LOOP"
perf_reads kept cpu-clock -e cpu-clock --overwrite sh -c "$LOOP"
perf_reads late cpu-clock -e cpu-clock --tail-synthesize sh -c "$LOOP"
perf report -i chains --stdio --no-inline -g caller 2>/dev/null | grep -q -- '--' || fail "no chains"
perf script -i plain --show-mmap-events 2>/dev/null | grep -q 'MMAP2 .* r-xp .*libc' ||
	fail "no map of libc"
perf buildid-list -i plain | grep -q 'libc' || fail "no build id of libc"
