/*
 * The flame graph on a canvas: callers on top, callees below, width is time. Only boxes wider than a
 * third of a pixel are drawn, and text only where it fits. Mouse and keyboard move the same marker,
 * and a line of text describes the marked box.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Box, type Flame, boxAt, change, childOf, eachVisible, hash, hit, kindNames, nameOf, nextOf, parentOf, pathOf, search,
	visibleDepth, widthOf } from "./flame";
import { percent, whole } from "./format";
import { colour, dark, go, place } from "./state";
import { useWidth } from "./ui";

const row = 19, least = 0.34;

/* The colour of a name: hue by kind, shade by name. */
function shadeOf(name: string, kind: number, isDark: boolean): string {
	const spread = hash(name) % 1000 / 1000;
	const [hue, sat] = [[24, 70], [210, 55], [145, 40], [265, 40], [0, 0], [48, 55]][kind] ?? [0, 0];
	return `hsl(${hue + spread * 18 - 9} ${sat}% ${isDark ? 30 + spread * 9 : 74 + spread * 9}%)`;
}

/* Red: a larger share than in the base; blue: a smaller one. */
function diffShade(d: number, isDark: boolean): string {
	const strength = Math.min(1, Math.sqrt(Math.abs(d)) * 2.2);
	if (strength < 0.02) return isDark ? "hsl(220 6% 28%)" : "hsl(220 10% 88%)";
	const hue = d > 0 ? 8 : 215;
	return isDark ? `hsl(${hue} ${20 + strength * 50}% ${30 + strength * 12}%)` : `hsl(${hue} ${30 + strength * 55}% ${90 - strength * 24}%)`;
}

/* As much of the name as fits. */
function fitting(x: CanvasRenderingContext2D, name: string, room: number, letter: number): string {
	if (name.length * letter < room * 1.5 && x.measureText(name).width <= room) return name;
	let n = Math.min(name.length, Math.floor(room / letter) + 2);
	while (n > 0 && x.measureText(name.slice(0, n) + "…").width > room) n--;
	return n ? name.slice(0, n) + "…" : "";
}

