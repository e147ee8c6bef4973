# --stop-bt shows a call chain up to the first of some functions, as perf does.
# run: alone
. "$SUPPORT/lib.sh"
need perf cc jq
need_root
need_tracefs
cat >w.c <<'EOF'
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) void inner(void) { syscall(SYS_getpid); __asm__ volatile(""); }
__attribute__((noinline)) void middle(void) { inner(); __asm__ volatile(""); }
__attribute__((noinline)) void again(int n) { if (n) again(n - 1); else middle(); __asm__ volatile(""); }
__attribute__((noinline)) void outer(void) { again(2); middle(); inner(); __asm__ volatile(""); }
int main(void) { outer(); middle(); return 0; }
EOF
cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o w w.c
perf record -q -g -c 1 -e syscalls:sys_enter_getpid,sched:sched_process_exit -o a.data ./w 2>err ||
	skip "cannot record tracepoints here: $(cat err)"
same() {	# OPTION...: names only, since perf 6.1 shows other addresses
	perf script --no-inline -i a.data -F event,ip,sym "$@" </dev/null | sed 's/^\(	 *\)[0-9a-f]* /\1/' >theirs
	tacho script -i a.data -F event,ip,sym "$@" </dev/null | sed 's/^\(	 *\)[0-9a-f]* /\1/' >ours
	tr -d ' ' <theirs >theirs.bare
	tr -d ' ' <ours | diff theirs.bare - || fail "not the same: $*"
}
frames() { tacho script -i a.data -F ip,sym "$@" | grep -c . || :; }
for stop in middle again inner syscall outer,middle again,none none main,syscall do_group_exit; do
	same --stop-bt $stop
done
same --stop-bt middle --max-stack 2
same --stop-bt outer --max-stack 3
[ "$(frames --stop-bt middle)" -lt "$(frames)" ] || fail "nothing was cut"
[ "$(frames --stop-bt middle)" -gt "$(frames --stop-bt middle,syscall)" ] || fail "the second name is not heard"
[ "$(frames --stop-bt middle --stop-bt syscall)" = "$(frames --stop-bt middle,syscall)" ] ||
	fail "twice is not as one list"
[ "$(tacho script -i a.data -F ip,sym --stop-bt do_group_exit | grep -c '[^a-z_]do_group_exit$')" = 1 ] ||
	fail "the kernel's functions stop nothing"
tacho script -i a.data --json --stop-bt outer | jq -r 'select(.event == "syscalls:sys_enter_getpid") |
	.callchain[-1].symbol' | sort | uniq -c | awk '{ print $1, $2 }' >last
printf '3 outer\n' >wanted
grep -v '_start' last | diff wanted - || fail "JSON has other frames"
