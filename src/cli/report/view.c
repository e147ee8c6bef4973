/*
 * From the options of `tacho report` and a profile to a report and its columns.
 */
#include "cli/report/report.h"

#include "base/function_name.h"
#include "base/num.h"

#define DEFAULT_PARENT "^sys_|^do_page_fault"
#define DEFAULT_QUANTUM_NS 100000000ull

const char *report_parent_regex(const struct report_opts *o)
{
	return o->parent ? o->parent : DEFAULT_PARENT;
}

static const struct tacho_report_column *column(enum tacho_report_column_id id)
{
	return tacho_report_column(id);
}

/* ---- columns ---- */

bool report_names_one_function(const struct report_opts *o, const struct tacho_profile *p)
{
	const struct tacho_profile_code *found = NULL;

	for (size_t i = 0; i < tacho_profile_n_frames(p); i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(p, i);

		if (!f->known || !function_name_is(str_of(o->symbols), f->code->name))
			continue;
		if (found && found->symbol != f->code->symbol)
			return false;
		found = f->code;
	}
	return true;
}

/* Whether a filter lets through only one value of the column. */
static bool is_filtered_to_one(const struct report_opts *o, const struct tacho_profile *p,
			       const struct tacho_report_column *c)
{
	return (c->id == TACHO_COLUMN_COMM && report_is_single(o->comms)) ||
	       (c->id == TACHO_COLUMN_DSO && report_is_single(o->dsos)) ||
	       (c->id == TACHO_COLUMN_SYMBOL && report_is_single(o->symbols) && report_names_one_function(o, p));
}

/* Leaves out columns with one value, unless that would leave no key, or keys are levels. */
static void drop_filtered_columns(const struct report_opts *o, const struct tacho_profile *p, struct report_view *view)
{
	bool filtered[VIEW_COLUMNS_MAX];
	size_t n = 0;
	bool keys_left = false;

	for (size_t i = 0; i < view->n_columns; i++) {
		filtered[i] = is_filtered_to_one(o, p, view->columns[i]);
		keys_left = keys_left || (!is_value(view->columns[i]) && !filtered[i]);
	}
	if (!keys_left || o->hierarchy)
		return;
	for (size_t i = 0; i < view->n_columns; i++)
		if (!filtered[i])
			view->columns[n++] = view->columns[i];
	view->n_columns = n;
}

static void add_column(struct report_view *view, const struct tacho_report_column *c)
{
	for (size_t i = 0; i < view->n_columns; i++)
		if (view->columns[i] == c)
			return;
	if (view->n_columns < countof(view->columns))
		view->columns[view->n_columns++] = c;
}

/* The share of all samples and, with latency, of latency: whichever the table is sorted by comes first. */
static void add_shares(struct report_view *view, enum tacho_report_column_id share, enum tacho_report_column_id latency)
{
	if (view->latency == LATENCY_FIRST)
		add_column(view, column(latency));
	add_column(view, column(share));
	if (view->latency != LATENCY_NONE)
		add_column(view, column(latency));
}

static void add_value_columns(const struct report_opts *o, struct report_view *view)
{
	if (view->report.children && !report_names_values(o))
		add_shares(view, TACHO_COLUMN_CHILDREN, TACHO_COLUMN_LATENCY_CHILDREN);
	if (!report_names_values(o))
		add_shares(view, TACHO_COLUMN_OVERHEAD, TACHO_COLUMN_LATENCY);
	if (o->show_modes) {
		add_column(view, column(TACHO_COLUMN_SYS));
		add_column(view, column(TACHO_COLUMN_USER));
	}
	if (o->show_samples)
		add_column(view, column(TACHO_COLUMN_SAMPLES));
	if (o->show_period)
		add_column(view, column(TACHO_COLUMN_PERIOD));
}

/* -F without + says which values are shown. */
static bool shows_only_fields(const struct report_opts *o)
{
	return o->shown && o->shown[0] != '+';
}

/* Whether more than one in a hundred samples ran beside another thread. As in perf, only then are columns of latency
 * added. */
