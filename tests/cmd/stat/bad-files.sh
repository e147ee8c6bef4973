# Files that cannot be written or read, and commands that cannot run.
. "$SUPPORT/lib.sh"
bad() {		# STATUS ARGS...
	bad_status=$1
	shift
	refused "$bad_status" tacho stat "$@"
}
mkdir folder
touch plain
bad 1 -e page-faults -o no/such/folder/out true
bad 1 -e page-faults -o folder true
bad 1 -e page-faults --log-fd 77 true
bad "1 129" -e page-faults --control fd:77 true
bad "1 129" -e page-faults --control fifo:no/such/fifo true
bad 127 -e page-faults ./no-such-program
bad 126 -e page-faults ./plain
bad 126 -e page-faults ./folder
