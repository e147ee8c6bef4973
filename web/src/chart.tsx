/*
 * The chart of one event as a card: its name, the newest value or the one at the cursor, the lines,
 * the legend, and files to save. It is created when it becomes visible, and can be enlarged.
 */
import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Summary, summary } from "./columns";
import { chartSvg } from "./download";
import { clock, csv, moment, parts, value } from "./format";
import { Feed, type Shown, many } from "./feed";
import { type Group, joined, listen } from "./live";
import { isTable, withTable } from "./place";
import { lineColour } from "./plot";
import { dark, go, place, query, rangeKey } from "./state";
import { Badge, SaveAs, Table, useWidth } from "./ui";

type Facts = Summary & { name: string };

const perCpu = (g: Group) => g.source === "usage" && /^cpu-/.test(g.event);		/* percent of each CPU: the mean is that of the machine */
const additive = (g: Group) => g.rate && g.unit !== "ratio" && !perCpu(g);

/* The value of each line at the cursor, or the newest. */
function current(f: Feed, lines: (number | null)[][]): (number | null)[] {
	const c = f.cursor.value;
	return lines.map(v => (c !== null && c < v.length ? v[c] : summary(v, v.length - 4).last));
}

/* One number for all series and its label: the sum if the values can be added, else the mean. */
function headline(f: Feed): [number | null, string] {
	const v = current(f, f.columns.aligned(f.all.map(s => s.key)).slice(1) as (number | null)[][]).filter(x => x !== null);
	if (!v.length) return [null, ""];
	const sum = v.reduce((a, b) => a + b, 0), add = additive(f.group);
	return [add ? sum : sum / v.length, f.all.length > 1 ? (add ? "sum" : perCpu(f.group) ? `of ${f.all.length} CPUs` : "mean") : ""];
}

/* Rendered again when the feed signals a change, or for other series. */
interface Part { feed: Feed; of: Shown[] }

function Now(p: Part) {
	const f = p.feed, g = f.group;
	f.told.value;
	const [v, what] = headline(f), [big, unit] = parts(v, g.unit, g.rate), c = f.cursor.value, t = c === null ? undefined : f.columns.t[c];
	return <p class="now">{t !== undefined && <time>{clock(t, f.columns.step)}</time>}{what && <span title={`of ${f.all.length} series`}>{what}</span>}
		<b>{big}</b><span>{unit}</span></p>;
}

function Legend(p: Part & { large: boolean }) {
	const f = p.feed, g = f.group, names = f.names;
	f.told.value;
	if (names.length < 2 && g.series.length < 2) return <span />;
	const now = current(f, f.data().slice(1) as (number | null)[][]);
	return <ul class="legend" aria-label="Series">{names.map((n, i) => (p.large || i < many) && <li key={n}>
		<i style={{ background: lineColour(f, i) }} /><bdi>{n}</bdi> <b>{value(now[i], g.unit, g.rate)}</b></li>)}</ul>;
}

/* The chart as a table of all series. */
function Values(p: Part) {
	const f = p.feed, g = f.group;
	f.told.value;
	return <Table name="values" caption={"Values of " + g.event} files={false} sort="-last" rows={f.all.map(s => ({ name: s.name, ...summary(f.columns.column(s.key)) }))}
		columns={[{ name: "series", get: (r: Facts) => r.name }, ...(["last", "mean", "min", "max"] as const).map(k => ({ name: k, number: true,
			get: (r: Facts) => r[k], show: (r: Facts) => value(r[k], g.unit, g.rate) }))]} />;
}

function files(f: Feed, title: string): [string, () => string][] {
	const g = f.group, header = ["time", ...f.all.map(s => s.name)], columns = () => f.columns.aligned(f.all.map(s => s.key));
	const rows = () => {
		const [t, ...v] = columns();
		return t.map((at, i) => [new Date(at).toISOString(), ...v.map(c => c[i] ?? null)]);
	};
	return [["csv", () => csv([header, ...rows()])],
		["json", () => JSON.stringify({ event: g.event, source: g.source, unit: g.unit, per_second: g.rate, columns: header, rows: rows() }) + "\n"],
		["svg", () => {
			const [t, ...v] = f.data();
			return chartSvg(title + (t.length ? ", " + moment(t[0]) : ""), g.unit, g.rate, t,
				v.map((values, i) => ({ name: f.names[i], colour: lineColour(f, i), values })));
		}]];
}

