# Every option that perf's own help lists is supported, or refused with a reason.
# run: slow
. "$SUPPORT/lib.sh"
need perf
for command in report record script evlist inject buildid-list buildid-cache stat; do
	perf $command -h 2>&1 |
		grep -oE '^ +(-[A-Za-z0-9](, |$| ))?(--[a-z][a-z0-9-]*)?' |
		grep -oE '(--[a-z][a-z0-9-]*|-[A-Za-z0-9])' | sort -u >theirs || true
	[ -s theirs ] || skip "perf $command -h lists nothing"
	tacho --list-opts $command | tr ' ' '\n' | grep . | sort -u >ours
	comm -23 theirs ours >others
	while read -r option; do
		[ "$(status_of tacho $command "$option")" = 129 ] && [ ! -s out ] || fail "tacho $command $option goes on"
		head -n 1 err | grep -q "perf's option '$option' is not supported" ||
			fail "tacho $command: $option is neither there nor refused: $(cat err)"
		[ "$(wc -l <err)" = 2 ] || fail "tacho $command $option: no reason given"
	done <others
done
