# -ff -o FILE: each thread's lines are in FILE.TID, in the order of time, without interruptions by others, as strace -ff writes them.
. "$SUPPORT/lib.sh"
need strace
tacho trace -e getpid true 2>err || skip "may not trace: $(tail -n 1 err)"
cat >work.sh <<'END'
ls / >/dev/null
(echo hi | cat) >/dev/null
exit 3
END
[ "$(status_of tacho trace -ff -o t --format strace -- sh work.sh)" = 3 ] || fail "the status of the command is lost"
strace -ff -ttt -T -o s sh work.sh || true
calls() {	# FILE: names of calls; signals come at any time
	sed -n '/rt_sigreturn/d; s/^[0-9.]* \([a-z0-9_]*\)(.*/\1/p' "$1"
}
for f in t.*; do
	calls "$f" | md5sum
done | sort >ours
for f in s.*; do
	calls "$f" | md5sum
done | sort >theirs
cmp ours theirs || { wc -l t.* s.* >&2; fail "the calls of the threads differ"; }
! grep -q -e resumed t.* || fail "a line is interrupted"
! grep -q -v '^[0-9]*\.[0-9]* ' t.* || fail "a line has more than its time"
for f in t.*; do sort -c -s -n -k1,1 "$f" || fail "$f is not in order"; done
# Lines of perf's format, and a file that exists.
echo old >p.1
tacho trace -ff -o p -- true
[ "$(find . -name 'p.*' ! -name p.1 | wc -l)" = 1 ] && grep -q 'execve(' p.[0-9]* || fail "perf's lines: $(ls p.*)"
# What -ff needs.
[ "$(status_of tacho trace -ff true 2>err)" = 129 ] || fail "without -o"
grep -q -e '-ff needs -o FILE' err || fail "$(cat err)"
