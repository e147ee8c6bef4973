/*
 * One event's chart: history from the store, then what comes live. It is made when it comes into
 * sight. Many series are folded into mean, least and most until they are asked for one by one.
 */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { type QuerySeries, get } from "./api";
import { Columns, type Summary, fold, labelsKey, niceStep, summary } from "./columns";
import { chartSvg } from "./download";
import { clock, compare, csv, date, moment, parts, seriesName, value } from "./format";
import { type Frame, type Group, joined, listeners } from "./live";
import { colour, currentRange, dark, go, palette, place, rangeKey } from "./state";
import { Badge, SaveAs, Table, useWidth } from "./ui";

const many = 12, tops = 6, height = 150;
const twos = Array.from({ length: 50 }, (_, i) => 2 ** i);

type Facts = Summary & { name: string };
interface Shown { name: string; key: string }

function members(g: Group): Shown[] {
	return g.series.map(s => ({ name: seriesName(s.labels), key: labelsKey(s.labels) }))
		.sort((a, b) => compare(a.name, b.name));
}

/* The keys of the lines that are highest on the whole: of processes nobody wants a mean. */
function highest(columns: Columns, keys: string[]): string[] {
	return keys.map(k => ({ k, mean: summary((columns.v.get(k) ?? []).slice(-120)).mean ?? -1 }))
		.sort((a, b) => b.mean - a.mean).slice(0, tops).map(x => x.k);
}

function axisTimes(u: uPlot, splits: number[], __: number, ___: number, step: number): string[] {
	return splits.map((t, i) => {
		const ms = t * 1000, text = clock(ms, step * 1000);
		if (u.valToPos(t, "x") < 16) return "";		/* would lie on the other axis's 0 */
		return step * 1000 < 864e5 && i > 0 && date(ms) !== date(splits[i - 1] * 1000) ? date(ms).slice(5) + "\n" + text : text;
	});
}

function makePlot(g: Group, names: string[], folded: boolean, width: number, at: HTMLElement,
	onCursor: (i: number | null) => void): uPlot {
	const lines = palette(), dim = colour("dim"), grid = { stroke: colour("grid"), width: 1 }, ticks = { show: false };
	const font = "11px system-ui, sans-serif";
	return new uPlot({
		width, height, legend: { show: false }, pxAlign: 1,
		padding: [8, 8, 0, 0],
		scales: {
			x: { time: true, range: () => currentRange().map(t => t / 1000) as [number, number] },
			y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? high * 1.08 : 1] },
		},
		axes: [
			{ stroke: dim, grid, ticks, font, size: 24, gap: 4, space: 55, values: axisTimes },
			{ stroke: dim, grid, ticks, font, size: 66, gap: 6, space: 34, ...(g.unit === "bytes" ? { incrs: twos } : {}),
				values: (_, v) => v.map(x => value(x, g.unit, g.rate)) },
		],
		series: [{}, ...names.map((label, i) => ({ label, stroke: folded && i ? colour("faint") : lines[i % lines.length],
			width: 1.5, points: { show: false } }))],
		bands: folded ? [{ series: [3, 2] as [number, number], fill: colour("band") }] : [],
		/* Others follow the pointer, but the choice of a range is made by one. */
		cursor: { sync: { key: "tacho", filters: { pub: type => type === "mousemove" || type === "mouseleave" } }, drag: { x: true, y: false, setScale: false }, points: { size: 6 }, y: false },
		hooks: {
			setCursor: [u => onCursor(u.cursor.idx ?? null)],
			setSelect: [u => {
				const from = u.posToVal(u.select.left, "x") * 1000, to = u.posToVal(u.select.left + u.select.width, "x") * 1000;
				u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
				if (u.select.width >= 0 && to - from >= 1000) go({ fixed: [Math.round(from), Math.round(to)], sel: null });
			}],
		},
	}, [[], ...names.map(() => [])] as unknown as uPlot.AlignedData, at);
}

