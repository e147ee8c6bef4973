# guest: arch=amd64 kernel=bookworm cpus=2
# modules: core_lab
echo 0 >/proc/sys/kernel/kptr_restrict
load core_lab hybrid=1 "overflow=0x$(sed -n 's/ T perf_event_overflow$//p' /proc/kallsyms)"
ls /sys/bus/event_source/devices
tacho stat -e cycles,instructions work 100000000 2>&1
tacho stat -e '{cycles,instructions}' taskset 1 work 100000000 2>&1
tacho stat -e cycles,instructions,cpu_atom/cycles/,cpu_core/event=0x3c/ taskset 2 work 100000000 2>&1
tacho stat  work 100000000 2>&1
tacho stat  -a -A -e cycles work 100000000 2>&1
tacho stat  -a -e cycles work 100000000 2>&1
tacho record -b -c 1000000 -o /out/branch.data taskset 1 work 100000000 2>&1 || true
tacho record  -c 1000000 -e cycles -o /out/branch.data  work 100000000 2>&1
tacho report -i /out/branch.data --stdio 2>&1| head -30
