# -C: mappings and names of processes are recorded on all CPUs: a process that is sampled on one of the CPUs may have
# been started on another.
. "$SUPPORT/lib.sh"
need taskset
need_root
taskset -c 0 true 2>err && taskset -c 1 true 2>err || skip "needs CPUs 0 and 1"
for threads in "" --threads; do
	tacho record -q -C 0 -e cpu-clock:u $threads -o file sh -c 'taskset -c 1 "$TEST_BIN/spin" -c 0.4 -t 0 -r runs & \
		until [ -e runs ]; do :; done; taskset -p -c 0 $! >/dev/null; wait' || fail "record -C 0 $threads"
	tacho script -i file -F comm,cpu,ip,sym,dso >out 2>err
	grep -q '\[000\].*spin)' out || { head out; fail "-C 0 $threads: no samples in spin"; }
	! grep -v '\[000\]' out | grep . || fail "-C 0 $threads: samples of other CPUs"
	named=$(grep -c '^ *spin .* main.*spin)' out || true)
	[ "$named" -ge 10 ] || { head out; fail "-C 0 $threads: $named samples have names"; }
	rm -rf runs file file.old
done
