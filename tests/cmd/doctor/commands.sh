# The commands and options that a finding is said to affect exist.
. "$SUPPORT/lib.sh"
need jq
status_of tacho doctor --json >status
jq -r '.findings[].affects | select(. != null) | split(", ")[]' out | sort -u >affected
[ "$(wc -l <affected)" -ge 5 ] || fail "few commands: $(cat affected)"
while read -r command option rest; do
	case $command in
	libtacho) continue ;;
	esac
	tacho "$command" -h >help 2>&1 || fail "no command 'tacho $command'"
	[ -z "$option" ] || grep -q -e "^ *$option\b" help || fail "tacho $command has no option $option $rest"
done <affected
