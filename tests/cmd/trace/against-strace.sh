# The calls of a program as strace prints them: the same calls in the same order, with the same arguments. Addresses, IDs of
# processes, free memory and random bytes differ between two runs.
. "$SUPPORT/lib.sh"
need_root
need strace setarch python3
umask 022
echo text >file
ln -s file link
cat >compare.py <<'PY'
import re, sys

def calls(path):
    lines = []
    for line in open(path, errors="replace"):
        m = re.match(r"\d+ +\d+\.\d+ (.*?)( <[\d.]+>)?$", line.rstrip("\n"))
        text = re.sub(r"\s+= ", " = ", m[1])
        text = re.sub(r"(uptime|loads|\w*ram|procs|f_bfree|f_bavail|f_ffree)=(\[[^]]*\]|\d+)", r"\1=N", text)
        text = re.sub(r'getrandom\("[^"]*"', 'getrandom("..."', re.sub(r"0x[0-9a-f]{6,}( /\* \d+ vars \*/)?", "ADDRESS", text))
        lines.append(re.sub(r"(set_tid_address\(\S+\)|getpid\(\)|getppid\(\)) = \d+", r"\1 = PID", text))
    return lines

a, b = calls("strace.txt"), calls("tacho.txt")
differ = [(x, y) for x, y in zip(a, b) if x != y]
names = lambda lines: [line.split("(")[0] for line in lines]
assert names(a) == names(b), ("other calls", [(x, y) for x, y in zip(a, b) if x.split("(")[0] != y.split("(")[0]][:3], len(a), len(b))
if len(differ) * 50 > len(a):
    sys.exit("%d of %d lines differ: %s" % (len(differ), len(a), differ[:5]))
PY
tacho trace -o tacho.txt true || skip "BPF programs cannot be loaded"
grep -q 'strings are not shown' tacho.txt && skip "BPF programs cannot be loaded"
for command in 'cat file' 'ls -l file link' 'stat file' 'head -n 1 file' 'readlink -f link' 'sort file' 'wc -l file' 'find . -name file' \
	'id -u' 'uname -a' 'touch file' 'chmod 644 file' 'grep -c text file' 'cat missing'; do
	setarch -R strace -f -ttt -T -o strace.txt $command >out1 2>&1 </dev/null || true
	setarch -R tacho trace --format strace -o tacho.txt $command >out1 2>&1 </dev/null || true
	python3 compare.py || fail "$command"
done
