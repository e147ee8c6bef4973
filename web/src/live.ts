/*
 * Live data: the stream of batches, and the list of series that maps ids to names. A broken stream
 * is reopened after 1, 2, 4 ... 15 s; if the agent was restarted, the ids may mean other series, so
 * the list is loaded again before the first batch is used.
 *
 *	connecting -> live -> waiting (until) -> connecting ...
 */
import { computed, signal } from "@preact/signals";
import { Refused, type Series, type Status, get } from "./api";
import { known, labelsKey } from "./columns";
import { setClock } from "./state";

export interface Link { state: "connecting" | "live" | "waiting"; until: number; why: string; refused: boolean }
export interface Reading { t: number; v: number | null; rate: number | null; state: number }
export interface Group { key: string; source: string; event: string; unit: string; rate: boolean; series: Series[]; sign: string }
export type Hear = (t: number, values: Map<string, number | null>) => void;

export const link = signal<Link>({ state: "connecting", until: 0, why: "", refused: false });
export const series = signal<Map<number, Series>>(new Map());
export const status = signal<Status | null>(null);
export const locked = signal(false);	/* the agent wants its token */
export const joined = signal(0);	/* how often a stream was opened; charts reload when it changes */
export const readings = new Map<number, Reading>();

const groupKey = (s: Series) => (s.labels.source ?? "") + "\n" + s.event;
let keys = new Map<number, { s: Series; group: string; labels: string }>();

/* Subscribers to the values of a group, by its key. */
const ears = new Map<string, Set<Hear>>();
export function listen(group: string, fn: Hear): () => void {
	let set = ears.get(group);
	if (!set) ears.set(group, (set = new Set()));
	set.add(fn);
	return () => void (set.delete(fn), set.size || ears.delete(group));
}

/* A group that did not change remains the same object, so that its chart is not rendered again. */
let before = new Map<string, Group>();
export const groups = computed<Group[]>(() => {
	const found = new Map<string, Group>();
	for (const s of series.value.values()) {
		const key = groupKey(s);
		let g = found.get(key);
		if (!g) found.set(key, (g = { key, source: s.labels.source ?? "", event: s.event, unit: s.unit,
			rate: s.kind === "counter", series: [], sign: "" }));
		g.series.push(s);
		g.sign += s.id + s.state[0] + +s.ended + +(s.value === null);
	}
	for (const [key, g] of found) if (before.get(key)?.sign === g.sign) found.set(key, before.get(key)!);
	before = found;
	return [...found.values()];
});

const sound = (s: Series) => typeof s?.id === "number" && typeof s.event === "string" && typeof s.state === "string" && !!s.labels;

/* Yields so that the page can draw and respond. */
const breathe = () => new Promise<void>(go => setTimeout(go));

let sign = "";
async function take(all: Series[], generation: number) {
	const now = status.peek()?.started + "," + generation + all.map(s => s.state[0] + +s.ended + +(s.value === null)).join("");
	if (now === sign) return;		/* unchanged: do not update the charts */
	const next = new Map<number, Series>(), named: typeof keys = new Map();
	for (let i = 0; i < all.length; i++) {
		const s = all[i];
		next.set(s.id, s);
		named.set(s.id, { s, group: groupKey(s), labels: labelsKey(s.labels) });
		if (i % 1000 === 999) await breathe();
	}
	for (const id of readings.keys()) if (!next.has(id)) readings.delete(id);
	for (const s of all)			/* initial values, so that the first batch gives rates */
		if (s.value !== null && !readings.has(s.id)) readings.set(s.id, { t: s.time, v: s.value, rate: null, state: 0 });
	sign = now;
	keys = named;
	series.value = next;
}

let listing: Promise<void> | null = null, listed = 0, pause = 2000;
export function list(): Promise<void> {
	listing ??= get<{ generation: number; series: Series[] }>("series").then(async a => {
		await breathe();
		const all = a.series.filter(sound);
		pause = Math.max(2000, 3 * all.length);		/* load a long list less often */
		await take(all, a.generation);
	}).finally(() => (listing = null, listed = Date.now()));
	return listing;
}

interface Batch { t: number; source: string; p: [number, number | null, number][] }

/* Computes the rates of counters once for all subscribers. */
function rateOf(s: Series, b: Reading | undefined, t: number, v: number | null): number | null {
	if (s.kind === "gauge") return v;
	return b && b.v !== null && v !== null && t > b.t && v >= b.v ? (v - b.v) / (t - b.t) * 1000 : null;
}

function read(b: Batch) {
	const frame = new Map<string, Map<string, number | null>>();
	let unknown = false;
	for (const [id, value, state] of b.p) {
		const k = keys.get(id), r = readings.get(id);
		if (!k) { unknown = true; continue; }
		const v = state <= 1 ? known(value) : null, rate = rateOf(k.s, r, b.t, v);
		if (r) r.t = b.t, r.v = v, r.rate = rate, r.state = state;
		else readings.set(id, { t: b.t, v, rate, state });
		if (!ears.has(k.group)) continue;
		let values = frame.get(k.group);
		if (!values) frame.set(k.group, (values = new Map()));
		values.set(k.labels, rate);
	}
	for (const [key, values] of frame) for (const fn of ears.get(key) ?? []) fn(b.t, values);
	if (unknown && Date.now() - listed > pause) list().catch(() => {});
}

let source: EventSource | null = null, failures = 0, timer = 0, silent = 0, lost = 0;

function wait(e: Error) {
	source?.close();
	source = null;
	clearTimeout(timer);
	locked.value = e instanceof Refused && (e.status === 401 || e.status === 429);
	if (locked.value) {		/* asking again would not help */
		link.value = { state: "waiting", until: 0, why: "the token is missing", refused: true };
		return;
	}
	const ms = Math.min(15_000, 1000 * 2 ** Math.min(failures++, 4));
	link.value = { state: "waiting", until: Date.now() + ms, why: e.message, refused: e instanceof Refused && e.status > 0 };
	timer = window.setTimeout(connect, ms);
}

export async function connect() {
	clearTimeout(timer);
	source?.close();
	link.value = { ...link.peek(), state: "connecting" };
	try {
		const s = await get<Status>("status");
		locked.value = false;
		readings.clear();
		setClock(s.now);
		status.value = s;
		await list();
	} catch (e) {
		return wait(e as Error);
	}
	const mine = (source = new EventSource("api/v1/live"));
	mine.onopen = () => {
		failures = silent = 0;
		link.value = { state: "live", until: 0, why: "", refused: false };
		joined.value++;
	};
	mine.onerror = () => mine === source && wait(new Error("the stream has ended"));
	mine.addEventListener("lost", () => {		/* we were too slow: the missing data is in the store */
		if (Date.now() - lost < 10_000) return;
		lost = Date.now();
		joined.value++;
	});
	mine.addEventListener("batch", e => {
		try {
			read(JSON.parse((e as MessageEvent<string>).data) as Batch);
		} catch (why) {
			console.warn("a batch is damaged", why);
		}
	});
}

/* Loads the footer's numbers and detects ended series. A dead network does not end the stream, so
 * two failed requests do. */
setInterval(() => {
	if (document.hidden || link.peek().state !== "live") return;
	get<Status>("status", {}, undefined, 9000).then(s => (silent = 0, status.value = s, setClock(s.now)),
		(e: Error) => ++silent >= 2 && link.peek().state === "live" && wait(e));
	if (Date.now() - listed > pause) list().catch(() => {});
}, 10_000);
addEventListener("online", () => link.peek().state === "waiting" && connect());
