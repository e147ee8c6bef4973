import assert from "node:assert/strict";
import { test } from "node:test";
import { boxAt, change, childOf, eachVisible, hit, matcher, nameOf, nextOf, parentOf, pathOf, readFlame, search, table, visibleDepth } from "../src/flame";

/*	all 10
 *	main 6       | idle 3
 *	a 4  | b 1   | a 2
 *	a 2		  */
const answer = { total: 10, base_total: null, names: ["all", "main", "idle", "a", "b"], kinds: [4, 1, 0, 1, 2],
	levels: [[0, 10, 0, 1], [0, 6, 1, 1, 6, 3, 2, 1], [0, 4, 3, 2, 4, 1, 4, 1, 6, 2, 3, 2], [0, 2, 3, 2]] };
const f = readFlame(answer);

test("a click finds its box, and the space beside it nothing", () => {
	const at = (depth: number, x: number) => { const b = hit(f, depth, x); return b && nameOf(f, b); };
	assert.deepEqual([at(0, 9.9), at(1, 5.9), at(1, 6), at(1, 9.5), at(2, 4.5), at(2, 5.5), at(2, 7), at(4, 0)],
		["all", "main", "idle", null, "b", null, "a", null]);
});

/*	all 9 | proc 9 | [unknown] 9 | [unknown] 8 | [unknown] 6, [unknown]'s callee 2 | ...	*/
test("a tower of unknown frames is one box, and what it calls stays where it is", () => {
	const t = readFlame({ total: 9, base_total: null, names: ["all", "sh", "[unknown]", "work"], kinds: [4, 4, 4, 1],
		levels: [[0, 9, 0, 0], [0, 9, 1, 0], [0, 9, 2, 1], [0, 8, 2, 0], [0, 6, 2, 4, 6, 2, 3, 2], [0, 2, 3, 1], [0, 1, 3, 1]] });
	assert.deepEqual(t.levels.map(l => [...l.left].map((x, i) => [nameOf(t, { depth: t.levels.indexOf(l), i }), x, l.width[i], l.times[i]].join(" "))),
		[["all 0 9 1"], ["sh 0 9 1"], ["[unknown] 0 9 3"], ["work 0 2 1", "work 6 2 1"], ["work 0 1 1"]]);
	assert.equal(t.levels[2].self[0], 5);
	assert.deepEqual([...t.levels[3].parent, ...t.levels[4].parent], [0, 0, 0]);
	const sum = (ls: typeof t.levels) => ls.reduce((a, l) => a + l.self.reduce((x, y) => x + y, 0), 0);
	assert.equal(sum(t.levels), 9);
});

test("levels too narrow to draw are left out until they are zoomed to", () => {
	assert.equal(visibleDepth(f, 0, 10, 0), 4);
	assert.equal(visibleDepth(f, 0, 10, 3), 3);
	assert.equal(visibleDepth(f, 6, 8, 1), 3);
	assert.equal(visibleDepth(f, 0, 10, 99), 1);
});

test("keys walk to callers, callees and neighbours", () => {
	const a2 = hit(f, 2, 7)!;
	assert.equal(nameOf(f, parentOf(f, a2)!), "idle");
	assert.equal(nameOf(f, childOf(f, hit(f, 1, 0)!)!), "a");
	assert.equal(childOf(f, a2), null);
	assert.equal(parentOf(f, { depth: 0, i: 0 }), null);
	assert.equal(nameOf(f, nextOf(f, a2, -1)!), "b");
	assert.equal(nextOf(f, a2, 1), null);
});

test("a path leads back to its box, also where names have other numbers", () => {
	const box = hit(f, 3, 1)!;
	assert.deepEqual(boxAt(f, pathOf(f, box)), box);
	const other = readFlame({ ...answer, names: ["all", "x", "y", "idle", "a"], levels: [[0, 4, 0, 0], [0, 1, 1, 1, 1, 3, 3, 1], [1, 2, 4, 2]] });
	assert.equal(nameOf(other, boxAt(other, pathOf(f, hit(f, 2, 7)!))), "a");
	assert.deepEqual(boxAt(f, "nowhere.0"), { depth: 0, i: 0 });
});

test("only what can be seen is drawn", () => {
	const seen: number[] = [];
	eachVisible(f.levels[2], 4.5, 7, 0, i => seen.push(i));
	assert.deepEqual(seen, [1, 2]);
	seen.length = 0;
	eachVisible(f.levels[2], 0, 10, 1.5, i => seen.push(i));
	assert.deepEqual(seen, [0, 2]);
});

test("search counts each sample once and takes patterns and plain text", () => {
	assert.equal(search(f, "^a$").width, 6);
	assert.equal(search(f, "main|a").width, 10);
	assert.equal(search(f, "").width, 0);
	assert.ok(matcher("vector<(")!("std::vector<(x)"));
	assert.equal(matcher(""), null);
});

test("the table counts recursion once", () => {
	const a = table(f).find(r => r.name === "a")!;
	assert.deepEqual([a.self, a.total, a.kind, a.base], [6, 6, "user", null]);
	assert.equal(table(f).reduce((sum, r) => sum + r.self, 0), 9);
});

test("a difference compares shares", () => {
	const d = readFlame({ ...answer, base_total: 20, levels: [[0, 10, 0, 4, 20], [0, 6, 1, 6, 2]] });
	assert.equal(change(d, d.levels[1], 0).toFixed(3), "0.500");
	assert.equal(change(d, d.levels[0], 0), 0);
	assert.equal(table(d)[0].base, 2);
});

test("a graph of a million boxes is read and hit quickly enough to follow the mouse", () => {
	const n = 250_000, level = (width: number) => Array.from({ length: n }, (_, i) => [i * 4, width, i % 5, 1]).flat();
	const big = readFlame({ total: n * 4, base_total: null, names: answer.names, kinds: [1, 1, 0, 1, 2], levels: [[0, n * 4, 0, 0], ...[4, 3, 2, 1].map(level)] });
	assert.equal(big.levels.reduce((sum, l) => sum + l.n, 0), 4 * n + 1);
	for (let i = 0; i < n; i += 997) assert.equal(hit(big, 4, i * 4 + 0.5)!.i, i);
	let seen = 0;
	for (const l of big.levels) eachVisible(l, 1000, 1400, 0.1, () => seen++);
	assert.equal(seen, 401);
});
