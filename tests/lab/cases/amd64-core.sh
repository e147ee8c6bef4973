# proves: generic, cache, raw and named events of a core PMU open and count on amd64, with their metrics
# proves: branch stacks, data addresses, data sources and weights are recorded and decoded, as perf decodes them
# guest: arch=amd64 kernel=bookworm exact=yes
# modules: core_lab

echo 0 >/proc/sys/kernel/kptr_restrict
load core_lab "overflow=0x$(sed -n 's/ T perf_event_overflow$//p' /proc/kallsyms)"
counts -e task-clock,cycles,instructions,branches,LLC-loads work 10000000
clock=$(field task-clock 4)
near "cycles" "$(field cycles)" $((clock * 2)) 2
near "instructions" "$(field instructions)" $((clock * 3)) 2
near "branches" "$(field branches)" "$clock" 2
near "LLC-loads" "$(field LLC-loads)" "$clock" 2
counts -e task-clock,r3c,cpu/event=0xc0/,cpu/cpu-cycles/ work 10000000
clock=$(field task-clock 4)
near "r3c" "$(field r3c)" $((clock * 2)) 2
near "cpu/event=0xc0/" "$(field cpu/event=0xc0/)" $((clock * 3)) 2
near "cpu/cpu-cycles/" "$(field cpu/cpu-cycles/)" $((clock * 2)) 2
tacho stat work 10000000 2>&1 | awk '/insn_per_cycle|branch_miss_rate|cycles_frequency/ { print $2, $4, $5 }'
counts -e task-clock,cycles,cycles,cycles,cycles,cycles,cycles work 100000000
clock=$(field task-clock 4)
awk -F, '$3 == "cycles" { print $1 }' /tmp/counts | while read -r count; do
	near "six on four counters" "$count" $((clock * 2)) 5
done | uniq -c | sed 's/^ *//'

tacho record -q -b -c 1000000 -e cycles:u -o /out/branch.data work 50000000
tacho record -q -d -W -c 1000000 -e cpu/mem-loads/u -o /out/mem.data work 50000000
tacho script -i /out/branch.data -F ip,sym,brstack >/out/branch.script
tacho script -i /out/mem.data -F ip,sym,addr,data_src,weight >/out/mem.script
sed -n 's/^ *//; 20p' /out/branch.script
sed -n '20s/^ *//p' /out/mem.script
tacho report -i /out/mem.data --mem-mode --stdio --sort mem,sym | grep -v '^#' | grep . | head -n 1
tacho report -i /out/branch.data --stdio --sort symbol_to | grep -v '^#' | grep . | head -n 3
