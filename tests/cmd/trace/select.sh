# -e by name, glob, class and exclusion; results, paths, the newest lines, summaries; errors have a position.
. "$SUPPORT/lib.sh"
need_root
echo text >file
tacho trace -e openat,close -o got cat file >out || skip "BPF programs cannot be loaded"
grep -q openat got || fail "openat is missing"
! grep -qvE '(openat|close)\(' got || fail "other calls: $(grep -vE '(openat|close)\(' got | head -n 3)"
tacho trace -e 'open*' -o got cat file >out
! grep -qvE 'open[a-z0-9]*\(' got || fail "glob: $(cat got)"
tacho trace -e trace=%file -o got cat file >out
grep -q 'execve(' got && grep -q 'openat(' got || fail "%file: $(cat got)"
! grep -q 'mmap(' got || fail "%file has mmap"
tacho trace -e '!mmap,openat' -o got cat file >out
grep -q 'close(' got || fail "! drops others"
! grep -qE '(mmap|openat)\(' got || fail "! keeps what it names"
tacho trace -Z -o got cat file missing >out 2>&1 || true
grep -q 'ENOENT' got || fail "no failed call"
! grep -qE '= [0-9]' got || fail "-Z shows successful calls: $(cat got)"
! grep -q exit_group got || fail "-Z shows a call that has not returned: $(cat got)"
tacho trace -P file -o got cat file >out
grep -q 'openat(dfd: CWD, filename: "file"' got || fail "-P: $(cat got)"
! grep -q ld.so got || fail "-P shows other paths"
tacho trace --last 5 -o got cat file >out
[ "$(wc -l <got)" = 5 ] || fail "--last: $(cat got)"
grep -q exit_group got || fail "--last is not the end"
tacho trace --last 5 -S -o got cat file >out
[ "$(grep -n exit_group got | cut -d: -f1)" -lt "$(grep -n Summary got | cut -d: -f1)" ] || fail "--last -S: $(cat got)"
# When a program crashes, or on SIGUSR2, they are printed at once.
tacho trace --last 3 --format strace -e kill,getpid,close -o got sh -c 'sh -c "kill -SEGV \$\$"; cat file' >out 2>&1 || true
grep -q 'killed by SIGSEGV' got && grep -q 'exited with 0' got || fail "--last: a crash is not there: $(cat got)"
[ "$(wc -l <got)" -gt 3 ] && [ "$(wc -l <got)" -le 6 ] || fail "--last: a crash is not printed: $(cat got)"
tacho trace --last 2 -e close -o got sh -c 'cat file; kill -USR2 $PPID; sleep 0.5; cp got during; cat file' >out
[ "$(wc -l <during)" = 2 ] && [ "$(wc -l <got)" = 4 ] || fail "--last: SIGUSR2: $(cat during got)"
tacho trace --max-events 3 -o got cat file >out || true
[ "$(wc -l <got)" = 3 ] || fail "--max-events: $(cat got)"
tacho trace -s --errno-summary -o got cat file >out
grep -qE '^   openat +[0-9]+ +[0-9]+ +[0-9.]+ .*%$' got || fail "-s: $(cat got)"
grep -q 'ENOENT: ' got || fail "--errno-summary: $(cat got)"
tacho trace -c -o got sh -c 'cat file; cat file' >out
grep -qE '^100\.00 +[0-9.]+ +[0-9]+ +[0-9]+ +[0-9]+ total$' got || fail "-c: $(cat got)"
tacho trace --exec -o got sh -c 'cat file; missing-program; true' >out 2>&1 || true
grep -qE '^ +[0-9.]+   [0-9]+ ".*/cat" \["cat", "file"\] in ' got || fail "--exec: $(cat got)"

tacho trace -e close --filter 'pid==1' true 2>err && fail "--filter without a tracepoint is accepted"
grep -q -e '--filter is for the tracepoints of -e' err || fail "$(cat err)"
tacho trace -i calls.data -p 1 2>err && fail "-i -p is accepted"
grep -q -e '-i prints a recording as it is' err || fail "$(cat err)"
tacho trace --string-limit 0 true 2>err && fail "--string-limit 0 is accepted"
# A 32-bit program: its exec returns with another number.
if [ "$(uname -m)" = x86_64 ] && printf '.globl _start\n_start: mov $1, %%eax\nxor %%ebx, %%ebx\nint $0x80\n' | as --32 -o p32.o - 2>err &&
	ld -m elf_i386 -o p32 p32.o 2>err && ./p32 2>err; then
	tacho trace -o got ./p32
	grep -q 'execve(.*= 0$' got && grep -q 'exit@32()* = ?' got || fail "32-bit: $(cat got)"
	printf '.globl _start\n_start: mov $20, %%eax\nint $0x80\nmov $1, %%eax\nint $0x80\n' | as --32 -o p32.o -
	ld -m elf_i386 -o p32 p32.o
	tacho trace -s -o got ./p32 || true
	printf '.globl _start\n_start: mov $39, %%eax\nsyscall\nmov $33, %%eax\nlea path(%%rip), %%rbx\nmov $4, %%ecx\nint $0x80\nmov $60, %%eax\n'"xor %%edi, %%edi\nsyscall\npath: .asciz \"/\"\n" | as -o p64.o -
	ld -Ttext=0x400000 -o p64 p64.o
	tacho trace -o got64 ./p64
	grep -q ' getpid()' got64 && grep -qE ' access@32\(filename: 0x4[0-9a-f]+, mode: R_OK\) += ' got64 && grep -q ' exit()' got64 || fail "int 0x80: $(cat got64)"
	grep -q '^   getpid@32 ' got || fail "32-bit -s: $(cat got)"
fi
tacho trace -o /dev/full true 2>err && fail "a full disk is not an error"
grep -q "cannot write '/dev/full': No space left on device" err || fail "$(cat err)"
tacho trace -p "$$,4000000" 2>err && fail "a process that does not exist is accepted"
grep -q 'no process 4000000' err || fail "$(cat err)"
tacho trace -e opneat true 2>err && fail "an unknown call is accepted"
grep -q "'opneat' is not a system call" err || fail "$(cat err)"
grep -q "did you mean 'openat'?" err || fail "$(cat err)"
tacho trace -e %fiel true 2>err && fail "an unknown class is accepted"
grep -q "'%fiel' is not a system call class" err || fail "$(cat err)"
