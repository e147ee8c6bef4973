/*
 * The profile of the range: heat map, flame graph, functions; compared with another range if one was
 * set as the base.
 */
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type FlameAnswer, matcher, readFlame, table } from "./flame";
import { FlameView } from "./flameview";
import { type HeatAnswer } from "./heat";
import { HeatView } from "./heatview";
import { Refused, address, get } from "./api";
import { moment, percent, span, whole } from "./format";
import { joined, status } from "./live";
import { type Range, isTable, withTable } from "./place";
import { currentRange, go, now, place, rangeKey } from "./state";
import { Failure, Table, View, useAnswer } from "./ui";

const heatMost = 6 * 36e5;			/* the agent refuses longer ranges */
/* Rows of at least three sampling periods: at a fixed rate, smaller ones would get now one and now two samples, a pattern
 * of the sampling and not of the machine. */
const heatRows = () => [50, 25, 10, 5, 2].find(r => 3 * r <= (status.value?.profiler?.frequency || 50)) ?? 1;
const formats = ["SVG", "HTML", "folded", "pprof", "speedscope", "JSON"];

function args(r: Range, base: Range | null, filter: Record<string, string>) {
	return { from: r[0], to: r[1], base_from: base?.[0], base_to: base?.[1], ...filter };
}

/* An agent without a profiler is not queried (each error would be logged in the console), unless the
 * user wants profiles that an earlier agent may have stored. */
const older = signal(false);
const asked = () => older.value || !!status.value?.profiler;

const Nothing = (p: { answer: { error: { value: Error | null }; again: () => void } }) => {
	const error = p.answer.error.value!, why = status.value?.profiler?.why;
	const off = error instanceof Refused && (error.status === 404 || error.status === 501 || error.status === 503);
	return off ? <div class="empty"><p><b>No profile yet:</b> {why || error.message}</p>
		<p class="dim">The agent profiles all CPUs 19 times a second where it may; see [profile] in tacho.toml(5), and Doctor.</p>
		{!asked() && <p><button onClick={() => (older.value = true)}>Look for older ones</button></p>}</div>
		: <Failure answer={p.answer} />;
};

export function Profile() {
	const pl = place.value, live = !pl.fixed, asTable = isTable(pl, "flame");
	const tick = live ? Math.floor(now.value / 10_000) : 0;		/* a window is stored every 10 s */
	const whole_ = useMemo<Range>(currentRange, [rangeKey.value, tick]), part = pl.sel ?? whole_;
	const filter = { comm: pl.comm, pid: pl.pid };
	const key = [part.join(), pl.base?.join(), pl.comm, pl.pid, joined.value, asked()];
	const absent = () => Promise.reject(new Refused(404, "the agent does not profile"));
	const flame = useAnswer(s => !asked() ? absent() : get<FlameAnswer>("flame", args(part, pl.base, filter), s), key);
	const heat = useAnswer(s => !asked() ? absent() : get<HeatAnswer>("heatmap", { from: Math.max(whole_[0], whole_[1] - heatMost), to: whole_[1], rows: heatRows() }, s), [whole_.join(), joined.value, asked(), heatRows()]);
	const f = useMemo(() => flame.data.value && readFlame(flame.data.value), [flame.data.value]);
	const rows = useMemo(() => (f && asTable ? table(f) : []), [f, asTable]);
	const match = matcher(pl.q), shown = (ms: number) => percent(ms / (f?.total || 1));

	return <View title="Profile" note={`${moment(part[0], pl.sel ? 1 : 1000)}, ${span(part[1] - part[0])}`} side={<span class="save" role="group" aria-label="Save the profile">
		{f && f.total > 0 && formats.map(x => <a key={x} class="quiet button" download href={address("flame", { ...args(part, pl.base, filter), format: x.toLowerCase() })}>{x}</a>)}</span>}>
		{heat.data.value && heat.data.value.columns.length > 0 && <HeatView answer={heat.data.value} to={whole_[1]} />}
		<div class="panel">
			<div class="bar"><h2>Flame graph</h2>
				<label>Command <input size={12} value={pl.comm} placeholder="all" maxLength={64} onChange={e => go({ comm: e.currentTarget.value.trim(), zoom: "" })} /></label>
				{pl.pid && <span>process {pl.pid} <button onClick={() => go({ pid: "", zoom: "" })}>All processes</button></span>}
				{pl.base ? <span>against {moment(pl.base[0])}, {span(pl.base[1] - pl.base[0])} <button onClick={() => go({ base: null })}>Drop the base</button></span>
					: <span class="save"><button onClick={() => go({ base: [Math.round(part[0] * 2 - part[1]), Math.round(part[0])] })} title="Compare with the same length of time just before">Against before</button>
						<button onClick={() => go({ base: [Math.round(part[0]), Math.round(part[1])] })} title="Keep this range, then choose another one to compare">Keep as base</button></span>}
				<span class="grow" />
				<button class="quiet" aria-pressed={asTable} onClick={() => go(withTable(pl, "flame", !asTable))}>Table</button>
			</div>
			{flame.error.value ? <Nothing answer={flame} />
				: !f ? <p class="empty">Reading the stacks …</p>
				: !f.total ? <div class="empty"><p><b>No samples</b> in this range{pl.comm && ` of “${pl.comm}”`}{pl.pid && ` of process ${pl.pid}`}.</p><p class="dim">Windows are stored every 10 s: the newest ones come soon.</p></div>
				: asTable ? <Table name="functions" caption="Functions by their own share" rows={rows.filter(r => !match || match(r.name))} empty={`No function matches “${pl.q}”.`}
					columns={[{ name: "self", number: true, get: r => r.self, show: r => shown(r.self) }, { name: "total", number: true, get: r => r.total, show: r => shown(r.total) },
						...(f.baseTotal !== null ? [{ name: "base", number: true, get: (r: typeof rows[0]) => r.base, show: (r: typeof rows[0]) => percent((r.base ?? 0) / (f.baseTotal || 1)) }] : []),
						{ name: "samples", number: true, get: r => r.total, show: r => whole(r.total) }, { name: "kind", get: r => r.kind }, { name: "function", get: r => r.name, wide: true }]} />
				: <FlameView flame={f} query={pl.q} />}
		</div>
	</View>;
}
