# Lines of system calls: strings, flags, structures and results, in perf's and in strace's form.
. "$SUPPORT/lib.sh"
need_root
echo text >file
tacho trace -o perf.txt head -n 1 file >out || skip "BPF programs cannot be loaded: $(cat perf.txt 2>/dev/null)"
grep -q '^text$' out || fail "the command's output is missing"
grep -qE '^ *0\.000 \( *[0-9.]+ ms\): head/[0-9]+ execve\(filename: ".*/head", argv: \["head", "-n", "1", "file"\], envp: 0x[0-9a-f]+\) += 0$' perf.txt ||
	fail "no execve: $(head -n 3 perf.txt)"
grep -qE 'openat\(dfd: CWD, filename: "file"(, flags: RDONLY)?\) += 3$' perf.txt || fail "no openat: $(grep openat perf.txt)"
grep -qE 'read\(fd: 3, buf: "text\\n", count: [0-9]+\) += 5$' perf.txt || fail "no read: $(grep read perf.txt)"
grep -qE 'exit_group\(\) = \?$' perf.txt || fail "no exit_group: $(tail -n 2 perf.txt)"

tacho trace --format strace -o strace.txt sh -c 'head -n 1 file; kill -TERM $$' >out && fail "the status of the command is lost"
grep -qE '^[0-9]+ +[0-9]+\.[0-9]{6} openat\(AT_FDCWD, "file", O_RDONLY\) += 3 <[0-9.]+>$' strace.txt || fail "$(grep file strace.txt)"
grep -qE 'stat(at)?\([0-9]+, ("", )?\{st_mode=S_IFREG\|0[0-7]{3}, st_size=[0-9]+, \.\.\.\}(, AT_EMPTY_PATH)?\) = 0 ' strace.txt ||
	fail "no fstat: $(grep stat strace.txt)"
grep -q -- '--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=[0-9]*, si_uid=0, si_status=0' strace.txt || fail "no SIGCHLD"
grep -q '+++ killed by SIGTERM +++' strace.txt || fail "the end is missing: $(tail -n 2 strace.txt)"

tacho trace --json -o lines.json head -n 1 file >out
python3 - <<'PY'
import json
rows = [json.loads(line) for line in open("lines.json")]
reads = [r for r in rows if r["type"] == "syscall" and r["name"] == "read" and r["ret"] == 5]
assert reads and reads[0]["args"]["buf"] == '"text\\n"' and reads[0]["duration_ns"] > 0, reads
assert any(r.get("error") == "ENOENT" for r in rows)
assert rows[-1]["type"] == "exit" and rows[-1]["status"] == 0, rows[-1]
PY
