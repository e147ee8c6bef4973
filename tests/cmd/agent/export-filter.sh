# `keep_series` and `drop_series` of an export: only the selected series are sent, by event and labels; an invalid selector is an error.
# `rename_events` and `rename_labels`: other names for one export.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl jq
need_counting
agent_head tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "me"
events = ["page-faults", "context-switches", "cpu-migrations"]
pids = [$$]
interval = "200ms"
[[export]]
type = "jsonl"
path = "$PWD/some.jsonl"
flush = "200ms"
keep_series = ["page-*", "cpu-busy{cpu=\"0\"}", "cpu-migrations{pid=\"1\"}", "context-switches"]
drop_series = ["context-*{source=\"m?\"}"]
[[export]]
type = "jsonl"
name = "all"
path = "$PWD/all.jsonl"
flush = "200ms"
[[export]]
type = "jsonl"
name = "renamed"
path = "$PWD/renamed.jsonl"
flush = "200ms"
sources = ["me"]
rename_events = { "page-faults" = "faults" }
rename_labels = { pid = "process", source = "" }
END
start_agent tacho.toml
enough() {
	[ "$(grep -c page-faults some.jsonl)" -ge 3 ] && [ "$(grep -c faults renamed.jsonl)" -ge 3 ] && [ "$(grep -c cpu-busy some.jsonl)" -ge 2 ]
}
wait_for 30 enough
stop_agent
events() { jq -r '.event // .metric' "$1" | sort -u | tr '\n' ' '; }
[ "$(jq -r .event some.jsonl | sort -u | tr '\n' ' ')" = "cpu-busy page-faults " ] || fail "sent: $(events some.jsonl)"
[ "$(jq -r 'select(.event == "cpu-busy") | .labels.cpu' some.jsonl | sort -u)" = 0 ] || fail "another CPU was sent"
[ "$(jq -r .event renamed.jsonl | sort -u | tr '\n' ' ')" = "context-switches cpu-migrations faults " ] ||
	fail "renamed: $(events renamed.jsonl)"
jq -s -e --arg pid $$ 'map(select(.event == "faults").labels) | length > 0 and all(.process == $pid and (has("pid") | not))' \
	renamed.jsonl >/dev/null || fail "labels: $(head -n 3 renamed.jsonl)"
jq -r .event all.jsonl | grep -q context-switches || fail "the other export is filtered, too"
sed -i 's|^drop_series = .*|drop_series = ["page-faults{pid"]|' tacho.toml
tacho agent --check -c tacho.toml 2>err && fail "an invalid selector is accepted"
grep -q "drop_series: 'page-faults{pid' does not select series" err || fail "$(cat err)"
sed -i '/^drop_series/d; s|^rename_events = .*|rename_events = { "page-faults" = "page faults" }|' tacho.toml
tacho agent --check -c tacho.toml 2>err && fail "a name with a blank is accepted"
grep -q "rename_events: 'page faults' is not a name" err || fail "$(cat err)"
sed -i 's|^rename_events = .*|rename_events = { "page-faults" = "faults" }|; s|^rename_labels = .*|rename_labels = { pid = "who", comm = "who", cpu = "", source = "" }|' tacho.toml
tacho agent --check -c tacho.toml 2>err && fail "two labels with one name are accepted"
grep -q "rename_labels: 'pid' and 'comm' have the same new name" err || fail "$(cat err)"
sed -i 's|comm = "who"|comm = "whose"|' tacho.toml
tacho agent --check -c tacho.toml 2>err || fail "labels cannot be left out: $(cat err)"
