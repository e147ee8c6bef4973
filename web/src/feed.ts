/*
 * What stands behind one chart: its points, which of its series are shown, and when it is worth
 * drawing again. Many series are folded into mean, least and most; of processes and cgroups, and in
 * the large chart, the highest are shown one by one.
 */
import { signal } from "@preact/signals";
import type uPlot from "uplot";
import { type QuerySeries, Refused, get } from "./api";
import { Columns, fold, labelsKey, niceStep, pointsFor, summary } from "./columns";
import { matcher } from "./flame";
import { compare, seriesName } from "./format";
import { never, soon, work } from "./frames";
import type { Group } from "./live";
import { followPointer, makePlot } from "./plot";
import { currentRange, place } from "./state";

export const many = 12, largeMost = 40, tops = 6;

export interface Shown { name: string; key: string }
export type Data = [number[], ...(number | null)[][]];

const sorted = new WeakMap<Group, Shown[]>();
function members(g: Group): Shown[] {
	let all = sorted.get(g);
	if (!all) sorted.set(g, (all = g.series.map(s => ({ name: seriesName(s.labels), key: labelsKey(s.labels) }))
		.sort((a, b) => compare(a.name, b.name))));
	return all;
}

/* A search that names neither event nor source chooses among the series. */
function wanted(g: Group, q: string): Shown[] {
	const all = members(g), match = matcher(q);
	if (!match || match(g.event) || match(g.source)) return all;
	const some = all.filter(s => match(s.name));
	return some.length ? some : all;
}

export class Feed {
	columns = new Columns(1000);
	plot: uPlot | null = null;
	seen = signal(false);			/* it has been in sight, so it has a history */
	told = signal(0);			/* the numbers beside it are to be read again */
	cursor = signal<number | null>(null);
	failed = signal("");
	busy = signal(true);
	picked = signal<string[]>([]);
	all: Shown[] = [];
	shown: Shown[] = [];
	folded = false;
	tasks = false;
	most = many;
	at: HTMLElement | null = null;
	width = 0;
	height = 150;
	private visible = false;
	private stale = false;
	private drawnAt = 0;
	private toldAt = 0;
	private pickedAt = 0;
	private cursorAt: number | null = null;

	constructor(public group: Group) {}

	/* What is shown of the group as it is now. */
	arrange(g: Group, large: boolean, q: string) {
		this.group = g;
		this.all = wanted(g, q);
		this.tasks = g.series.some(s => s.labels.pid || s.labels.cgroup);
		this.most = large ? largeMost : this.tasks && this.all.length > many ? tops : many;
		const few = this.all.length > this.most;
		this.folded = few && !this.tasks && !large;
		const picked = new Set(this.picked.value);
		this.shown = few && !this.folded ? this.all.filter(s => picked.has(s.key)) : this.all;
	}

	get names(): string[] {
		return this.folded ? ["mean", "least", "most"] : this.shown.map(s => s.name);
	}

	data(): Data {
		const [t, ...v] = this.columns.aligned(this.shown.map(s => s.key));
		return this.folded ? [t, ...fold(v)] : [t, ...v];
	}

	/* The keys of the lines with the highest values; a mean over processes would be useless. */
	pick() {
		if (this.folded || this.all.length <= this.most) return;
		const mean = (k: string) => summary(this.columns.v.get(k) ?? [], this.columns.t.length - 120).mean ?? -1;
		const next = this.all.map(s => ({ k: s.key, mean: mean(s.key) })).sort((a, b) => b.mean - a.mean)
			.slice(0, this.most).map(x => x.k).sort();
		if (next.join() !== this.picked.peek().join()) this.picked.value = next;
	}

	draw = () => {
		const data = this.data(), plot = this.plot;
		if (this.stale || !plot || plot.series.length !== data.length) return;
		this.drawnAt = Date.now();
		work.draws++;
		plot.batch(() => plot.setData(data as uPlot.AlignedData));	/* at once, not in a task of its own */
	};

	make = () => {
		this.plot?.destroy();
		this.plot = null;
		if (!this.at?.isConnected || !this.width) return;
		this.stale = false;
		work.plots++;
		this.plot = makePlot({ unit: this.group.unit, rate: this.group.rate, names: this.names, folded: this.folded,
			width: this.width, height: this.height, onCursor: this.point }, this.data() as uPlot.AlignedData, this.at);
	};

	/* Made anew when it is in sight: other lines, another width, other colours. */
	remake() {
		this.stale = true;
		if (this.visible) soon(this.make);
	}

	private point = (i: number | null) => {
		this.cursorAt = i;
		if (this.visible) soon(this.tellCursor);
	};
	private tellCursor = () => void (this.cursor.value = this.cursorAt);
	tell = () => void this.told.value++;
	redraw() {
		soon(this.draw);
		soon(this.tell);
	}

	show(visible: boolean) {
		this.visible = visible;
		if (this.plot) followPointer(this.plot, visible);
		if (!visible) return;
		if (this.stale) soon(this.make);
		this.seen.value = true;
		this.redraw();
	}

	/* The history of the range, then what comes live. */
	load(stop: AbortSignal) {
		const g = this.group, [from, to] = currentRange(), step = niceStep(to - from, pointsFor(g.series.length)), next = new Columns(step);
		this.busy.value = true;
		get<{ series: QuerySeries[] }>("query", { event: g.event.replace(/[[\]*?\\]/g, "?"), label: /^[^,]+$/.test(g.source) ? "source=" + g.source : null,
			from: Math.floor(from / step) * step, to, step: step + "ms" }, stop).then(a => {
			next.load(a.series.filter(s => s.event === g.event && (s.labels.source ?? "") === g.source)
				.map(s => ({ key: labelsKey(s.labels), points: s.points })));
			if (!place.peek().fixed) next.keepNewer(this.columns);
			this.columns = next;
			this.failed.value = "";
		}).catch((e: Error) => {
			if (stop.aborted) return;
			this.failed.value = e instanceof Refused ? e.message : "the agent's answer is damaged";
			if (place.peek().fixed) this.columns = new Columns(step);
			else this.columns.step = step;		/* without a store what is live is still shown */
		}).finally(() => {
			if (stop.aborted) return;
			this.busy.value = false;
			this.pick();
			this.redraw();
		});
	}

	/* More often than the picture can change nothing is drawn; the numbers move once a second. */
	hear = (t: number, values: Map<string, number | null>) => {
		if (place.peek().fixed || !this.seen.peek()) return;
		const [from, to] = currentRange(), now = Date.now();
		this.columns.add(t, values);
		this.columns.trim(from);
		if (document.hidden || !this.visible) return;
		if (now - this.drawnAt >= Math.min(1000, Math.max(200, (to - from) / (this.width || 400) / 2))) soon(this.draw);
		if (now - this.toldAt < 950) return;
		this.toldAt = now;
		if (now - this.pickedAt > 15_000) this.pickedAt = now, this.pick();
		soon(this.tell);
	};

	end() {
		for (const job of [this.draw, this.make, this.tell, this.tellCursor]) never(job);
		this.plot?.destroy();
		this.plot = null;
	}
}
