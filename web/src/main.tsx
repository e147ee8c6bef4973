/*
 * The frame of the page: header with range and search, the views, keyboard shortcuts, help.
 */
import { effect, useComputed, useSignal } from "@preact/signals";
import { Component, type ComponentChildren, render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AgentCounters, Counters } from "./counters";
import { clock, date, moment, span, value, whole } from "./format";
import { login } from "./api";
import { connect, link, locked, status } from "./live";
import { type View, longest, presets, shortest, views } from "./place";
import { Profile } from "./profile";
import { dark, follow, go, help, move, nextTheme, now, pause, place, range, scale } from "./state";
import { Doctor, Events, Exporters, Processes, Triggers } from "./tables";

const pages: Record<View, () => preact.JSX.Element> = { counters: Counters, profile: Profile, events: Events, processes: Processes,
	exporters: Exporters, triggers: Triggers, doctor: Doctor, agent: AgentCounters };
const timed = (v: View) => v === "counters" || v === "profile" || v === "agent";

function LinkState() {
	const l = link.value, left = useComputed(() => Math.max(0, Math.ceil((link.value.until - Date.now() + now.value * 0) / 1000)));
	if (locked.value) return <span class="link-state warn" role="status"><i />locked</span>;
	if (l.state === "waiting") return <button class="link-state bad" onClick={() => void connect()} title={l.why + ". Try at once."}>
		<i />{l.refused ? l.why : "no answer"}, again in {left.value} s</button>;
	const paused = l.state === "live" && !!place.value.fixed && timed(place.value.view);
	return <span class={"link-state " + (paused ? "" : l.state === "live" ? "good" : "warn")} role="status"><i />{paused ? "paused" : l.state === "live" ? "live" : "connecting"}</span>;
}

/* Input fields for the start and end of the range. */
function Picker() {
	const p = place.value, [from, to] = range.value, box = useRef<HTMLDetailsElement>(null);
	const local = (ms: number) => moment(ms).replace(" ", "T");
	const show = (e: SubmitEvent) => {
		e.preventDefault();
		const f = new FormData(e.currentTarget as HTMLFormElement), [a, b] = ["from", "to"].map(k => new Date(String(f.get(k))).getTime());
		const field = (e.currentTarget as HTMLFormElement).elements.namedItem("to") as HTMLInputElement;
		field.setCustomValidity(b - a >= shortest ? "" : "The end has to be later than the start.");
		if (!field.reportValidity()) return;
		go({ fixed: [a, Math.min(b, a + longest)], sel: null });
		box.current!.open = false;
	};
	/* Set on click, not on the later toggle event, which would discard text typed meanwhile. */
	const fill = () => box.current!.open || box.current!.querySelectorAll("input").forEach((x, i) => (x.value = local(range.peek()[i])));
	return <details ref={box} class="picker" onKeyDown={e => e.key === "Escape" && (box.current!.open = false, e.stopPropagation())}>
		<summary title="Choose a range" onClick={fill}>{p.fixed ? <>{date(from) === date(now.value) ? clock(from) : moment(from)} <span class="dim">for {span(to - from)}</span></> : `the last ${span(p.span)}`}</summary>
		<form onSubmit={show}>
			<label>From <input type="datetime-local" name="from" step="1" required /></label>
			<label>To <input type="datetime-local" name="to" step="1" required onInput={e => e.currentTarget.setCustomValidity("")} /></label>
			<p class="dim">times of {zone}</p><button class="primary">Show</button>
		</form>
	</details>;
}
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function RangeBar() {
	const p = place.value;
	return <div class="range" role="group" aria-label="Time range">
		<button onClick={() => move(-0.5)} aria-label="Earlier" title="Earlier (←)">‹</button>
		<span class="group">{presets.map(([name, ms]) => <button key={name} aria-pressed={!p.fixed && p.span === ms} onClick={() => go({ fixed: null, span: ms, sel: null })}>{name}</button>)}</span>
		<button onClick={() => move(0.5)} disabled={!p.fixed} aria-label="Later" title="Later (→)">›</button>
		<button onClick={() => scale(2)} aria-label="Longer range" title="Longer (-)">−</button>
		<button onClick={() => scale(0.5)} aria-label="Shorter range" title="Shorter (+)">+</button>
		<Picker />
		{p.fixed ? <button class="primary" onClick={follow} title="Follow the clock again (n)">Back to now</button>
			: <button onClick={pause} title="Hold the picture still (p)">Pause</button>}
		{p.view !== "profile" && <button onClick={() => go({ view: "profile", zoom: "" })} title="The flame graph of this range (f)">Flame graph</button>}
	</div>;
}

