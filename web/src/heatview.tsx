/*
 * The sub-second heat map on a canvas: seconds to the right, 20 ms downwards. A drag, or shift and
 * arrows, chooses from one cell to another; the flame graph then shows that part alone.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Cell, type HeatAnswer, cellsRange, rangeCells, readHeat, shade } from "./heat";
import { clock, csv, span, whole } from "./format";
import { colour, dark, go, place } from "./state";
import { SaveAs, Table, useWidth } from "./ui";

const height = 150;

function mix(a: number[], b: number[], part: number): number[] {
	return a.map((v, i) => v + (b[i] - v) * part);
}
const rgb = (hex: string) => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));

export function HeatView(p: { answer: HeatAnswer; to: number }) {
	const { ref, width } = useWidth(), canvas = useRef<HTMLCanvasElement>(null);
	const cursor = useSignal<Cell | null>(null), anchor = useSignal<Cell | null>(null), asTable = useSignal(false);
	const h = useMemo(() => readHeat(p.answer, p.to, Math.max(60, Math.floor((width.value || 600) / 2))), [p.answer, p.to, width.value]);
	const chosen: [Cell, Cell] | null = anchor.value && cursor.value ? [anchor.value, cursor.value]
		: place.value.sel ? rangeCells(h, place.value.sel) : null;

	useEffect(() => {
		const c = canvas.current, w = width.value;
		if (!c || !w) return;
		const ratio = devicePixelRatio || 1, x = c.getContext("2d")!, small = new OffscreenCanvas(h.n, h.rows);
		c.width = w * ratio, c.height = height * ratio;
		const image = new ImageData(h.n, h.rows), stops = [colour("heat0"), colour("heat1"), colour("heat2")].map(rgb);
		for (let i = 0; i < h.n; i++) for (let r = 0; r < h.rows; r++) {
			const s = shade(h.cells[i * h.rows + r], h.max);
			const v = s < 0.5 ? mix(stops[0], stops[1], s * 2) : mix(stops[1], stops[2], s * 2 - 1);
			image.data.set([...v, 255], (r * h.n + i) * 4);
		}
		small.getContext("2d")!.putImageData(image, 0, 0);
		x.imageSmoothingEnabled = false;
		x.drawImage(small, 0, 0, c.width, c.height);
		const cw = c.width / h.n, ch = c.height / h.rows;
		if (chosen) {
			const [a, b] = chosen[0].c * h.rows + chosen[0].r <= chosen[1].c * h.rows + chosen[1].r ? chosen : [chosen[1], chosen[0]];
			x.fillStyle = colour("veil");
			x.beginPath();
			x.rect(0, 0, c.width, c.height);
			for (let i = a.c; i <= b.c; i++) {
				const top = h.per === 1 && i === a.c ? a.r : 0, end = h.per === 1 && i === b.c ? b.r + 1 : h.rows;
				x.rect(i * cw, top * ch, cw, (end - top) * ch);
			}
			x.fill("evenodd");
		}
		if (cursor.value) {
			x.strokeStyle = colour("text");
			x.lineWidth = ratio;
			x.strokeRect(cursor.value.c * cw, cursor.value.r * ch, cw, ch);
		}
	}, [h, width.value, dark.value, chosen?.[0].c, chosen?.[0].r, chosen?.[1].c, chosen?.[1].r, cursor.value, asTable.value]);

	const cell = (e: MouseEvent): Cell => {
		const r = canvas.current!.getBoundingClientRect();
		const at = (v: number, n: number) => Math.min(n - 1, Math.max(0, Math.floor(v * n)));
		return { c: at((e.clientX - r.left) / r.width, h.n), r: at((e.clientY - r.top) / r.height, h.rows) };
	};
	const choose = (a: Cell, b: Cell) => go({ sel: cellsRange(h, a, b), zoom: "" });
	const up = (e: PointerEvent) => {
		const a = anchor.value, b = cell(e);
		anchor.value = null;
		if (a && (a.c !== b.c || a.r !== b.r)) choose(a, b);
		else go({ sel: null });
	};
	const key = (e: KeyboardEvent) => {
		const d = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as Record<string, number[]>)[e.key];
		const at = cursor.value ?? { c: 0, r: 0 };
		if (d) {
			const next = { c: Math.min(h.n - 1, Math.max(0, at.c + d[0])), r: Math.min(h.rows - 1, Math.max(0, at.r + d[1])) };
			if (e.shiftKey) anchor.value ??= at;
			else anchor.value = null;
			cursor.value = next;
		} else if (e.key === "Enter" && cursor.value) {
			choose(anchor.value ?? { c: at.c, r: 0 }, anchor.value ? at : { c: at.c, r: h.rows - 1 });
			anchor.value = null;
		} else if (e.key === "Escape" && place.value.sel) go({ sel: null });
		else return;
		e.preventDefault();
		e.stopPropagation();
	};

	const c = cursor.value, t = c && cellsRange(h, c, c)[0];
	const seconds = useMemo(() => p.answer.columns.map(([at, counts]) => ({ at, sum: counts.reduce((a, b) => a + b, 0), most: Math.max(0, ...counts) })), [p.answer]);
	return <div class="panel">
		<div class="bar"><h2>Samples by second and {span(1000 / h.rows)}</h2>
			<p class="dim" role="status">{c && c.c < h.n ? `${clock(t!, 1)} · ${whole(h.cells[c.c * h.rows + c.r])} samples`
				: place.value.sel ? `chosen: ${clock(place.value.sel[0], 1)} for ${span(place.value.sel[1] - place.value.sel[0])}` : "drag to choose a part"}</p>
			<span class="grow" />
			{place.value.sel && <button onClick={() => go({ sel: null })}>All</button>}
			<button class="quiet" aria-pressed={asTable.value} onClick={() => (asTable.value = !asTable.value)}>Table</button>
			<SaveAs name="heatmap" files={[["csv", () => csv([["second", ...Array.from({ length: p.answer.rows }, (_, i) => i * 1000 / p.answer.rows + " ms")],
				...p.answer.columns.map(([at, v]) => [new Date(at).toISOString(), ...v])])], ["json", () => JSON.stringify(p.answer) + "\n"]]} /></div>
		<div ref={ref}>{asTable.value
			? <Table name="seconds" caption="Samples by second" files={false} rows={seconds} max={200} columns={[{ name: "second", get: r => r.at, show: r => clock(r.at) },
				{ name: "samples", number: true, get: r => r.sum }, { name: "most in one cell", number: true, get: r => r.most }]} />
			: <canvas ref={canvas} class="heat" tabIndex={0} role="application" style={{ height: height + "px" }}
				aria-label="Heat map of samples. Arrows move, shift and arrows choose, Enter filters the flame graph, Escape shows all."
				onPointerDown={e => (canvas.current!.setPointerCapture(e.pointerId), anchor.value = cell(e))}
				onPointerMove={e => (cursor.value = cell(e))} onPointerUp={up} onPointerLeave={() => anchor.value || (cursor.value = null)} onKeyDown={key} />}</div>
		<div class="axis dim"><span>{clock(h.from)}</span><span>{clock(h.from + h.n * h.per * 1000)}</span></div>
	</div>;
}
