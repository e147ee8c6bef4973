import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, compare, csv, parseSpan, percent, round, seriesName, span, spanKey, value, whole } from "../src/format";

test("durations are read and written", () => {
	for (const [text, ms] of [["5m", 3e5], ["1h30m", 54e5], ["2.5s", 2500], ["250ms", 250], ["7d", 6048e5]] as const)
		assert.equal(parseSpan(text), ms, text);
	for (const text of ["", "5", "m", "5 m", "-5m", "5mm", "1e9d"]) assert.ok(Number.isNaN(parseSpan(text)), text);
	assert.deepEqual([0, 999, 1500, 61_000, 54e5, 864e5 + 36e5, 3e5, 90_061_000].map(span),
		["0ms", "999ms", "1.5s", "1m 1s", "1h 30m", "1d 1h", "5m", "1d 1h"]);
	assert.deepEqual([1e300, -1e300, Infinity].map(span), ["1.2e+292d", "-1.2e+292d", "–"]);
	for (const ms of [3e5, 36e5, 216e5, 864e5, 6048e5, 1234, 90_000]) assert.equal(parseSpan(spanKey(ms)), ms);
});

test("values have three digits, a prefix and a unit", () => {
	const rows: [number | null, string, boolean, string][] = [
		[0, "", true, "0 /s"], [999, "", true, "999 /s"], [1234, "", true, "1.23 k/s"], [999_600, "", true, "1.00 M/s"],
		[5.5e9, "", false, "5.50 G"], [1, "seconds", true, "100 %"], [0.0123, "seconds", true, "1.23 %"], [0.0123, "seconds", false, "12.3 ms"],
		[2e-9, "seconds", false, "2.00 ns"], [1536, "bytes", false, "1.50 KiB"], [10, "bytes", true, "10 B/s"],
		[12, "joules", true, "12 W"], [0.456, "ratio", false, "0.46"], [1e300, "", true, "1.00e+300 /s"], [9.9e20, "bytes", false, "859 EiB"], [-1e25, "seconds", false, "-1.0e+25 s"], [0.004, "", true, "0.004 /s"],
		[1.2345e-7, "ratio", false, "1.2e-7"], [Infinity, "", true, "–"], [null, "", true, "–"], [NaN, "bytes", false, "–"],
	];
	for (const [v, unit, rate, text] of rows) assert.equal(value(v, unit, rate), text);
	assert.equal(whole(1234567.4), "1,234,567");
	assert.equal(whole(12), "12");
	assert.deepEqual(["2.50 k/s", "50.0 k/s", "100 /s", "1.00", "0 s", "1.05 M", "1.00e+300 /s"].map(round), ["2.5 k/s", "50 k/s", "100 /s", "1", "0 s", "1.05 M", "1.00e+300 /s"]);
	assert.deepEqual([0, 0.5, 0.0123, 1].map(percent), ["0.0 %", "50.0 %", "1.23 %", "100.0 %"]);
});

test("a time shows as much as the step needs", () => {
	const t = new Date(2026, 10, 15, 9, 5, 7, 45).getTime();
	assert.deepEqual([864e5, 6e4, 1000, 1].map(step => clock(t, step)), ["2026-11-15", "09:05", "09:05:07", "09:05:07.045"]);
});

test("CSV quotes, and runs nothing in a spreadsheet", () => {
	assert.equal(csv([["a", 'b"c', "d,e"], [1, null, "x\ny"], ["=1+1", -5, "@x"]]),
		'a,"b""c","d,e"\n1,,"x\ny"\n\'=1+1,-5,\'@x\n');
});

test("series are named by what tells them apart, in natural order", () => {
	assert.equal(seriesName({ cpu: "0", source: "software" }), "cpu 0");
	assert.equal(seriesName({ comm: "nginx", pid: "12", source: "s" }), "nginx · pid 12");
	assert.equal(seriesName({ source: "s" }), "total");
	assert.deepEqual([3, null, 20, null, 1].sort(compare), [null, null, 1, 3, 20]);
	assert.deepEqual(["cpu 10", "cpu 2", "cpu 1"].sort(compare), ["cpu 1", "cpu 2", "cpu 10"]);
});