static bool has_parallel_samples(const struct tacho_profile *p)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	uint64_t samples = 0, parallel = 0;

	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		const struct tacho_profile_detail *d = tacho_profile_detail(p, rows[i].detail);

		samples += rows[i].samples;
		parallel += d && d->parallelism > 1 ? rows[i].samples : 0;
	}
	return samples && parallel * 100 > samples;
}

static enum latency_place latency_of(const struct report_opts *o, const struct tacho_profile *p)
{
	if (o->latency)
		return LATENCY_FIRST;
	return report_adds_latency(o) && has_parallel_samples(p) ? LATENCY_SECOND : LATENCY_NONE;
}

/* The values, then the columns of -F, then the keys that are not among them. */
static void set_columns(const struct report_opts *o, const struct tacho_profile *p, struct report_view *view)
{
	const struct column_list *shown = &o->keys.shown;
	bool with_values = !shows_only_fields(o);

	if (with_values)
		add_value_columns(o, view);
	view->overhead_is_self = view->report.children && with_values && !o->hierarchy;	/* also without Children: as perf */
	if ((!with_values && shown->n) || report_names_values(o))
		view->report.children = false;
	for (size_t i = 0; i < shown->n; i++)
		add_column(view, shown->v[i]);
	for (size_t i = 0; i < view->report.n_keys; i++)
		add_column(view, view->report.keys[i]);
	for (size_t i = 0; i < view->n_columns; i++)
		if (view->columns[i]->id == TACHO_COLUMN_CHILDREN || view->columns[i]->id == TACHO_COLUMN_LATENCY_CHILDREN)
			view->report.children = true;
	drop_filtered_columns(o, p, view);
}

static bool is_among(uint32_t event, const uint32_t *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (events[i] == event)
			return true;
	return false;
}

static bool has_field_columns(const struct report_view *view)
{
	for (size_t i = 0; i < view->n_columns; i++)
		if (view->columns[i]->kind == TACHO_REPORT_FIELD_KEY)
			return true;
	return false;
}

void report_drop_fields(struct report_view *view, const struct tacho_profile *p, const uint32_t *events, size_t n)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	bool seen[TACHO_FIELDS_MAX] = { 0 };
	size_t left = 0;

	if (!has_field_columns(view))
		return;
	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		const struct tacho_profile_detail *d = tacho_profile_detail(p, rows[i].detail);

		for (size_t k = 0; d && is_among(rows[i].event, events, n) && k < TACHO_FIELDS_MAX; k++)
			seen[k] = seen[k] || d->fields[k];
	}
	for (size_t i = 0; i < view->n_columns; i++)
		if (view->columns[i]->kind != TACHO_REPORT_FIELD_KEY || seen[view->columns[i]->field])
			view->columns[left++] = view->columns[i];
	view->n_columns = left;
}

/* ---- keys ---- */

static void key_first(struct tacho_report_opts *r, enum tacho_report_column_id id)
{
	for (size_t i = 0; i < r->n_keys; i++)
		if (r->keys[i]->id == id)
			return;
	if (r->n_keys == TACHO_REPORT_KEYS_MAX)
		return;
	memmove(r->keys + 1, r->keys, r->n_keys * sizeof(*r->keys));
	r->keys[0] = column(id);
	r->n_keys++;
}

/* As in perf, the shares are the first keys, unless -s has one of them, or -F says what is shown. */
static void put_values_first(const struct report_opts *o, struct report_view *view)
{
	struct tacho_report_opts *r = &view->report;

	if (shows_only_fields(o) || report_names_values(o))
		return;
	if (view->latency == LATENCY_SECOND)
		key_first(r, TACHO_COLUMN_LATENCY);
	key_first(r, TACHO_COLUMN_OVERHEAD);
	if (view->latency == LATENCY_FIRST)
		key_first(r, TACHO_COLUMN_LATENCY);
	if (view->latency == LATENCY_SECOND && r->children)
		key_first(r, TACHO_COLUMN_LATENCY_CHILDREN);
	if (r->children)
		key_first(r, TACHO_COLUMN_CHILDREN);
	if (view->latency == LATENCY_FIRST && r->children)
		key_first(r, TACHO_COLUMN_LATENCY_CHILDREN);
}

