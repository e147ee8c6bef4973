# Waits for locks by caller, lock and thread: the same waits each time, and those of perf 7 in the same recording.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
need python3
cat >fight.py <<'P'
import os
r, w = os.pipe()
for i in range(4):		# four writers and one reader of a pipe, for its mutex
    if os.fork() == 0:
        for j in range(3000):
            os.write(w, b'x' * 64)
        os._exit(0)
os.close(w)
while os.read(r, 4096):
    pass
P
stored lock.data tacho lock record -q -o lock.data python3 fight.py

of_perf() {
	newest lock "$@" 2>&1
}

# Addresses and threads. perf does not know the names of forked threads.
for options in "-l" "-l -x ;" "-l -E 3 -k contended" "-l -q -F wait_max,wait_min,avg_wait,contended -k wait_max" "-t -x ," "-l -Y mutex" \
	"-l -Y spinlock,rwsem"; do
	expected of_perf contention -i lock.data $options >perf.txt
	tacho lock contention -i lock.data $options 2>tacho.txt
	[ "$(wc -l <perf.txt)" -ge 2 ] || fail "perf shows nothing: $options"
	grep -v '^$' perf.txt | sed 's/, [^,]*$//' | sed 's/[^ ]* (/(/' | sort >perf.rows
	grep -v '^$' tacho.txt | sed 's/, [^,]*$//' | sed 's/[^ ]* (/(/' | sort >tacho.rows
	case $options in *-E*) cut -c 1-12 <perf.rows >a; cut -c 1-12 <tacho.rows >b; mv a perf.rows; mv b tacho.rows ;; esac
	diff perf.rows tacho.rows || fail "not the same: $options"
done

# The same waits, however they are grouped; and the parts of a filter make the whole.
sums() {
	tacho lock contention --json -i lock.data "$@" | python3 -c 'import json, sys
a = json.load(sys.stdin)
assert a["schema"] == "tacho.lock-contention/1"
print(*(sum(r[k] for r in a["rows"]) for k in ("contended", "waits", "wait_ns")))'
}

sums >all
for by in -t -l "--stack-skip=4" "--max-stack=2" "-Y mutex,spinlock,rwlock,rwsem,semaphore,rt-mutex,percpu-rwsem"; do
	sums $by >other
	cmp all other || fail "other waits: $by"
done
[ "$(cut -d' ' -f1 all)" -gt 10 ] || fail "hardly any contention: $(cat all)"
address=$(tacho lock contention -l -q -E 1 -i lock.data 2>&1 | awk '{ print $(NF - 1) }')
tacho lock contention -l -x , -i lock.data -L "$address" --output one.csv
[ "$(grep -vc '^#' one.csv)" = 1 ] && grep -q " $address," one.csv || fail "not one lock: $(cat one.csv)"
tacho lock contention -i lock.data -L no_such_lock -q 2>none
[ ! -s none ] || fail "a lock that does not exist: $(cat none)"
# perf's header and number of fields
tacho lock contention -i lock.data -E 1 -x , --output one.csv
[ "$(head -n 1 one.csv)" = "# output: contended, total wait, max wait, avg wait, type, caller" ] || fail "$(cat one.csv)"
[ "$(tail -n 1 one.csv | tr -d -c , | wc -c)" = 5 ] || fail "$(cat one.csv)"
