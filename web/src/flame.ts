/*
 * The flame graph's model: the boxes of each depth in columns, sorted by their left edge, so that
 * drawing visits a level once and a click finds its box by binary search. Pure.
 */
export interface FlameAnswer {
	event?: string; unit?: string;
	total: number; base_total: number | null;
	names: string[]; kinds: number[]; levels: number[][];
}

export interface Level {
	n: number;
	left: Float64Array; width: Float64Array; name: Uint32Array; self: Float64Array;
	base: Float64Array | null;
	parent: Int32Array;		/* index in the level above */
	times: Uint16Array;		/* number of merged frames of one name; see lowered() */
}

export interface Flame {
	total: number; baseTotal: number | null;
	names: string[]; kinds: number[]; levels: Level[];
	event: string; unit: string;
}

export interface Box { depth: number; i: number }

const unknown = 4;
export const kindNames = ["kernel", "user", "jit", "inlined", "unknown", "command"];

function readLevel(flat: number[], stride: number, above: Level | undefined): Level {
	const n = Math.floor(flat.length / stride), l = blank(n, stride > 4);
	for (let i = 0; i < n; i++) {
		const at = i * stride;
		l.left[i] = flat[at], l.width[i] = flat[at + 1], l.name[i] = flat[at + 2], l.self[i] = flat[at + 3];
		if (l.base) l.base[i] = flat[at + 4];
	}
	findParents(l, above);
	return l;
}

const blank = (n: number, base: boolean): Level => ({ n, left: new Float64Array(n), width: new Float64Array(n), name: new Uint32Array(n),
	self: new Float64Array(n), base: base ? new Float64Array(n) : null, parent: new Int32Array(n), times: new Uint16Array(n).fill(1) });

/* The parent box; the boxes of both levels are sorted by their left edge. */
function findParents(l: Level, above: Level | undefined) {
	for (let i = 0, p = 0; i < l.n; i++) {
		while (above && p + 1 < above.n && above.left[p + 1] <= l.left[i]) p++;
		l.parent[i] = above ? p : -1;
	}
}

function copyBox(to: Level, k: number, from: Level, i: number) {
	to.left[k] = from.left[i], to.width[k] = from.width[i], to.name[k] = from.name[i], to.self[k] = from.self[i], to.times[k] = from.times[i];
	if (to.base) to.base[k] = from.base![i];
}

/* Merges towers of unknown frames, which code without frame pointers produces, into one box each: a
 * box is merged into a caller of the same name, and its callees move up. */
function lowered(levels: Level[], kinds: number[]): Level[] {
	const found: [Level, number][][] = [];		/* per new depth: the boxes that remain */
	let above = { level: [] as Level[], at: new Int32Array(0), depth: new Uint16Array(0) }, merged = 0;
	levels.forEach((l, depth) => {
		const here = { level: new Array<Level>(l.n).fill(l), at: Int32Array.from({ length: l.n }, (_, i) => i), depth: new Uint16Array(l.n) };
		for (let i = 0; i < l.n; i++) {
			const p = l.parent[i], home = above.level[p], at = above.at[p];
			here.depth[i] = depth ? above.depth[p] + 1 : 0;
			if (depth > 2 && home.name[at] === l.name[i] && kinds[l.name[i]] === unknown) {
				home.times[at]++, home.self[at] += l.self[i], merged++;
				here.level[i] = home, here.at[i] = at, here.depth[i]--;
			} else (found[here.depth[i]] ??= []).push([l, i]);
		}
		above = here;
	});
	return merged ? gather(found) : levels;
}

function gather(found: [Level, number][][]): Level[] {
	const out: Level[] = [];
	for (const boxes of found) {
		boxes.sort(([a, i], [b, k]) => a.left[i] - b.left[k]);
		const l = blank(boxes.length, !!boxes[0][0].base);
		boxes.forEach(([from, i], k) => copyBox(l, k, from, i));
		findParents(l, out[out.length - 1]);
		out.push(l);
	}
	return out;
}

export function readFlame(a: FlameAnswer): Flame {
	const stride = a.base_total === null || a.base_total === undefined ? 4 : 5;
	const levels: Level[] = [];
	for (const flat of a.levels) {
		const l = readLevel(flat, stride, levels[levels.length - 1]);
		if (l.n) levels.push(l);
	}
	return { total: a.total, baseTotal: a.base_total ?? null, names: a.names, kinds: a.kinds, levels: lowered(levels, a.kinds),
		event: a.event ?? "", unit: a.unit ?? "samples" };
}

/* The first box whose right edge is beyond x; n: none. */
export function firstAt(l: Level, x: number): number {
	let low = 0, high = l.n;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (l.left[mid] + l.width[mid] <= x) low = mid + 1;
		else high = mid;
	}
	return low;
}

export function hit(f: Flame, depth: number, x: number): Box | null {
	const l = f.levels[depth];
	if (!l) return null;
	const i = firstAt(l, x);
	return i < l.n && l.left[i] <= x ? { depth, i } : null;
}

