# A user without capabilities: what the paranoid level allows works, the rest has a fix.
. "$SUPPORT/lib.sh"
need_root
need setpriv jq
cp "$TACHO" ./tacho
chmod 755 tacho
status=$(status_of unprivileged ./tacho doctor --json)
level=$(cat /proc/sys/kernel/perf_event_paranoid)
! jq -e '.findings[] | select(.id == "container")' out >found || skip "in a container the remedies are others"
verdict() {	# ID
	jq -r --arg id "$1" '.findings[] | select(.id == $id) | .verdict' out
}
fix() {		# ID
	jq -r --arg id "$1" '.findings[] | select(.id == $id) | .fix' out
}

[ "$(verdict cap-perfmon)" = limited ] || fail "CAP_PERFMON: $(verdict cap-perfmon)"
[ "$(fix cap-perfmon)" = 'setcap cap_perfmon+ep "$(command -v tacho)"' ] || fail "$(fix cap-perfmon)"
if [ "$level" -le 2 ]; then
	[ "$status" = 0 ] || fail "status $status: $(cat out)"
	[ "$(verdict live-count-self)" = ok ] || fail "counting own processes"
	[ "$(verdict live-sample-self)" = ok ] || fail "sampling own processes"
else
	[ "$status" = 1 ] || fail "status $status"
	[ "$(fix live-count-self)" = "sysctl -w kernel.perf_event_paranoid=2" ] || fail "$(fix live-count-self)"
fi
if [ "$level" -ge 2 ]; then
	[ "$(verdict live-kernel)" = no ] || fail "the kernel side is open at level $level"
	[ "$(fix live-kernel)" = "sysctl -w kernel.perf_event_paranoid=1" ] || fail "$(fix live-kernel)"
fi
if [ "$level" -ge 1 ]; then
	[ "$(verdict paranoid)" != ok ] || fail "paranoid is fine at level $level"
	[ "$(verdict live-count-system)" = no ] || fail "all processes are open at level $level"
	[ "$(fix live-count-system)" = "sysctl -w kernel.perf_event_paranoid=0" ] || fail "$(fix live-count-system)"
	unprivileged ./tacho doctor | tail -n 1 | grep -q 'own processes only' || fail "no word about own processes"
fi
