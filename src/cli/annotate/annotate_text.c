/*
 * Prints a function as text: --stdio, with source lines and addresses, and --stdio2, which is shorter and has labels
 * at the targets of jumps.
 */
#include "cli/annotate/annotate_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SUMMARY_MIN 0.5			/* per cent: instructions below are not in the summary of source lines */

void annotate_event_names(const struct tacho_profile *p, const uint32_t *events, size_t n, struct buf *out)
{
	bool grouped = n > 1 && tacho_profile_event(p, events[1])->leader == events[0];

	buf_puts(out, grouped ? "anon group { " : "");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", tacho_profile_event(p, events[i])->name);
	buf_puts(out, grouped ? " }" : "");
}

const char *annotate_percent_type(const struct annotate_style *s)
{
	return s->global ? s->hits ? "global hits" : "global period" : s->hits ? "local hits" : "local period";
}

double annotate_percent(const struct annotate_printed *p, size_t line, size_t event)
{
	const struct tacho_profile_event *ev = tacho_profile_event(p->profile, p->events[event]);
	const struct annotate_sum *sum = annotate_sum(p->a, line, event), *local = &p->a->totals[event];
	uint64_t part = p->style->hits ? sum->samples : sum->period, all;

	if (p->style->global)
		all = p->style->hits ? ev->samples : ev->period;
	else
		all = p->style->hits ? local->samples : local->period;
	return all ? 100.0 * (double)part / (double)all : 0;
}

static size_t value_width(const struct annotate_style *s)
{
	return s->value == ANNOTATE_PERIOD ? 12 : 8;
}

static void put_value(const struct annotate_printed *p, size_t line, size_t event, struct buf *out)
{
	const struct annotate_sum *sum = annotate_sum(p->a, line, event);

	if (p->style->value == ANNOTATE_PERCENT)
		buf_printf(out, "%8.2f", annotate_percent(p, line, event));
	else if (p->style->value == ANNOTATE_SAMPLES)
		buf_printf(out, "%8" PRIu64, sum->samples);
	else
		buf_printf(out, "%12" PRIu64, sum->period);
}

static const char *value_title(const struct annotate_style *s)
{
	static const char *const titles[] = { "Percent", "Samples", "Period" };

	return titles[s->value];
}

static void put_object(const struct annotate_printed *p, struct buf *out)
{
	const struct tacho_profile_code *code = p->frame->code;

	buf_puts(out, p->style->full_paths ? code->object_path : code->object_name);
}

/* ---- source lines of -l ---- */

static void put_place(const struct annotate_printed *p, const struct annotate_line *l, struct buf *out)
{
	const char *slash = strrchr(l->file, '/');

	buf_printf(out, "%s:%" PRIu32, p->style->full_paths || !slash ? l->file : slash + 1, l->line);
}

static double hottest_percent(const struct annotate_printed *p, size_t line)
{
	double most = 0;

	for (size_t i = 0; i < p->a->n_events; i++)
		most = fmax(most, annotate_percent(p, line, i));
	return most;
}

static bool is_summarized(const struct annotate_printed *p, size_t line)
{
	return p->a->lines.v[line].file && hottest_percent(p, line) > SUMMARY_MIN;
}

struct line_sum {
	const struct annotate_line *at;
	double percent[TACHO_REPORT_EVENTS_MAX];
};
struct line_sums {
	struct line_sum *v;
	size_t n, cap;
};

static struct line_sum *sum_of(struct line_sums *sums, const struct annotate_line *l)
{
	struct line_sum *s;

	for (size_t i = 0; i < sums->n; i++)
		if (sums->v[i].at->file == l->file && sums->v[i].at->line == l->line)
			return &sums->v[i];
	s = vec_add(sums);
	if (s)
		s->at = l;
	return s;
}

/* As perf: lines of equal shares in the reverse order of their texts. */
static int by_percent(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;
	char place_x[24], place_y[24];
	int file = strcmp(y->at->file, x->at->file);

	if (x->percent[0] < y->percent[0] || x->percent[0] > y->percent[0])
		return x->percent[0] > y->percent[0] ? -1 : 1;
	snprintf(place_x, sizeof(place_x), "%" PRIu32, x->at->line);
	snprintf(place_y, sizeof(place_y), "%" PRIu32, y->at->line);
	return file ? file : strcmp(place_y, place_x);
}

