# proves: counting, groups, tracepoints and kprobes on this kernel
# proves: sampling with what the kernel has; what it has not is left out with a word, and the rest is recorded
# guest: arch=arm64 kernel=bullseye exact=yes
# guest: arch=amd64 kernel=bullseye exact=yes
# guest: arch=arm64 kernel=sid exact=yes
# guest: arch=amd64 kernel=sid exact=yes

release=$(uname -r)
has() {	# MAJOR MINOR: whether the kernel is that or newer
	awk -v release="$release" -v major="$1" -v minor="$2" 'BEGIN {
		split(release, v, "."); exit !(v[1] > major || (v[1] == major && v[2] >= minor)) }'
}

counts -e '{page-faults,task-clock}',context-switches,sched:sched_process_exec,syscalls:sys_enter_execve,cycles:u \
	sh -c 'work 1000000; exit 0'
awk -F, '/page-faults|task-clock|context/ { print $3, ($1 > 0 ? "counts" : "is " $1) }' /tmp/counts
echo "exec: $(field sched:sched_process_exec), execve: $(field syscalls:sys_enter_execve)"
if [ -e /sys/bus/event_source/devices/armv8_pmuv3 ]; then
	near "cycles" "$(field cycles:u)" 10000000 10
else
	echo "cycles: $(field cycles:u)" | sed 's/<not supported>/within 10 %/'
fi
counts -a -A -e cpu-clock sleep 0.1
grep cpu-clock /tmp/counts | cut -d , -f 1,4

echo 'p:lab/openat do_sys_openat2' >/sys/kernel/tracing/kprobe_events
counts -e lab:openat cat /init /lib.sh >/dev/null
echo "kprobe: $(field lab:openat)"
tacho record -q -e lab:openat -o kprobe.data cat /init >/dev/null
tacho script -i kprobe.data -F comm,event,trace | sed 's/  */ /g; s/([0-9a-f]*)/(ADDRESS)/'

# The default event, as far as there is one: cycles of a PMU, or the clock.
tacho record -q -o default.data work 20000000
tacho report -i default.data --stdio --sort sym 2>/dev/null | grep -o -e 'hot$' -e 'cold$'
# Everything that came later than the oldest kernel here.
tacho record -v -e cpu-clock:u -g -d -W --data-page-size --code-page-size --all-cgroups -o late.data work 50000000 \
	2>&1 | sed -n 's/^tacho record: //p' >notes
if has 5 11; then
	echo "$(wc -l <notes) notes" | sed 's/^0 notes$/as it should be/'
else
	echo "$(grep -c 'PAGE_SIZE, which came with Linux 5.11' notes) notes" | sed 's/^2 notes$/as it should be/'
fi
tacho report -i late.data --stdio --no-children -g none --sort sym | grep -o '[a-z]*$' | grep -v -e '^$' -e s | head -n 2
# A group's values are in its samples, by its own reading or not inherited.
tacho record -q -e '{cpu-clock,page-faults}:S' -o group.data work 20000000 2>/dev/null
tacho evlist -v -i group.data | grep -c 'sample_type: [^,]*READ.*read_format: [^,]*GROUP'
tacho evlist -v -i group.data | grep cpu-clock | grep -c -w inherit | tr 01 ny | sed "s/$(has 6 12 && echo y || echo n)/inherited where it can be/"
