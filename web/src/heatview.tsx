/*
 * The sub-second heat map on a canvas: seconds from left to right, their parts from top to bottom.
 * Dragging, or shift and the arrow keys, selects a range of cells; the flame graph then shows only
 * that range.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Cell, type Heat, type HeatAnswer, cellsRange, rangeCells, readHeat, shade } from "./heat";
import { clock, csv, moment, span, whole } from "./format";
import { isTable, withTable } from "./place";
import { colour, dark, go, place } from "./state";
import { SaveAs, Table, useWidth } from "./ui";

const height = 150, axisWidth = 48;

const rgb = (hex: string) => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));

/* 256 shades from none to the maximum, in the format of image data. */
function shades(): Uint32Array {
	const [none, some, most] = [colour("heat0"), colour("heat1"), colour("heat2")].map(rgb);
	return Uint32Array.from({ length: 256 }, (_, k) => {
		const s = k / 255, [a, b, part] = s < 0.5 ? [none, some, s * 2] : [some, most, s * 2 - 1];
		return a.reduce((p, v, i) => p + Math.round(v + (b[i] - v) * part) * 2 ** (8 * i), 255 * 2 ** 24);
	});
}

/* One pixel for each cell. */
function picture(h: Heat): OffscreenCanvas {
	const image = new ImageData(h.n, h.rows), pixels = new Uint32Array(image.data.buffer), lut = shades(), c = new OffscreenCanvas(h.n, h.rows);
	for (let i = 0; i < h.n; i++) for (let r = 0; r < h.rows; r++)
		pixels[r * h.n + i] = lut[Math.round(shade(h.cells[i * h.rows + r], h.max) * 255)];
	c.getContext("2d")!.putImageData(image, 0, 0);
	return c;
}

const hex = (pixel: number) => "#" + [0, 8, 16].map(b => (pixel >>> b & 255).toString(16).padStart(2, "0")).join("");

function heatSvg(h: Heat): string {
	const lut = shades(), w = 800 / h.n, tall = 250 / h.rows;
	const cells = Array.from(h.cells, (v, k) => v && `<rect x="${(Math.floor(k / h.rows) * w).toFixed(2)}" y="${(k % h.rows * tall).toFixed(1)}" width="${w.toFixed(2)}" height="${tall.toFixed(1)}" fill="${hex(lut[Math.round(shade(v, h.max) * 255)])}"/>`);
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 280" font-family="sans-serif" font-size="12"><rect width="800" height="250" fill="${hex(lut[0])}"/>\n${cells.filter(Boolean).join("\n")}\n`
		+ `<text y="270" fill="#808080">${moment(h.from)}</text><text x="800" y="270" text-anchor="end" fill="#808080">${moment(h.from + h.n * h.per * 1000)}</text></svg>\n`;
}

/* Time labels under the picture, about 140 pixels apart. */
function marks(h: Heat, width: number): number[] {
	const n = Math.max(1, Math.floor(width / 140));
	return Array.from({ length: n + 1 }, (_, i) => h.from + h.n * h.per * 1000 * i / n);
}

export function HeatView(p: { answer: HeatAnswer; to: number }) {
	const box = useWidth(), { ref } = box, canvas = useRef<HTMLCanvasElement>(null);
	const cursor = useSignal<Cell | null>(null), anchor = useSignal<Cell | null>(null), asTable = isTable(place.value, "heat");
	const width = Math.max(0, box.width.value - axisWidth);
	const h = useMemo(() => readHeat(p.answer, p.to, Math.max(60, Math.floor((width || 600) / 2))), [p.answer, p.to, width]);
	const image = useMemo(() => picture(h), [h, dark.value]);
	const chosen: [Cell, Cell] | null = anchor.value && cursor.value ? [anchor.value, cursor.value]
		: place.value.sel ? rangeCells(h, place.value.sel) : null;

	useEffect(() => {
		const c = canvas.current, w = width;
		if (!c || !w) return;
		const ratio = devicePixelRatio || 1, x = c.getContext("2d")!;
		c.width = w * ratio, c.height = height * ratio;
		x.imageSmoothingEnabled = false;
		x.drawImage(image, 0, 0, c.width, c.height);
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
	}, [image, width, chosen?.[0].c, chosen?.[0].r, chosen?.[1].c, chosen?.[1].r, asTable]);

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
			<button class="quiet" aria-pressed={asTable} onClick={() => go(withTable(place.peek(), "heat", !asTable))}>Table</button>
			<SaveAs name="heatmap" files={[["csv", () => csv([["second", ...Array.from({ length: p.answer.rows }, (_, i) => i * 1000 / p.answer.rows + " ms")],
				...p.answer.columns.map(([at, v]) => [new Date(at).toISOString(), ...v])])], ["json", () => JSON.stringify(p.answer) + "\n"],
				["svg", () => heatSvg(h)]]} /></div>
		<div ref={ref}>{asTable
			? <Table name="seconds" caption="Samples by second" files={false} rows={seconds} columns={[{ name: "second", get: r => r.at, show: r => clock(r.at) },
				{ name: "samples", number: true, get: r => r.sum }, { name: "most in one cell", number: true, get: r => r.most }]} />
			: <div class="heatbox">
				<div class="rows dim" aria-hidden="true"><span>0</span><span>{span(500)}</span><span>{span(1000)}</span></div>
				<div class="over">
					<canvas ref={canvas} class="heat" tabIndex={0} role="application" style={{ height: height + "px" }}
						aria-label="Heat map of samples. Arrows move, shift and arrows choose, Enter filters the flame graph, Escape shows all."
						onPointerDown={e => (canvas.current!.setPointerCapture(e.pointerId), anchor.value = cell(e))}
						onPointerMove={e => (cursor.value = cell(e))} onPointerUp={up} onPointerCancel={() => (anchor.value = null)}
						onPointerLeave={() => anchor.value || (cursor.value = null)} onKeyDown={key} onBlur={() => (cursor.value = null)} />
					{c && c.c < h.n && <div class="mark" style={{ left: c.c / h.n * 100 + "%", width: `max(3px, ${100 / h.n}%)`,
						top: c.r / h.rows * height + "px", height: Math.max(3, height / h.rows) + "px" }} />}
					<div class="axis dim" aria-hidden="true">{marks(h, width).map(m => <span key={m}>{clock(m)}</span>)}</div>
				</div>
			</div>}</div>
		<p class="scale dim note"><span>0</span><i aria-hidden="true" /><span>{whole(h.max)} {h.max === 1 ? "sample" : "samples"} in {span(1000 / h.rows)}{h.per > 1 && `, ${h.per} s together`}</span></p>
	</div>;
}
