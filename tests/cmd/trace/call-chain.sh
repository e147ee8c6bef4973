# --call-graph and -k: whole call chains of code without frame pointers, in all formats, with and without BPF programs.
. "$SUPPORT/lib.sh"
need_root
need cc
[ -r /sys/kernel/tracing/events/raw_syscalls/sys_enter/format ] || skip "no tracefs"
cat >prog.c <<'C'
#include <unistd.h>
__attribute__((noinline)) int inner(int fd) { return (int)write(fd, "x", 1) + 1; }
__attribute__((noinline)) int outer(int fd) { return inner(fd) + 1; }
int main(void) { return outer(1) != 3; }
C
cc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o prog prog.c
for bpf in '' --no-bpf; do
	tacho trace $bpf -k -e write -o got ./prog >out 2>err || skip "may not trace: $(tail -n 1 err)"
	[ "$(sed -n '/ write(/,$ s/^ \{39\}\([a-z]*\) (.*\/prog)$/\1/p' got | head -n 3 | tr '\n' ' ')" = 'inner outer main ' ] || fail "$bpf -k: $(cat got err)"
done
tacho trace --call-graph dwarf,4096 --format strace -e write -o got ./prog >out
grep -A 9 ' write(' got | grep -qE '^ > .*/prog\(outer\+0x[0-9a-f]+\) \[0x[0-9a-f]+\]$' || fail "strace's form: $(cat got)"
tacho trace -k --json -e write -o got ./prog >out
python3 -c '
import json
rows = [json.loads(line) for line in open("got")]
stack = [f["symbol"] for r in rows if r.get("name") == "write" for f in r["stack"]]
i = stack.index("inner")
assert stack[i:i + 3] == ["inner", "outer", "main"], stack' || fail "--json: $(cat got)"
tacho trace -k --max-stack 2 -e write -o got ./prog >out
[ "$(grep -c '^ \{39\}' got)" = 2 ] || fail "--max-stack: $(cat got)"
tacho trace -k --min-stack 100 -e write -o got ./prog >out
! grep '^ \{39\}' got || fail "--min-stack"
tacho trace --kernel-syscall-graph -e write -o got ./prog >out
grep -q '^ \{39\}.* (\[kernel.kallsyms\])$' got || fail "--kernel-syscall-graph: $(cat got)"
[ "$(status_of tacho trace --call-graph dwarf,x true 2>err)" = 129 ] || fail "a wrong size is accepted"
grep -q 'as in dwarf,8192' err || fail "$(cat err)"
