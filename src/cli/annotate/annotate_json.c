/*
 * `tacho annotate --json`, schema tacho.annotate/1: an object per function and event or group of events, in the array
 * that is open.
 *
 *	{ "symbol": "main", "object": "/usr/bin/w", "events": [ "cpu-clock:u" ], "samples": [ 12 ], "period": [ 12000 ],
 *	  "percent_type": "local period", "lines": [ { "address": "1139", "offset": 0, "text": "push   %rbp",
 *	  "bytes": "55", "file": "w.c", "line": 7,
 *	  "inlined": [ { "symbol": "inner", "file": "w.c", "line": 5 } ], "target": null, "samples": [ 1 ], "period": [ 1000 ],
 *	  "percent": [ 8.33 ] } ] }
 */
#include "cli/annotate/annotate_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void put_hex(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIx64, v);
	json_member(j, key, str, text);
}

static void put_bytes(struct json *j, const struct annotate *a, const struct annotate_line *l)
{
	char text[64 * 2 + 1] = "";
	uint64_t at = l->address - a->view.start;

	for (uint32_t i = 0; i < l->n_bytes && i < 64 && at + i < a->view.n_bytes; i++)
		snprintf(text + (size_t)i * 2, 3, "%02x", a->view.bytes[at + i]);
	json_member(j, "bytes", str, text);
}

static void put_sums(struct json *j, const struct annotate_sum *sums, size_t n)
{
	json_key(j, "samples");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++)
		json_u64(j, sums[i].samples);
	json_end(j);
	json_key(j, "period");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++)
		json_u64(j, sums[i].period);
	json_end(j);
}

/* The functions that are inlined there, innermost first, and where each is called. */
static void put_inlined(struct json *j, const struct annotate_line *l)
{
	json_key(j, "inlined");
	json_begin(j, '[');
	for (size_t i = 0; i < l->n_inlined; i++) {
		const struct annotate_inline *f = &l->inlined[i];

		json_begin(j, '{');
		json_member(j, "symbol", str, f->name);
		json_member(j, "file", str, f->file);
		if (f->file)
			json_member(j, "line", u64, f->line);
		else
			json_member(j, "line", str, NULL);
		json_end(j);
	}
	json_end(j);
}

static void put_line(struct json *j, const struct annotate_printed *p, size_t line)
{
	const struct annotate_line *l = &p->a->lines.v[line];

	json_begin(j, '{');
	put_hex(j, "address", l->address);
	json_member(j, "offset", u64, l->address - p->a->view.start);
	json_member(j, "text", str, l->text);
	put_bytes(j, p->a, l);
	json_member(j, "file", str, l->file);
	if (l->file)
		json_member(j, "line", u64, l->line);
	else
		json_member(j, "line", str, NULL);
	put_inlined(j, l);
	if (l->target)
		put_hex(j, "target", l->target);
	else
		json_member(j, "target", str, NULL);
	put_sums(j, annotate_sum(p->a, line, 0), p->a->n_events);
	json_key(j, "percent");
	json_begin(j, '[');
	for (size_t i = 0; i < p->a->n_events; i++)
		json_double(j, round(annotate_percent(p, line, i) * 1e6) / 1e6);
	json_end(j);
	json_end(j);
}

void annotate_json(const struct annotate_printed *p, struct json *j)
{
	json_begin(j, '{');
	json_member(j, "symbol", str, p->frame->code->name);
	json_member(j, "object", str, p->frame->code->object_path);
	json_key(j, "events");
	json_begin(j, '[');
	for (size_t i = 0; i < p->a->n_events; i++)
		json_str(j, tacho_profile_event(p->profile, p->events[i])->name);
	json_end(j);
	put_sums(j, p->a->totals, p->a->n_events);
	json_member(j, "percent_type", str, annotate_percent_type(p->style));
	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < p->a->lines.n; i++)
		put_line(j, p, i);
	json_end(j);
	json_end(j);
}
