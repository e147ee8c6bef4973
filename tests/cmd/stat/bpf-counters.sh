# --bpf-counters: a BPF program reads the events when tasks are switched. Its counts are those of the kernel's own counters, and
# the number of open events depends neither on how many cgroups are counted nor on how many programs count.
# run: plain alone
. "$SUPPORT/lib.sh"
need_cgroups
tacho stat --bpf-counters -a -e cs true 2>text
if grep 'counted without BPF' text; then
	skip "BPF programs cannot be loaded here"
fi

# While the hypervisor has descheduled a CPU, clocks go on, and the two ways read them at slightly different times: several tries.
agrees() {	# COMMAND...
	for try in 1 2 3 4 5 6; do
		! ("$@") || return 0
	done
	fail "$1: the two ways count differently: $(cat rows)"
}

# Both ways in one run: what a command and its children do. The kernel closes the counters of a thread shortly before it ends; on
# busy CPUs some of these 40 threads and processes are preempted after that.
one_command() {
	tacho stat -x, -e task-clock,task-clock:b,cs,cs:b,page-faults,page-faults:b,syscalls:sys_enter_write,syscalls:sys_enter_write:b \
		sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do ls / >list; sleep 0.002; done; $TEST_BIN/burn -t 4 -p 4 -m 20 -o used; exit" 2>rows
	[ "$(grep sys_enter_write rows | cut -d, -f1 | uniq | wc -l)" = 1 ] || fail "calls of write"
	within 6 "$(csv_value task-clock:b rows)" "$(csv_value task-clock rows)"
	within 3 "$(csv_value page-faults:b rows)" "$(csv_value page-faults rows)"
	more=$(($(csv_value cs:b rows) - $(csv_value cs rows)))
	[ $more -ge -5 ] && [ $more -le 120 ] || fail "switches"
}
agrees one_command

# A process that runs already, with threads that it starts later.
process() {
	sh -c "sleep 0.3; $TEST_BIN/burn -t 8 -p 1 -m 60 -o used; exit" &
	tacho stat -x, -e task-clock,task-clock:b -p $! 2>rows
	within 3 "$(csv_value task-clock:b rows)" "$(csv_value task-clock rows)"
}
agrees process

# Cgroups within each other, while a task moves from one to the other.
of_cgroup() {	# EVENT CGROUP FILE
	awk -F, -v event="$1" -v cgroup="$2" '$3 == event && $4 == cgroup { print $1 }' "$3"
}
cgroups() {
	work="echo \$\$ >$mount/$name/cgroup.procs; $TEST_BIN/spin -c 0.1 -t 0; echo \$\$ >$mount/$name/b/cgroup.procs; $TEST_BIN/spin -c 0.2 -t 0"
	tacho stat -a -x, -e task-clock,task-clock:b,page-faults,page-faults:b --for-each-cgroup "$name,$name/b,/" sh -c "$work" 2>rows
	for cgroup in "$name" "$name/b" /; do
		within 4 "$(of_cgroup task-clock:b "$cgroup" rows)" "$(of_cgroup task-clock "$cgroup" rows)"
		within 4 "$(of_cgroup page-faults:b "$cgroup" rows)" "$(of_cgroup page-faults "$cgroup" rows)"
	done
	[ "$(of_cgroup task-clock:b "$name/b" rows | cut -d. -f1)" -ge 199 ] || fail "b used 200 ms"
}
agrees cgroups

# One event per CPU for 41 cgroups, and none for a second program that counts the same.
groups="$name"
for i in $(seq 40); do
	mkdir "$mount/$name/c$i"
	groups="$groups,$name/c$i"
done
events_of() {
	ls -l "/proc/$1/fd" | grep -c perf_event || true
}
tacho stat -a --bpf-counters -e cs --for-each-cgroup "$groups" --timeout 30000 2>rows &
first=$!
wait_for 20 heeds $first
wait_for 20 is_counting $first
sleep 0.2
[ "$(events_of $first)" = "$(nproc)" ] || fail "$(events_of $first) events are open"
tacho stat -a --bpf-counters -e cs --timeout 30000 2>rows &
second=$!
wait_for 20 heeds $second
sleep 0.3
[ "$(events_of $second)" = 0 ] || fail "$(events_of $second) events are open in the second"
# The second goes on when the first is killed, and nothing is left when it has ended.
kill -KILL $first
wait $first 2>/dev/null || true
sleep 0.2
kill -INT $second
wait $second 2>/dev/null || true
[ "$(awk '$2 == "cs" { print $1 }' rows)" -gt 0 ] || fail "nothing after the first has ended: $(cat rows)"
for i in $(seq 40); do
	rmdir "$mount/$name/c$i"
done
bpftool=$(command -v bpftool || ls /usr/sbin/bpftool 2>/dev/null || true)
gone() {
	! "$bpftool" map show 2>/dev/null | grep -q 'perf_event_array .*name tacho'
}
[ -z "$bpftool" ] || wait_for 20 gone

# -u counts a user's processes that start later.
if id nobody >id.out 2>&1 && command -v setpriv >/dev/null; then
	tacho stat --bpf-counters -u nobody -x, -e task-clock -- setpriv --reuid nobody sh -c "$TEST_BIN/spin -c 0.2 -t 0; true" 2>rows
	[ "$(csv_value task-clock rows | cut -d. -f1)" -ge 180 ] || fail "the user's processes used 200 ms: $(cat rows)"
	setpriv --reuid nobody --clear-groups "$BUILD/tacho" stat --bpf-counters -e task-clock:u true 2>rows || fail "$(cat rows)"
	grep -q 'counted without BPF: BPF programs may not be loaded by this user' rows || fail "no reason: $(cat rows)"
fi
