# exec forwards a signal to its command, waits for it, and exits with its status; a second signal ends exec.
. "$SUPPORT/lib.sh"
tacho stat -x, -e page-faults true 2>err || skip "may not count: $(cat err)"
printf '[[source]]\nname = "s"\nevents = ["page-faults"]\n' >tacho.toml
run() {	# SCRIPT: runs it under exec in the background, once it is ready
	rm -f ready
	tacho agent -c tacho.toml exec -- sh -c "$1" 2>out &
	exec_pid=$!
	while ! [ -e ready ]; do
		kill -0 $exec_pid
		sleep 0.05
	done
}
ended() {
	status=0
	wait $exec_pid || status=$?
	echo "$status $(grep -c page-faults out)"
}
run 'trap "exit 9" TERM; : >ready; while :; do sleep 0.1; done'
kill -TERM $exec_pid
ended
run ': >ready; exec sleep 100'
kill -TERM $exec_pid
ended
run 'trap "" TERM; echo $$ >pid; : >ready; while :; do sleep 0.1; done'
kill -TERM $exec_pid
taken() {	# the signal does not wait any more: a second one is another
	! grep -q '^S[hi][dg]Pnd:.*[4567cdef]...$' "/proc/$exec_pid/status"
}
wait_for 30 taken
sleep 0.5
kill -0 $exec_pid
kill -TERM $exec_pid
ended
kill -KILL "$(cat pid)"
# Signals that the agent blocks or ignores are not blocked or ignored in the command.
tacho agent -c tacho.toml exec -- sh -c 'exec grep -E "^Sig(Blk|Ign)" /proc/self/status' >under 2>out
sh -c 'exec grep -E "^Sig(Blk|Ign)" /proc/self/status' >plain
cmp under plain
