# Probes without a definition, by the uprobe PMU: counted, recorded with stacks, with semaphores, and gone when the program
# that uses them is killed.
. "$SUPPORT/lib.sh"
need_root
need cc
[ -e /sys/bus/event_source/devices/uprobe/type ] || skip "this kernel has no uprobe PMU"
cat >p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int counter;
static inline __attribute__((always_inline)) int inlined(int a)
{
	counter += a;
	return counter * a;
}
__attribute__((noinline)) int outer(int a)
{
	return inlined(a) + inlined(counter);
}
__attribute__((noinline)) int other(int a)
{
	return inlined(a);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		outer(i);
	other(7);
	if (argc > 2)
		for (;;)
			usleep(10000), other(1);
	return counter == 12345678;
}
C
cc -O2 -g -o p p.c
cc -O2 -s -o target "$SUPPORT/probe-target.c"
tacho stat -x, -o counts -e uprobe:./p:outer -e uretprobe:./p:outer,uprobe:./p:inlined -e uprobe:./p:outer+4:u \
	-e '{uprobe:p:other,uprobe:p:main/name=start/}' ./p 9
for want in uprobe:./p:outer=9 uretprobe:./p:outer=9 uprobe:./p:inlined=19 uprobe:p:other=1 start=1; do
	[ "$(csv_value "${want%=*}" counts)" = "${want#*=}" ] || fail "$want: $(cat counts)"
done
# A pattern is an event per function.
tacho stat -x, -o counts -e 'uprobe:./p:o*er' ./p 3
[ "$(csv_value uprobe:./p:outer counts)" = 3 ] && [ "$(csv_value uprobe:./p:other counts)" = 1 ] || fail "$(cat counts)"
line=$(grep -n 'return counter == ' p.c | cut -d : -f 1)
tacho stat -x, -o counts -e "uprobe:./p:p.c:$line" ./p 3
[ "$(csv_value "uprobe:./p:p.c:$line" counts)" = 1 ] || fail "$(cat counts)"

tacho record -q -g -e uprobe:./p:inlined -o p.data ./p 2
tacho script -i p.data -F comm,event,period >out
[ "$(grep -c 'p .*1 uprobe:./p:inlined:' out)" = 5 ] || fail "$(cat out)"
tacho report -i p.data --stdio --no-children -g none --sort sym 2>/dev/null | grep -q ' outer' || fail "no report"
tacho evlist -v -i p.data | grep -q 'config1' && fail "an address of the recorder is in the recording"

# The same kinds of events in trace.
tacho trace -o traced -e uprobe:./p:outer,uprobe:./p:other ./p 4
[ "$(grep -c 'uprobe:./p:outer' traced)" = 4 ] && [ "$(grep -c 'uprobe:./p:other' traced)" = 1 ] || fail "$(cat traced)"
tacho trace -o traced -e usdt:./target:counted ./target 5 >/dev/null
[ "$(grep -c 'usdt:./target:counted' traced)" = 5 ] || fail "$(cat traced)"

# Static probes: all places of a name, and those with a semaphore fire.
tacho stat -x, -o counts -e usdt:./target:demo:plain,usdt:./target:counted ./target 6 >out
[ "$(csv_value usdt:./target:demo:plain counts)" = 7 ] && [ "$(csv_value usdt:./target:counted counts)" = 6 ] &&
	[ "$(cat out)" = 1 ] || fail "$(cat counts out)"

# Killed by SIGKILL, a recorder leaves nothing: no definition, no breakpoint, no semaphore above zero.
before=$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null | wc -l)
tacho record -q -e usdt:./target:counted -e uprobe:./p:other -o k.data ./p 1 stay &
recorder=$!
wait_for 20 test -s k.data
wait_for 20 pgrep -P $recorder p
child=$(pgrep -P $recorder p)
kill -9 $recorder
kill -9 "$child"
wait 2>/dev/null || true
[ "$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null | wc -l)" = "$before" ] || fail "a definition is left"
unprobed() {
	[ "$(./target 3)" = 0 ]
}
wait_for 10 unprobed

refused() {	# EVENT TEXT
	[ "$(status_of tacho stat -e "$1" true)" != 0 ] || fail "$1 is accepted"
	grep -q "$2" err || fail "$1: $(cat err)"
}
refused uprobe:./p 'needs a file and a place'
refused uprobe:./p:nosuch "no function 'nosuch'"
refused uprobe:nosuch:main 'No such file'
refused uprobe:./p.c:main 'not an ELF file'
refused usdt:./p:x 'has no static probes'
refused 'uprobe:./p:outer:z' 'decimal number'
refused 'uprobe:./p:outer/nosuch=1/' 'nosuch'
refused kprobe: 'name of a function'
if [ ! -e /sys/bus/event_source/devices/kprobe ]; then
	refused kprobe:vfs_read 'this kernel has no kprobes'
	refused kretprobe:vfs_read 'this kernel has no kprobes'
fi

# An unprivileged user is told what is missing, and the other events are counted.
if id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	chmod 755 . p
	[ "$(setpriv --reuid nobody --regid nogroup --clear-groups cat p.c 2>/dev/null | wc -l)" -gt 0 ] || exit 0
	setpriv --reuid nobody --regid nogroup --clear-groups "$(command -v tacho)" stat -e uprobe:./p:outer,task-clock ./p 2 2>err || true
	grep -q 'CAP_PERFMON\|CAP_SYS_ADMIN' err || fail "$(cat err)"
	grep -q 'task-clock' err || fail "$(cat err)"
	setpriv --reuid nobody --regid nogroup --clear-groups "$(command -v tacho)" probe -x ./p outer 2>err && fail "defined"
	grep -q 'tracefs' err || grep -q 'permission denied' err || fail "$(cat err)"
fi
