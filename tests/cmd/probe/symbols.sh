# Probes by the symbol table: defined, counted, recorded with their arguments, listed and removed. Static probes at all their
# places; the kernel counts the semaphore up while one is in use, and down when the recorder is killed.
. "$SUPPORT/lib.sh"
need_root
need cc
[ -w /sys/kernel/tracing/uprobe_events ] || skip "this kernel has no uprobe_events"
g=tacho_test_$$
trap 'tacho probe -q -d "$g:*" || true' EXIT
cc -O2 -s -o stripped "$SUPPORT/probe-target.c"
cc -O2 -o target "$SUPPORT/probe-target.c"
here=$(pwd -P)

tacho probe -x target -a "$g:add=add a=%di:s32 b=%si:s32" 2>err
grep -q "^Added new event:$" err && grep -q "^  $g:add .*(on add in $here/target with a b)$" err || fail "$(cat err)"
[ "$(status_of tacho probe -x target -a "$g:add=greet")" = 1 ]
grep -q "event \"add\" already exists" err || fail "$(cat err)"
tacho probe -x target -q -f "$g:add=greet name=+0(%di):string"
tacho probe -x target -q "$g:back=greet%return" '$retval:string'
tacho probe -l "$g:*" >out
grep -q "^  $g:add .*(on add.* in $here/target with a b)$" out && grep -q "^  $g:add_1 .*(on greet" out &&
	grep -q "^  $g:back__return (on greet%return.* with arg1)$" out || fail "$(cat out)"
tacho stat -x, -e "$g:add" -e "$g:add_1" -o counts ./target 7 >/dev/null
[ "$(csv_value "$g:add" counts)" = 7 ] && [ "$(csv_value "$g:add_1" counts)" = 1 ] || fail "$(cat counts)"
tacho record -q -e "$g:*" -o p.data ./target 4 >/dev/null
tacho script -i p.data -F event,trace >out
sed 's/([^)]*)/()/' out | grep -q "$g:add: () a=3 b=6$" || fail "$(cat out)"
grep -q "$g:add_1: (.*) name=\"./target\"" out || fail "$(cat out)"
grep -Eq "$g:back__return: \\([0-9a-f]+ <- [0-9a-f]+\\) arg1=\"./target\"" out || fail "$(cat out)"
tacho probe -d "$g:add" -d "$g:back*" 2>err || fail "$(cat err)"
grep -q "^Removed event: $g:back__return$" err || fail "$(cat err)"
[ "$(tacho probe -l "$g:*" | wc -l)" = 1 ] || fail "$(tacho probe -l)"
tacho probe -q -d "$g:*"
[ -z "$(tacho probe -l "$g:*")" ] && [ "$(status_of tacho probe -d "$g:*")" = 1 ] || fail "a probe is left"

# Nothing is defined by -n and -D, and nothing is left of a request of which one place is refused.
tacho probe -n -x target "$g:dry=add" 2>err
[ "$(tacho probe -x target -D "$g:dry=add+1 %ax" 2>err | sed 's/0x[0-9a-f]*/ADDR/')" = "p:$g/dry $here/target:ADDR %ax" ] || fail "$(cat err)"
[ "$(status_of tacho probe -x target "$g:bad=add %nosuch")" = 1 ] && grep -q "the kernel refuses" err || fail "$(cat err)"
[ -z "$(tacho probe -l "$g:*")" ] || fail "-n or a failure has defined a probe"

# A pattern of which one function is refused leaves none of the others; a path cannot smuggle in another definition.
[ "$(status_of tacho probe -x target "$g:bad=add %nosuch" -a "$g:ok=greet")" = 1 ] || fail "$(cat err)"
[ "$(status_of tacho probe -x target -a "$g:add*=x")" = 1 ] || fail "a pattern as a name"
evil="t
p:$g/evil $here/target:0x1000"
mkdir -p "$(dirname "$evil")"
cp target "$evil" && [ "$(status_of tacho probe -x "$evil" -D add)" = 1 ] && grep -q 'no path with blanks' err || fail "$(cat err)"
tacho probe -q -d "$g:*" || true

