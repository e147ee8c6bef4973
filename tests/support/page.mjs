/*
 * Words for the browser tests of the agent's page. Everything that must not happen anywhere is
 * watched on every page: errors in the console, breaches of the policy, requests to elsewhere.
 */
import { chromium } from "playwright-core";
import { existsSync } from "node:fs";
import process from "node:process";

const shots = process.env.BUILD + "/web/screenshots/";
const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
export const url = process.argv[2];
export const auth = { headers: { Authorization: "Bearer " + process.env.page_token } };	/* for requests of the test itself */
export const offences = [];
export const allowed = [];		/* patterns of console errors that a test brings about itself */
let browser;

export function check(truth, text) {
	if (!truth) throw new Error("not so: " + text);
	console.log("ok: " + text);
}

/* Until fn gives something true; the machine may be slow. */
export async function until(text, fn, seconds = 30) {
	const end = Date.now() + seconds * 1000;
	for (;;) {
		const got = await fn();
		if (got) { console.log("ok: " + text); return got; }
		if (Date.now() > end) throw new Error("not within " + seconds + " s: " + text);
		await new Promise(r => setTimeout(r, 100));
	}
}

export async function start() {
	try {
		browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox", "--disable-gpu"] });
	} catch (e) {
		console.log("chromium does not start: " + e.message.split("\n")[0]);
		process.exit(77);
	}
}

export async function open(hash = "", { width = 1280, height = 900, dark = false, routes = {} } = {}) {
	const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
	if (process.env.page_token) await context.addCookies([{ name: "tacho-" + new URL(url).port, value: process.env.page_token, url, httpOnly: true, sameSite: "Strict" }]);
	const page = await context.newPage();
	page.setDefaultTimeout(30_000);
	page.on("console", m => m.type() === "error" && !allowed.some(p => p.test(m.text())) && offences.push("console: " + m.text()));
	page.on("pageerror", e => offences.push("error: " + e.stack));
	page.on("request", r => new RegExp("^(data:|blob:)|^" + new URL(url).origin).test(r.url()) || offences.push("request: " + r.url()));
	await page.addInitScript(() => addEventListener("securitypolicyviolation", e => console.error("policy: " + e.violatedDirective + " " + e.blockedURI)));
	for (const [pattern, answer] of Object.entries(routes)) await page.route(pattern, answer);
	await page.goto(url + hash);
	return page;
}

export const shot = (page, name) => page.screenshot({ path: shots + name + ".png" });
export const text = (page, selector) => page.locator(selector).first().textContent();

export async function finish() {
	for (const c of browser.contexts()) for (const p of c.pages()) await p.unrouteAll({ behavior: "ignoreErrors" });
	await browser.close();
	for (const o of offences) console.log("offence: " + o);
	if (offences.length) process.exit(1);
}

/* The longest task of the page's main thread while fn runs, in ms: by its CPU time, which a busy
 * machine does not stretch, and by the clock. */
export async function trace(page, fn) {
	await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] });
	await fn();
	const events = JSON.parse((await browser.stopTracing()).toString()).traceEvents, at = e => e.pid + "/" + e.tid;
	const main = new Set(events.filter(e => e.name === "thread_name" && e.args.name === "CrRendererMain").map(at));
	const tasks = events.filter(e => /RunTask/.test(e.name) && main.has(at(e)));
	const most = key => tasks.reduce((m, e) => Math.max(m, (e[key] ?? 0) / 1000), 0);
	return { cpu: most("tdur"), wall: most("dur") };
}

/* A profile as the agent would answer, for builds or machines that have none. */
const names = ["all", "main", "serve", "read_request", "vfs_read", "hash_update", "std::vector<int>::push_back", "[unknown]"];
export const flame = base => ({ schema: "tacho.flame.v1", event: "cpu-clock", unit: "samples", total: 1000, base_total: base ? 800 : null,
	names, kinds: [4, 1, 1, 1, 0, 1, 1, 4],
	levels: [[0, 1000, 0, 100], [0, 700, 1, 50, 700, 200, 7, 200], [0, 400, 2, 100, 400, 250, 5, 250], [0, 200, 3, 50, 200, 100, 6, 100], [0, 150, 4, 150]]
		.map(l => base ? l.flatMap((v, i) => (i % 4 === 3 ? [v, Math.round(l[i - 2] * 0.5)] : [v])) : l) });
export const profileRoutes = asked => ({
	"**/api/v1/status": async r => {
		const j = await (await r.fetch()).json();
		j.profiler = { running: true, event: "cpu-clock", frequency: 19, samples: 1000, lost: 0, windows: 9, why: null };
		await r.fulfill({ json: j });
	},
	"**/api/v1/flame*": r => {
		asked.push(new URL(r.request().url()).searchParams);
		return r.fulfill({ json: flame(r.request().url().includes("base_from")) });
	},
	"**/api/v1/heatmap*": r => {
		const p = new URL(r.request().url()).searchParams, columns = [];
		for (let t = Math.ceil(p.get("from") / 1000) * 1000; t < p.get("to"); t += 1000)
			columns.push([t, Array.from({ length: 50 }, (_, i) => Math.round(3 + 3 * Math.sin(t / 7000 + i / 8)))]);
		return r.fulfill({ json: { schema: "tacho.heatmap.v1", rows: 50, from: +p.get("from"), columns, max: 6 } });
	},
});