function Head() {
	const search = useRef<HTMLInputElement>(null), nav = useRef<HTMLElement>(null), p = place.value;
	useEffect(() => {
		const focus = () => (search.current?.focus(), search.current?.select());
		addEventListener("tacho-search", focus);
		return () => removeEventListener("tacho-search", focus);
	}, []);
	useEffect(() => nav.current!.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [p.view]);
	return <header class="top">
		<div class="line">
			<a class="brand" href="#v=counters">tacho</a><span class="host">{status.value?.host}</span><LinkState />
			<span class="grow" />
			<input ref={search} type="search" value={p.q} placeholder={p.view === "profile" ? "Find a function  /" : "Find  /"} aria-label="Find"
				onInput={e => go({ q: e.currentTarget.value }, true)} onKeyDown={e => e.key === "Escape" && (p.q ? go({ q: "" }, true) : e.currentTarget.blur())} />
			<button onClick={nextTheme} aria-label={dark.value ? "Light colours" : "Dark colours"} title="Dark or light (t)">{dark.value ? "☀" : "☾"}</button>
			<button onClick={() => (help.value = true)} aria-label="Help" title="Keys (?)">?</button>
		</div>
		<div class="line">
			<nav ref={nav} aria-label="Views">{views.map((v, i) => <a key={v} href={"#v=" + v} aria-current={p.view === v ? "page" : undefined} title={`${i + 1}`}
				onClick={e => (e.preventDefault(), go({ view: v, q: "", focus: "" }))}>{v}</a>)}</nav>
			<span class="grow" />
			{timed(p.view) && !locked.value && <RangeBar />}
		</div>
	</header>;
}

const keys: [string, string][] = [["1 … 8", "the views"], ["/", "find (a word or a pattern)"], ["← →", "earlier, later"], ["+ -", "shorter, longer range"],
	["p", "pause, go on"], ["n", "back to now"], ["f", "flame graph of the range"], ["t", "dark or light"], ["Esc", "close, clear, whole graph"], ["arrows, Enter", "in flame graph and heat map: move, choose"],
	["Backspace", "in the flame graph: to the caller"], ["Shift + arrows", "in the heat map: choose a part"], ["?", "this help"]];

function Help() {
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		if (help.value && !dialog.current!.open) dialog.current!.showModal(), dialog.current!.querySelector("button")!.focus();
		if (!help.value) dialog.current!.close();
	}, [help.value]);
	return <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (help.value = false)}>
		<h2 id="help-title">Keys</h2>
		<dl class="keys">{keys.map(([k, text]) => <div key={k}><dt><kbd>{k}</kbd></dt><dd>{text}</dd></div>)}</dl>
		<p>Drag over a chart to zoom, double click to go back. The address holds what you see: copy it into a ticket.</p>
		<p>For programs: <a href="api/v1/status">API</a> (tacho-agent-api(7)), <a href="metrics">/metrics</a>.</p>
		<button class="primary" onClick={() => (help.value = false)}>Close</button>
	</dialog>;
}

