/*
 * The counters: a section per source, a chart per event. What cannot be counted here stands in one
 * line with its reason instead of an empty chart.
 */
import { Chart } from "./chart";
import { matcher } from "./flame";
import { seriesName } from "./format";
import { type Group, groups, link } from "./live";
import { place } from "./state";
import { Badge, View } from "./ui";

const dead = (g: Group) => g.series.every(s => !["counting", "scaled", "multiplexed"].includes(s.state) && s.value === null);
const perTask = (g: Group) => g.series.some(s => s.labels.pid || s.labels.cgroup);

function found(list: Group[], q: string): Group[] {
	const match = matcher(q);
	return match ? list.filter(g => match(g.event) || match(g.source) || g.series.some(s => match(seriesName(s.labels)))) : list;
}

function Source(p: { name: string; list: Group[] }) {
	const off = p.list.filter(dead), on = p.list.filter(g => !dead(g));
	const reasons = [...new Set(off.flatMap(g => g.series.map(s => s.reason ?? "")))].filter(Boolean);
	return <section class="source" aria-label={p.name}>
		<h2>{p.name === "agent" ? "the agent itself" : p.name || "counters"}
			<span class="dim">{p.list.length} {p.list.length === 1 ? "event" : "events"}{p.list.some(perTask) && ", by process or group"}</span></h2>
		{on.length > 0 && <div class="cards">{on.map(g => <Chart key={g.key} group={g} />)}</div>}
		{off.length > 0 && <p class="off"><Badge text={off[0].series[0]?.state ?? "off"} />{" "}
			<b>{off.map(g => g.event).join(", ")}</b> {reasons.length ? "— " + reasons[0] : ""}
			{reasons.length > 1 && ` (and ${reasons.length - 1} more reasons in Events)`}</p>}
	</section>;
}

export function Counters() {
	const list = found(groups.value, place.value.q), sources = [...new Set(list.map(g => g.source))]
		.sort((a, b) => +(a === "agent") - +(b === "agent"));
	return <View title="Counters" note="drag over a chart to zoom, double click to go back">
		{sources.map(s => <Source key={s} name={s} list={list.filter(g => g.source === s)} />)}
		{!list.length && <p class="empty">{groups.value.length ? `No event matches “${place.value.q}”.`
			: link.value.state === "live" ? "The agent counts nothing: its configuration has no [[source]]." : "Waiting for the agent …"}</p>}
	</View>;
}
