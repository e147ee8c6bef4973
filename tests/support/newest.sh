# What the newest perf prints, stored: `. "$SUPPORT/newest.sh"`, after stored.sh. Where recordings are stored, the
# answers are those of a perf 7 or later ($NEWEST_PERF, or the one that newest-perf finds).

newest() {	# ARG...: runs it
	[ -n "${NEWEST_PERF:-}" ] || NEWEST_PERF=$("$SUPPORT/newest-perf") || fail "there is no perf 7: $NEWEST_PERF"
	"$NEWEST_PERF" "$@" </dev/null
}

newest_says() {	# ARG...: what it printed with these arguments
	expected newest "$@"
}
