/*
 * The picture: a lane per CPU and per task, spans as boxes. Names are to the left of a nested svg element that contains the
 * boxes and is scaled only in width, so that a small script can zoom into the time. Spans that are much smaller than a pixel
 * are merged, so that the size of the picture depends on its width, not on the number of events.
 */
#include "cli/timechart/timechart.h"

#include <inttypes.h>

#define LANE 20
#define BOX 14
#define NAMES_WIDTH 190
#define TOP 60
#define UNITS_PER_PIXEL 20		/* resolution of the boxes when zoomed in */
#define TICKS 10

static void put_xml(struct buf *out, const char *text)
{
	struct buf plain = { 0 };

	buf_text(&plain, str_of(text));
	if (buf_failed(&plain))
		out->bad = true;
	for (size_t i = 0; i < plain.n; i++)
		switch (plain.bytes[i]) {
		case '&': buf_puts(out, "&amp;"); break;
		case '<': buf_puts(out, "&lt;"); break;
		case '>': buf_puts(out, "&gt;"); break;
		case '"': buf_puts(out, "&quot;"); break;
		default: buf_putc(out, plain.bytes[i]);
		}
	buf_done(&plain);
}

static const char *const class_of[] = { "run", "wait", "blocked", "idle", "freq", "read", "write", "sync", "receive", "send", "poll" };
static const char *const what_of[] = { "runs", "waits for a CPU", "is blocked", "idle", "frequency", "reads", "writes", "syncs", "receives",
				       "sends", "polls" };

struct chart_box {			/* what is drawn next in a lane; spans that touch it are merged into it */
	uint64_t x, end, sum_ns;
	const struct chart_span *span;
	unsigned n;
};

static uint64_t position(const struct chart_model *m, uint64_t ns)
{
	uint64_t range = m->to_ns - m->from_ns, units = (uint64_t)m->o->width * UNITS_PER_PIXEL;

	ns = ns < m->from_ns ? 0 : min_of(ns, m->to_ns) - m->from_ns;
	return range ? (uint64_t)((double)ns / (double)range * (double)units) : 0;
}

static void put_io_title(const struct chart_model *m, const struct chart_span *s, struct buf *out)
{
	buf_puts(out, "<title>");
	put_xml(out, m->tasks.v[s->task].comm);
	buf_printf(out, ":%" PRIu32 " %s", m->tasks.v[s->task].id, what_of[s->kind]);
	if (s->fd >= 0)
		buf_printf(out, ", file %" PRId32, s->fd);
	if (s->error)
		buf_printf(out, ", error %" PRId32, s->error);
	else if (s->kind != TACHO_TIMECHART_SYNC && s->kind != TACHO_TIMECHART_POLL)
		buf_printf(out, ", %" PRIu64 " bytes", s->bytes);
	if (s->n_calls > 1)
		buf_printf(out, ", %" PRIu32 " calls", s->n_calls);
}

static void put_title(const struct chart_model *m, const struct chart_box *b, struct buf *out)
{
	const struct chart_span *s = b->span;

	if (b->n > 1)
		buf_printf(out, "<title>%u spans", b->n);
	else if (chart_is_io(s->kind))
		put_io_title(m, s, out);
	else if (s->kind == TACHO_TIMECHART_IDLE)
		buf_printf(out, "<title>idle state C%" PRIu32, s->value);
	else if (s->kind == TACHO_TIMECHART_FREQUENCY)
		buf_printf(out, "<title>%.2f GHz", (double)s->value / 1e6);
	else {
		buf_puts(out, "<title>");
		put_xml(out, m->tasks.v[s->task].comm);
		buf_printf(out, ":%" PRIu32 " %s, CPU %" PRIu32, m->tasks.v[s->task].id, what_of[s->kind], s->cpu);
	}
	buf_printf(out, ", %.3f ms at %.6f s</title>", (double)(chart_is_io(s->kind) && b->n == 1 ? s->call_ns : b->sum_ns) / 1e6, (double)s->from_ns / 1e9);
}

static bool goes_out(enum tacho_timechart_kind kind)
{
	return kind == TACHO_TIMECHART_WRITE || kind == TACHO_TIMECHART_SYNC || kind == TACHO_TIMECHART_SEND;
}

/* Incoming data is above the middle of the lane, outgoing data below; the more bytes, the higher. */
static unsigned height_of(const struct chart_model *m, const struct chart_span *s)
{
	const unsigned room = BOX / 2 - 2;

	if (s->kind == TACHO_TIMECHART_FREQUENCY)
		return 3;
	if (!chart_is_io(s->kind) || s->kind == TACHO_TIMECHART_POLL)
		return BOX;
	if (s->kind == TACHO_TIMECHART_SYNC || s->error || !m->max_bytes)
		return BOX / 2;
	return 2 + (unsigned)(room * (double)s->bytes / (double)m->max_bytes);
}

