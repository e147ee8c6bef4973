/*
 * Live data: the stream of batches, and the list of series that gives its numbers names. A stream
 * that breaks is opened again after 1, 2, 4 ... 15 s; the numbers may then mean other series (the
 * agent may have started anew), so the list is read again before the first batch counts.
 *
 *	connecting -> live -> waiting (until) -> connecting ...
 */
import { computed, signal } from "@preact/signals";
import { type Series, type Status, get } from "./api";
import { labelsKey } from "./columns";
import { agentNow, setClock } from "./state";

export interface Link { state: "connecting" | "live" | "waiting"; until: number; why: string }
export interface Reading { t: number; v: number | null; rate: number | null; state: number }
export interface Group { key: string; source: string; event: string; unit: string; rate: boolean; series: Series[] }
export interface Frame { t: number; source: string; values: Map<string, Map<string, number | null>> }

export const link = signal<Link>({ state: "connecting", until: 0, why: "" });
export const series = signal<Map<number, Series>>(new Map());
export const status = signal<Status | null>(null);
export const joined = signal(0);		/* how often a stream was opened: charts load anew */
export const beat = signal(0);			/* changes with each frame */
export const readings = new Map<number, Reading>();
export const listeners = new Set<(f: Frame) => void>();

const groupKey = (s: Series) => (s.labels.source ?? "") + "\n" + s.event;
const keys = new Map<number, [group: string, labels: string]>();

export const groups = computed<Group[]>(() => {
	const found = new Map<string, Group>();
	for (const s of series.value.values()) {
		const key = groupKey(s);
		let g = found.get(key);
		if (!g) found.set(key, (g = { key, source: s.labels.source ?? "", event: s.event, unit: s.unit,
			rate: s.kind === "counter", series: [] }));
		g.series.push(s);
	}
	return [...found.values()];
});

let listing: Promise<void> | null = null, listed = 0, known = "";
export function list(): Promise<void> {
	listing ??= get<{ generation: number; series: Series[] }>("series").then(a => {
		const sign = status.peek()?.started + "," + a.generation + a.series.map(s => s.state[0] + +s.ended + +(s.value === null)).join("");
		const next = new Map(a.series.map(s => [s.id, s]));
		keys.clear();
		for (const s of a.series) keys.set(s.id, [groupKey(s), labelsKey(s.labels)]);
		for (const id of readings.keys()) if (!next.has(id)) readings.delete(id);
		for (const s of a.series)		/* so that the first batch gives rates already */
			if (s.value !== null && !readings.has(s.id)) readings.set(s.id, { t: s.time, v: s.value, rate: null, state: 0 });
		if (sign !== known) series.value = next;	/* else all charts would be made anew for nothing */
		known = sign;
	}).finally(() => (listing = null, listed = Date.now()));
	return listing;
}

interface Batch { t: number; source: string; p: [number, number | null, number][] }

/* Counters become rates here, once for all who listen. */
function read(b: Batch): Frame {
	const frame: Frame = { t: b.t, source: b.source, values: new Map() };
	let unknown = false;
	for (const [id, value, state] of b.p) {
		const s = series.peek().get(id), key = keys.get(id), before = readings.get(id);
		if (!s || !key) { unknown = true; continue; }
		const v = state <= 1 ? value : null;
		let rate: number | null = null;
		if (s.kind === "gauge") rate = v;
		else if (before && before.v !== null && v !== null && b.t > before.t && v >= before.v)
			rate = (v - before.v) / (b.t - before.t) * 1000;
		readings.set(id, { t: b.t, v, rate, state });
		let values = frame.values.get(key[0]);
		if (!values) frame.values.set(key[0], (values = new Map()));
		values.set(key[1], rate);
	}
	if (unknown && Date.now() - listed > 2000) list().catch(() => {});
	return frame;
}

let source: EventSource | null = null, failures = 0, timer = 0;

function wait(why: string) {
	source?.close();
	source = null;
	clearTimeout(timer);
	const pause = Math.min(15_000, 1000 * 2 ** Math.min(failures++, 4));
	link.value = { state: "waiting", until: Date.now() + pause, why };
	timer = window.setTimeout(connect, pause);
}

export async function connect() {
	clearTimeout(timer);
	source?.close();
	link.value = { state: "connecting", until: 0, why: "" };
	try {
		const s = await get<Status>("status");
		readings.clear();
		setClock(s.now);
		status.value = s;
		await list();
	} catch (e) {
		return wait((e as Error).message);
	}
	const mine = (source = new EventSource("api/v1/live"));
	mine.onopen = () => {
		failures = 0;
		link.value = { state: "live", until: 0, why: "" };
		joined.value++;
	};
	mine.onerror = () => mine === source && wait("the stream has ended");
	mine.addEventListener("batch", e => {
		const frame = read(JSON.parse((e as MessageEvent<string>).data) as Batch);
		for (const fn of listeners) fn(frame);
		beat.value++;
	});
}

/* Newest numbers of the footer, and series that ended. */
setInterval(() => {
	if (document.hidden || link.peek().state !== "live") return;
	get<Status>("status").then(s => (status.value = s, setClock(s.now))).catch(() => {});
	list().catch(() => {});
}, 10_000);
addEventListener("online", () => link.peek().state === "waiting" && connect());
export const age = (t: number) => agentNow() - t;
