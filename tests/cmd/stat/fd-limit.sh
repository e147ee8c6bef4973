# 100 events with 16 file descriptors: an error message for a user who may not raise the limit, and the
# counts for root.
. "$SUPPORT/lib.sh"
events=page-faults:u
i=1
while [ $i -lt 100 ]; do
	events=$events,page-faults:u
	i=$((i + 1))
done

if [ "$(id -u)" = 0 ]; then
	need setpriv
	cp "$TACHO" ./tacho
	chmod 755 tacho
	status=$(ulimit -n 16 && status_of tacho stat -x, -e "$events" true)
	if [ "$status" = 0 ]; then
		[ "$(grep -c '^[0-9]*,,page-faults' err)" = 100 ] || fail "not 100 counts: $(cat err)"
	else
		grep -qi -e descriptor -e NOFILE -e ulimit err || fail "unclear: $(cat err)"
	fi
	rm -f out err
	limited() {
		unprivileged ./tacho "$@"
	}
else
	limited() {
		tacho "$@"
	}
fi
refused_with_16() (
	ulimit -n 16
	refused 1 limited stat -e "$events" true
)
refused_with_16
grep -qi -e descriptor -e NOFILE -e ulimit err || fail "unclear: $(cat err)"
