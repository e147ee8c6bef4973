/*
 * The views that consist of tables: events, processes, exporters, triggers, doctor.
 */
import type { ComponentChildren } from "preact";
import { type EventRow, type Exporter, type Finding, type Happened, type Process, type Processes as ProcessList, type Trigger, address, get } from "./api";
import { matcher } from "./flame";
import { cpuShare, csv, moment, percent, span, value, whole } from "./format";
import { joined, readings, series } from "./live";
import { go, now, place } from "./state";
import { Badge, type Column, Example, Failure, SaveAs, Table, View, Waiting, useAnswer } from "./ui";

/* Rows with a text that matches the search. */
function found<T extends object>(rows: T[]): T[] {
	const match = matcher(place.value.q);
	return match ? rows.filter(r => Object.values(r).some(v => typeof v === "string" && match(v))) : rows;
}
const none = (what: ComponentChildren) => (place.value.q ? `Nothing matches “${place.value.q}”.` : what);

export function Events() {
	const answer = useAnswer(s => get<{ events: EventRow[] }>("events", {}, s), [joined.value], 5000);
	const rows = found(answer.data.value?.events ?? []), bad = rows.filter(r => r.state !== "counting").length;
	return <View title="Events" note={answer.data.value && `${rows.length - bad} of ${rows.length} are counted exactly`}>
		<Failure answer={answer} /><Waiting answer={answer} text="Asking the agent …" />
		{answer.data.value && <Table name="events" caption="Events with state and reason" rows={rows} empty={none("The configuration has no events.")} columns={[
			{ name: "event", get: r => r.event, show: r => <b title={r.original}>{r.event}</b> }, { name: "source", get: r => r.source },
			{ name: "state", get: r => r.state, show: r => <Badge text={r.state === "scaled" ? `multiplexed ${percent(r.share)}` : r.state} tone={r.state === "scaled" ? "warn" : undefined} /> },
			{ name: "running", number: true, get: r => r.share, show: r => (r.state === "counting" || r.share < 1 ? percent(r.share) : "–") },
			{ name: "pmu", get: r => r.pmu }, { name: "target", get: r => r.target }, { name: "per", get: r => r.per },
			{ name: "counters", number: true, get: r => r.counters }, { name: "every", number: true, get: r => r.interval_ms, show: r => span(r.interval_ms) },
			{ name: "reason", get: r => r.reason, show: r => r.reason ?? "", wide: true }]} />}
	</View>;
}

interface Task { name: string; pid: string; cgroup: string; rates: Map<string, number | null>; units: Map<string, [string, boolean]>; ended: boolean; source: string }

function tasks(): [Task[], string[]] {
	const all = new Map<string, Task>(), events = new Set<string>();
	for (const s of series.value.values()) {
		const { pid = "", cgroup = "", comm = "", source = "" } = s.labels;
		if ((!pid && !cgroup) || source === "usage") continue;
		const key = pid + "\n" + cgroup + "\n" + source;
		let t = all.get(key);
		if (!t) all.set(key, (t = { name: comm || cgroup, pid, cgroup, rates: new Map(), units: new Map(), ended: true, source }));
		const v = readings.get(s.id)?.rate ?? null, had = t.rates.get(s.event) ?? null;
		t.rates.set(s.event, v === null ? had : (had ?? 0) + v);
		t.units.set(s.event, [s.unit, s.kind === "counter"]);
		t.ended &&= s.ended;
		events.add(s.event);
	}
	return [[...all.values()], [...events]];
}

const service = (r: Process) => r.container ? "container " + r.container.slice(0, 12) : r.service || (r.cgroup.length > 1 ? r.cgroup : "");
const short = (text: string) => (text.length > 28 ? "…" + text.slice(-27) : text);
const profileOf = (r: Process) => go({ view: "profile", pid: String(r.pid), comm: "", zoom: "", q: "", focus: "", sel: null });

