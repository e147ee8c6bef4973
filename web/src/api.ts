/*
 * Requests to the agent's API. An error contains the agent's message.
 */
export interface Series {
	id: number; event: string; name: string; unit: string; kind: "counter" | "gauge";
	labels: Record<string, string>; state: string; reason: string | null; time: number;
	value: number | null; ended: boolean;
}
export interface QuerySeries {
	event: string; unit: string; kind: string; labels: Record<string, string>;
	points: [number, number | null, number, number, number][];
}
export interface EventRow {
	source: string; event: string; original: string; pmu: string; unit: string; target: string; per: string;
	state: string; reason: string | null; share: number; counters: number; series: number; interval_ms: number;
}
export interface Exporter {
	name: string; type: string; connected: boolean; sent_points: number; dropped_points: number;
	target: string | null; queued_points: number; queued_bytes: number; retries: number; lag_seconds: number; error: string | null;
}
export interface Process {
	pid: number; comm: string; user: string; cgroup: string; service: string; container: string; pod: string; command_line: string;
	cpu: number; user_cpu: number; recent_cpu: number; cpu_seconds: number; resident_bytes: number; threads: number; started: number; series: number | null;
}
export interface Processes { time: number; every_ms: number; total: number; reason: string | null; processes: Process[] }
export interface Trigger {
	name: string; when: string; action: string; length_ms: number; cooldown_ms: number; value: number | null; unit: string;
	threshold: number; state: string; quiet_ms: number;
}
export interface Happened { id: number; time: number; kind: string; name: string; text: string; path: string | null; files: string[] }
export interface Finding {
	id: string; topic: string; title: string; verdict: "ok" | "limited" | "no" | "info";
	value: string | null; meaning: string | null; affects: string | null; fix: string | null;
}
export interface Status {
	version: string; host: string; pid: number; now: number; started: number; config: string | null;
	ticks: number; missed_ticks: number;
	store: { bytes: number; points_written: number; points_dropped: number; oldest: number; error: string | null } | null;
	profiler: { running: boolean; event: string; frequency: number; samples: number; lost: number; why: string | null } | null;
}

export class Refused extends Error {
	constructor(public status: number, message: string, public hint = "") { super(message); }
}

export function address(path: string, args: Record<string, string | number | null | undefined> = {}): string {
	const words = Object.entries(args).filter(([, v]) => v !== null && v !== undefined && v !== "")
		.map(([k, v]) => k + "=" + encodeURIComponent(typeof v === "number" ? Math.round(v) : v!));
	return "api/v1/" + path + (words.length ? "?" + words.join("&") : "");
}

const patienceMs = 30_000;

/* A request is cancelled by the caller's signal or by a timeout. */
function stopper(signal: AbortSignal | undefined, ms: number): { signal: AbortSignal; late: () => boolean; done: () => void } {
	const c = new AbortController(), stop = () => c.abort();
	let late = false;
	const timer = setTimeout(() => (late = true, stop()), ms);
	if (signal?.aborted) stop();
	signal?.addEventListener("abort", stop);
	return { signal: c.signal, late: () => late, done: () => (clearTimeout(timer), signal?.removeEventListener("abort", stop)) };
}

async function ask(path: string, signal: AbortSignal | undefined, ms: number): Promise<[Response, string]> {
	const s = stopper(signal, ms);
	try {
		const r = await fetch(path, { signal: s.signal });
		return [r, await r.text()];
	} catch (e) {
		if (s.late()) throw new Refused(0, `the agent has not answered within ${Math.round(ms / 1000)} s`);
		if ((e as Error).name === "AbortError") throw e;
		throw new Refused(0, "the agent does not answer");
	} finally {
		s.done();
	}
}

export async function get<T>(path: string, args: Record<string, string | number | null | undefined> = {},
	signal?: AbortSignal, ms = patienceMs): Promise<T> {
	const [r, text] = await ask(address(path, args), signal, ms);
	let said: { error?: string; hint?: string } & T;
	try {
		said = JSON.parse(text);
	} catch {
		throw new Refused(r.status, r.ok ? "the agent's answer is damaged" : `the agent answers with status ${r.status}`);
	}
	if (!r.ok) throw new Refused(r.status, said?.error ?? `the agent answers with status ${r.status}`, said?.hint ?? "");
	if (!said || typeof said !== "object") throw new Refused(r.status, "the agent's answer is damaged");
	return said;
}

/* Exchanges the token for the cookie. */
export async function login(token: string): Promise<void> {
	const r = await fetch("api/v1/login", { method: "POST", body: token.trim() });
	if (r.ok) return;
	let why = `the agent answers with status ${r.status}`;
	try { why = (JSON.parse(await r.text()) as { error?: string }).error ?? why; } catch { /* not JSON */ }
	throw new Refused(r.status, why);
}