/* Values that are looked at though they are not keys. */
static void set_values(const struct report_opts *o, struct report_view *view)
{
	struct tacho_report_opts *r = &view->report;

	for (size_t i = 0; i < r->n_keys + view->n_columns; i++) {
		enum tacho_report_column_id id =
			i < r->n_keys ? r->keys[i]->id : view->columns[i - r->n_keys]->id;

		view->modes = view->modes || (id >= TACHO_COLUMN_SYS && id <= TACHO_COLUMN_GUEST_USER);
		view->latencies = view->latencies || id == TACHO_COLUMN_LATENCY || id == TACHO_COLUMN_LATENCY_CHILDREN;
	}
	view->modes = view->modes || o->show_modes;
	if (o->show_samples || o->json || o->hierarchy)
		r->values[r->n_values++] = column(TACHO_COLUMN_SAMPLES);
	for (int id = TACHO_COLUMN_SYS; id <= TACHO_COLUMN_GUEST_USER && view->modes; id++)
		r->values[r->n_values++] = column((enum tacho_report_column_id)id);
	if (view->latencies) {
		r->values[r->n_values++] = column(TACHO_COLUMN_LATENCY);
		r->values[r->n_values++] = column(TACHO_COLUMN_LATENCY_CHILDREN);
	}
}

/* ---- the view ---- */

static bool has_chains(const struct tacho_profile *p)
{
	for (size_t i = 0; i < tacho_profile_n_events(p); i++)
		if (tacho_profile_event(p, i)->has_chains)
			return true;
	return false;
}

static void set_plain_opts(const struct report_opts *o, struct report_view *view)
{
	struct tacho_report_opts *r = &view->report;
	struct tacho_profile_opts wants = { 0 };

	if (o->quantum)
		num_duration_ns(str_of(o->quantum), &r->quantum_ns);
	r->parent = report_parent_regex(o);
	tacho_report_wants(o->keys.all.v, o->keys.all.n, &wants);
	r->relative = o->percentage && strcmp(o->percentage, "relative") == 0;
	r->wide_objects = !o->separator && !o->widths && !o->dsos;
	r->nanoseconds = o->nanoseconds;
	r->group_sort = o->group_sort;
	r->full_paths = o->full_paths;
	r->symbol_filter = o->symbol_filter;
	r->verbose = o->verbose && !report_wants_browser(o);
	r->no_branches = o->mode != REPORT_BRANCH;
	r->no_accesses = !o->has_accesses;
	r->callgraph_key = o->graph.key;
	r->fine_frames = wants.per_srcline || wants.per_address || o->graph.key != TACHO_CALLGRAPH_FUNCTION;
	r->split_comms = report_joins_threads(o);
	view->skip_first_frame = o->sort && str_starts(str_of(o->sort), "sym") && !o->shown;
	view->percent_limit = o->percent_limit;
	view->least_samples = o->least_samples;
	view->separator = o->separator;
	view->widths = o->widths;
	view->lines_in_chains = o->graph.key != TACHO_CALLGRAPH_FUNCTION;
}

void report_view_init(const struct report_opts *o, const struct tacho_profile *p, struct report_view *view)
{
	bool chains = has_chains(p) && o->mode != REPORT_BRANCH;
	bool children = chains && !o->no_children && o->mode != REPORT_MEMORY;
	struct tacho_report_opts *r = &view->report;

	*view = (struct report_view){ .graph = o->graph, .report = {
		.size = sizeof(*r), .n_keys = o->keys.all.n, .quantum_ns = DEFAULT_QUANTUM_NS,
	} };
	memcpy(r->keys, o->keys.all.v, sizeof(r->keys));
	r->children = children;
	view->latency = latency_of(o, p);
	r->callgraphs = chains && (o->graph.style != GRAPH_NONE || r->children);
	r->hidden_callgraphs = o->graph.style == GRAPH_NONE;
	r->count_samples = o->graph.value == VALUE_COUNT && o->graph.style != GRAPH_NONE;
	set_columns(o, p, view);
	/* perf shows callers first with children, also where no column is theirs, callees first without. */
	if (!view->graph.order_given)
		view->graph.caller = children;
	if (o->inverted)
		view->graph.caller = true;
	r->caller = view->graph.caller;
	put_values_first(o, view);
	set_values(o, view);
	set_plain_opts(o, view);
}
