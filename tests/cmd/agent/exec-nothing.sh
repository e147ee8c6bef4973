# exec and watch without an event, a command or a process report an error.
. "$SUPPORT/lib.sh"
for words in "exec -- true" "exec" "watch $$" "watch"; do
	# shellcheck disable=SC2086
	tacho agent -c /dev/null --set agent.default_sources=false $words || echo "$?" >&2
done
tacho agent -c /dev/null exec || echo "$?" >&2
tacho agent -c /dev/null watch || echo "$?" >&2
tacho agent -c /dev/null exec -- ./none || echo "$?" >&2