static void put_box(const struct chart_model *m, const struct chart_box *b, uint32_t lane, struct buf *out)
{
	const struct chart_span *s = b->span;
	bool is_marked = chart_of_task(s->kind) && m->tasks.v[s->task].is_highlighted;
	unsigned height = height_of(m, s), top = BOX - height;

	if (goes_out(s->kind))
		top = BOX / 2;
	else if (chart_is_io(s->kind) && s->kind != TACHO_TIMECHART_POLL)
		top = BOX / 2 - height;
	buf_printf(out, "<rect class=\"%s%s\" x=\"%" PRIu64 "\" y=\"%" PRIu32 "\" width=\"%" PRIu64 "\" height=\"%u\">",
		   s->error ? "error" : class_of[s->kind], is_marked ? " mark" : "", b->x, lane * LANE + 3 + top,
		   max_of(b->end - b->x, (uint64_t)1), height);
	put_title(m, b, out);
	buf_puts(out, "</rect>\n");
}

/* Adds a span to the pending box of its lane and kind, or draws that and begins another. */
static void add_span(const struct chart_model *m, struct chart_box *b, const struct chart_span *s, uint32_t lane, struct buf *out)
{
	uint64_t x = position(m, s->from_ns), end = position(m, s->to_ns);
	bool merge = b->span && s->kind != TACHO_TIMECHART_FREQUENCY && s->error == b->span->error && end <= x + 1 && x <= b->end + 1 && b->end <= b->x + UNITS_PER_PIXEL;

	if (merge) {
		b->end = max_of(b->end, end);
		b->sum_ns += s->to_ns - s->from_ns;
		b->n++;
		return;
	}
	if (b->span)
		put_box(m, b, lane, out);
	*b = (struct chart_box){ .x = x, .end = end, .sum_ns = s->to_ns - s->from_ns, .span = s, .n = 1 };
}

static const struct chart_row *lane_of(const struct chart_model *m, const struct chart_span *s, bool of_cpu)
{
	if (!of_cpu)
		return chart_of_task(s->kind) && m->tasks.v[s->task].is_shown ? &m->tasks.v[s->task] : NULL;
	if (chart_of_task(s->kind) && s->kind != TACHO_TIMECHART_RUN)
		return NULL;
	for (size_t i = 0; i < m->cpus.n; i++)
		if (m->cpus.v[i].id == s->cpu)
			return m->cpus.v[i].is_shown ? &m->cpus.v[i] : NULL;
	return NULL;
}

static void put_spans(const struct chart_model *m, bool of_cpu, struct buf *out)
{
	enum { KINDS = TACHO_TIMECHART_POLL + 1 };
	struct chart_box *boxes = calloc(max_of((size_t)m->n_lanes * KINDS, (size_t)1), sizeof(*boxes));

	if (!boxes) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < m->spans.n; i++) {
		const struct chart_span *s = &m->spans.v[i];
		const struct chart_row *row = lane_of(m, s, of_cpu);

		if (row)
			add_span(m, &boxes[(size_t)row->lane * KINDS + s->kind], s, row->lane, out);
	}
	for (size_t i = 0; i < (size_t)m->n_lanes * KINDS; i++)
		if (boxes[i].span)
			put_box(m, &boxes[i], (uint32_t)(i / KINDS), out);
	free(boxes);
}

static void put_names(const struct chart_model *m, struct buf *out)
{
	for (size_t i = 0; i < m->cpus.n; i++)
		if (m->cpus.v[i].is_shown)
			buf_printf(out, "<text x=\"4\" y=\"%u\">CPU %" PRIu32 "</text>\n", TOP + m->cpus.v[i].lane * LANE + BOX, m->cpus.v[i].id);
	for (size_t i = 0; i < m->tasks.n; i++) {
		const struct chart_row *t = &m->tasks.v[i];

		if (!t->is_shown)
			continue;
		buf_printf(out, "<text x=\"4\" y=\"%u\">", TOP + t->lane * LANE + BOX);
		put_xml(out, t->comm);
		if (m->has_io) {
			buf_printf(out, ":%" PRIu32 "<tspan class=\"small\"> %.1f kB</tspan></text>\n", t->id, (double)t->io_bytes / 1000);
			continue;
		}
		buf_printf(out, ":%" PRIu32 "<tspan class=\"small\"> %.2f ms</tspan><title>runs %.3f ms, waits for a CPU %.3f ms, is blocked %.3f "
			   "ms</title></text>\n", t->id, (double)t->run_ns / 1e6, (double)t->run_ns / 1e6, (double)t->wait_ns / 1e6,
			   (double)t->blocked_ns / 1e6);
	}
}