/* The processes that use most CPU time; a click leads to the flame graph of that process. */
function Busiest(p: { list: ProcessList }) {
	const a = p.list, rows = found(a.processes);
	return <><h2>Who uses the CPUs <span class="dim">the {a.processes.length} busiest of {whole(a.total)} processes, read every {span(a.every_ms)}</span></h2>
		<Table name="busiest" caption="The busiest processes" rows={rows} sort="-recent" empty={none(a.reason ?? "No process has used CPU time.")} columns={[
			{ name: "process", get: r => r.comm, show: r => <button class="link" title="The flame graph of this process" onClick={() => profileOf(r)}><b>{r.comm || "?"}</b></button> },
			{ name: "pid", number: true, get: r => r.pid },
			{ name: "cpu", number: true, get: r => r.cpu, show: r => cpuShare(r.cpu) }, { name: "recent", number: true, get: r => r.recent_cpu, show: r => cpuShare(r.recent_cpu) },
			{ name: "history", get: r => (r.series ? 1 : 0), show: r => r.series === null ? "" : <button class="link" title="The CPU time of the busiest processes as a chart"
				onClick={() => go({ view: "counters", focus: "usage\nprocess-cpu", q: "" })}>chart</button> },
			{ name: "memory", number: true, get: r => r.resident_bytes, show: r => value(r.resident_bytes, "bytes", false) },
			{ name: "user", get: r => r.user }, { name: "service", get: r => service(r), show: r => <span title={r.cgroup}>{short(service(r))}</span> },
			{ name: "command line", get: r => r.command_line, show: r => <code title={r.command_line}>{r.command_line.slice(0, 160)}</code> },
			{ name: "cpu time", number: true, get: r => r.cpu_seconds, show: r => span(r.cpu_seconds * 1000) }, { name: "threads", number: true, get: r => r.threads },
			{ name: "running", number: true, get: r => now.value - r.started, show: r => span(Math.max(0, now.value - r.started)) }]} /></>;
}

export function Processes() {
	const answer = useAnswer(s => get<ProcessList>("processes", {}, s), [joined.value], 2000);
	return <View title="Processes" note="and control groups">
		<Failure answer={answer} /><Waiting answer={answer} text="Asking the agent …" />
		{answer.data.value && <Busiest list={answer.data.value} />}
		<Counted />
	</View>;
}

/* What the configured sources count by process or control group. */
function Counted() {
	now.value;			/* update once a second */
	const [all, events] = tasks();
	const rows = found(all);
	const columns: Column<Task>[] = [{ name: "name", get: r => r.name, show: r => <><b>{r.name || "?"}</b>{r.ended && <> <Badge text="ended" tone="plain" /></>}</> },
		...(all.some(r => r.pid) ? [{ name: "pid", number: true, get: (r: Task) => (r.pid ? Number(r.pid) : null) }] : []),
		...(all.some(r => r.cgroup) ? [{ name: "cgroup", get: (r: Task) => r.cgroup }] : []),
		{ name: "source", get: r => r.source }, ...events.map(e => ({ name: e, number: true, get: (r: Task) => r.rates.get(e) ?? null,
			show: (r: Task) => value(r.rates.get(e), ...(r.units.get(e) ?? ["", true] as [string, boolean])) }))];
	return <><h2>Counted <span class="dim">by the sources of the configuration, as rates of the newest interval</span></h2>
		<Table name="processes" caption="Processes and cgroups" rows={rows} columns={columns} sort={"-" + events[0]}
			empty={none(<Example text="No source counts by process or cgroup. To have them here, in tacho.toml:"
				toml={'[[source]]\nname = "processes"\nevents = ["task-clock", "page-faults"]\nprocess = "nginx*"     # or: cgroups = ["system.slice/*"]\nper = "process"        #     per = "cgroup"'} />)} />
	</>;
}

export function Exporters() {
	const answer = useAnswer(s => get<{ exporters: Exporter[] }>("exporters", {}, s), [joined.value], 3000);
	return <View title="Exporters" note={<>scrapers find all at <a href="metrics">/metrics</a></>}>
		<Failure answer={answer} /><Waiting answer={answer} text="Asking the agent …" />
		{answer.data.value && <Table name="exporters" caption="Exporters and their queues" rows={found(answer.data.value.exporters)} empty={none("No [[export]] in the configuration; /metrics is always there.")} columns={[
			{ name: "name", get: r => r.name, show: r => <b>{r.name}</b> }, { name: "type", get: r => r.type }, { name: "to", get: r => r.target, show: r => <code>{r.target ?? ""}</code>, wide: true },
			{ name: "state", get: r => (r.connected ? "connected" : "not connected"), show: r => <Badge text={r.connected ? "connected" : "not connected"} /> },
			{ name: "sent", number: true, get: r => r.sent_points, show: r => whole(r.sent_points) }, { name: "queued", number: true, get: r => r.queued_points, show: r => whole(r.queued_points) },
			{ name: "on disk", number: true, get: r => r.queued_bytes, show: r => value(r.queued_bytes, "bytes", false) },
			{ name: "dropped", number: true, get: r => r.dropped_points, show: r => whole(r.dropped_points) }, { name: "retries", number: true, get: r => r.retries },
			{ name: "behind", number: true, get: r => r.lag_seconds, show: r => span(r.lag_seconds * 1000) }, { name: "last error", get: r => r.error, show: r => r.error ?? "", wide: true }]} />}
	</View>;
}

