# Root in a user namespace holds every capability there, and none that perf_events asks for.
. "$SUPPORT/lib.sh"
need_root
need setpriv unshare jq
cp "$TACHO" ./tacho
chmod 755 tacho
inside() {
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user --map-root-user "$@"
}
inside true 2>why || skip "no user namespaces here: $(head -n 1 why)"
status_of inside ./tacho doctor --json >status
jq -r '.findings[] | select(.id | IN("user", "cap-perfmon", "container")) | [.id, .value] | @tsv' out |
	tr '\t' '|'
jq -r '.findings[] | select(.id == "container") | .meaning' out
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 1 ] ||
	jq -e '.findings[] | select(.id == "live-count-system") | .verdict == "no"' out >/dev/null ||
	fail "all processes are open in a user namespace"
# Inside, neither file capabilities nor mounts help, and settings cannot be written.
jq -r '.findings[].fix | select(. != null)' out >fixes
! grep -E '^(setcap|mount) ' fixes || fail "a fix that has no effect in a user namespace"
! grep '^sysctl' fixes | grep -v '  # as root outside this user namespace$' || fail "a setting that cannot be written here"
grep -q '^exit  # leave the user namespace' fixes || fail "no advice to leave the namespace"