static void put_axis(const struct chart_model *m, struct buf *out)
{
	const double from = (double)m->from_ns / 1e9, range = (double)(m->to_ns - m->from_ns) / 1e9;

	for (unsigned i = 0; i <= TICKS; i++)
		buf_printf(out, "<text class=\"tick\" x=\"%u\" y=\"%u\">%.6f</text>\n", NAMES_WIDTH + m->o->width * i / TICKS, TOP - 6,
			   from + range * i / TICKS);
}

static const char style[] =
	"<style>text{font:12px sans-serif;fill:#222}.small,.tick{font-size:9px;fill:#666}.tick{text-anchor:middle}"
	".run{fill:#3b74c4}.wait{fill:#e6b422}.blocked{fill:#c0392b}.idle{fill:#dfe6dd}.freq{fill:#5b8c5a}.mark{fill:#8e44ad}"
	".read{fill:#3b74c4}.write{fill:#d35400}.sync{fill:#b7950b}.receive{fill:#16a085}.send{fill:#a569bd}"
	".poll{fill:#95a5a6;fill-opacity:.4}.error{fill:#c0392b}"
	"#chart{cursor:grab}</style>\n";

/* The wheel zooms at the pointer, dragging moves, a double click shows everything. */
static const char script[] =
	"<script><![CDATA[\n"
	"(function(){const c=document.getElementById('chart'),T=[...document.querySelectorAll('.tick')];\n"
	"const W=+c.dataset.units,H=+c.dataset.height,A=+c.dataset.from,B=+c.dataset.to;let x=0,w=W,drag=null;\n"
	"function show(){w=Math.min(W,Math.max(w,2));x=Math.max(0,Math.min(x,W-w));\n"
	"c.setAttribute('viewBox',x+' 0 '+w+' '+H);\n"
	"T.forEach((t,i)=>{t.textContent=(A+(B-A)*(x+w*i/(T.length-1))/W).toFixed(6)})}\n"
	"function at(e){const r=c.getBoundingClientRect();return r.width?(e.clientX-r.left)/r.width:0}\n"
	"c.addEventListener('wheel',e=>{e.preventDefault();const p=at(e),f=e.deltaY<0?.8:1.25,n=Math.min(W,Math.max(2,w*f));x+=p*(w-n);w=n;show()},{passive:false});\n"
	"c.addEventListener('mousedown',e=>{drag={p:at(e),x:x};e.preventDefault()});\n"
	"window.addEventListener('mousemove',e=>{if(drag){x=drag.x-(at(e)-drag.p)*w;show()}});\n"
	"window.addEventListener('mouseup',()=>{drag=null});\n"
	"c.addEventListener('dblclick',()=>{x=0;w=W;show()});})();\n"
	"]]></script>\n";

void timechart_draw(const struct chart_model *m, struct buf *out)
{
	unsigned height = m->n_lanes * LANE, width = NAMES_WIDTH + m->o->width + 40;
	uint64_t units = (uint64_t)m->o->width * UNITS_PER_PIXEL;

	buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n");
	buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\">\n", width, TOP + height + 20);
	buf_puts(out, style);
	buf_printf(out, "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", width, TOP + height + 20);
	buf_printf(out, "<text x=\"4\" y=\"18\">%s. Wheel: zoom, drag: move, double click: all.</text>\n", m->has_io ?
		   "Above: blue reads, green receives; below: orange writes, yellow syncs, violet sends; grey: polls; red: errors" :
		   "Blue: runs; yellow: waits for a CPU; red: blocked; grey: idle");
	put_axis(m, out);
	put_names(m, out);
	buf_printf(out, "<svg id=\"chart\" x=\"%u\" y=\"%u\" width=\"%" PRIu32 "\" height=\"%u\" viewBox=\"0 0 %" PRIu64 " %u\" "
		   "preserveAspectRatio=\"none\" data-units=\"%" PRIu64 "\" data-height=\"%u\" data-from=\"%.9f\" data-to=\"%.9f\">\n",
		   NAMES_WIDTH, TOP, m->o->width, max_of(height, 1u), units, max_of(height, 1u), units, height, (double)m->from_ns / 1e9,
		   (double)m->to_ns / 1e9);
	buf_printf(out, "<rect width=\"%" PRIu64 "\" height=\"%u\" fill=\"#f7f7f7\"/>\n", units, height);
	put_spans(m, true, out);
	put_spans(m, false, out);
	buf_puts(out, "</svg>\n");
	buf_puts(out, script);
	buf_puts(out, "</svg>\n");
}
