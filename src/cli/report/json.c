/*
 * The table as JSON, schema tacho.report/1:
 *
 *	{ "schema": "tacho.report/1", "file": "perf.data", "quality": { ... },
 *	  "events": [ { "name": "cpu-clock", "samples": 1971, "period": 394278840,
 *	                "entries": [ { "comm": "w", "dso": "w", "symbol": "main", "space": "user",
 *	                               "self_percent": 0.0, "children_percent": 95.08,
 *	                               "samples": 0, "period": 0, "children_period": 374883 } ] } ] }
 *
 * An entry has its sort keys and its values. With a group of events each value is an array, in the order of
 * "members".
 */
#include "cli/report/table.h"

#include <math.h>

static const char *const spaces[] = { "unknown", "kernel", "user", "hypervisor", "guest-kernel",
				      "guest-user" };

void report_json_begin(struct json *j, const char *input, const struct tacho_profile *p)
{
	scoped(freep) char *quality = tacho_profile_quality_json(p);

	json_begin(j, '{');
	json_member(j, "schema", str, "tacho.report/1");
	json_member(j, "file", str, input);
	json_member(j, "quality", raw, quality);
	json_key(j, "events");
	json_begin(j, '[');
}

void report_json_end(struct json *j)
{
	json_end(j);
	json_end(j);
	buf_putc(j->out, '\n');
}

/* Four decimals more than the text has: small shares are not lost. */
static double rounded(double percent)
{
	return round(percent * 1e6) / 1e6;
}

static void put_value(struct json *j, const struct tacho_report *r, const struct tacho_report_entry *e, size_t event,
		      const char *name)
{
	const struct tacho_report_sums *s = tacho_report_sums(r, e, event);

	if (strcmp(name, "self_percent") == 0)
		json_double(j, rounded(percent_of_period(r, s->self, event)));
	else if (strcmp(name, "children_percent") == 0)
		json_double(j, rounded(percent_of_period(r, s->children, event)));
	else if (strcmp(name, "samples") == 0)
		json_u64(j, tacho_report_value(r, e, tacho_report_column(TACHO_COLUMN_SAMPLES), event));
	else
		json_u64(j, strcmp(name, "period") == 0 ? s->self : s->children);
}

/* Shares of values other than periods: in the kernel, in user space, of latency. */
static void put_shares(struct json *j, const struct tacho_report *r, const struct report_view *view,
		       const struct tacho_report_entry *e)
{
	static const struct { enum tacho_report_column_id id; const char *name; } shares[] = {
		{ TACHO_COLUMN_SYS, "sys_percent" }, { TACHO_COLUMN_USER, "us_percent" },
		{ TACHO_COLUMN_GUEST_SYS, "guest_sys_percent" }, { TACHO_COLUMN_GUEST_USER, "guest_us_percent" },
		{ TACHO_COLUMN_LATENCY, "latency_percent" },
		{ TACHO_COLUMN_LATENCY_CHILDREN, "latency_children_percent" },
	};

	for (size_t i = 0; i < countof(shares); i++) {
		const struct tacho_report_column *c = tacho_report_column(shares[i].id);

		if (!(shares[i].id >= TACHO_COLUMN_LATENCY ? view->latencies : view->modes))
			continue;
		json_key(j, shares[i].name);
		if (r->n_events > 1)
			json_begin(j, '[');
		for (size_t k = 0; k < r->n_events; k++)
			json_double(j, rounded(tacho_report_percent(r, tacho_report_value(r, e, c, k), c, k)));
		if (r->n_events > 1)
			json_end(j);
	}
}

static void put_averages(struct json *j, const struct tacho_report *r, const struct tacho_report_entry *e)
{
	for (size_t i = 0; i < r->opts->n_keys; i++) {
		const struct tacho_report_column *c = r->opts->keys[i];

		if (!c->average)
			continue;
		json_key(j, c->name);
		if (r->n_events > 1)
			json_begin(j, '[');
		for (size_t k = 0; k < r->n_events; k++)
			json_double(j, (double)tacho_report_value(r, e, c, k) / 1000);
		if (r->n_events > 1)
			json_end(j);
	}
}

