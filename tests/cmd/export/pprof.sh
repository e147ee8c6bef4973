# pprof: gzip unpacks it, and pprof-format (npm) decodes it: all samples, names and labels.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need gzip cc node
record_sample perf.data
total=$(tacho export -f folded | awk '{ n += $NF } END { print n }')
tacho export -o out.pb.gz
gzip -t out.pb.gz
npm_packages pprof-format
cat >check.cjs <<'END'
const fs = require("fs"), zlib = require("zlib"), { Profile } = require("pprof-format");
const p = Profile.decode(zlib.gunzipSync(fs.readFileSync("out.pb.gz")));
const text = (i) => p.stringTable.strings[Number(i)];
const check = (what, ok) => { if (!ok) { console.error(what); process.exit(1); } };
const locations = new Map(p.location.map((l) => [Number(l.id), l]));
const functions = new Map(p.function.map((f) => [Number(f.id), text(f.name)]));
const mappings = new Set(p.mapping.map((m) => Number(m.id)));
const stack = (s) => s.locationId.map((id) => functions.get(Number(locations.get(Number(id)).line[0].functionId)));
check("types", p.sampleType.map((t) => text(t.type) + "/" + text(t.unit)).join() ===
	"samples/count,cpu-clock/nanoseconds" || text(p.sampleType[1].type).startsWith("cpu-clock"));
check("total", p.sample.reduce((n, s) => n + Number(s.value[0]), 0) === Number(process.argv[2]));
check("mapping", p.location.every((l) => !Number(l.mappingId) || mappings.has(Number(l.mappingId))));
check("stack", p.sample.some((s) => stack(s).join(";").startsWith("inner_loop;outer_call;main")));
check("labels", p.sample.every((s) => ["pid", "tid", "comm", "thread_comm"].every((k) =>
	s.label.some((l) => text(l.key) === k))));
END
node check.cjs "$total"