/* Calls back for the visible boxes: within [from, to), at least `least` wide. */
export function eachVisible(l: Level, from: number, to: number, least: number, fn: (i: number) => void) {
	for (let i = firstAt(l, from); i < l.n && l.left[i] < to; i++)
		if (l.width[i] >= least) fn(i);
}

/* Number of levels with a box of at least `least` within [from, to); deeper levels need a closer
 * zoom. */
export function visibleDepth(f: Flame, from: number, to: number, least: number): number {
	for (let depth = f.levels.length; depth > 0; depth--) {
		const l = f.levels[depth - 1];
		for (let i = firstAt(l, from); i < l.n && l.left[i] < to; i++) if (l.width[i] >= least) return depth;
	}
	return 1;
}

export const nameOf = (f: Flame, b: Box) => f.names[f.levels[b.depth].name[b.i]] ?? "?";
export const widthOf = (f: Flame, b: Box) => f.levels[b.depth].width[b.i];

export function parentOf(f: Flame, b: Box): Box | null {
	return b.depth > 0 ? { depth: b.depth - 1, i: f.levels[b.depth].parent[b.i] } : null;
}

/* The widest callee. */
export function childOf(f: Flame, b: Box): Box | null {
	const l = f.levels[b.depth + 1];
	if (!l) return null;
	let best = -1;
	for (let i = firstAt(l, f.levels[b.depth].left[b.i]); i < l.n && l.parent[i] <= b.i; i++)
		if (l.parent[i] === b.i && (best < 0 || l.width[i] > l.width[best])) best = i;
	return best < 0 ? null : { depth: b.depth + 1, i: best };
}

export function nextOf(f: Flame, b: Box, by: number): Box | null {
	const i = b.i + by;
	return i >= 0 && i < f.levels[b.depth].n ? { depth: b.depth, i } : null;
}

export function hash(text: string): number {
	let h = 0;
	for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0;
	return h >>> 0;
}

/* Names from the root to the box, abbreviated, so that the box can be found in another range. */
export function pathOf(f: Flame, b: Box): string {
	const words: string[] = [];
	for (let at: Box | null = b; at && at.depth > 0; at = parentOf(f, at)) words.unshift(hash(nameOf(f, at)).toString(36));
	return words.join(".");
}

export function boxAt(f: Flame, path: string): Box {
	let b: Box = { depth: 0, i: 0 };
	for (const word of path ? path.split(".") : []) {
		const l = f.levels[b.depth + 1];
		let found = -1;
		for (let i = l ? firstAt(l, f.levels[b.depth].left[b.i]) : 0; l && i < l.n && l.parent[i] <= b.i && found < 0; i++)
			if (l.parent[i] === b.i && hash(nameOf(f, { depth: b.depth + 1, i })).toString(36) === word) found = i;
		if (found < 0) break;
		b = { depth: b.depth + 1, i: found };
	}
	return b;
}

/* A regular expression if the text is a valid one, else plain text; null: no search. */
export function matcher(text: string): ((name: string) => boolean) | null {
	if (!text) return null;
	try {
		const r = new RegExp(text, "i");
		return name => r.test(name);
	} catch {
		const low = text.toLowerCase();
		return name => name.toLowerCase().includes(low);
	}
}

/* Which names match, and the share of the total in them, counting each sample once. */
export function search(f: Flame, text: string): { ids: Set<number>; width: number } {
	const match = matcher(text), ids = new Set<number>();
	if (match) f.names.forEach((name, id) => match(name) && ids.add(id));
	let width = 0;
	let above: Uint8Array | null = null;
	for (const l of f.levels) {
		const inside = new Uint8Array(l.n);
		for (let i = 0; i < l.n; i++) {
			if (above && above[l.parent[i]]) inside[i] = 1;
			else if (ids.has(l.name[i])) inside[i] = 1, width += l.width[i];
		}
		above = inside;
	}
	return { ids, width };
}

export interface Row { name: string; kind: string; self: number; total: number; base: number | null }

/* Functions with their own time and including callees; recursion is counted once. */
export function table(f: Flame): Row[] {
	const rows = new Map<number, Row>();
	f.levels.forEach((l, depth) => {
		for (let i = 0; depth > 0 && i < l.n; i++) {
			const id = l.name[i];
			let row = rows.get(id);
			if (!row) rows.set(id, (row = { name: f.names[id] ?? "?", kind: kindNames[f.kinds[id]] ?? "unknown",
				self: 0, total: 0, base: l.base ? 0 : null }));
			row.self += l.self[i];
			let again = false;
			for (let at = parentOf(f, { depth, i }); at && at.depth > 0 && !again; at = parentOf(f, at))
				again = f.levels[at.depth].name[at.i] === id;
			if (again) continue;
			row.total += l.width[i];
			if (l.base) row.base! += l.base[i];
		}
	});
	return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

/* Difference of the share to the base, from -1 to 1. */
export function change(f: Flame, l: Level, i: number): number {
	if (!l.base || !f.total) return 0;
	return l.width[i] / f.total - (f.baseTotal ? l.base[i] / f.baseTotal : 0);
}
