/*
 * An agent that answers what a test wants: anything, late, or wrongly. It serves the real page with the
 * policy that the real agent would send. `answers` maps the last part of an API path to a value, or to
 * a function of the query that gives one; a value { status, body, after, held } is sent as it says: after
 * so many ms, or when the promise `held` lets it.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const html = readFileSync(process.env.BUILD + "/web/page.html", "utf8");
const hash = tag => createHash("sha256").update(new RegExp(`<${tag}(?: [^>]*)?>([^]*?)</${tag}>`).exec(html)[1]).digest("base64");
const policy = `default-src 'none'; script-src 'sha256-${hash("script")}'; style-src 'sha256-${hash("style")}'; img-src data: blob:; `
	+ "connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export const started = Date.now() - 60_000;
const usual = {
	status: () => ({ version: "0", host: "fake", pid: 1, now: Date.now(), started, config: null, ticks: 1, missed_ticks: 0, store: null, profiler: null }),
	series: { generation: 1, series: [] }, query: { series: [] }, events: { events: [] }, exporters: { exporters: [] },
	triggers: { triggers: [], events: [] }, doctor: { findings: [], counting: true, sampling: true },
	processes: { time: Date.now(), every_ms: 1000, total: 0, reason: null, processes: [] },
};

export async function fakeAgent(answers) {
	const streams = new Set(), busy = {};
	const server = createServer(async (req, res) => {
		const at = new URL(req.url, "http://fake/"), name = at.pathname.split("/").pop();
		if (at.pathname === "/") return res.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy }).end(html);
		if (name === "live" && !answers.live) {
			res.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n");
			streams.add(res);
			return res.on("close", () => streams.delete(res));
		}
		const b = (busy[name] ??= { now: 0, most: 0, all: 0 }), given = answers[name] ?? usual[name] ?? { status: 404, body: '{"error":"not there"}' };
		b.most = Math.max(b.most, ++b.now), b.all++;
		const a = typeof given === "function" ? given(at.searchParams) : given;
		await (a.held ?? new Promise(go => setTimeout(go, a.after ?? 0)));
		b.now--;
		res.writeHead(a.status ?? 200, { "content-type": "application/json" }).end(a.body ?? JSON.stringify(a));
	});
	await new Promise(go => server.listen(0, "127.0.0.1", go));
	return {
		url: `http://127.0.0.1:${server.address().port}/`, busy,
		send: text => streams.forEach(s => s.write(`event: batch\ndata: ${text}\n\n`)),
		listeners: () => streams.size,
		close: () => (server.closeAllConnections(), server.close()),
	};
}
