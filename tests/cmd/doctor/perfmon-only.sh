# A user with CAP_PERFMON and nothing else sees all processes and CPUs, but no kernel symbols.
. "$SUPPORT/lib.sh"
need_root
need setpriv jq
perfmon() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+perfmon \
		--ambient-caps=-all,+perfmon "$@"
}
perfmon true 2>why || skip "cannot hand on CAP_PERFMON: $(head -n 1 why)"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] ||
	skip "above level 2 this kernel may ask for more than CAP_PERFMON"
cp "$TACHO" ./tacho
chmod 755 tacho
status=$(status_of perfmon ./tacho doctor --json)
[ "$status" = 0 ] || fail "status $status: $(cat out)"
jq -r '.findings[] | select(.id | IN("paranoid", "cap-perfmon", "cap-sys-ptrace",
	"live-kernel", "live-count-system", "live-sample-system")) | [.id, .verdict, .fix] | @tsv' out |
	tr '\t' '|'
perfmon ./tacho doctor | tail -n 1 | cut -d';' -f1,2
