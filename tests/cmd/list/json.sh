# list -j is one JSON array, and every event that it calls available can be opened: on one CPU, because
# some PMUs count there only, or on the command itself for a user who may not do that.
# run: alone slow
. "$SUPPORT/lib.sh"
need jq
tacho list -j >all
jq -e 'type == "array" and length >= 20' all >parsed || fail "not an array of some length"
jq -e '[.[] | select(.EventName) | .EventName | type == "string" and length > 0] | all' all >parsed
jq -r '.[] | select(.EventName and .Available == true) | .EventName' all >names
[ "$(wc -l <names)" -ge 10 ] || fail "only $(wc -l <names) events are available"

where="-C 0"
[ "$(id -u)" = 0 ] || where=
# All in one run: the kernel takes long to close a tracepoint, and none can be opened meanwhile.
split -l 1000 names batch.
set --
for batch in batch.*; do
	set -- "$@" -e "$(paste -sd, "$batch")"
done
# shellcheck disable=SC2086
tacho stat $where '-x;' -o rows "$@" true
awk -F';' '$1 ~ /^<not supported>/ || $1 ~ /^<not perm/ { print "does not open: " $0; bad = 1 }
	END { exit bad }' rows || fail "listed as available"
[ "$(grep -vc '^#' rows)" -ge "$(wc -l <names)" ] || fail "rows are missing"
