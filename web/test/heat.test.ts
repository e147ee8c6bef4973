import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsRange, rangeCells, readHeat, shade } from "../src/heat";

const second = (t: number, ...filled: [number, number][]): [number, number[]] => {
	const rows = Array<number>(50).fill(0);
	for (const [r, v] of filled) rows[r] = v;
	return [t, rows];
};
const answer = { rows: 50, from: 10_000, columns: [second(10_000, [0, 3]), second(12_000, [49, 5])], max: 5 };

test("seconds without samples stay empty columns", () => {
	const h = readHeat(answer, 14_000, 100);
	assert.deepEqual([h.n, h.per, h.max, h.cells[0], h.cells[50], h.cells[2 * 50 + 49]], [4, 1, 5, 3, 0, 5]);
});

test("a selection becomes a range of milliseconds and back", () => {
	const h = readHeat(answer, 14_000, 100), a = { c: 1, r: 10 }, b = { c: 2, r: 4 };
	assert.deepEqual(cellsRange(h, a, b), [11_200, 12_100]);
	assert.deepEqual(cellsRange(h, b, a), [11_200, 12_100]);
	assert.deepEqual(rangeCells(h, [11_200, 12_100]), [a, b]);
});

test("more seconds than pixels are laid together", () => {
	const h = readHeat({ ...answer, columns: Array.from({ length: 100 }, (_, i) => second(10_000 + i * 1000, [3, 1])) }, 110_000, 30);
	assert.deepEqual([h.per, h.n, h.max], [4, 25, 4]);
	assert.deepEqual(cellsRange(h, { c: 0, r: 9 }, { c: 1, r: 0 }), [10_000, 18_000]);
});

test("an empty answer is an empty map", () => {
	const h = readHeat({ rows: 50, from: 10_000, columns: [], max: 0 }, 12_000, 100);
	assert.deepEqual([h.n, h.max], [2, 0]);
	assert.equal(shade(0, 0), 0);
	assert.ok(shade(1, 100) > 0.1 && shade(100, 100) === 1);
});