export function FlameView(p: { flame: Flame; query: string }) {
	const f = p.flame, canvas = useRef<HTMLCanvasElement>(null);
	const { ref, width } = useWidth();
	const mark = useSignal<Box | null>(null), pointer = useSignal<[number, number] | null>(null);
	const zoom = boxAt(f, place.value.zoom), zl = f.levels[zoom.depth];
	const from = zl?.left[zoom.i] ?? 0, size = zl?.width[zoom.i] || 1;
	const found = useMemo(() => search(f, p.query), [f, p.query]);
	const colours = useMemo(() => f.names.map((n, i) => shadeOf(n, f.kinds[i] ?? 4, dark.value)), [f, dark.value]);

	const deep = visibleDepth(f, from, from + size, size / (width.value || 1)), thin = f.levels.length - deep;

	const draw = () => {
		const c = canvas.current, w = width.value;
		if (!c || !w) return;
		const ratio = devicePixelRatio || 1, h = deep * row;
		c.width = w * ratio, c.height = h * ratio;
		c.style.height = h + "px";
		const x = c.getContext("2d")!, per = w / size, text = colour("boxtext"), hot = colour("found");
		x.scale(ratio, ratio);
		x.font = "12px system-ui, sans-serif";
		x.textBaseline = "middle";
		const letter = x.measureText("abcdefghij_:<").width / 13;
		f.levels.slice(0, deep).forEach((l, depth) => {
			const y = depth * row;
			eachVisible(l, from, from + size, least / per, i => {
				const left = Math.max(0, (l.left[i] - from) * per), right = Math.min(w, (l.left[i] + l.width[i] - from) * per);
				const id = l.name[i], on = found.ids.has(id);
				x.globalAlpha = depth < zoom.depth ? 0.55 : p.query && !on ? 0.45 : 1;
				x.fillStyle = on ? hot : f.baseTotal !== null ? diffShade(change(f, l, i), dark.value) : colours[id] ?? "#888";
				x.fillRect(left, y, Math.max(right - left - (right - left > 3 ? 1 : 0), least), row - 1);
				if (right - left < 34) return;
				x.globalAlpha = 1;
				x.fillStyle = on ? "#111" : text;
				x.fillText(fitting(x, (f.names[id] ?? "?") + (l.times[i] > 1 ? " ×" + l.times[i] : ""), right - left - 8, letter), left + 4, y + row / 2 + 0.5);
			});
		});
	};
	useEffect(draw, [f, width.value, place.value.zoom, p.query, dark.value]);

	/* The marker is a separate element, so that moving it does not redraw the canvas. */
	const markStyle = (m: Box) => {
		const l = f.levels[m.depth], per = width.value / size;
		const left = Math.max(0, (l.left[m.i] - from) * per), right = Math.min(width.value, (l.left[m.i] + l.width[m.i] - from) * per);
		return { left: left + "px", top: m.depth * row + "px", width: Math.max(2, right - left) + "px", height: row - 1 + "px", display: right < 0 || left > width.value ? "none" : "" };
	};

	const under = (e: MouseEvent): Box | null => {
		const r = canvas.current!.getBoundingClientRect();
		return hit(f, Math.floor((e.clientY - r.top) / row), from + (e.clientX - r.left) / r.width * size);
	};
	const zoomTo = (b: Box | null) => b && go({ zoom: pathOf(f, b) });
	const key = (e: KeyboardEvent) => {
		const m = mark.value ?? zoom;
		const next = e.key === "ArrowUp" ? parentOf(f, m) : e.key === "ArrowDown" ? childOf(f, m)
			: e.key === "ArrowLeft" ? nextOf(f, m, -1) : e.key === "ArrowRight" ? nextOf(f, m, 1) : undefined;
		if (e.altKey || e.ctrlKey || e.metaKey) return;
		if (next !== undefined) mark.value = next ?? m;
		else if (e.key === "Enter") zoomTo(m);
		else if (e.key === "Escape" && place.value.zoom) go({ zoom: "" });
		else if (e.key === "Backspace") zoomTo(parentOf(f, zoom));
		else return;
		e.preventDefault();
		e.stopPropagation();
	};

	const m = mark.value && f.levels[mark.value.depth]?.n > mark.value.i ? mark.value : null;
	const facts = m && describe(f, m);
	return <div>
		<div class="flamebar">
			<p class="facts" role="status">{facts ? <><b>{facts.name}</b> <span class="dim">{facts.text}</span></>
				: p.query ? <><b>{percent(found.width / (f.total || 1))}</b> <span class="dim">below what matches “{p.query}”</span></>
				: <span class="dim">{whole(f.total)} {f.unit}{f.baseTotal !== null && `, compared with ${whole(f.baseTotal)}`} · {f.event}</span>}</p>
			{place.value.zoom && <button onClick={() => go({ zoom: "" })}>Whole graph</button>}
		</div>
		<div ref={ref} class="flame">
			<canvas ref={canvas} tabIndex={0} role="application" aria-label={`Flame graph of ${whole(f.total)} ${f.unit}. Arrows move, Enter zooms, Escape goes back.`}
				onMouseMove={e => (mark.value = under(e), pointer.value = [e.clientX, e.clientY])}
				onMouseLeave={() => (mark.value = null, pointer.value = null)} onClick={e => zoomTo(under(e))} onKeyDown={key}
				onFocus={() => (mark.value ??= zoom)} onBlur={() => (mark.value = null)} />
			{m && <div class="mark" style={markStyle(m)} />}
		</div>
		{facts && pointer.value && <div class="tip" style={{ left: Math.max(4, Math.min(pointer.value[0] + 14, innerWidth - 330)) + "px", ...(pointer.value[1] > innerHeight - 110 ? { bottom: innerHeight - pointer.value[1] + 12 + "px" } : { top: pointer.value[1] + 18 + "px" }) }}>
			<b>{facts.name}</b><br />{facts.text}</div>}
		<ul class="legend kinds" aria-label="Colours">{f.baseTotal !== null
			? [["more than before", diffShade(0.2, dark.value)], ["less", diffShade(-0.2, dark.value)]].map(([n, c]) => <li key={n}><i style={{ background: c }} />{n}</li>)
			: kindNames.map((n, k) => f.kinds.includes(k) && <li key={n}><i style={{ background: shadeOf("m", k, dark.value) }} />{n}</li>)}
			{thin > 0 && <li>{thin} deeper {thin === 1 ? "level is" : "levels are"} too narrow to draw: zoom in</li>}</ul>
	</div>;
}

function describe(f: Flame, b: Box) {
	const l = f.levels[b.depth], d = change(f, l, b.i);
	const again = l.times[b.i];
	const words = [...(again > 1 ? [again + " frames of this name"] : []), `${whole(widthOf(f, b))} ${f.unit}, ${percent(widthOf(f, b) / (f.total || 1))}`,
		`self ${percent(l.self[b.i] / (f.total || 1))}`, kindNames[f.kinds[l.name[b.i]]] ?? "unknown"];
	if (f.baseTotal !== null) words.push((d >= 0 ? "+" : "−") + percent(Math.abs(d)) + " against the base");
	return { name: nameOf(f, b), text: words.join(" · ") };
}