export function Chart(p: { group: Group }) {
	const g = p.group, all = members(g), allKeys = all.map(s => s.key).join();
	const each = useSignal(false), asTable = useSignal(false), cursor = useSignal<number | null>(null);
	const seen = useSignal(false), loaded = useSignal(0), failed = useSignal("");
	const { ref, width } = useWidth();
	const plotAt = useRef<HTMLDivElement>(null), card = useRef<HTMLElement>(null);
	const store = useMemo(() => ({ columns: new Columns(1000), plot: null as uPlot | null, frame: 0, visible: false, told: Date.now() - Math.random() * 900, picked: 0,
		read: (): [number[], ...(number | null)[][]] => [[]] }), []);
	const picked = useSignal<string[]>([]);
	const few = all.length > many && !each.value, tasks = g.series.some(s => s.labels.pid || s.labels.cgroup);
	const folded = few && !tasks, shown = few && tasks ? all.filter(s => picked.value.includes(s.key)) : all;
	const names = folded ? ["mean", "least", "most"] : shown.map(s => s.name), shownKeys = shown.map(s => s.key).join();
	const pick = () => {
		const next = tasks ? highest(store.columns, all.map(s => s.key)) : [];
		if (next.join() !== picked.peek().join()) picked.value = next;
	};

	const columns = (): [number[], ...(number | null)[][]] => {
		const [t, ...v] = store.columns.aligned(shown.map(s => s.key));
		return folded ? [t, ...fold(v)] : [t, ...v];
	};
	store.read = columns;			/* what draws later draws the lines of then */
	const draw = () => {
		cancelAnimationFrame(store.frame);
		store.frame = requestAnimationFrame(() => {
			const data = store.read();
			if (store.plot?.series.length === data.length) store.plot.setData(data as uPlot.AlignedData);
		});
	};

	useEffect(() => {
		const watch = new IntersectionObserver(([e]) => {
			store.visible = e.isIntersecting;
			if (e.isIntersecting) seen.value = true, draw();
		}, { rootMargin: "300px" });
		watch.observe(card.current!);
		return () => watch.disconnect();
	}, []);

	useSignalEffect(() => {			/* history: for another range, and after each new stream */
		const wanted = rangeKey.value + joined.value;
		if (!seen.value || !wanted) return;
		const stop = new AbortController(), [from, to] = currentRange();
		const step = niceStep(to - from, 400), next = new Columns(step);
		get<{ series: QuerySeries[] }>("query", { event: g.event.replace(/[[\]*?\\]/g, "?"), label: /^[^,]+$/.test(g.source) ? "source=" + g.source : null,
			from: Math.floor(from / step) * step, to, step: step + "ms" }, stop.signal).then(a => {
			next.load(a.series.filter(s => s.event === g.event && (s.labels.source ?? "") === g.source)
				.map(s => ({ key: labelsKey(s.labels), points: s.points })));
			if (!place.peek().fixed) next.keepNewer(store.columns);
			store.columns = next;
			failed.value = "";
			pick();
			loaded.value++;
			draw();
		}, e => {
			if (stop.signal.aborted) return;
			failed.value = (e as Error).message;
			if (place.peek().fixed) return;
			store.columns.step = step;		/* without a store what is live is still shown */
		});
		return () => stop.abort();
	});

	useEffect(() => {
		const hear = (f: Frame) => {
			const values = f.values.get(g.key);
			if (!values || place.peek().fixed) return;
			store.columns.add(f.t, values);
			store.columns.trim(currentRange()[0]);
			if (document.hidden || !store.visible) return;
			draw();
			if (Date.now() - store.told < 900) return;	/* the numbers need not keep up with 10 Hz */
			store.told = Date.now();
			if (store.told - store.picked > 15_000) store.picked = store.told, pick();
			loaded.value++;
		};
		listeners.add(hear);
		return () => void listeners.delete(hear);
	}, [g.key, allKeys, shownKeys, folded]);

	useEffect(() => {
		if (!seen.value || !width.value || asTable.value) return;
		store.plot = makePlot(g, names, folded, width.value, plotAt.current!, i => (cursor.value = i));
		const reset = () => go({ fixed: null, sel: null });
		store.plot.over.addEventListener("dblclick", reset);
		draw();
		return () => (store.plot?.destroy(), (store.plot = null));
	}, [seen.value, width.value, dark.value, asTable.value, folded, shownKeys]);

	loaded.value;				/* numbers follow the data */
	const data = columns(), [times, ...lines] = data;
	const at = (v: (number | null)[]) => (cursor.value !== null && cursor.value < v.length ? v[cursor.value]
		: summary(v.slice(-4)).last);
	const now = lines.map(at), additive = g.rate && g.unit !== "ratio" && !folded;
	const what = few && tasks ? `sum of the highest ${tops}` : additive ? "sum" : "mean";
	const sum = now.reduce<number | null>((a, b) => (b === null ? a : (a ?? 0) + b), null);
	const count = now.filter(v => v !== null).length;
	const [big, unit] = parts(folded ? now[0] : sum === null ? null : additive ? sum : sum / count, g.unit, g.rate);
	const colours = palette();
	const header = ["time", ...names];
	const rows = () => times.map((t, i) => [new Date(t * 1000).toISOString(), ...lines.map(l => l[i])]);
	const title = g.event + (g.source ? " (" + g.source + ")" : "");

	return <article class="card" ref={card} aria-label={title}>
		<header>
			<h3 title={title}>{g.event}{g.series.some(s => s.state === "scaled") && <> <Badge text="multiplexed" /></>}</h3>
			<p class="now" title={all.length > 1 ? what : undefined}><b>{big}</b><span>{unit}{folded && " mean"}</span></p>
		</header>
		<div ref={ref} class="plot">{asTable.value
			? <Table name={g.event} caption={"Values of " + title} files={false} rows={lines.map((l, i) => ({ name: names[i], ...summary(l) }))}
				columns={[{ name: "series", get: (r: Facts) => r.name }, ...(["last", "mean", "min", "max"] as const).map(k => ({ name: k, number: true,
					get: (r: Facts) => r[k], show: (r: Facts) => value(r[k], g.unit, g.rate) }))]} />
			: <div ref={plotAt} role="img" aria-label={`${title}: ${big} ${unit}${times.length ? `, ${clock(times[0] * 1000)} to ${clock(times[times.length - 1] * 1000)}` : ""}`}
				style={{ height: height + "px" }} />}
		</div>
		{failed.value && !times.length && <p class="dim note">{failed.value}</p>}
		<footer>
			<ul class="legend" aria-label="Series">{names.length > 1 && names.map((n, i) => i < many && <li key={n}>
				<i style={{ background: folded && i ? colour("faint") : colours[i % colours.length] }} />{n} <b>{value(now[i], g.unit, g.rate)}</b></li>)}</ul>
			<span class="tools">
				{all.length > many && <button class="quiet" aria-pressed={each.value} onClick={() => (each.value = !each.value)}>{all.length} lines</button>}
				<button class="quiet" aria-pressed={asTable.value} onClick={() => (asTable.value = !asTable.value)}>Table</button>
				<SaveAs name={g.event} files={[["csv", () => csv([header, ...rows()])],
					["json", () => JSON.stringify({ event: g.event, unit: g.unit, per_second: g.rate, columns: header, rows: rows() }) + "\n"],
					["svg", () => chartSvg(`${title}, ${times.length ? moment(times[0] * 1000) : ""}`, g.unit, g.rate, times,
						lines.map((values, i) => ({ name: names[i], colour: colours[i % colours.length], values })))]]} />
			</span>
		</footer>
	</article>;
}
