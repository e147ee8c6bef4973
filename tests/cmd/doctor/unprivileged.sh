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
# setcap replaces the whole set, so there is one command, with all capabilities.
all=cap_perfmon,cap_bpf,cap_syslog,cap_sys_ptrace,cap_ipc_lock,cap_dac_read_search
for id in cap-perfmon cap-bpf cap-syslog cap-sys-ptrace cap-ipc-lock cap-dac-read-search; do
	[ "$(fix $id)" = "setcap $all+ep \"\$(command -v tacho)\"" ] || fail "$id: $(fix $id)"
done
jq -r '.findings[].fix | select(. != null) | select(startswith("setcap"))' out | sort -u >setcaps
[ "$(wc -l <setcaps)" = 1 ] || fail "several setcap commands: $(cat setcaps)"
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
