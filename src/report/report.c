/*
 * Reports as callers see them: how they are made and freed, and the shares of their entries.
 */
#include "report/report.h"

#include <errno.h>

#include "base/error.h"
#include "base/sized_opts.h"
#include "report/columns.h"

static void report_free(struct report *r)
{
	if (!r)
		return;
	if (r->has_parent)
		regfree(&r->parent);
	free(r->parent_match);
	vec_done(&r->groups);
	vec_done(&r->entries);
	vec_done(&r->others);
	for (size_t i = 0; i < r->n_value_sums; i++)
		vec_done(&r->value_sums[i].sums);
	map_done(&r->text_ids);
	vec_done(&r->texts);
	arena_done(&r->text_arena);
	vec_done(&r->copied_nodes);
	free(r->node_sums);
	free(r->next_node);
	free(r->node_flags);
	free(r->node_samples);
	free(r->node_latency);
	free(r->first_object);
	free(r->callgraph_frame);
	free(r->class_of);
	free(r->order);
	free(r->order_frames);
	free(r->repeats);
	free(r);
}

static void report_freep(struct report **r)
{
	report_free(*r);
}

void tacho_report_free(struct tacho_report *r)
{
	report_free(report_of(r));
}

/* ---- making ---- */

uint64_t text_intern(struct report *r, struct str text)
{
	const uint64_t *known = map_get(&r->text_ids, text);
	const char **slot;
	char *copy;

	if (known)
		return *known;
	copy = arena_str(&r->text_arena, text);
	slot = copy ? vec_next(&r->texts) : NULL;
	if (!slot || map_put(&r->text_ids, str_n(copy, text.n), r->texts.n) < 0) {
		r->out_of_memory = true;
		return 0;
	}
	*slot = copy;
	return r->texts.n;
}

static void add_value_sums(struct report *r, const struct column *c)
{
	for (size_t i = 0; i < r->n_value_sums; i++)
		if (r->value_sums[i].column == c)
			return;
	if (is_value(c) && !c->numbers && r->n_value_sums < countof(r->value_sums))
		r->value_sums[r->n_value_sums++].column = c;
	if (c->pub.average)
		add_value_sums(r, column_by_id(TACHO_COLUMN_SAMPLES));
}

/* The value columns that need sums of their own. Keys of details may print numbers times samples. */
static void find_value_sums(struct report *r)
{
	const struct tacho_report_opts *o = &r->opts;

	for (size_t i = 0; i < o->n_values; i++)
		add_value_sums(r, column_of(o->values[i]));
	for (size_t i = 0; i < o->n_keys; i++) {
		enum tacho_report_kind kind = o->keys[i]->kind;

		add_value_sums(r, key_at(r, i));
		if (kind >= TACHO_REPORT_DETAIL_KEY && kind <= TACHO_REPORT_FIELD_KEY)
			add_value_sums(r, column_by_id(TACHO_COLUMN_SAMPLES));
	}
}

static void find_totals(struct report *r, const uint32_t *events)
{
	struct tacho_report *pub = &r->pub;

	for (size_t i = 0; i < r->n_events; i++) {
		const struct tacho_profile_event *ev = tacho_profile_event(r->profile, events[i]);
		bool relative = r->opts.relative;

		pub->events[i] = events[i];
		pub->total_latency[i] = relative ? ev->latency : ev->all_latency;
		pub->totals[i] = relative ? ev->period : ev->all_period;
		pub->samples += relative ? ev->samples : ev->all_samples;
		pub->period += pub->totals[i];
		if (i == 0)
			pub->total_samples = pub->samples;
	}
}

