/*
 * The table as JSON, schema tacho.report/1:
 *
 *	{ "schema": "tacho.report/1", "file": "perf.data", "quality": { ... },
 *	  "events": [ { "name": "cpu-clock", "samples": 1971, "period": 394278840,
 *	                "entries": [ { "comm": "w", "dso": "w", "symbol": "main", "space": "user",
 *	                               "self_percent": 0.0, "children_percent": 95.08,
 *	                               "samples": 0, "period": 0, "children_period": 374883 } ] } ] }
 *
 * An entry has its sort keys, and values; with a group of events each value is an array, in the
 * order of "members".
 */
#include "cli/report/report.h"

#include <math.h>

#include "cli/report/table.h"

static const char *const spaces[] = { "unknown", "kernel", "user", "hypervisor", "guest-kernel",
				      "guest-user" };

void report_json_begin(struct json *j, const char *input, const struct tacho_profile *p)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };

	tacho_profile_quality(p, &q);
	json_begin(j, '{');
	json_member(j, "schema", str, "tacho.report/1");
	json_member(j, "file", str, input);
	json_key(j, "quality");
	json_begin(j, '{');
	json_member(j, "samples", u64, q.samples);
	json_member(j, "lost", u64, q.lost);
	json_member(j, "throttled", u64, q.throttled);
	json_member(j, "broken_stacks", u64, q.broken_stacks);
	json_member(j, "unresolved", u64, q.unresolved);
	json_member(j, "raw_stacks", u64, q.raw_stacks);
	json_member(j, "bad_records", u64, q.bad_records);
	json_member(j, "first_s", double, q.first_s);
	json_member(j, "last_s", double, q.last_s);
	json_end(j);
	json_key(j, "events");
	json_begin(j, '[');
}

void report_json_end(struct json *j)
{
	json_end(j);
	json_end(j);
	buf_putc(j->out, '\n');
}

/* Two decimals, as the text shows it, would lose small ones: four significant places more. */
static double rounded(double percent)
{
	return round(percent * 1e6) / 1e6;
}

static void put_value(struct json *j, const struct hist *h, const struct hist_entry *e, size_t event,
		      const char *name)
{
	const struct hist_stat *s = hist_stat_of(h, e, event);

	if (strcmp(name, "self_percent") == 0)
		json_double(j, rounded(hist_percent(h, s->self, event)));
	else if (strcmp(name, "children_percent") == 0)
		json_double(j, rounded(hist_percent(h, s->acc, event)));
	else if (strcmp(name, "samples") == 0)
		json_u64(j, hist_value(h, e, COL_SAMPLES, event));
	else
		json_u64(j, strcmp(name, "period") == 0 ? s->self : s->acc);
}

/* Shares of what is not a period: in the kernel, in user space, of latency. */
static void put_shares(struct json *j, const struct hist *h, const struct hist_entry *e)
{
	static const struct { enum hist_column c; const char *name; } shares[] = {
		{ COL_SYS, "sys_percent" }, { COL_US, "us_percent" }, { COL_GUEST_SYS, "guest_sys_percent" },
		{ COL_GUEST_US, "guest_us_percent" }, { COL_LATENCY, "latency_percent" },
		{ COL_LATENCY_CHILDREN, "latency_children_percent" },
	};

	for (size_t i = 0; i < countof(shares); i++) {
		if (!(shares[i].c >= COL_LATENCY ? h->opts->latency : h->opts->modes))
			continue;
		json_key(j, shares[i].name);
		if (h->n_events > 1)
			json_begin(j, '[');
		for (size_t k = 0; k < h->n_events; k++)
			json_double(j, rounded(hist_share(h, e, shares[i].c, k)));
		if (h->n_events > 1)
			json_end(j);
	}
}

static void put_values(struct json *j, const struct hist *h, const struct hist_entry *e,
		       const char *name)
{
	json_key(j, name);
	if (h->n_events > 1)
		json_begin(j, '[');
	for (size_t i = 0; i < h->n_events; i++)
		put_value(j, h, e, i, name);
	if (h->n_events > 1)
		json_end(j);
}

static void put_symbol(struct json *j, const struct tacho_profile_frame *f)
{
	json_member(j, "symbol", str, f && f->known ? f->code->name : NULL);
	if (f && !f->known)
		json_member(j, "address", u64, f->offset);
	json_member(j, "space", str, spaces[f && (size_t)f->space < countof(spaces) ? f->space : 0]);
}

static void put_symbol_offset(struct json *j, const struct hist *h, const struct tacho_profile_frame *f)
{
	if (!h->opts->has_key[COL_SYMBOL])
		put_symbol(j, f);
	if (f && f->known)
		json_member(j, "symoff", u64, f->offset);
}

static void put_key(struct json *j, const struct hist *h, const struct hist_entry *e,
		    enum hist_column key, struct buf *text)
{
	const struct hist_group *g = &h->groups.v[e->group];

	switch (key) {
	case COL_SYMBOL:
		put_symbol(j, tacho_profile_frame(h->profile, e->frame));
		return;
	case COL_SYMBOL_OFFSET:
		put_symbol_offset(j, h, tacho_profile_frame(h->profile, e->frame));
		return;
	case COL_PID:
	case COL_TGID:
	case COL_TID:
	case COL_CPU:
	case COL_CGROUP_ID:
		json_member(j, key == COL_PID ? "tid" : key == COL_TGID ? "pid" : hist_column_name(key), i64,
			    (int64_t)g->v[hist_key_index(h, key)]);
		return;
	default:
		buf_clear(text);
		hist_key_text(h, e, key, text);
		json_key(j, hist_column_name(key));
		json_strn(j, buf_view(text));
	}
}

static void put_entry(struct json *j, const struct hist *h, const struct hist_entry *e,
		      struct buf *text)
{
	json_begin(j, '{');
	for (size_t i = 0; i < h->opts->n_keys; i++)
		if (h->opts->keys[i] >= COL_FIRST_KEY)
			put_key(j, h, e, h->opts->keys[i], text);
	put_values(j, h, e, "self_percent");
	put_values(j, h, e, "samples");
	put_values(j, h, e, "period");
	if (h->opts->children) {
		put_values(j, h, e, "children_percent");
		put_values(j, h, e, "children_period");
	}
	put_shares(j, h, e);
	json_end(j);
}

int hist_json(struct hist *h, struct json *j)
{
	struct buf text = { 0 };

	json_begin(j, '{');
	json_member(j, "name", str, tacho_profile_event(h->profile, h->events[0])->name);
	if (h->n_events > 1) {
		json_key(j, "members");
		json_begin(j, '[');
		for (size_t i = 0; i < h->n_events; i++)
			json_str(j, tacho_profile_event(h->profile, h->events[i])->name);
		json_end(j);
	}
	json_member(j, "samples", u64, h->samples);
	json_member(j, "period", u64, h->period);
	json_key(j, "entries");
	json_begin(j, '[');
	for (size_t k = 0; k < h->n_order; k++) {
		const struct hist_entry *e = &h->entries.v[h->order[k]];

		if (hist_is_listed(h, e))
			put_entry(j, h, e, &text);
	}
	json_end(j);
	json_end(j);
	buf_done(&text);
	return 0;
}
