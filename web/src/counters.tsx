/*
 * The counters view: a section per source, a chart per event. Events that cannot be counted are
 * listed in one line with the reason instead of an empty chart. Long lists are extended as the user
 * scrolls.
 */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address } from "./api";
import { Chart } from "./chart";
import { matcher } from "./flame";
import { seriesName } from "./format";
import { soon } from "./frames";
import { type Group, groups, link } from "./live";
import { place, range } from "./state";
import { Badge, View } from "./ui";

const atFirst = 12, more = 6;

const dead = (g: Group) => g.series.every(s => !["counting", "scaled", "multiplexed"].includes(s.state) && s.value === null);
const perTask = (g: Group) => g.series.some(s => s.labels.pid || s.labels.cgroup);

function found(list: Group[], q: string): Group[] {
	const match = matcher(q);
	return match ? list.filter(g => match(g.event) || match(g.source) || g.series.some(s => match(seriesName(s.labels)))) : list;
}

/* Keeps the element of a group: a chart whose series did not change is not rendered again. */
const cards = new WeakMap<Group, VNode>();
function card(g: Group): VNode {
	let v = cards.get(g);
	if (!v) cards.set(g, (v = <Chart key={g.key} group={g} />));
	return v;
}

function Off(p: { list: Group[] }) {
	const reasons = [...new Set(p.list.flatMap(g => g.series.map(s => s.reason ?? "")))].filter(Boolean);
	const names = p.list.slice(0, 40).map(g => g.event).join(", "), rest = p.list.length - 40;
	return <p class="off"><Badge text={p.list[0].series[0]?.state ?? "off"} />{" "}
		<b><bdi>{names}</bdi>{rest > 0 && ` and ${rest} more`}</b> {reasons.length ? "— " + reasons[0] : ""}
		{reasons.length > 1 && ` (and ${reasons.length - 1} more reasons in Events)`}</p>;
}

const titles: Record<string, string> = { agent: "the agent itself", usage: "how busy the machine is" };
const usageOrder = ["cpu-busy", "process-cpu", "cgroup-cpu", "cpu-user", "cpu-system", "cpu-iowait", "cpu-steal"];
/* The utilisation of the machine comes first, as the first question to a monitor. */
const rank = (source: string) => (source === "usage" ? 0 : source === "agent" ? 2 : 1);
const ordered = (list: Group[]) => list[0]?.source === "usage" ? [...list].sort((a, b) => usageOrder.indexOf(a.event) - usageOrder.indexOf(b.event)) : list;

function Source(p: { name: string; list: Group[]; room: number }) {
	const off = p.list.filter(dead), on = ordered(p.list.filter(g => !dead(g)));
	return <section class="source" aria-label={p.name}>
		<h2>{titles[p.name] ?? (p.name || "counters")}
			<span class="dim">{p.list.length} {p.list.length === 1 ? "event" : "events"}{p.list.some(perTask) && ", by process or group"}</span></h2>
		{on.length > 0 && <div class="cards">{on.slice(0, p.room).map(card)}</div>}
		{off.length > 0 && <Off list={off} />}
	</section>;
}

/* Shows more when the end of the page is near. */
function More(p: { left: number; onMore: () => void }) {
	const at = useRef<HTMLParagraphElement>(null), near = useSignal(false);
	useEffect(() => {
		const watch = new IntersectionObserver(list => (near.value = list[list.length - 1].isIntersecting), { rootMargin: "600px" });
		watch.observe(at.current!);
		return () => watch.disconnect();
	}, []);
	useEffect(() => {
		if (near.value) soon(p.onMore);
	}, [near.value, p.left]);
	return <p ref={at} class="more"><button onClick={p.onMore}>Show more, {p.left} left</button></p>;
}

/* The agent's own counters have a view of their own. */
export const Counters = () => <Charts title="Counters" of={g => g.source !== "agent"} />;
export const AgentCounters = () => <Charts title="Agent" of={g => g.source === "agent"} />;

function Charts(p: { title: string; of: (g: Group) => boolean }) {
	const room = useSignal(atFirst), { q, focus } = place.value, all = groups.value.filter(p.of);
	const large = focus ? all.find(g => g.key === focus) : undefined, list = found(all, q).filter(g => g !== large);
	const names = [...new Set(list.map(g => g.source))].sort((a, b) => rank(a) - rank(b));
	useEffect(() => {
		if (large) scrollTo(0, 0);
	}, [large?.key]);
	let left = room.value, beyond = 0;
	const sections = names.map(name => {
		const mine = list.filter(g => g.source === name), n = mine.filter(g => !dead(g)).length, here = Math.max(0, left);
		left -= n;
		beyond += Math.max(0, n - here);
		return here > 0 || !n ? <Source key={name} name={name} list={mine} room={here} /> : null;
	});
	const [from, to] = range.peek();
	return <View title={p.title} note={<span class="mouse">drag over a chart to zoom, double click to go back</span>}
		side={list.length > 0 && <span class="save" role="group" aria-label="Save all counters"><a class="quiet button" download="tacho-counters.json" title="All series of this range"
			href={address("query", { from, to })}>JSON</a></span>}>
		{large && <div class="source"><Chart key={"large" + large.key} group={large} large /></div>}
		{focus && !large && all.length > 0 && <p class="empty">The chart of this address is not there: “{focus.split("\n").reverse().join(", ")}” is not counted now.</p>}
		{sections}
		{beyond > 0 && <More left={beyond} onMore={() => (room.value += more)} />}
		{!list.length && !large && <p class="empty">{all.length ? `No event matches “${q}”.`
			: link.value.state === "live" ? "The agent counts nothing: its configuration has no [[source]]." : "Waiting for the agent …"}</p>}
	</View>;
}
