# run: plain alone
# Alone: without BPF the kernel loses events of ending tasks, such as the switch to the next one, so that a loaded machine counts less.
# exec, open, exit, kill and syscount tell what a program with known actions does, in the kernel and on samples alike.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
for way in $ways; do
	view $way exec -- "$WORK" exec 20
	is exec "$(rows 'comm == "true" and ret == 0')" 20
	# On samples only the file is known of a program that has ended.
	is arguments "$(rows 'args == "true \"one two\" three" '"$([ $way = --bpf ] || echo 'or args == "/bin/true"')")" 20
	is "own exec" "$(rows 'args.endswith("view-work exec 20")')" 1
	is "parents" "$(rows 'comm == "true"' ppid | sort -u)" "$(rows 'args.endswith("exec 20")' pid)"

	view $way open -- "$WORK" open 30
	is "files opened" "$(rows 'path == "/dev/null" and fd >= 0 and errno == 0')" 30
	is "missing files" "$(rows 'path == "/missing/tacho-view" and fd == -1 and errno == 2')" 30
	is comm "$(rows 'path == "/dev/null"' comm | sort -u)" view-work

	view $way exit -- "$WORK" exits
	is "exit status" "$(rows 'exit == "code 3"')" 1
	is "SIGTERM" "$(rows 'exit == "signal 15 (TERM)"')" 1
	is "SIGKILL" "$(rows 'exit == "signal 9 (KILL)"')" 1
	is "threads" "$(rows 'exit == "0" and pid != tid and age_ns >= 19e6')" 1
	is "processes" "$(rows 'pid == tid')" 5
	at_least "age in ms" "$(rows 'exit == "code 3"' 'age_ns // 1000000')" 0 5000

	view $way kill -- "$WORK" kill 7
	is signals "$(rows 'signal == 0 and target == pid and result == 0 and comm == "view-work"')" 7

	view $way syscount -- "$TEST_BIN/calls" gggggppp
	is getpid "$(rows 'call == "getpid"' count)" 5
	is getppid "$(rows 'call == "getppid"' count)" 3
	view $way syscount --totals --by process,call -- "$TEST_BIN/calls" nnnn
	is nanosleep "$(rows 'call == "nanosleep" and comm == "calls" and time_ns > 1000' count)" 4
done

# The same table as text, with bcc's columns.
tacho snoop kill -- "$WORK" kill 1 >text
head -n 1 text | grep -qE '^TIME +PID +COMM +SIG +TPID +RESULT$' || fail "$(cat text)"
grep -qE '^[0-9:]{8}  [0-9]+ +view-work +0 +[0-9]+ +0$' text || fail "$(cat text)"
tacho snoop syscount -- "$TEST_BIN/calls" ggg >text
grep -qE '^SYSCALL +COUNT$' text && grep -qE '^getpid +3$' text || fail "$(cat text)"
