# The text output: title, rows, elapsed, user and system time, all on stderr.
tacho stat -e page-faults,task-clock:u,context-switches sh -c 'exit 0' 2>&1 >stdout
[ ! -s stdout ]
