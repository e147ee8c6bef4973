# --json prints what the text shows: events with their attrs and groups, build IDs, the version with its features.
. "$SUPPORT/lib.sh"
need python3
tacho record -q -F 99 -e "{cpu-clock,page-faults}" -o file -- true || skip "cannot record here"
tacho evlist -i file --json >evlist.json
tacho evlist -i file -F >evlist
tacho evlist -i file -v >attrs
tacho buildid-list -i file --json >ids.json
tacho buildid-list -i file >ids
tacho buildid-list -k --json >kernel.json || rm kernel.json
tacho version --json >version.json
tacho version --build-options >version
[ "$(status_of tacho check --json feature zlib,have_zstd_support)" -le 1 ] || fail "check: $(cat err)"
mv out check.json
[ "$(status_of tacho check --json feature zlib,zsdt)" = 1 ] || fail "an unknown feature is built in"
mv out unknown.json
python3 - <<'P'
import json, os
def load(name):
    return json.load(open(name + ".json"))
def lines(name):
    return open(name).read().splitlines()
d = load("evlist")
assert d["schema"] == "tacho.evlist/1" and d["file"] == "file", d
events = d["events"]
shown = [f"{e['name']}: sample_" + (f"freq={e['attr']['sample_freq']}" if "sample_freq" in e["attr"]
         else f"period={e['attr']['sample_period']}") for e in events]
assert shown == lines("evlist"), (shown, lines("evlist"))
assert [(e["leader"], e["group_size"]) for e in events[:2]] == [(0, 2), (0, 2)], events
for e, line in zip(events, lines("attrs")):
    fields = dict(f.split(": ") for f in line.split(": ", 1)[1].replace("{ sample_period, sample_freq }", "period")
                  .replace("{ wakeup_events, wakeup_watermark }", "wakeup").split(", "))
    assert fields["sample_type"].split("|") == e["attr"]["sample_type"], (fields, e)
    assert fields["config"] == e["attr"]["config"] if "config" in fields else e["attr"]["config"] == "0x0", e
    assert len(e["ids"]) > 0, e
d = load("ids")
assert d["schema"] == "tacho.buildid-list/1", d
assert [f"{o['build_id']} {o['path']}" for o in d["objects"]] == lines("ids"), d
if os.path.exists("kernel.json"):
    assert [o["kernel"] for o in load("kernel")["objects"]] == [True]
d = load("version")
assert d["schema"] == "tacho.version/1" and lines("version")[0].endswith(" " + d["version"]), d
assert [f"{f['name']:>22}: [ {'on ' if f['built_in'] else 'OFF'} ]  # {f['macro']}" for f in d["features"]] == \
    [line.split(" ( tip")[0].rstrip() for line in lines("version")[1:]], d
assert load("check")["schema"] == "tacho.check/1"
assert [f["name"] for f in load("check")["features"]] == ["zlib", "zstd"]
assert [f["name"] for f in load("unknown")["features"]] == ["zlib"]
P
