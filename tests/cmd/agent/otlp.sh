# OTLP/HTTP: OpenTelemetry's own code (npm) decodes what is sent; it agrees with `tacho stat`.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
. "$SUPPORT/flame.sh"
need curl python3 node jq
need_counting
npm_packages @opentelemetry/otlp-transformer@0.57 @opentelemetry/api@1
start_load
agent_head tacho.toml
port=$(free_port)
cat load.toml - >>tacho.toml <<END
[[source]]
name = "brief"
events = ["task-clock"]
process = "brief-one"
per = "process"
interval = "200ms"
[[export]]
type = "otlp"
url = "http://127.0.0.1:$port"
flush = "300ms"
[[export]]
name = "plain"
type = "otlp"
url = "http://127.0.0.1:$port/other/path"
gzip = false
flush = "300ms"
END
start_receiver "$port" got
start_agent tacho.toml
cp "$(command -v sleep)" brief-one
work_load 1 20000
brief() {	# JQ: holds for the series of that process
	curl -fsS -m 5 "$agent_url/api/v1/series?source=brief" | jq -e ".series | length > 0 and all(.[]; $1)"
}
./brief-one 100 &
brief_pid=$!
wait_for 30 brief '.time > 0'
kill "$brief_pid"
wait_for 30 brief .ended
tacho agent -c tacho.toml ctl read-now >out 2>&1 || { cat out >&2; fail "read-now"; }	# its message says why
stop_agent
end_load
cat >decode.cjs <<'END'
const fs = require("fs"), zlib = require("zlib");
const root = require("@opentelemetry/otlp-transformer/build/src/generated/root");
const Request = root.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
const check = (what, ok) => { if (!ok) { console.error(what); process.exit(1); } };
const n = fs.readdirSync("got").filter((f) => f.endsWith(".json")).length;
const series = new Map(), units = new Map(), ended = new Set();
let plain = 0;
for (let i = 1; i <= n; i++) {
	const { path, headers } = JSON.parse(fs.readFileSync(`got/${i}.json`));
	let body = fs.readFileSync(`got/${i}.body`);
	check("type", headers["content-type"] === "application/x-protobuf");
	if (path === "/other/path") {
		check("not packed", !headers["content-encoding"]);
		Request.decode(body);
		plain++;
		continue;
	}
	check("path", path === "/v1/metrics" && headers["content-encoding"] === "gzip");
	body = zlib.gunzipSync(body);
	const request = Request.decode(body);
	for (const rm of request.resourceMetrics) {
		const at = Object.fromEntries(rm.resource.attributes.map((a) => [a.key, a.value.stringValue]));
		check("resource", at["host.name"] && at["service.name"] === "tacho" && at.rack === "r 1");
		for (const m of rm.scopeMetrics.flatMap((s) => (check("scope", s.scope.name === "tacho"), s.metrics))) {
			check("kind " + m.name, !!m.sum !== !!m.gauge);
			check("sum", !m.sum || (m.sum.isMonotonic && m.sum.aggregationTemporality === 2));
			units.set(m.name, m.unit);
			for (const p of (m.sum || m.gauge).dataPoints) {
				const labels = p.attributes.map((a) => a.key + "=" + a.value.stringValue).join();
				const key = m.name + "{" + labels + "}", list = series.get(key) || [];
				check("start " + key, !m.sum || BigInt(p.startTimeUnixNano) > 0n);
				check("time " + key, BigInt(p.timeUnixNano) >= BigInt(p.startTimeUnixNano || 0));
				if (p.flags & 1)
					ended.add(key);
				else
					list.push({ time: BigInt(p.timeUnixNano), value: p.asInt != null ? Number(p.asInt) : p.asDouble,
						int: p.asInt != null });
				series.set(key, list);
			}
		}
	}
}
check("plain", plain > 0);
for (const [key, list] of series) {
	check("order " + key, list.every((p, i) => !i || p.time > list[i - 1].time));
	check("values " + key, list.every((p) => typeof p.value === "number"));
}
const named = (name) => [...series].filter(([k]) => k.startsWith(name) && k.includes("source=load")).map(([, l]) => l)[0];
const faults = named("perf_page_faults{"), clock = named("perf_task_clock{");
check("series: " + [...series.keys()].join(), faults && clock);
check("counts are integers", faults.every((p) => p.int) && clock.every((p) => !p.int));
check("units", units.get("perf_task_clock") === "s" && units.get("perf_page_faults") === "1" &&
	units.get("tacho_resident_bytes") === "By");
check("a series that ended says so: " + [...ended].join(), [...ended].some((k) => k.includes("brief")));
console.log(faults[faults.length - 1].value, clock[clock.length - 1].value);
END
node decode.cjs >last
within 1 "$(cut -d' ' -f1 last)" "$(csv_value page-faults stat.csv)"
within 1 "$(cut -d' ' -f2 last)" "$(awk -F, '$3 == "task-clock" { print $1 / 1000 }' stat.csv)"
end "$receiver_pid"
