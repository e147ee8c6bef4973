# Capabilities of the file tacho reach tacho-agent, but not the commands that it runs, and not an agent that somebody
# else put beside a link to tacho.
. "$SUPPORT/lib.sh"
need setcap setpriv getcap
need_root
mkdir bin
chmod 755 . bin
cp "$TACHO" bin/tacho
cp "$(dirname "$(readlink -f "$TACHO")")/tacho-agent" bin/
setcap cap_perfmon+ep bin/tacho 2>err || skip "may not set file capabilities: $(cat err)"
getcap bin/tacho | grep -q cap_perfmon || skip "the file system keeps no capabilities"
cat >caps.toml <<'END'
[agent]
store = ""
[[source]]
events = ["task-clock"]
END
chmod 644 caps.toml
run() {	# the capabilities of the agent and of its command
	HOME=/nonexistent setpriv --reuid 65534 --regid 65534 --clear-groups \
		./bin/tacho agent -c caps.toml exec -- \
		sh -c 'sed -n s/CapPrm:.//p /proc/$PPID/status /proc/self/status; sed -n s/CapAmb:.//p /proc/self/status' 2>err |
		tr '\n' ' '
}
got=$(run)
case $got in
"") cat err >&2; skip "this build does not run as another user" ;;
"0000004000000000 0000000000000000 0000000000000000 ") ;;
*) fail "permitted in the agent, permitted and ambient in its command: $got" ;;
esac
chown 65534 bin/tacho-agent
got=$(run)
[ "$got" = "0000000000000000 0000000000000000 0000000000000000 " ] || fail "an agent of another owner got capabilities: $got"