/* Loads, subscribes and draws while the card exists. */
function useFeed(f: Feed, width: number, table: boolean) {
	const card = useRef<HTMLElement>(null), plotAt = useRef<HTMLDivElement>(null), g = f.group;
	useEffect(() => {
		const watch = new IntersectionObserver(list => f.show(list[list.length - 1].isIntersecting), { rootMargin: "200px" });
		watch.observe(card.current!);
		return () => (watch.disconnect(), f.end());
	}, []);
	useSignalEffect(() => {			/* for another range, and after each new stream */
		if (!f.seen.value || !(rangeKey.value + joined.value)) return;
		const stop = new AbortController();
		f.load(stop.signal);
		return () => stop.abort();
	});
	useEffect(() => listen(g.key, f.hear), [g.key]);
	useEffect(() => {
		f.at = plotAt.current;
		f.width = width;
		if (f.seen.value && width && !table) f.remake();
	}, [f.seen.value, width, dark.value, table, f.folded, f.height, f.names.join("\n")]);
	return { card, plotAt };
}

function Message(p: { feed: Feed }) {
	const f = p.feed;
	f.told.value;
	if (f.columns.t.length || !f.seen.value) return null;
	return <p class="dim note" role="status">{f.failed.value || (f.busy.value ? "reading the history …" : "nothing was measured in this range")}</p>;
}

export function Chart(p: { group: Group; large?: boolean }) {
	const g = p.group, large = !!p.large, feed = useMemo(() => new Feed(g), []), { ref, width } = useWidth();
	feed.height = large ? 320 : 150;
	feed.arrange(g, large, query.value);
	const table = large && isTable(place.value, "chart"), title = g.event + (g.source ? " (" + g.source + ")" : "");
	const { card, plotAt } = useFeed(feed, width.value, table);
	const label = useComputed(() => {
		feed.told.value;
		const [v, what] = headline(feed), t = feed.columns.t;
		return `${title}: ${value(v, g.unit, g.rate)}${what && " " + what}${t.length ? `, ${clock(t[0])} to ${clock(t[t.length - 1])}` : ""}`;
	});
	const hidden = feed.all.length - feed.shown.length;

	return <article class={large ? "card large" : "card"} ref={card} aria-label={title}>
		<header>
			<h3 title={title}><bdi>{g.event}</bdi>{g.series.some(s => s.state === "scaled") && <> <Badge text="multiplexed" /></>}</h3>
			{large && g.source && <span class="dim grow">{g.source}</span>}
			<Now feed={feed} of={feed.all} />
		</header>
		<div ref={ref} class="plot">{table ? <Values feed={feed} of={feed.all} />
			: <div ref={plotAt} role="img" aria-label={label} style={{ height: feed.height + "px" }} />}<Message feed={feed} /></div>
		<footer>
			{table ? <span /> : <Legend feed={feed} of={feed.shown} large={large} />}
			{hidden > 0 && !table && <span class="dim note">the highest {feed.shown.length} of {feed.all.length}; Table has all</span>}
			<span class="tools">
				<button class="quiet" aria-pressed={table} onClick={() => go({ focus: g.key, ...withTable(place.peek(), "chart", !table) })}>Table</button>
				<SaveAs name={g.event} files={files(feed, title)} />
				<button class="quiet" aria-expanded={large} onClick={() => go({ focus: large ? "" : g.key, as: "" })} title={large ? "Back to all (Esc)" : `Show large${feed.folded ? `, ${feed.all.length} lines` : ""}`}>{large ? "Close" : feed.folded || hidden ? `${feed.all.length} lines` : "Large"}</button>
			</span>
		</footer>
	</article>;
}
