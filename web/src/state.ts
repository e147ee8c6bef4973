/*
 * The page's state as signals: the place (mirrored in the URL), the clock, the theme.
 */
import { computed, signal } from "@preact/signals";
import { type Place, type Range, readHash, shift, stretch, writeHash } from "./place";

export const place = signal<Place>(readHash(location.hash));
export const now = signal(Date.now());		/* the agent's clock, updated once a second */
export const help = signal(false);

let ahead = 0;					/* the agent's clock minus ours */
export function setClock(agentNow: number) {
	ahead = agentNow - Date.now();
	now.value = agentNow;
}
export const agentNow = () => Date.now() + ahead;
setInterval(() => {
	if (!document.hidden) now.value = agentNow();
}, 1000);

/* Typing replaces the history entry; choosing adds one. */
export function go(patch: Partial<Place>, typed = false) {
	const next = { ...place.value, ...patch };
	const hash = writeHash(next);
	if (hash === location.hash) return;
	place.value = next;
	history[typed ? "replaceState" : "pushState"](null, "", hash);
}
addEventListener("hashchange", () => (place.value = readHash(location.hash)));
addEventListener("popstate", () => (place.value = readHash(location.hash)));

export const query = computed(() => place.value.q);

/* Code that loads data depends on this signal only: it does not change with the clock. */
export const rangeKey = computed(() => (place.value.fixed ? place.value.fixed.join("-") : "span" + place.value.span));
export function currentRange(): Range {
	const p = place.peek(), t = agentNow();
	return p.fixed ?? [t - p.span, t];
}
export const range = computed<Range>(() => place.value.fixed ?? [now.value - place.value.span, now.value]);

export const move = (by: number) => go(shift(place.peek(), by, agentNow()));
export const scale = (factor: number) => go(stretch(place.peek(), factor, agentNow()));
export const pause = () => place.peek().fixed ? follow() : go({ fixed: currentRange().map(Math.round) as Range });
export const follow = () => go({ fixed: null, sel: null });

export type Theme = "auto" | "light" | "dark";
const kept = (() => {
	try { return localStorage.getItem("tacho-theme"); } catch { return null; }
})();
export const theme = signal<Theme>(kept === "light" || kept === "dark" ? kept : "auto");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(prefersDark.matches);
prefersDark.addEventListener("change", e => (systemDark.value = e.matches));
export const dark = computed(() => (theme.value === "auto" ? systemDark.value : theme.value === "dark"));

export function nextTheme() {
	theme.value = dark.value ? "light" : "dark";
	try { localStorage.setItem("tacho-theme", theme.value); } catch { /* private mode */ }
}

/* A colour of the style sheet for drawing on a canvas; cached for light and dark. */
const colours = new Map<string, string>();
export function colour(name: string): string {
	const key = name + dark.value;
	let c = colours.get(key);
	if (!c) colours.set(key, (c = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim()));
	return c;
}
export const palette = () => [1, 2, 3, 4, 5, 6, 7, 8].map(i => colour("line" + i));
