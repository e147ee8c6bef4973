# Tracepoints by pattern, each on its line with its kind, and encoded by their number.
ls /sys/kernel/tracing/events/sched >/dev/null 2>&1 ||
	{ echo "# skip: tracefs is not mounted, or not readable for this user"; exit 77; }
tacho list "sched:sched_swi*"
id=$(cat /sys/kernel/tracing/events/sched/sched_switch/id)
tacho list --details sched:sched_switch | grep -q "tracepoint/config=$(printf "0x%x" "$id")/"
[ "$(tacho list "sched:*" | grep -c "\[Tracepoint event\]")" -eq \
  "$(find /sys/kernel/tracing/events/sched -mindepth 2 -name id | wc -l)" ]