static void put_summary(const struct annotate_printed *p, struct buf *out)
{
	struct line_sums sums = { 0 };

	for (size_t i = 0; i < p->a->lines.n; i++) {
		struct line_sum *s = is_summarized(p, i) ? sum_of(&sums, &p->a->lines.v[i]) : NULL;

		for (size_t k = 0; s && k < p->a->n_events; k++)
			s->percent[k] += annotate_percent(p, i, k);
	}
	buf_printf(out, "\nSorted summary for file %s\n----------------------------------------------\n\n",
		   p->frame->code->object_path);
	if (sums.n)
		qsort(sums.v, sums.n, sizeof(*sums.v), by_percent);
	else
		buf_printf(out, " Nothing higher than %.1f%%\n", SUMMARY_MIN);
	for (size_t i = 0; i < sums.n; i++) {
		for (size_t k = 0; k < p->a->n_events; k++)
			buf_printf(out, " %7.2f", sums.v[i].percent[k]);
		buf_putc(out, ' ');
		put_place(p, sums.v[i].at, out);
		buf_putc(out, '\n');
	}
	vec_done(&sums);
}

/* ---- --stdio ---- */

static void put_bytes(const struct annotate *a, const struct annotate_line *l, struct buf *out)
{
	uint64_t at = l->address - a->view.start;

	for (uint32_t i = 0; i < max_of(l->n_bytes, 7u); i++)
		if (i < l->n_bytes && at + i < a->view.n_bytes)
			buf_printf(out, "%02x ", a->view.bytes[at + i]);
		else
			buf_puts(out, "   ");
	buf_puts(out, "   ");
}

static void put_title(const struct annotate_printed *p, struct buf *out)
{
	size_t width = value_width(p->style) * p->a->n_events, from = out->n;

	buf_printf(out, " %-*s|\tSource code & Disassembly of ", (int)width, value_title(p->style));
	put_object(p, out);
	buf_puts(out, " for ");
	annotate_event_names(p->profile, p->events, p->a->n_events, out);
	buf_printf(out, " (%" PRIu64 " samples, percent: %s)\n", p->a->totals[0].samples, annotate_percent_type(p->style));
	buf_pad(out, '-', out->n - from + 4);
	buf_putc(out, '\n');
}

static void put_addresses(const struct annotate_printed *p, struct buf *out)
{
	uint64_t all = 0;

	for (size_t i = 0; i < p->a->lines.n; i++) {
		const struct annotate_sum *sum = annotate_sum(p->a, i, 0);

		if (sum->samples)
			buf_printf(out, "%*" PRIx64 ": %" PRIu64 "\n", 32, p->a->lines.v[i].address, sum->samples);
		all += sum->samples;
	}
	buf_printf(out, "%*s: %" PRIu64 "\n", 32, "h->nr_samples", all);
}

static void put_insn(const struct annotate_printed *p, size_t line, struct buf *out)
{
	const struct annotate_line *l = &p->a->lines.v[line];
	int digits = snprintf(NULL, 0, "%" PRIx64, p->a->view.start + p->a->view.n_bytes);

	for (size_t i = 0; i < p->a->n_events; i++)
		put_value(p, line, i, out);
	buf_printf(out, " :   %*" PRIx64 ":   ", digits, l->address);
	if (p->style->raw_bytes)
		put_bytes(p->a, l, out);
	buf_puts(out, l->text);
}

static void put_source(const struct annotate_printed *p, const struct annotate_row *row, struct buf *out)
{
	struct str text = str_trim(str_of(row->source));

	buf_pad(out, ' ', value_width(p->style) * p->a->n_events + 1);
	buf_putc(out, ':');
	if (text.n && row->number)
		buf_printf(out, " %-4" PRIu32 " %.*s", row->number, STR(text));
	else if (text.n)
		buf_printf(out, " %.*s", STR(text));
	buf_putc(out, '\n');
}

void annotate_text(const struct annotate_printed *p, struct buf *out)
{
	const struct annotate_line *before = NULL;

	if (p->style->summary)
		put_summary(p, out);
	put_title(p, out);
	if (p->style->addresses)
		put_addresses(p, out);
	buf_pad(out, ' ', value_width(p->style) * p->a->n_events + 1);
	buf_printf(out, ":      %016" PRIx64 " <%s>:\n", p->a->view.start, p->frame->code->name);
	for (size_t i = 0; i < p->rows->n; i++) {
		const struct annotate_row *row = &p->rows->v[i];
		const struct annotate_line *l = &p->a->lines.v[row->line];

		if (row->source) {
			put_source(p, row, out);
			continue;
		}
		put_insn(p, row->line, out);
		if (p->style->summary && is_summarized(p, row->line) &&
		    (!before || before->file != l->file || before->line != l->line)) {
			buf_puts(out, " // ");
			put_place(p, l, out);
			before = l;
		}
		buf_putc(out, '\n');
	}
}

/* ---- --stdio2 ---- */

struct compact {
	const struct annotate_printed *p;
	bool *is_target;		/* of each instruction */
	int label_width;		/* digits */
	size_t name_width;		/* of the longest name of an instruction */
};

