# Thousands of short-lived children are followed to the end, and no event is lost.
# run: alone
. "$SUPPORT/lib.sh"
need_root
need python3
cat >forks.py <<'PY'
import os
for i in range(2000):
    pid = os.fork()
    if pid == 0:
        os.write(2, b"x%d" % i)
        os._exit(i & 127)
    os.waitpid(pid, 0)
PY
tacho trace --format strace -e write,exit_group,wait4 -o got python3 forks.py 2>out || skip "BPF programs cannot be loaded"
[ "$(grep -c 'write(2, "x' got)" = 2000 ] || fail "$(grep -c 'write(2, "x' got) writes"
[ "$(grep -c '+++ exited with' got)" = 2001 ] || fail "$(grep -c '+++ exited' got) exits"
for i in 0 77 1999; do
	grep -q "write(2, \"x$i\", ${#i}" got || grep -q "write(2, \"x$i\", $((${#i} + 1))) " got || fail "write $i is missing"
done
! grep -q lost out || fail "$(grep lost out)"