# Functions, also of a stripped program: only those of its dynamic symbol table.
tacho probe -x target -F '*' >out
grep -qx add out && grep -qx greet out && ! grep -qx work_semaphore out || fail "$(cat out)"
[ "$(status_of tacho probe -x stripped -D add)" = 1 ] && grep -q "no function 'add'" err || fail "$(cat err)"
[ "$(status_of tacho probe -x target -D ad)" = 1 ] && grep -q "did you mean 'add'" err || fail "$(cat err)"
[ "$(status_of tacho probe -x target -D add+4096)" = 1 ] && grep -q "outside" err || fail "$(cat err)"
[ "$(status_of tacho probe -x target -D 0x1)" = 1 ] || fail "0x1 is not code"
[ "$(status_of tacho probe -x /etc/passwd -D add)" = 1 ] && grep -q "not an ELF file" err || fail "$(cat err)"
[ "$(status_of tacho probe -x nosuch -D add)" = 1 ] && grep -q "No such file" err || fail "$(cat err)"
[ "$(status_of tacho probe -a x -l)" = 129 ] && [ "$(status_of tacho probe)" = 129 ] || fail "$(cat err)"
[ "$(status_of tacho probe -x target -D 'add%foo')" = 1 ] && grep -q '^  *^ only %return' err || grep -q 'only %return' err || fail "$(cat err)"

# Static probes: two places of one name, operands in registers and constants.
tacho probe -x stripped -D "$g:st=%demo:plain" >out
[ "$(wc -l <out)" = 2 ] && grep -q 'arg2=\\7:u64$' out && grep -q 'arg2=\\8:u64$' out || fail "$(cat out)"
tacho probe -x stripped -D "$g:st=%counted" | grep -Eq '^p:.*:0x[0-9a-f]+\(0x[0-9a-f]+\) arg1=%[a-z0-9]+:s32$' || fail "no semaphore"
tacho probe -x stripped -D %plain | grep -q '^p:sdt_demo/plain ' || fail "the name of an SDT event"
[ "$(status_of tacho probe -x stripped -D %demo:plan)" = 1 ] && grep -q "did you mean '%demo:plain'" err || fail "$(cat err)"
tacho probe -q -x stripped "$g:counted=%demo:counted"
[ "$(./stripped 3)" = 0 ] || fail "the semaphore of an unused probe is not zero"
tacho stat -x, -e "$g:counted" -o counts ./stripped 6 >out
[ "$(csv_value "$g:counted" counts)" = 6 ] && [ "$(cat out)" = 1 ] || fail "$(cat counts out)"
[ "$(./stripped 3)" = 0 ] || fail "the semaphore is still counted up"
tacho probe -q -d "$g:*"

# The program of another mount namespace, not the one that has its path here.
mkdir here there
cp target there/prog
cp /bin/true here/prog
unshare -m sh -c "mount --bind '$here/there' '$here/here' && echo ready >ready && exec sleep 60" 2>/dev/null &
other=$!
for i in $(seq 50); do
	[ -e ready ] || sleep 0.1
done
if [ -e ready ]; then
	tacho probe --target-ns $other -x "$here/here/prog" -q "$g:by_pid=add"
	tacho probe -x "/proc/$other/root$here/here/prog" -q "$g:by_path=add"
	tacho stat -x, -e "$g:by_pid" -e "$g:by_path" -o counts there/prog 5 >/dev/null
	[ "$(csv_value "$g:by_pid" counts)" = 5 ] && [ "$(csv_value "$g:by_path" counts)" = 5 ] || fail "$(cat counts)"
	tacho probe -q -d "$g:by_*"
fi
kill $other || true

# Names of a file do not reach the terminal as they are.
echo 'int evx(void); int evx(void) { return 1; } int main(void) { return evx(); }' | cc -O0 -x c -o names -
LC_ALL=C sed -i 's/evx\x00/e\x1bx\x00/g' names
[ "$(status_of tacho probe -x names -n 'e*')" = 0 ] && grep -q '(on e?x in' err || fail "$(cat -v err)"
