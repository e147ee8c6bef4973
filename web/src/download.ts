/*
 * Saves files generated in the page, and charts as SVG.
 */
import { clock, value } from "./format";

export function save(name: string, type: string, text: string) {
	const url = URL.createObjectURL(new Blob([text], { type }));
	const a = document.createElement("a");
	a.href = url;
	a.download = name.replace(/[^\w.-]+/g, "-");
	document.body.append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const escape = (s: string) => s.replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[c]!));

/* A chart as SVG: lines, three ticks on each axis, a legend. */
export function chartSvg(title: string, unit: string, rate: boolean, times: number[],
	lines: { name: string; colour: string; values: (number | null)[] }[]): string {
	const w = 800, h = 300, left = 70, top = 40, right = 780, bottom = 250;
	let most = 0, least = 0;
	for (const l of lines) for (const v of l.values) if (v !== null && v !== undefined) most = Math.max(most, v), least = Math.min(least, v);
	if (most === least) most = least + 1;
	const t0 = times[0] ?? 0, t1 = times[times.length - 1] ?? t0 + 1;
	const x = (t: number) => left + (right - left) * (t1 > t0 ? (t - t0) / (t1 - t0) : 0);
	const y = (v: number) => bottom - (bottom - top) * (v - least) / (most - least);
	const out = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" font-family="sans-serif" font-size="12">`,
		`<rect width="${w}" height="${h}" fill="#fff"/><text x="${left}" y="22" font-size="15">${escape(title)}</text>`];
	for (const part of [0, 0.5, 1]) {
		const v = least + (most - least) * part, t = t0 + (t1 - t0) * part;
		out.push(`<path d="M${left} ${y(v).toFixed(1)}H${right}" stroke="#ddd"/>`,
			`<text x="${left - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${escape(value(v, unit, rate))}</text>`,
			`<text x="${x(t).toFixed(1)}" y="${bottom + 18}" text-anchor="${["start", "middle", "end"][part * 2]}">${clock(t)}</text>`);
	}
	lines.forEach((l, i) => {
		let d = "", pen = "M";
		l.values.forEach((v, k) => {
			if (v === null || v === undefined) pen = "M";
			else d += pen + x(times[k]).toFixed(1) + " " + y(v).toFixed(1), pen = "L";
		});
		out.push(`<path d="${d}" fill="none" stroke="${l.colour}" stroke-width="1.5"/>`);
		if (i < 8) out.push(`<text x="${left + i * 90}" y="${h - 10}" fill="${l.colour}">${escape(l.name)}</text>`);
	});
	return out.join("\n") + "\n</svg>\n";
}
