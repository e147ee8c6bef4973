# One valid JSON object; every finding has all keys, and IDs are unique.
. "$SUPPORT/lib.sh"
need python3 jq
status=$(status_of tacho doctor --json)
[ ! -s err ] || fail "noise on stderr: $(cat err)"
python3 -m json.tool <out >pretty
jq -e '.schema == "tacho.doctor/1" and (.findings | length > 40)' out
jq -e '.findings | map(keys_unsorted == ["id", "topic", "title", "verdict", "value", "meaning",
	"affects", "fix"]) | all' out
jq -e '.findings | map(.verdict | IN("ok", "limited", "no", "info")) | all' out
jq -e '.findings | map(.meaning | length > 5) | all' out
jq -e '.findings | (map(.id) | unique | length) == length' out
jq -e --argjson status "$status" '(.counting and .sampling) == ($status == 0)' out
