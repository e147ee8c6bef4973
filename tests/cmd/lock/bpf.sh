# lock contention -b: the BPF program sees the waits that a recording has, whatever they are added up by.
# run: plain alone
. "$SUPPORT/lib.sh"
need_root
need python3
tacho lock con -b true >out 2>err || {
	grep -q 'BPF\|contention_begin' err || fail "no reason: $(cat err)"
	skip "$(head -n 1 err)"
}
cat >fight.py <<'P'
import os, sys
r, w = os.pipe()
for i in range(4):		# four writers and one reader of a pipe, for its mutex
    if os.fork() == 0:
        for j in range(int(sys.argv[1])):
            os.write(w, b'x' * 64)
        os._exit(0)
os.close(w)
while os.read(r, 4096):
    pass
P

# The mutex of the pipe, at the same time in a recording and by BPF. How often it was waited for depends on luck.
fight() {
	tacho lock con -b -l -Y mutex --json -- tacho lock record -q -o lock.data -- python3 fight.py 20000 >bpf.json
	tacho lock con -l -Y mutex --json -i lock.data >recorded.json
	python3 - <<'P'
import json, sys
rows = [{r["address"]: r for r in json.load(open(f))["rows"]} for f in ("bpf.json", "recorded.json")]
lock = max(rows[1], key=lambda a: rows[1][a]["contended"], default=None)
if not lock or rows[1][lock]["contended"] < 20:
    sys.exit(2)
a, b = rows[0][lock], rows[1][lock]
print(a, b, sep="\n")
# The recorder stops a little before the program, and each measures the time of the other.
ok = 0.98 * b["waits"] <= a["waits"] <= 1.1 * b["waits"] + 5 and 0.4 < a["wait_ns"] / b["wait_ns"] < 2.5
sys.exit(0 if ok and a["max_ns"] >= a["wait_ns"] / a["waits"] >= a["min_ns"] > 0 else 1)
P
}
found=2
for try in 1 2 3 4 5 6; do
	found=0
	fight || found=$?
	[ $found = 2 ] || break
done
[ $found != 2 ] || skip "the CPUs are too busy for contention"
[ $found = 0 ] || fail "not the same waits"

# By caller, thread, owner and cgroup; perf's tables.
watch() {	# PATTERN OPTION...: until it shows such a row, because there may be no contention
	pattern=$1
	shift
	for try in 1 2 3 4 5 6 7 8; do
		tacho lock con -b "$@" -- python3 fight.py 20000 2>rows
		! grep -q "$pattern" rows || return 0
	done
	[ -s rows ] || skip "the CPUs are too busy for contention"
	fail "$*: no $pattern: $(cat rows)"
}
watch 'pipe_write+0x\|pipe_read+0x'
! grep -q bpf_ rows || fail "the program is its own caller: $(cat rows)"
watch 'pipe_' -S pipe_ -q -v -x ';'
! grep -v 'pipe_\|^#' rows || fail "not of a pipe: $(cat rows)"
for options in -t -o -to; do
	watch 'python3$' $options -Y mutex -q
done
watch / --lock-cgroup -F wait_total -q
cgroup=$(awk 'NR == 1 { print $3 }' rows)
case $cgroup in /*) ;; *) fail "no cgroup: $(cat rows)" ;; esac
watch "$cgroup\$" --lock-cgroup -q -G "$cgroup"
for try in 1 2 3 4 5 6; do
	tacho lock con -b -x , -E 1 --output one.csv -- python3 fight.py 20000
	[ "$(wc -l <one.csv)" = 1 ] || break
done
[ "$(wc -l <one.csv)" != 1 ] || skip "the CPUs are too busy for contention"
[ "$(grep '# output' one.csv | tr -d -c , | wc -c)" = 5 ] && [ "$(grep -v '^#' one.csv | tr -d -c , | wc -c)" = 5 ] || fail "$(cat one.csv)"
tacho lock con -b -q -L 0x1 -- python3 fight.py 2000 2>rows
[ ! -s rows ] || fail "a lock that does not exist: $(cat rows)"

# Without a command until a signal; nothing is left after a kill.
tacho lock con -a -b -q 2>rows &
lock=$!
wait_for 20 heeds $lock
for try in 1 2 3; do
	python3 fight.py 20000
done
kill -INT $lock
wait $lock
tacho lock con -a -b -q 2>rows &
lock=$!
wait_for 20 heeds $lock
kill -KILL $lock
wait $lock 2>/dev/null || true
bpftool=$(command -v bpftool || ls /usr/sbin/bpftool 2>/dev/null || true)
gone() {
	! "$bpftool" prog show 2>/dev/null | grep -q 'name contention_begin '
}
[ -z "$bpftool" ] || wait_for 20 gone
# The status is the command's.
[ "$(status_of tacho lock con -b sh -c 'exit 7')" = 7 ] || fail "status"
if id nobody >id.out 2>&1 && command -v setpriv >/dev/null; then
	refused 1 setpriv --reuid nobody --clear-groups "$BUILD/tacho" lock con -b true
	grep -q 'CAP_BPF' err || fail "no reason: $(cat err)"
fi
