# perf's configuration: its files, and `config` to list, print and set keys.
. "$SUPPORT/lib.sh"
cat >"$HOME/.perfconfig" <<'C'
# a comment
[report]
	children = false	; another
	sort_order = "sym,dso"
[call-graph] record-mode=dwarf
[colors]
	top = red, \
default
C
tacho config -l
tacho config report.children report.group call-graph.record-mode
[ "$(tacho config --get report.sort_order)" = sym,dso ] || fail "--get"
[ "$(status_of tacho config --get report.group)" = 1 ] && [ ! -s out ] || fail "--get of a key that is not set"
tacho config -l --json >json
python3 - <<'P'
import json
d = json.load(open("json"))
assert d["schema"] == "tacho.config/1", d
key = next(k for k in d["keys"] if k["key"] == "report.sort_order")
assert key["value"] == "sym,dso" and key["line"] == 4 and key["file"].endswith("/.perfconfig"), key
P
refused 129 tacho config --json
# Setting keeps the other lines, replaces what is there, and adds to the section.
tacho config report.children=true report.percent-limit=5 'buildid.dir=/a dir #1' stat.big-num=off
tacho config --set report.group=false
sed 's/^/| /' "$HOME/.perfconfig"
[ "$(tacho config --get buildid.dir)" = '/a dir #1' ] || fail "quotes: $(cat "$HOME/.perfconfig")"
# What the command refuses is refused; what changes nothing, or perf does not know, is set with a note.
refused 129 tacho config report.percent-limit=much
refused 129 tacho config report.children=maybe
refused 129 tacho config record.build-id=some
[ "$(status_of tacho config colors.medium=green)" = 0 ] && grep -q 'changes nothing here' err || fail "$(cat err)"
[ "$(status_of tacho config report.sort-order=sym)" = 0 ] && grep -q "did you mean 'report.sort_order'" err || fail "$(cat err)"
[ "$(tacho config --get colors.medium)" = green ] || fail "not set"
refused 129 tacho config nosection=1
refused 129 tacho config --user --system -l
refused 129 tacho config -l report.children
# $PERF_CONFIG is the only file that is read and written; a linked file stays one.
echo '[report]' >real
ln -s real linked
PERF_CONFIG=linked tacho config hist.percentage=relative
PERF_CONFIG=linked tacho config -l
[ -L linked ] && grep -q relative real || fail "the link was replaced"
[ -z "$(PERF_CONFIG=/dev/null tacho config -l)" ] || fail "/dev/null has keys"
[ "$(status_of env PERF_CONFIG=/dev/null tacho config report.children=true)" = 1 ] && [ -c /dev/null ] || fail "/dev/null"
# A damaged file is reported with its line; what comes before holds.
printf '[report]\nchildren = false\n[oops\nsort_order = sym\n' >bad
[ "$(status_of env PERF_CONFIG=bad tacho config -l)" = 1 ] || fail "status of a damaged file"
grep -q 'bad:3: ' err && grep -qx report.children=false out || fail "$(cat out err)"
[ "$(status_of env PERF_CONFIG=bad tacho config report.children=true)" = 1 ] && grep -q 'oops' bad || fail "rewritten"
# Every key of perf is done, or named as without effect.
tacho config --perf-keys >keys
grep -q '^report.children .*(tacho report --no-children)' keys && grep -q '^colors.* without effect: ' keys || fail "$(cat keys)"
# The agent's configuration is not affected.
tacho config --set agent.listen='["127.0.0.1:1"]' | grep -q '127.0.0.1:1' || fail "agent"
