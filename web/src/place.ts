/*
 * What the page shows: view, time range, search, selection. Stored in the URL's fragment, so that
 * links reproduce a view. Pure.
 */
import { parseSpan, spanKey } from "./format";

export const views = ["counters", "profile", "events", "processes", "exporters", "triggers", "doctor", "agent"] as const;
export type View = typeof views[number];
export type Range = [number, number];		/* milliseconds since 1970 */

export interface Place {
	view: View;
	span: number;			/* length of the range that ends now */
	fixed: Range | null;		/* a fixed range instead */
	q: string;			/* search */
	sel: Range | null;		/* part of the range, chosen on the heat map */
	base: Range | null;		/* the range to compare with */
	zoom: string;			/* path of the flame graph's box; see flame.ts */
	comm: string;			/* show only the profile of this command */
	pid: string;			/* show only the profile of this process */
	focus: string;			/* key of the enlarged chart */
	as: string;			/* what is shown as a table: "chart,flame,heat" */
	sort: string;			/* "-events.running": table and column to sort by, - for descending */
}

export const presets: [string, number][] = [["1m", 6e4], ["5m", 3e5], ["1h", 36e5], ["6h", 216e5], ["24h", 864e5], ["7d", 6048e5]];
export const shortest = 1000, longest = 400 * 864e5;

export const home: Place = { view: "counters", span: 3e5, fixed: null, q: "", sel: null, base: null, zoom: "",
	comm: "", pid: "", focus: "", as: "", sort: "" };

function readRange(text: string | null): Range | null {
	const m = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? "");
	const r: Range | null = m && [Number(m[1]), Number(m[2])];
	return r && r[1] > r[0] && r[1] - r[0] <= longest ? r : null;
}

const bounded = (ms: number) => Math.min(Math.max(ms, shortest), longest);

const text = (p: URLSearchParams, name: string, most: number) => (p.get(name) ?? "").slice(0, most);

export function readHash(hash: string): Place {
	const p = new URLSearchParams(hash.replace(/^#/, ""));
	const view = p.get("v") as View, span = parseSpan(p.get("span") ?? "");
	return {
		view: views.includes(view) ? view : home.view,
		span: span > 0 ? bounded(span) : home.span,
		fixed: readRange(p.get("t")),
		q: text(p, "q", 200),
		sel: readRange(p.get("sel")),
		base: readRange(p.get("base")),
		zoom: /^[\da-z.]{1,2000}$/.test(p.get("z") ?? "") ? p.get("z")! : "",
		comm: text(p, "c", 64),
		pid: /^\d{1,10}$/.test(p.get("p") ?? "") ? p.get("p")! : "",
		focus: text(p, "e", 600),
		as: text(p, "as", 40),
		sort: text(p, "o", 200),
	};
}

export function writeHash(p: Place): string {
	const words: string[] = ["v=" + p.view];
	const range = (name: string, r: Range | null) => r && words.push(name + "=" + r.map(Math.round).join("-"));
	words.push("span=" + spanKey(p.span));
	range("t", p.fixed);
	const text = (name: string, v: string) => v && words.push(name + "=" + encodeURIComponent(v));
	text("q", p.q);
	range("sel", p.sel);
	range("base", p.base);
	text("z", p.zoom);
	text("c", p.comm);
	text("p", p.pid);
	text("e", p.focus);
	text("as", p.as);
	text("o", p.sort);
	return "#" + words.join("&");
}

export const isTable = (p: Place, what: string) => p.as.split(",").includes(what);
export const withTable = (p: Place, what: string, on: boolean): Partial<Place> =>
	({ as: [...p.as.split(",").filter(x => x && x !== what), ...(on ? [what] : [])].join() });

/* Moves the range by a part of its length; a range that would go beyond now follows the clock. */
export function shift(p: Place, by: number, now: number): Place {
	const [from, to] = p.fixed ?? [now - p.span, now];
	const d = (to - from) * by;
	if (to + d >= now) return { ...p, span: to - from, fixed: null, sel: null };
	return { ...p, fixed: [from + d, to + d], sel: null };
}

/* Makes the range longer (factor > 1) or shorter; its middle is kept, or its end while it follows
 * the clock. */
export function stretch(p: Place, factor: number, now: number): Place {
	if (!p.fixed) return { ...p, span: bounded(Math.round(p.span * factor)), sel: null };
	const [from, to] = p.fixed, half = bounded((to - from) * factor) / 2, mid = (from + to) / 2;
	if (mid + half > now) return { ...p, fixed: null, span: Math.round(half * 2), sel: null };
	return { ...p, fixed: [mid - half, mid + half], sel: null };
}