/* Which symbols are listed is decided here, not by the profile's filters: 100 % is what is listed. */
static void find_listed_totals(struct report *r)
{
	const struct column *latency = column_by_id(TACHO_COLUMN_LATENCY);
	struct tacho_report *pub = &r->pub;

	pub->period = 0;
	for (size_t i = 0; i < r->n_events; i++) {
		pub->totals[i] = pub->total_latency[i] = 0;
		for (size_t k = 0; k < r->n_order; k++) {
			const struct tacho_report_entry *e = &r->entries.v[r->order[k]];

			pub->totals[i] += report_sums(r, e, i)->self;
			pub->total_latency[i] += report_value(r, e, latency, i);
		}
		pub->period += pub->totals[i];
	}
}

static void publish(struct report *r)
{
	struct tacho_report *pub = &r->pub;

	pub->profile = r->profile;
	pub->opts = &r->opts;
	pub->n_events = r->n_events;
	pub->entries = r->entries.v;
	pub->n_entries = r->entries.n;
	pub->order = r->order;
	pub->n_order = r->n_order;
	pub->order_frames = r->order_frames;
	pub->repeats = r->repeats;
}

static int compile_parent(struct report *r, struct tacho_error *e)
{
	if (!r->opts.parent)
		return 0;
	if (regcomp(&r->parent, r->opts.parent, REG_EXTENDED | REG_NOSUB))
		return error_set(e, -EINVAL, "'%s' is not a regular expression", r->opts.parent);
	r->has_parent = true;
	return 0;
}

int tacho_report_new(struct tacho_report **out, const struct tacho_profile *p,
		     const struct tacho_report_opts *opts, const uint32_t *events, size_t n_events,
		     struct tacho_error *e)
{
	scoped(report_freep) struct report *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return error_nomem(e);
	err = opts_copy(&r->opts, sizeof(r->opts), opts, e);
	if (err == 0 && (!n_events || n_events > TACHO_REPORT_EVENTS_MAX))
		err = error_set(e, -EINVAL, "a report has 1 to %d events", TACHO_REPORT_EVENTS_MAX);
	if (err == 0)
		err = compile_parent(r, e);
	if (err < 0)
		return err;
	r->profile = p;
	r->n_events = n_events;
	find_totals(r, events);
	find_value_sums(r);
	if (report_build(r) < 0 || report_order(r) < 0)
		return error_nomem(e);
	if (r->opts.relative && r->opts.symbol_filter)
		find_listed_totals(r);
	publish(r);
	*out = &take(r)->pub;
	return 0;
}

int tacho_report_sort_by_event(struct tacho_report *pub, uint32_t nth)
{
	struct report *r = report_of(pub);
	int err;

	if (nth >= r->n_events)
		return -EINVAL;
	r->opts.group_sort = nth;
	err = report_order(r);
	publish(r);
	return err;
}

/* ---- looking ---- */

bool tacho_report_has_key(const struct tacho_report *r, enum tacho_report_column_id id)
{
	return has_key(report_of(r), id);
}

const uint64_t *tacho_report_values(const struct tacho_report *pub,
				    const struct tacho_report_column *c, size_t event,
				    size_t *stride)
{
	const struct report *r = report_of(pub);

	*stride = 0;
	return r->entries.n ? report_values(r, column_of(c), event, stride) : NULL;
}

uint64_t tacho_report_value(const struct tacho_report *r, const struct tacho_report_entry *e,
			    const struct tacho_report_column *c, size_t event)
{
	return report_value(report_of(r), e, column_of(c), event);
}

const struct tacho_report_sums *tacho_report_sums(const struct tacho_report *r,
						  const struct tacho_report_entry *e,
						  size_t event)
{
	return report_sums(report_of(r), e, event);
}

double tacho_report_percent(const struct tacho_report *r, uint64_t value,
			    const struct tacho_report_column *c,
			    size_t event)
{
	bool latency = c->id == TACHO_COLUMN_LATENCY || c->id == TACHO_COLUMN_LATENCY_CHILDREN;
	uint64_t total = latency ? r->total_latency[event] : r->totals[event];

	return total ? 100.0 * (double)value / (double)total : 0;
}
