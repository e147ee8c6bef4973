/*
 * The sub-second heat map's model: seconds from left to right, parts of a second from top to bottom.
 * If there are more seconds than pixels, several are merged. Pure.
 */
export interface HeatAnswer { rows: number; from: number; columns: [number, number[]][]; max: number }

export interface Heat {
	rows: number;
	n: number;			/* number of columns of `per` seconds each */
	per: number;
	from: number;			/* start of the first column */
	cells: Float32Array;		/* column by column */
	max: number;
}

export function readHeat(a: HeatAnswer, to: number, maxColumns: number): Heat {
	const from = Math.floor((a.columns[0]?.[0] ?? a.from) / 1000) * 1000;
	const end = Math.max(to, a.columns.length ? a.columns[a.columns.length - 1][0] + 1000 : from);
	const seconds = Math.max(1, Math.ceil((end - from) / 1000));
	const per = Math.max(1, Math.ceil(seconds / maxColumns)), n = Math.ceil(seconds / per);
	const cells = new Float32Array(n * a.rows);
	let max = 0;
	for (const [t, counts] of a.columns) {
		const c = Math.floor((t - from) / 1000 / per);
		if (c < 0 || c >= n) continue;
		for (let r = 0; r < a.rows && r < counts.length; r++) {
			const v = (cells[c * a.rows + r] += counts[r]);
			if (v > max) max = v;
		}
	}
	return { rows: a.rows, n, per, from, cells, max };
}

export interface Cell { c: number; r: number }

const order = (h: Heat, x: Cell) => x.c * h.rows + x.r;

/* From the start of the earlier cell to the end of the later one. */
export function cellsRange(h: Heat, a: Cell, b: Cell): [number, number] {
	const [first, last] = order(h, a) <= order(h, b) ? [a, b] : [b, a];
	const row = 1000 / h.rows, column = h.per * 1000;
	if (h.per > 1)			/* merged columns: select whole columns only */
		return [h.from + first.c * column, h.from + (last.c + 1) * column];
	return [h.from + first.c * column + first.r * row, h.from + last.c * column + (last.r + 1) * row];
}

export function rangeCells(h: Heat, [from, to]: [number, number]): [Cell, Cell] {
	const at = (t: number): Cell => {
		const ms = Math.max(0, t - h.from), c = Math.min(h.n - 1, Math.floor(ms / 1000 / h.per));
		const r = h.per > 1 ? (t === from ? 0 : h.rows - 1) : Math.floor((ms % 1000) / (1000 / h.rows));
		return { c, r: Math.min(h.rows - 1, r) };
	};
	return [at(from), at(to - 1)];
}

/* Perceptually equal steps, so that few samples are distinguishable from none. */
export const shade = (v: number, max: number) => (v <= 0 || max <= 0 ? 0 : 0.12 + 0.88 * Math.sqrt(v / max));
