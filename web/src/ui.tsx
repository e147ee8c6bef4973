/*
 * Small parts that the views share: buttons that save files, tables that sort, states in colour.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Refused } from "./api";
import { compare, csv } from "./format";
import { save } from "./download";

export interface Column<T> {
	name: string;
	get: (row: T) => string | number | null | undefined;	/* what it sorts by and saves */
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

export function Table<T>(p: { name: string; caption: string; columns: Column<T>[]; rows: T[]; max?: number;
	sort?: number; down?: boolean; empty?: string; files?: boolean; onRow?: (row: T) => void }) {
	const by = useSignal(p.sort ?? -1), down = useSignal(!!p.down);
	const c = p.columns[by.value];
	const rows = c ? [...p.rows].sort((a, b) => compare(c.get(a), c.get(b)) * (down.value ? -1 : 1)) : p.rows;
	const shown = rows.slice(0, p.max ?? 500);
	const order = (i: number) => {
		if (by.value === i) down.value = !down.value;
		else by.value = i, down.value = !!p.columns[i].number;
	};
	const plain = () => rows.map(r => p.columns.map(x => x.get(r) ?? null));
	if (!p.rows.length) return <p class="empty">{p.empty ?? "Nothing here."}</p>;
	return <div class="table">
		{p.files !== false && <div class="bar"><span class="dim">{p.rows.length} {p.rows.length === 1 ? "row" : "rows"}
			{shown.length < rows.length && `, the first ${shown.length} shown`}</span>
		<SaveAs name={p.name} files={[["csv", () => csv([p.columns.map(x => x.name), ...plain()])],
			["json", () => JSON.stringify(plain().map(r => Object.fromEntries(p.columns.map((x, i) => [x.name, r[i]]))), null, 1) + "\n"]]} />
		</div>}
		<div class="scroll" tabIndex={0} role="region" aria-label={p.caption}><table>
			<caption class="hidden">{p.caption}</caption>
			<thead><tr>{p.columns.map((x, i) => <th key={x.name} scope="col" class={x.number ? "n" : ""}
				aria-sort={by.value === i ? (down.value ? "descending" : "ascending") : "none"}>
				<button class="sort" onClick={() => order(i)}>{x.name}<i aria-hidden="true">{by.value === i ? (down.value ? " ↓" : " ↑") : ""}</i></button>
			</th>)}</tr></thead>
			<tbody>{shown.map((r, k) => <tr key={k} onClick={p.onRow && (() => p.onRow!(r))}>{p.columns.map(x =>
				<td key={x.name} data-name={x.name} class={x.number ? "n" : x.wide ? "wide" : ""}>{x.show ? x.show(r) : x.get(r) ?? "–"}</td>)}</tr>)}</tbody>
		</table></div>
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

export const Failure = (p: { error: Error }) => <p class="failure" role="status">{p.error.message}
	{p.error instanceof Refused && p.error.hint && <span class="dim"> — {p.error.hint}</span>}</p>;

/* Loads when `deps` change, and again every `every` ms while the page is looked at. An answer that
 * comes too late is not used. */
export function useAnswer<T>(load: (signal: AbortSignal) => Promise<T>, deps: unknown[], every = 0) {
	const data = useSignal<T | null>(null), error = useSignal<Error | null>(null), busy = useSignal(true);
	useEffect(() => {
		const stop = new AbortController();
		const run = () => {
			busy.value = true;
			load(stop.signal).then(d => (data.value = d, error.value = null, busy.value = false), e => {
				if (stop.signal.aborted) return;
				error.value = e as Error;
				busy.value = false;
			});
		};
		run();
		const timer = every ? setInterval(() => document.hidden || run(), every) : 0;
		return () => (stop.abort(), clearInterval(timer));
	}, deps);
	return { data, error, busy };
}

/* The size of an element, as it changes. */
export function useWidth() {
	const ref = useRef<HTMLDivElement>(null), width = useSignal(0);
	useEffect(() => {
		const watch = new ResizeObserver(([e]) => (width.value = Math.floor(e.contentRect.width)));
		watch.observe(ref.current!);
		return () => watch.disconnect();
	}, []);
	return { ref, width };
}