static void put_values(struct json *j, const struct tacho_report *r, const struct tacho_report_entry *e,
		       const char *name)
{
	json_key(j, name);
	if (r->n_events > 1)
		json_begin(j, '[');
	for (size_t i = 0; i < r->n_events; i++)
		put_value(j, r, e, i, name);
	if (r->n_events > 1)
		json_end(j);
}

static void put_symbol(struct json *j, const struct tacho_profile_frame *f)
{
	json_member(j, "symbol", str, f && f->known ? f->code->name : NULL);
	if (f && f->inlined)
		json_member(j, "inlined", bool, true);
	if (f && !f->known)
		json_member(j, "address", u64, f->offset);
	json_member(j, "space", str, spaces[f && (size_t)f->space < countof(spaces) ? f->space : 0]);
}

static void put_symbol_offset(struct json *j, const struct tacho_report *r, const struct tacho_profile_frame *f)
{
	if (!tacho_report_has_key(r, TACHO_COLUMN_SYMBOL))
		put_symbol(j, f);
	if (f && f->known)
		json_member(j, "symoff", u64, f->offset);
}

static void put_key(struct json *j, const struct tacho_report *r, const struct tacho_report_entry *e,
		    const struct tacho_report_column *c, struct buf *text)
{
	switch (c->id) {
	case TACHO_COLUMN_SYMBOL:
		put_symbol(j, tacho_profile_frame(r->profile, e->frame));
		return;
	case TACHO_COLUMN_SYMBOL_OFFSET:
		put_symbol_offset(j, r, tacho_profile_frame(r->profile, e->frame));
		return;
	case TACHO_COLUMN_PID:
	case TACHO_COLUMN_TGID:
	case TACHO_COLUMN_TID:
	case TACHO_COLUMN_CPU:
	case TACHO_COLUMN_CGROUP_ID:
		json_member(j, c->id == TACHO_COLUMN_PID ? "tid" : c->id == TACHO_COLUMN_TGID ? "pid" : c->name, i64,
			    (int64_t)tacho_report_key_value(r, e, c));
		return;
	default:
		buf_clear(text);
		table_key_text(r, e, c, text);
		j->out->bad |= buf_failed(text);
		json_key(j, c->name);
		json_strn(j, buf_view(text));
	}
}

static void put_entry(struct json *j, const struct tacho_report *r, const struct report_view *view,
		      const struct tacho_report_entry *e, struct buf *text)
{
	json_begin(j, '{');
	for (size_t i = 0; i < r->opts->n_keys; i++)
		if (!is_value(r->opts->keys[i]))
			put_key(j, r, e, r->opts->keys[i], text);
	put_values(j, r, e, "self_percent");
	put_values(j, r, e, "samples");
	put_values(j, r, e, "period");
	if (r->opts->children) {
		put_values(j, r, e, "children_percent");
		put_values(j, r, e, "children_period");
	}
	put_shares(j, r, view, e);
	put_averages(j, r, e);
	json_end(j);
}

void table_json(const struct tacho_report *r, const struct report_view *view, struct json *j)
{
	struct buf text = { 0 };

	json_begin(j, '{');
	json_member(j, "name", str, tacho_profile_event(r->profile, r->events[0])->name);
	if (r->n_events > 1) {
		json_key(j, "members");
		json_begin(j, '[');
		for (size_t i = 0; i < r->n_events; i++)
			json_str(j, tacho_profile_event(r->profile, r->events[i])->name);
		json_end(j);
	}
	json_member(j, "samples", u64, r->samples);
	json_member(j, "period", u64, r->period);
	json_key(j, "entries");
	json_begin(j, '[');
	for (size_t k = 0; k < r->n_order; k++) {
		const struct tacho_report_entry *e = &r->entries[r->order[k]];

		if (table_lists(r, view, e))
			put_entry(j, r, view, e, &text);
	}
	json_end(j);
	json_end(j);
	buf_done(&text);
}
