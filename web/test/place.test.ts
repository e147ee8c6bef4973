import assert from "node:assert/strict";
import { test } from "node:test";
import { type Place, home, isTable, readHash, shift, stretch, withTable, writeHash } from "../src/place";

const now = 1_800_000_000_000;

test("a place survives its address", () => {
	const places: Place[] = [home, { ...home, view: "profile", fixed: [now - 5000, now], q: "a b&c=#%", sel: [now - 4000, now - 3980],
		base: [now - 9000, now - 6000], zoom: "1z.k0.3", comm: "a=b&c", focus: "s\n<b>é", as: "flame,heat", sort: "-functions.self" }, { ...home, view: "doctor", span: 6048e5 }];
	for (const p of places) assert.deepEqual(readHash(writeHash(p)), p);
});

test("an address that makes no sense gives the first view", () => {
	for (const hash of ["", "#", "#v=nothing&span=-1&t=9-1&sel=x&z=<b>", "#t=1-99999999999999999999", "#%E0%A4%A", "#span=1e99d"])
		assert.deepEqual(readHash(hash), home, hash);
	assert.equal(readHash("#span=1ms").span, 1000);
	assert.equal(readHash("#q=" + "x".repeat(1000)).q.length, 200);
});

test("each thing that can be a table is switched by itself", () => {
	let p = { ...home, ...withTable(home, "flame", true) };
	p = { ...p, ...withTable(p, "heat", true) };
	assert.deepEqual(["flame", "heat", "chart", ""].map(x => isTable(p, x)), [true, true, false, false]);
	assert.equal(withTable({ ...p, ...withTable(p, "flame", false) }, "heat", false).as, "");
	assert.equal(withTable(p, "heat", true).as, p.as);
});

test("the range moves, and follows the clock once it reaches now", () => {
	const p = shift(home, -0.5, now);
	assert.deepEqual(p.fixed, [now - 450_000, now - 150_000]);
	const back = shift(p, 0.5, now);
	assert.equal(back.fixed, null);
	assert.equal(back.span, 3e5);
});

test("the range grows and shrinks about its middle, within bounds", () => {
	const p = { ...home, fixed: [now - 3000, now - 1000] as [number, number] };
	assert.deepEqual(stretch(p, 0.5, now).fixed, [now - 2500, now - 1500]);
	assert.equal(stretch(p, 4, now).fixed, null);
	assert.equal(stretch({ ...home, span: 1000 }, 0.5, now).span, 1000);
	assert.equal(stretch(home, 2, now).span, 6e5);
});