export function Triggers() {
	const answer = useAnswer(s => get<{ triggers: Trigger[]; events: Happened[] }>("triggers", {}, s), [joined.value], 5000);
	const a = answer.data.value;
	return <View title="Triggers" note="what they wait for, and what has happened">
		<Failure answer={answer} /><Waiting answer={answer} text="Asking the agent …" />
		{a && <><h2>Conditions</h2>
			<Table name="triggers" caption="Conditions of triggers" rows={found(a.triggers)} empty={none(<Example text="No condition is configured. One that records a flame graph, in tacho.toml:"
				toml={'[[trigger]]\nname = "switching"\nwhen = "rate(context-switches) > 50000 for 5s"'} />)}
				columns={[{ name: "name", get: r => r.name, show: r => <b>{r.name}</b> }, { name: "when", get: r => r.when, show: r => <code>{r.when}</code>, wide: true },
				{ name: "value now", number: true, get: r => r.value, show: r => value(r.value, "", false) },
				{ name: "state", get: r => r.state, show: r => <Badge text={r.state} tone={r.state === "waits" ? "plain" : r.state === "quiet" ? "warn" : r.state === "holds" || r.state === "recording" ? "bad" : "warn"} /> },
				{ name: "records", get: r => r.action, show: r => <>{r.action} for {span(r.length_ms)}</> },
				{ name: "cooldown", number: true, get: r => r.cooldown_ms, show: r => <>{span(r.cooldown_ms)}{r.quiet_ms > 0 && `, ${span(r.quiet_ms)} left`}</> }]} />
			<h2>What happened</h2>
			<Table name="happened" caption="Triggers fired and states changed" rows={found(a.events)} empty={none("Nothing has happened so far.")} columns={[
				{ name: "time", get: r => r.time, show: r => <button class="link" title="Show the profile of that minute"
					onClick={() => go({ view: "profile", fixed: [r.time - 30_000, Math.min(r.time + 30_000, now.value)], sel: null })}>{moment(r.time)}</button> },
				{ name: "kind", get: r => r.kind }, { name: "name", get: r => r.name, show: r => <b>{r.name}</b> },
				{ name: "text", get: r => r.text, wide: true }, { name: "recording", get: r => r.path, show: r => r.files?.length ? <>{r.files.map((f, i) => <a key={f} href={address("recording", { id: r.id, file: i })} download={f.split("/").pop()} title={f}>{f.split("/").pop()} </a>)}</>
					: r.path ? <code>{r.path}</code> : "", wide: true }]} /></>}
	</View>;
}

const findings = ["topic", "title", "verdict", "value", "meaning", "affects", "fix"] as const;
const rank = { no: 0, limited: 1, info: 2, ok: 3 };

export function Doctor() {
	const answer = useAnswer(s => get<{ findings: Finding[]; counting: boolean; sampling: boolean }>("doctor", {}, s), [joined.value]);
	const list = found(answer.data.value?.findings ?? []).sort((a, b) => rank[a.verdict] - rank[b.verdict]);
	const topics = [...new Set(list.map(x => x.topic))];
	return <View title="Doctor" note={answer.data.value && `counting ${answer.data.value.counting ? "works" : "does not work"}, sampling ${answer.data.value.sampling ? "works" : "does not work"}`}
		side={answer.data.value && <SaveAs name="doctor" files={[["csv", () => csv([[...findings], ...list.map(x => findings.map(k => x[k]))])], ["json", () => JSON.stringify(answer.data.value, null, 1) + "\n"]]} />}>
		<Failure answer={answer} /><Waiting answer={answer} text="Asking the agent …" />
		{answer.data.value && !list.length && <p class="empty">{none("Nothing was found.")}</p>}
		<div class="findings">{topics.map(t => <section key={t} class="panel" aria-label={t}><h2>{t === "cpu" ? "CPU" : t}</h2><dl>
			{list.filter(x => x.topic === t).map(x => <div key={x.id}><dt><Badge text={x.verdict} /> <b>{x.title}</b> <span class="dim">{x.value}</span></dt>
				<dd>{x.meaning}{x.fix && <p class="fix">{x.fix}</p>}</dd></div>)}</dl></section>)}</div>
	</View>;
}