function Foot() {
	const s = status.value;
	if (!s) return <footer class="foot" />;
	return <footer class="foot dim">
		<span>tacho {s.version}, up {span(now.value - s.started)}</span>
		<span>{whole(s.ticks)} {s.ticks === 1 ? "tick" : "ticks"}{s.missed_ticks > 0 && <b class="bad"> {whole(s.missed_ticks)} missed</b>}</span>
		<span>{s.store ? <>history {value(s.store.bytes, "bytes", false)}{s.store.oldest > 0 && `, since ${moment(s.store.oldest, 60_000)}`}
			{s.store.points_dropped > 0 && <b class="bad">, {whole(s.store.points_dropped)} points dropped</b>}{s.store.error && <b class="bad">, {s.store.error}</b>}</> : "no history"}</span>
		<span>times of {zone}</span>
		<span>{s.profiler?.running ? `profile: ${s.profiler.event} at ${s.profiler.frequency} Hz` : "no profile"}</span>
	</footer>;
}

/* Error boundary: a view that fails shows its error; the others still work. */
class Guard extends Component<{ children: ComponentChildren }, { why: Error | null }> {
	state = { why: null as Error | null };
	componentDidCatch(why: Error) {
		console.warn(why);
		this.setState({ why });
	}
	render() {
		return this.state.why ? <p class="failure" role="alert"><span>This view cannot be shown: {this.state.why.message}</span>
			<button onClick={() => this.setState({ why: null })}>Try again</button></p> : this.props.children;
	}
}

/* The link that the agent prints brings the token; without it, it can be typed here. */
function Locked() {
	const why = useSignal("");
	const submit = (e: SubmitEvent) => {
		e.preventDefault();
		const field = (e.currentTarget as HTMLFormElement).elements.namedItem("token") as HTMLInputElement;
		login(field.value).then(() => (why.value = "", connect()), (x: Error) => (why.value = x.message));
	};
	return <section class="locked panel" aria-labelledby="locked-title"><h1 id="locked-title">This agent wants its token</h1>
		<p>Profiles and processes show what every user of the machine runs. Open the link that the agent printed when it started;
			on the machine itself, <code>tacho agent ctl link</code> prints it again.</p>
		<form onSubmit={submit}><label>Token <input name="token" type="password" autocomplete="off" required /></label><button class="primary">Open</button></form>
		{why.value && <p class="failure" role="alert">{why.value}</p>}
		<p class="dim"><a href="metrics">/metrics</a> and <a href="healthz">/healthz</a> may be open without it.</p></section>;
}

function App() {
	const Page = locked.value ? Locked : pages[place.value.view];
	return <><a class="skip" href="#main" onClick={e => (e.preventDefault(), document.getElementById("main")!.focus())}>To the content</a>
		<Head /><main id="main" tabIndex={-1}><Guard key={place.value.view}><Page /></Guard></main><Foot /><Help /></>;
}

addEventListener("keydown", e => {
	const at = e.target as HTMLElement;
	if (e.altKey || e.ctrlKey || e.metaKey || at.closest("input, dialog, details")) return;
	const act: Record<string, () => void> = { "/": () => dispatchEvent(new Event("tacho-search")), "?": () => (help.value = true), t: nextTheme, n: follow, p: pause,
		f: () => go({ view: "profile" }), ArrowLeft: () => move(-0.5), ArrowRight: () => move(0.5), "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2),
		Escape: () => go({ q: "", zoom: "", sel: null, focus: "" }) };
	const view = views[Number(e.key) - 1], fn = view ? () => go({ view, q: "", focus: "" }) : act[e.key];
	if (!fn || (e.key.startsWith("Arrow") && at.closest(".scroll"))) return;
	e.preventDefault();
	fn();
});

effect(() => {
	document.documentElement.dataset.theme = dark.value ? "dark" : "light";
	document.querySelector<HTMLMetaElement>("meta[name=theme-color]")!.content = dark.value ? "#14171c" : "#ffffff";
});
effect(() => {
	document.title = `${place.value.view} · ${status.value?.host ?? "tacho"}`;
});
render(<App />, document.getElementById("app")!);
void connect();