static size_t jump_target(const struct annotate *a, size_t line)
{
	const struct annotate_line *l = &a->lines.v[line];

	return l->flow == FLOW_JUMP && l->target ? annotate_at(a, l->target) : SIZE_MAX;
}

static const char *arrow(const struct annotate *a, size_t line)
{
	const struct annotate_line *l = &a->lines.v[line];
	size_t target = jump_target(a, line);

	if (l->flow == FLOW_CALL || (l->flow == FLOW_JUMP && l->target && target == SIZE_MAX))
		return "→";
	if (l->flow == FLOW_RETURN)
		return "←";
	return target == SIZE_MAX ? " " : target > line ? "↓" : "↑";
}

static void put_compact_values(const struct compact *c, size_t line, bool first, struct buf *out)
{
	const struct annotate_style *s = c->p->style;
	size_t n = c->p->a->n_events, width = s->value == ANNOTATE_PERIOD ? 11 : 7, from = out->n;
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= annotate_sum(c->p->a, line, i)->samples > 0;
	if (first && !any)
		buf_puts(out, value_title(s));
	for (size_t i = 0; i < n && any; i++) {
		const struct annotate_sum *sum = annotate_sum(c->p->a, line, i);

		buf_puts(out, i ? " " : "");
		if (!sum->samples)
			buf_pad(out, ' ', width);
		else if (s->value == ANNOTATE_PERCENT)
			buf_printf(out, "%*.2f", (int)width, annotate_percent(c->p, line, i));
		else
			buf_printf(out, "%*" PRIu64, (int)width, s->value == ANNOTATE_SAMPLES ? sum->samples : sum->period);
	}
	if (out->n - from < n * (width + 1) - 1)
		buf_pad(out, ' ', n * (width + 1) - 1 - (out->n - from));
}

static void put_compact_line(const struct compact *c, size_t line, struct buf *out)
{
	const struct annotate *a = c->p->a;
	const struct annotate_line *l = &a->lines.v[line];
	size_t name = strcspn(l->text, " "), target = jump_target(a, line);
	const char *operands = l->text + name + strspn(l->text + name, " ");

	put_compact_values(c, line, line == 0, out);
	if (c->is_target[line])
		buf_printf(out, "  %*" PRIx64 ":", c->label_width, l->address - a->view.start);
	else
		buf_pad(out, ' ', (size_t)c->label_width + 3);
	buf_printf(out, " %s ", arrow(a, line));
	if (c->p->style->raw_bytes) {
		put_bytes(a, l, out);
		buf_puts(out, l->text);
	} else {
		buf_put(out, l->text, name);
		if (target != SIZE_MAX)
			buf_printf(out, "%*s%" PRIx64, (int)(c->name_width - name + 1), "", l->target - a->view.start);
		else if (*operands)
			buf_printf(out, "%*s%s", (int)(c->name_width - name + 1), "", operands);
	}
	buf_putc(out, '\n');
}

static void put_compact_title(const struct annotate_printed *p, struct buf *out)
{
	uint64_t samples = 0, period = 0;

	for (size_t i = 0; i < p->a->n_events; i++) {
		samples += tacho_profile_event(p->profile, p->events[i])->samples;
		period += tacho_profile_event(p->profile, p->events[i])->period;
	}
	buf_printf(out, "Samples: %" PRIu64 "  of event%s '", samples, p->a->n_events > 1 ? "s" : "");
	annotate_event_names(p->profile, p->events, p->a->n_events, out);
	buf_puts(out, "', ");
	if (p->frequency)
		buf_printf(out, "%" PRIu64 " Hz, ", p->frequency);
	buf_printf(out, "Event count (approx.): %" PRIu64 ", [percent: %s]\n%s() %s\n", period,
		   annotate_percent_type(p->style), p->frame->code->name, p->frame->code->object_path);
}

void annotate_compact_text(const struct annotate_printed *p, struct buf *out)
{
	const struct annotate *a = p->a;
	struct compact c = { .p = p, .is_target = calloc(a->lines.n, sizeof(bool)) };

	if (!c.is_target) {
		out->bad = true;
		return;
	}
	if (p->style->summary)
		put_summary(p, out);
	put_compact_title(p, out);
	c.label_width = snprintf(NULL, 0, "%" PRIx64, (uint64_t)a->view.n_bytes);
	for (size_t i = 0; i < a->lines.n; i++) {
		size_t target = jump_target(a, i);

		if (target != SIZE_MAX)
			c.is_target[target] = true;
		c.name_width = max_of(c.name_width, strcspn(a->lines.v[i].text, " "));
	}
	for (size_t i = 0; i < a->lines.n; i++)
		put_compact_line(&c, i, out);
	free(c.is_target);
}
