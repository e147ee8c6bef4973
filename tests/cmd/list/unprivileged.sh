# A user who may not read tracefs gets all other events, and a message.
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null ||
	{ echo "# skip: needs root, to become another user"; exit 77; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if as_nobody ls /sys/kernel/tracing/events >/dev/null 2>&1 ||
   ! as_nobody "$TACHO" --version >/dev/null 2>&1; then
	echo "# skip: every user may read tracefs here, or none may run the command"
	exit 77
fi
as_nobody "$TACHO" list --raw-dump sw | tr " " "\n" | grep -x page-faults
for word in tracepoint sched:sched_switch; do
	status=0
	as_nobody "$TACHO" list $word || status=$?
	echo "status $status"
done
