# A snoop that is killed leaves no program, no link, no pinned object and no probe behind.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
probes() {
	cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/kprobe_events /sys/kernel/debug/tracing/uprobe_events 2>/dev/null || true
}
bpftool=$(command -v bpftool || ls /usr/sbin/bpftool 2>/dev/null || true)
own_programs() {	# our programs' names are those of views.bpf.c
	[ -z "$bpftool" ] || "$bpftool" prog show 2>/dev/null | grep -cE 'name (probe0|probe1|raw_sys_enter|raw_sys_exit|tp[0-9]) ' || true
}
gone() {
	[ "$(own_programs)" = "$programs" ]
}
probes >before
programs=$(own_programs)
for way in $ways; do
	for view in "funclatency $WORK:twice" open; do
		tacho snoop ${way#--bpf} $view >text 2>err &
		snoop=$!
		wait_for 20 heeds $snoop
		sleep 0.3
		kill -KILL $snoop
		wait $snoop 2>/dev/null || true
	done
done
probes >after
cmp before after || fail "probes are left: $(cat after)"
[ -z "$bpftool" ] || wait_for 20 gone
"$WORK" functions 1
