# The tree of a list of software events: levels, the bottleneck, what is left out, the next step.
. "$SUPPORT/lib.sh"
list=$SUPPORT/topdown.json
tacho topdown --event-list "$list" true >text
sed 's/^ *[0-9.]* %/     N %/; s/, [0-9.]* %/, N %/; s|--event-list [^ ]*|--event-list LIST|' text
# --drill-down finds the same, and counts no children of nodes within their threshold.
tacho topdown --drill-down --json --event-list "$list" -- sh -c 'echo ran >>runs; exit 3' >json && fail "status"
[ "$(wc -l <runs)" = 2 ] || fail "$(cat runs)"
python3 - json <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "tacho.topdown/1" and d["level"] == 2, d
assert d["bottleneck"] == "tma_minor" and d["sample"] == "minor-faults", d
by_name = {n["name"]: n for n in d["nodes"]}
assert list(by_name) == ["tma_faults", "tma_switches", "tma_minor", "tma_major"], d
assert by_name["tma_minor"]["parent"] == "tma_faults" and by_name["tma_minor"]["level"] == 2
assert 20 < by_name["tma_faults"]["value"] <= 100 and by_name["tma_faults"]["alarming"]
assert not by_name["tma_major"]["alarming"] and d["left_out"] == [], d
P
# One level only; --all; output to a file.
tacho topdown -l 1 --event-list "$list" -o file true
grep -q tma_minor file && fail "$(cat file)"
grep -q 'Where it is: tacho record -e cycles' file || fail "$(cat file)"
tacho topdown --json -l 1 -a --event-list "$list" true | grep -q '"target": "'"'system wide'" || fail "-a"
# The exit status is that of the command.
status=0
tacho topdown --event-list "$list" -- sh -c 'exit 7' >/dev/null || status=$?
[ $status = 7 ] || fail "status $status"
