# proves: on two kinds of cores one name counts on both, each event where the task is, with metrics of its own
# proves: -a takes the CPUs of each kind, and sampling follows a task over both
# guest: arch=amd64 kernel=bookworm cpus=2
# modules: core_lab

echo 0 >/proc/sys/kernel/kptr_restrict
load core_lab hybrid=1 "overflow=0x$(sed -n 's/ T perf_event_overflow$//p' /proc/kallsyms)"
# A task that stays where it is. Guest time passes unevenly here: paces are told apart, not measured.
on_cpu() {	# CPU
	cpu=$1
	taskset $((cpu + 1)) tacho stat -x, -o /tmp/counts -e task-clock,cycles,instructions work 100000000
	clock=$(field task-clock 4)
	for kind in core atom; do
		pace=$([ $kind = core ] && echo 2 || echo 1)
		case $(field cpu_$kind/cycles/) in
		'<not counted>') echo "CPU $cpu: nothing on cpu_$kind" ;;
		*) near "CPU $cpu: cycles of cpu_$kind" "$(field cpu_$kind/cycles/)" $((clock * pace)) 20 ;;
		esac
	done
}
steadily on_cpu 0
steadily on_cpu 1
raw() {
	taskset 2 tacho stat -x, -o /tmp/counts -e task-clock,cpu_core/cycles/,cpu_atom/instructions/,cpu_atom/event=0x3c/ \
		work 100000000
	cut -d , -f 3 /tmp/counts | grep cpu
	near "cpu_atom/event=0x3c/" "$(field cpu_atom/event=0x3c/)" "$(field task-clock 4)" 20
}
steadily raw
metrics() {
	taskset 1 tacho stat work 10000000 >/tmp/text 2>&1
	awk '/cpu_core|cpu_atom/ { print $2 ~ /^cpu/ ? $2 " " $4 " " $5 " " $6 : $0 }' /tmp/text
	near insn_per_cycle "$(awk '/insn_per_cycle/ { print $4 }' /tmp/text)" 1.5 2
	near branch_miss_rate "$(awk '/branch_miss_rate/ { print $4 }' /tmp/text)" 100 2
}
steadily metrics
counts -a -A -e cycles work 10000000
grep cpu_ /tmp/counts | cut -d , -f 1,4 | sort
tacho record -q -b -c 1000000 -e cycles:u -o /out/core.data taskset 1 work 100000000
tacho record -q -c 1000000 -e cycles:u -o /out/both.data sh -c 'taskset 1 work 50000000; taskset 2 work 50000000'
tacho script -i /out/core.data -F ip,sym,brstack | grep -c ' hot .*/P/.*/M/' >/tmp/n
[ "$(cat /tmp/n)" -ge 10 ] && echo "branches of a task on cpu_core"
tacho report -i /out/both.data --stdio --sort sym | sed -n 's/^# Samples: [1-9][0-9]*/samples/p; s/.*%.*hot/hot/p'
