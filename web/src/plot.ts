/*
 * One chart's lines on uPlot: axes, colours, the pointer that all charts share, the drag that chooses
 * a range. Times are milliseconds.
 */
import uPlot from "uplot";
import { niceStep } from "./columns";
import { clock, date, round, value } from "./format";
import { colour, currentRange, follow, go, palette } from "./state";

export interface Look {
	unit: string; rate: boolean;
	names: string[];
	folded: boolean;		/* mean, least and most, with a band between the last two */
	width: number; height: number;
	onCursor: (i: number | null) => void;
}

const sync = "tacho";
const twos = Array.from({ length: 50 }, (_, i) => 2 ** i);

/* Moments that are round in local time, as far apart as their words are wide. */
function splits(u: uPlot, _: number, from: number, to: number): number[] {
	const near = niceStep(to - from, Math.max(2, u.width / 60)), step = near < 60_000 ? niceStep(to - from, Math.max(2, u.width / 85)) : near, zone = new Date(from).getTimezoneOffset() * 60_000;
	const first = Math.ceil((from - zone) / step) * step + zone;
	return Array.from({ length: Math.min(100, Math.floor((to - first) / step) + 1) }, (_, i) => first + i * step);
}

function axisTimes(u: uPlot, splits: number[]): string[] {
	const step = splits[1] - splits[0] || 1000, width = u.bbox.width / devicePixelRatio;
	return splits.map((t, i) => {
		const x = u.valToPos(t, "x"), text = clock(t, step);
		if (x < 16 || x > width - 8) return "";		/* would lie on the other axis, or be cut */
		return step < 864e5 && i > 0 && date(t) !== date(splits[i - 1]) ? date(t).slice(5) + "\n" + text : text;
	});
}

/* From 0, or from below it, to a little more than the most; what is not finite has no scale. */
function heights(_: uPlot, low: number | null, high: number | null): [number, number] {
	const most = high !== null && high > 0 ? high * 1.08 : 1;
	return [Math.min(0, low ?? 0), isFinite(most) ? most : Number.MAX_VALUE];
}

function axes(look: Look): uPlot.Axis[] {
	const stroke = colour("dim"), grid = { stroke: colour("grid"), width: 1 }, ticks = { show: false };
	const font = "11px system-ui, sans-serif";
	return [
		{ stroke, grid, ticks, font, size: 24, gap: 4, splits, values: axisTimes },
		{ stroke, grid, ticks, font, size: 66, gap: 6, space: 34, ...(look.unit === "bytes" ? { incrs: twos } : {}),
			values: (_, v) => v.map(x => round(value(x, look.unit, look.rate))) },
	];
}

function choose(u: uPlot) {
	const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
	u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
	if (to - from >= 1000) go({ fixed: [Math.round(from), Math.round(to)], sel: null });
}

export const lineColour = (look: { folded: boolean }, i: number) =>
	look.folded && i ? colour("faint") : palette()[i % 8];

export function makePlot(look: Look, data: uPlot.AlignedData, at: HTMLElement): uPlot {
	const plot = new uPlot({
		width: look.width, height: look.height, legend: { show: false }, pxAlign: 1, ms: 1,
		padding: [8, 14, 0, 0],
		scales: { x: { time: true, range: () => currentRange() }, y: { range: heights } },
		axes: axes(look),
		series: [{}, ...look.names.map((label, i) => ({ label, stroke: lineColour(look, i), width: 1.5, points: { show: false } }))],
		bands: look.folded ? [{ series: [3, 2] as [number, number], fill: colour("band") }] : [],
		/* Others follow the pointer, but the choice of a range is made by one. */
		cursor: { sync: { key: sync, filters: { pub: type => type === "mousemove" || type === "mouseleave" } },
			drag: { x: true, y: false, setScale: false }, points: { size: 6 }, y: false },
		hooks: { setCursor: [u => look.onCursor(u.cursor.idx ?? null)], setSelect: [choose] },
	}, data, at);
	plot.over.addEventListener("dblclick", follow);
	return plot;
}

/* A chart that is not visible need not follow the pointer. */
export const followPointer = (plot: uPlot, on: boolean) => uPlot.sync(sync)[on ? "sub" : "unsub"](plot);
