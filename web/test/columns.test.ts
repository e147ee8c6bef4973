import assert from "node:assert/strict";
import { test } from "node:test";
import { Columns, fold, known, labelsKey, niceStep, pointsFor, summary } from "../src/columns";

test("a query's lines come to lie beside each other", () => {
	const c = new Columns(1000);
	c.load([{ key: "a", points: [[1000, 1], [2000, 2]] }, { key: "b", points: [[2100, 5], [3000, null]] }]);
	assert.deepEqual(c.aligned(["a", "b", "none"]), [[1000, 2000, 3000], [1, 2, null], [null, 5, null], [null, null, null]]);
});

test("live points fill the last bucket with their mean, then open the next", () => {
	const c = new Columns(1000);
	c.load([{ key: "a", points: [[1000, 1]] }]);
	c.add(2000, new Map([["a", 4]]));
	c.add(2500, new Map([["a", 6], ["b", 1]]));
	c.add(3100, new Map([["b", 2]]));
	c.add(1500, new Map([["a", 99]]));
	assert.deepEqual(c.aligned(["a", "b"]), [[1000, 2000, 3000], [1, 5, null], [null, 1, 2]]);
});

test("what came live stays when the history arrives", () => {
	const old = new Columns(1000), c = new Columns(2000);
	for (const t of [1000, 2000, 4000, 5000]) old.add(t, new Map([["a", t]]));
	c.load([{ key: "a", points: [[0, 1], [2000, 2]] }]);
	c.keepNewer(old);
	assert.deepEqual(c.aligned(["a"]), [[0, 2000, 4000], [1, 2, 4500]]);
	const empty = new Columns(1000);
	empty.load([]);
	empty.keepNewer(old);
	assert.equal(empty.t.length, 4);
});

test("a pause of the agent breaks the line", () => {
	const c = new Columns(1000);
	c.load([{ key: "a", points: [[1000, 1], [2000, 1], [3000, 1], [60_000, 1]] }]);
	assert.deepEqual(c.aligned(["a"]), [[1000, 2000, 3000, 4000, 60_000], [1, 1, 1, null, 1]]);
});

test("what is old goes, in larger bites", () => {
	const c = new Columns(1000);
	for (let i = 0; i < 200; i++) c.add(i * 1000, new Map([["a", i]]));
	c.trim(50_000);
	assert.equal(c.t.length, 200);
	c.trim(100_000);
	assert.equal(c.t[0], 100_000);
	assert.equal(c.v.get("a")!.length, 100);
});

test("many lines fold into mean, least and most", () => {
	assert.deepEqual(fold([[1, null, 3], [3, null, null]]), [[2, null, 3], [1, null, 3], [3, null, 3]]);
	assert.deepEqual(summary([null, 1, 5, null]), { last: 5, mean: 3, min: 1, max: 5 });
	assert.deepEqual(summary([9, 1, null, 2], 1), { last: 2, mean: 1.5, min: 1, max: 2 });
	assert.deepEqual(summary([]), { last: null, mean: null, min: null, max: null });
});

test("a value that is not a number is a gap", () => {
	const c = new Columns(1000), odd = [NaN, Infinity, "7", {}, undefined] as unknown as number[];
	c.load([{ key: "a", points: odd.map((v, i) => [i * 1000, v]) }]);
	assert.deepEqual(c.aligned(["a"])[1], [null, null, null, null, null]);
	assert.equal(known(1e308), 1e308);
});

test("the more lines, the fewer points each", () => {
	assert.deepEqual([0, 1, 60, 100, 2000, 1e6].map(pointsFor), [400, 400, 400, 240, 40, 40]);
});

test("steps divide well; labels are the same in any order", () => {
	assert.deepEqual([3e5, 36e5, 864e5, 6048e5].map(ms => niceStep(ms, 400)), [1000, 10_000, 300_000, 1_800_000]);
	assert.equal(labelsKey({ b: "1", a: "2" }), labelsKey({ a: "2", b: "1" }));
	assert.notEqual(labelsKey({ a: "1" }), labelsKey({ a: "2" }));
});
