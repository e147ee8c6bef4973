# guest: arch=amd64 kernel=bookworm cpus=2
# modules: core_lab
echo 0 >/proc/sys/kernel/kptr_restrict
load core_lab "overflow=0x$(sed -n 's/ T perf_event_overflow$//p' /proc/kallsyms)"
tacho stat -e cycles,instructions,branches,cache-misses,LLC-loads,r3c work 100000000 2>&1
tacho stat -e '{cycles,instructions}' work 100000000 2>&1
tacho stat  work 100000000 2>&1
tacho stat  -d work 100000000 2>&1
tacho record -b -c 1000000 -o /out/branch.data work 100000000 2>&1
tacho script -i /out/branch.data -F ip,sym,brstack | head -5
tacho record -d -W -c 1000000 -e cpu/mem-loads/ -o /out/mem.data work 100000000 2>&1
tacho script -i /out/mem.data -F ip,sym,addr,data_src,weight | head -5
tacho report -i /out/branch.data --stdio 2>&1| head -30
tacho report -i /out/mem.data --stdio --sort mem,sym 2>&1| head -30
tacho evlist -v -i /out/branch.data
tacho record -e cycles -o /out/freq.data work 100000000 2>&1
tacho report -i /out/freq.data --stdio  2>&1| head -30
