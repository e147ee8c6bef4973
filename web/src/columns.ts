/*
 * The points of one chart in columns, the times first, as uPlot needs them. They are filled by a
 * query and extended by live data; both use the same buckets of `step`. Pure.
 */
export interface Line { key: string; points: [number, number | null, ...unknown[]][] }

const made = new WeakMap<object, string>();
export function labelsKey(labels: Record<string, string>): string {
	let key = made.get(labels);
	if (key === undefined) made.set(labels, (key = JSON.stringify(Object.keys(labels).sort().map(k => [k, labels[k]]))));
	return key;
}

/* Returns the number if it can be drawn; other values in an answer are gaps. */
export const known = (v: unknown): number | null => (typeof v === "number" && isFinite(v) ? v : null);

export class Columns {
	t: number[] = [];
	v = new Map<string, (number | null)[]>();
	private counts = new Map<string, number>();	/* number of live points in the last bucket */
	constructor(public step: number) {}

	private bucket(t: number) {
		return this.step > 0 ? Math.floor(t / this.step) * this.step : t;
	}

	/* Replaces all points by the answer of a query. */
	load(lines: Line[]) {
		const at = new Map<number, number>();
		for (const line of lines) for (const p of line.points) at.set(this.bucket(p[0]), 0);
		this.t = [...at.keys()].sort((a, b) => a - b);
		this.t.forEach((t, i) => at.set(t, i));
		this.v.clear();
		this.counts.clear();
		for (const line of lines) {
			const column = this.column(line.key);
			for (const p of line.points) column[at.get(this.bucket(p[0]))!] = known(p[1]);
		}
		this.showGaps();
	}

	/* Inserts a gap where nothing was measured for a long time, because the agent was not
	 * running. */
	private showGaps() {
		const steps = this.t.slice(1).map((t, i) => t - this.t[i]).sort((a, b) => a - b);
		const pause = Math.max(15_000, 4 * this.step, 4 * (steps[steps.length >> 1] ?? 0));
		for (let i = this.t.length - 1; i > 0; i--) {
			if (this.t[i] - this.t[i - 1] <= pause) continue;
			this.t.splice(i, 0, this.t[i - 1] + Math.max(1, this.step));
			for (const c of this.v.values()) c.splice(i, 0, null);
		}
	}

	column(key: string): (number | null)[] {
		let c = this.v.get(key);
		if (!c) this.v.set(key, (c = this.t.map(() => null)));
		return c;
	}

	/* Adds live points that arrived while the query ran or are not in the store yet. */
	keepNewer(old: Columns) {
		const last = this.t[this.t.length - 1] ?? -1;
		old.t.forEach((t, i) => {
			if (this.bucket(t) > last) this.add(t, new Map([...old.v].map(([k, c]) => [k, c[i]])));
		});
	}

	/* Adds the values of some series at one time; times before the newest bucket are ignored. */
	add(t: number, values: Map<string, number | null>) {
		const b = this.bucket(t), last = this.t[this.t.length - 1];
		if (last !== undefined && b < last) return;
		if (last === undefined || b > last) {
			this.t.push(b);
			for (const c of this.v.values()) c.push(null);
			this.counts.clear();
		}
		for (const [key, v] of values) {
			const c = this.column(key), i = this.t.length - 1, n = this.counts.get(key) ?? 0;
			if (v === null) continue;
			c[i] = c[i] === null || n === 0 ? v : (c[i]! * n + v) / (n + 1);
			this.counts.set(key, n + 1);
		}
	}

	trim(from: number) {
		let n = 0;
		while (n < this.t.length && this.t[n] < from) n++;
		if (n < 64) return;		/* remove many at once, because moving arrays is slow */
		this.t.splice(0, n);
		for (const c of this.v.values()) c.splice(0, n);
	}

	/* Columns in the order of the keys, not copied. */
	aligned(keys: string[]): [number[], ...(number | null)[][]] {
		return [this.t, ...keys.map(k => this.column(k))];
	}
}

/* Mean, minimum and maximum of many columns at each time. */
export function fold(columns: (number | null)[][]): (number | null)[][] {
	const n = columns[0]?.length ?? 0, out: (number | null)[][] = [[], [], []];
	for (let i = 0; i < n; i++) {
		let sum = 0, count = 0, least = Infinity, most = -Infinity;
		for (const c of columns) {
			const v = c[i];
			if (v === null || v === undefined) continue;
			sum += v, count++;
			if (v < least) least = v;
			if (v > most) most = v;
		}
		out[0].push(count ? sum / count : null);
		out[1].push(count ? least : null);
		out[2].push(count ? most : null);
	}
	return out;
}

export interface Summary { last: number | null; mean: number | null; min: number | null; max: number | null }

/* Mean of the column from `start` on. */
export function summary(column: (number | null)[], start = 0): Summary {
	let min = Infinity, max = -Infinity, sum = 0, n = 0, last: number | null = null;
	for (let i = Math.max(0, start); i < column.length; i++) {
		const x = column[i];
		if (x === null || x === undefined) continue;
		if (x < min) min = x;
		if (x > max) max = x;
		sum += x, n++, last = x;
	}
	return n ? { last, mean: sum / n, min, max } : { last: null, mean: null, min: null, max: null };
}

/* Points per line for a query of `lines` lines: limits the size of the answer. */
export const pointsFor = (lines: number) => Math.min(400, Math.max(40, Math.floor(24_000 / Math.max(1, lines))));

/* A round step that gives about `points` points. */
export function niceStep(ms: number, points: number): number {
	const wanted = ms / points;
	for (const s of [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
		900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000])
		if (s >= wanted) return s;
	return 86_400_000;
}
