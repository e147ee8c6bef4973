/*
 * Components shared by the views: save buttons, sortable tables, coloured states.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Refused } from "./api";
import { compare, csv, whole } from "./format";
import { save } from "./download";
import { never, soon } from "./frames";
import { go, place } from "./state";

export interface Column<T> {
	name: string;
	get: (row: T) => string | number | null | undefined;	/* value to sort by and to save */
	show?: (row: T) => ComponentChildren;
	number?: boolean;
	wide?: boolean;
}

export function SaveAs(p: { name: string; files: [string, () => string][] }) {
	return <span class="save" role="group" aria-label={"Save " + p.name}>
		{p.files.map(([kind, text]) => <button key={kind} class="quiet" title={`Save as ${kind.toUpperCase()}`}
			onClick={() => save(`tacho-${p.name}.${kind}`, types[kind] ?? "text/plain", text())}>{kind.toUpperCase()}</button>)}
	</span>;
}
const types: Record<string, string> = { csv: "text/csv", json: "application/json", svg: "image/svg+xml" };

const rowsAtFirst = 150, rowsMore = 300;	/* laying out thousands of rows takes a browser a second */

/* The sort column and direction from the URL, or the table's default. */
function order(said: string, table: string, first = ""): [string, boolean] {
	const at = said.replace(/^-/, "");
	const s = at.startsWith(table + ".") ? said[0] === "-" ? "-" + at.slice(table.length + 1) : at.slice(table.length + 1) : first;
	return [s.replace(/^-/, ""), s[0] === "-"];
}

export function Table<T>(p: { name: string; caption: string; columns: Column<T>[]; rows: T[];
	sort?: string; empty?: ComponentChildren; files?: boolean }) {
	const [by, down] = order(place.value.sort, p.name, p.sort);
	const c = p.columns.find(x => x.name === by);
	const rows = c ? [...p.rows].sort((a, b) => compare(c.get(a), c.get(b)) * (down ? -1 : 1)) : p.rows;
	const room = useSignal(rowsAtFirst), shown = rows.slice(0, room.value), left = rows.length - shown.length;
	const sort = (x: Column<T>) => go({ sort: ((by === x.name ? !down : x.number) ? "-" : "") + p.name + "." + x.name }, true);
	const plain = () => rows.map(r => p.columns.map(x => x.get(r) ?? null));
	if (!p.rows.length) return <div class="empty">{p.empty ?? "Nothing here."}</div>;
	return <div class="table">
		{p.files !== false && <div class="bar"><span class="dim">{whole(p.rows.length)} {p.rows.length === 1 ? "row" : "rows"}
			{left > 0 && `, the first ${shown.length} shown`}</span>
		<SaveAs name={p.name} files={[["csv", () => csv([p.columns.map(x => x.name), ...plain()])],
			["json", () => JSON.stringify(plain().map(r => Object.fromEntries(p.columns.map((x, i) => [x.name, r[i]]))), null, 1) + "\n"]]} />
		</div>}
		<div class="scroll" tabIndex={0} role="region" aria-label={p.caption}><table>
			<caption class="hidden">{p.caption}</caption>
			<thead><tr>{p.columns.map(x => <th key={x.name} scope="col" class={x.number ? "n" : ""}
				aria-sort={by === x.name ? (down ? "descending" : "ascending") : "none"}>
				<button class="sort" onClick={() => sort(x)}>{x.name}<i aria-hidden="true">{by === x.name ? (down ? " ↓" : " ↑") : ""}</i></button>
			</th>)}</tr></thead>
			<tbody>{shown.map((r, k) => <tr key={k}>{p.columns.map(x =>
				<td key={x.name} data-name={x.name} class={x.number ? "n" : x.wide ? "wide" : ""}>{x.show ? x.show(r) : x.get(r) ?? "–"}</td>)}</tr>)}</tbody>
		</table></div>
		{left > 0 && <p class="more"><button onClick={() => (room.value += rowsMore)}>Show {Math.min(left, rowsMore)} more</button></p>}
	</div>;
}

const tones: Record<string, string> = { counting: "good", ok: "good", connected: "good", multiplexed: "warn", scaled: "warn",
	limited: "warn", paused: "warn", "not counted": "warn", info: "plain", no: "bad" };

export const Badge = (p: { text: string; tone?: string }) =>
	<span class={"badge " + (p.tone ?? tones[p.text] ?? "bad")}>{p.text}</span>;

export const View = (p: { title: string; note?: ComponentChildren; side?: ComponentChildren; children: ComponentChildren }) =>
	<section aria-labelledby="view-title">
		<div class="head"><h1 id="view-title">{p.title}</h1>{p.note && <p class="dim">{p.note}</p>}<span class="grow" />{p.side}</div>
		{p.children}
	</section>;

/* Shows an error; earlier data remains visible below it. */
export const Failure = (p: { answer: { error: { value: Error | null }; again: () => void } }) => {
	const e = p.answer.error.value;
	return e && <p class="failure" role="status"><span>{e.message}{e instanceof Refused && e.hint && <> — {e.hint}</>}</span>
		<button onClick={p.answer.again}>Try again</button></p>;
};

export const Waiting = (p: { answer: { error: { value: Error | null }; data: { value: unknown } }; text: string }) =>
	p.answer.data.value || p.answer.error.value ? null : <p class="empty" role="status">{p.text}</p>;

/* An empty view says how to fill it. */
export const Example = (p: { text: string; toml: string }) => <><p>{p.text}</p><pre tabIndex={0}>{p.toml}</pre></>;

/* Loads when `deps` change, and every `every` ms while the page is visible. Outdated answers are
 * ignored. */
export function useAnswer<T>(load: (signal: AbortSignal) => Promise<T>, deps: unknown[], every = 0) {
	const data = useSignal<T | null>(null), error = useSignal<Error | null>(null), busy = useSignal(true), tries = useSignal(0);
	useEffect(() => {
		const stop = new AbortController();
		let under = false;	/* do not send another request before a slow agent has answered */
		const run = () => {
			if (under) return;
			under = busy.value = true;
			load(stop.signal).then(d => {
				if (!stop.signal.aborted) data.value = d, error.value = null;
			}, e => {
				if (!stop.signal.aborted) error.value = e as Error;
			}).finally(() => {
				under = false;
				if (!stop.signal.aborted) busy.value = false;
			});
		};
		run();
		const timer = every ? setInterval(() => document.hidden || run(), every) : 0;
		return () => (stop.abort(), clearInterval(timer));
	}, [...deps, tries.value]);
	return { data, error, busy, again: () => void tries.value++ };
}

/* The size of an element, updated when it changes. */
export function useWidth() {
	const ref = useRef<HTMLDivElement>(null), width = useSignal(0);
	useEffect(() => {
		let next = 0;
		const set = () => void (width.value = next);
		const watch = new ResizeObserver(([e]) => (next = Math.floor(e.contentRect.width), soon(set)));
		watch.observe(ref.current!);
		return () => (watch.disconnect(), never(set));
	}, []);
	return { ref, width };
}
