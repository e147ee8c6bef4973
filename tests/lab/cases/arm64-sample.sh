# proves: overflow interrupts take every sample that is due, and they land in the function that runs
# proves: an arm64 recording is read on this machine by tacho and by perf: the same symbols, chains, registers
# guest: arch=arm64 kernel=bookworm exact=yes

tacho record -q -c 1000000 -e cycles:u -o /out/flat.data work 80000000
tacho report -i /out/flat.data --stdio | grep -v '^#' | grep .
tacho record -q -c 1000000 -e cycles:u -g --user-regs -I -o /out/regs.data work 20000000
tacho record -q -F 997 -e cycles:u -o /out/freq.data work 80000000
near "997 a second" "$(tacho script -i /out/freq.data -F ip | wc -l)" 800 5
tacho script -i /out/regs.data -F ip,sym,iregs >/out/regs.script
tacho record -q -c 1000000 -e cycles:k -o /out/kernel.data dd if=/dev/zero of=/dev/null bs=1M count=400
cp /proc/kallsyms /out
