/*
 * Numbers, units and times as people read them, and rows as files hold them. Pure: no page, no
 * state, so that node can test it.
 */
const minute = 60_000, hour = 60 * minute, day = 24 * hour;

const spans: [string, number][] = [["d", day], ["h", hour], ["m", minute], ["s", 1000], ["ms", 1]];

/* "90s", "5m", "1h30m" to milliseconds; NaN if it is not a duration. */
export function parseSpan(text: string): number {
	if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return NaN;
	let sum = 0;
	for (const [, n, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
		sum += Number(n) * spans.find(s => s[0] === unit)![1];
	return sum;
}

/* The two largest units that are not zero: "1h 30m", "2.5s". */
export function span(ms: number): string {
	if (!isFinite(ms)) return "–";
	if (ms < 0) return "-" + span(-ms);
	if (ms >= 1e6 * day) return (ms / day).toExponential(1) + "d";
	if (ms < 1000) return Math.round(ms) + "ms";
	if (ms < 10_000) return +(ms / 1000).toFixed(1) + "s";
	let rest = Math.round(ms / 1000) * 1000;
	const words: string[] = [];
	for (const [unit, size] of spans) {
		const n = Math.floor(rest / size);
		if (unit === "ms" || words.length === 2) break;
		if (n) words.push(n + unit);
		else if (words.length) break;
		rest -= n * size;
	}
	return words.join(" ");
}

/* As it is written into an address: exact, without blanks. */
export function spanKey(ms: number): string {
	for (const [unit, size] of spans)
		if (ms >= size && ms % size === 0) return ms / size + unit;
	return Math.round(ms) + "ms";
}

const two = (n: number) => String(n).padStart(2, "0");

/* The time of day, with as much as tells moments `step` apart from each other. */
export function clock(ms: number, step = 1000): string {
	const d = new Date(ms);
	const hm = two(d.getHours()) + ":" + two(d.getMinutes());
	if (step >= day) return date(ms);
	if (step >= minute) return hm;
	const s = hm + ":" + two(d.getSeconds());
	return step >= 1000 ? s : s + "." + String(d.getMilliseconds()).padStart(3, "0");
}

export function date(ms: number): string {
	const d = new Date(ms);
	return d.getFullYear() + "-" + two(d.getMonth() + 1) + "-" + two(d.getDate());
}

export const moment = (ms: number, step = 1000) => date(ms) + " " + clock(ms, step);

const three = (v: number) => {
	const a = Math.abs(v);
	if (a >= 1e15 || (a > 0 && a < 1e-4)) return v.toExponential(1);
	if (a > 0 && a < 0.0995) return String(Number(v.toPrecision(2)));
	return v.toFixed(a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
};

const steps = ["", "k", "M", "G", "T", "P", "E"];

/* Three digits and a prefix: ["1.23", "M"]. */
export function scaled(v: number, base = 1000): [string, string] {
	let i = 0;
	if (Math.abs(v) >= 1e21) return [v.toExponential(2), ""];
	const limit = base === 1024 ? 1023.5 : 999.5;
	while (Math.abs(v) >= limit && i < steps.length - 1) v /= base, i++;
	return [i === 0 && Number.isInteger(v) ? String(v) : three(v), steps[i]];
}

/* A value with its unit: ["12.3", "ms"]. Counters are shown as rates. */
export function parts(v: number | null | undefined, unit: string, rate: boolean): [string, string] {
	if (v === null || v === undefined || !isFinite(v)) return ["–", ""];
	if (unit === "seconds") return rate ? [three(v * 100), "%"] : seconds(v);	/* seconds per second: the share of one CPU */
	if (unit === "ratio") return [three(v), ""];
	const [n, prefix] = scaled(v, unit === "bytes" ? 1024 : 1000);
	const name = unit === "bytes" ? (prefix ? prefix.toUpperCase() + "iB" : "B")
		: unit === "joules" ? prefix + (rate ? "W" : "J") : prefix + unit;
	if (unit === "joules") return [n, name];
	return [n, rate ? name + "/s" : name];
}

function seconds(v: number): [string, string] {
	const a = Math.abs(v);
	if (a === 0) return ["0", "s"];
	if (a < 0.9995e-6) return [three(v * 1e9), "ns"];
	if (a < 0.9995e-3) return [three(v * 1e6), "µs"];
	if (a < 0.9995) return [three(v * 1e3), "ms"];
	return [three(v), "s"];
}

export function value(v: number | null | undefined, unit: string, rate: boolean): string {
	const [n, u] = parts(v, unit, rate);
	return u ? n + " " + u : n;
}

/* "2.50 k/s" as "2.5 k/s", for marks on an axis. */
export const round = (text: string) => text.replace(/\.(\d*?)0+(?=\s|$)/, (_, kept) => (kept ? "." + kept : ""));

/* 12345678 as "12,345,678". */
export const whole = (n: number) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");

export const percent = (share: number) => isFinite(share)
	? (share * 100).toFixed(share >= 0.0995 || share === 0 ? 1 : 2) + " %" : "–";

/* CPU time per second in percent of one CPU, as top shows it. */
export const cpuShare = (v: number) => (v * 100).toFixed(v >= 0.0995 || v === 0 ? 0 : 1) + " %";

/* "cpu 0", "nginx 1234": what tells a series from its neighbours. */
export function seriesName(labels: Record<string, string>): string {
	const named = labels.pid ? ["comm", "pid", "user"] : labels.cgroup ? [labels.container ? "container" : labels.service ? "service" : "cgroup"] : null;
	const words = Object.entries(labels).filter(([k]) => named ? named.includes(k) : k !== "source")
		.map(([k, v]) => ["comm", "cgroup", "service", "user"].includes(k) ? v : k === "container" ? v.slice(0, 12) : k + " " + v);
	return words.join(" · ") || "total";
}

/* A field is quoted where it must be; one that a spreadsheet would run is defused. */
function field(v: unknown): string {
	let s = v === null || v === undefined ? "" : String(v);
	if (typeof v === "string" && /^[=+\-@\t\r]/.test(s)) s = "'" + s;
	return /[",\n\r]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
}

export const csv = (rows: unknown[][]) => rows.map(r => r.map(field).join(",") + "\n").join("");

/* Natural order: cpu 2 before cpu 10. One collator: making one for each pair costs a hundred times more. */
const collator = new Intl.Collator("en", { numeric: true });
export const compare = (a: unknown, b: unknown): number =>
	typeof a === "number" || typeof b === "number" ? (Number(a ?? -Infinity) - Number(b ?? -Infinity)) || 0
	: collator.compare(String(a ?? ""), String(b ?? ""));
