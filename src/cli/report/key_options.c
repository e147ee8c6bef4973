/*
 * Which keys sort the table of `tacho report`, and which columns it has: those of -s and -F, or those
 * that suit the recording. Branches, accesses to memory and tracepoints have keys of their own.
 */
#include "cli/report/report.h"

#include <errno.h>

#include "base/error.h"
#include "report/detail_keys.h"

static const char *const default_keys[] = {
	[REPORT_PLAIN] = "comm,dso,symbol",
	[REPORT_BRANCH] = "comm,dso_from,symbol_from,symbol_to,cycles",
	[REPORT_MEMORY] = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat",
	[REPORT_TRACE] = "trace",
};

bool report_is_single(const char *list)
{
	return list && *list && !strchr(list, ',');
}

/* All rows would say the same there. */
static bool says_the_same(const struct report_opts *o, enum hist_column c)
{
	return (c == COL_COMM && report_is_single(o->comms)) ||
	       (c == COL_DSO && report_is_single(o->dsos)) ||
	       (c == COL_SYMBOL && report_is_single(o->symbols));
}

/* A list of one leaves its column out, unless that would leave no key, or keys are levels. */
static void elide_columns(const struct report_opts *o, struct hist_opts *h)
{
	size_t n = 0;
	bool tells = false;

	for (size_t i = 0; i < h->n_columns; i++)
		tells = tells || (h->columns[i] >= COL_FIRST_KEY && !says_the_same(o, h->columns[i]));
	if (!tells || o->hierarchy)
		return;
	for (size_t i = 0; i < h->n_columns; i++)
		if (!says_the_same(o, h->columns[i]))
			h->columns[n++] = h->columns[i];
	h->n_columns = n;
}

static void column_add(struct hist_opts *h, enum hist_column c)
{
	for (size_t i = 0; i < h->n_columns; i++)
		if (h->columns[i] == c)
			return;
	if (h->n_columns < countof(h->columns))
		h->columns[h->n_columns++] = c;
}

static void key_first(struct hist_opts *h, enum hist_column c)
{
	for (size_t i = 0; i < h->n_keys; i++)
		if (h->keys[i] == c)
			return;
	if (h->n_keys == HIST_KEYS_MAX)
		return;
	memmove(h->keys + 1, h->keys, h->n_keys * sizeof(*h->keys));
	h->keys[0] = c;
	h->n_keys++;
}

const char *report_default_keys(const struct report_opts *o)
{
	if (o->mode == REPORT_TRACE && o->raw_trace && o->all_fields && *o->all_fields)
		return o->all_fields;
	return default_keys[o->mode];
}

/* "trace_fields" stands for all fields of all tracepoints. */
static const char *list_of(const struct report_opts *o, const char *list)
{
	return strcmp(list, "trace_fields") == 0 && o->all_fields ? o->all_fields : list;
}

/* A list that begins so stands beside what is there without it. */
static bool is_added(const char *list)
{
	return list && list[0] == '+';
}

/* -F says all that is shown, but for keys of -s. */
static bool shows_only_fields(const struct report_opts *o)
{
	return o->fields && !is_added(o->fields);
}

int report_sort_keys(const struct report_opts *o, struct hist_opts *h, struct tacho_error *e)
{
	bool by_fields = !o->sort && shows_only_fields(o);
	int err = 0;

	if (is_added(o->sort) || (!o->sort && !by_fields))
		err = hist_parse_keys(report_default_keys(o), h->keys, &h->n_keys, e);
	if (err == 0 && o->sort)
		err = hist_parse_keys(list_of(o, o->sort + is_added(o->sort)), h->keys, &h->n_keys, e);
	if (err == 0 && o->parent && h->n_keys < HIST_KEYS_MAX)
		err = hist_parse_keys("parent", h->keys, &h->n_keys, e);
	if (err == 0 && by_fields)
		err = hist_parse_keys(list_of(o, o->fields), h->keys, &h->n_keys, e);
	return err;
}

static void columns_values(const struct report_opts *o, struct hist_opts *h)
{
	if (h->children && o->latency)
		column_add(h, COL_LATENCY_CHILDREN);
	if (h->children)
		column_add(h, COL_CHILDREN);
	h->own_is_self = h->children;
	if (o->latency)
		column_add(h, COL_LATENCY);
	column_add(h, COL_OVERHEAD);
	if (o->show_modes) {
		column_add(h, COL_SYS);
		column_add(h, COL_US);
	}
	if (o->show_samples)
		column_add(h, COL_SAMPLES);
	if (o->show_period)
		column_add(h, COL_PERIOD);
}

/* The columns: those of -F, or the values and what +... adds; then the keys that are not among them. Keys
 * that are only shown still tell entries apart. */
int report_columns(const struct report_opts *o, struct hist_opts *h, struct tacho_error *e)
{
	bool all = !shows_only_fields(o);
	enum hist_column shown[HIST_KEYS_MAX];
	size_t n = 0;
	int err = o->fields ? hist_parse_keys(list_of(o, o->fields + all), shown, &n, e) : 0;

	if (err < 0)
		return err;
	if (all)
		columns_values(o, h);
	for (size_t i = 0; i < n; i++) {
		bool known = false;

		for (size_t k = 0; k < h->n_keys; k++)
			known = known || h->keys[k] == shown[i];
		if (!known && h->n_keys < HIST_KEYS_MAX)
			h->keys[h->n_keys++] = shown[i];
		column_add(h, shown[i]);
		h->children = h->children && all;
	}
	for (size_t i = 0; i < n; i++)
		if (shown[i] == COL_CHILDREN || shown[i] == COL_LATENCY_CHILDREN)
			h->children = true;
	for (size_t k = 0; k < h->n_keys; k++)
		column_add(h, h->keys[k]);
	elide_columns(o, h);
	return 0;
}

static bool has_chains(const struct tacho_profile *p)
{
	for (size_t i = 0; i < tacho_profile_n_events(p); i++)
		if (tacho_profile_event(p, i)->has_chains)
			return true;
	return false;
}

/* perf sorts by the values first, unless the first key is one, or -F says what is shown. */
static void values_first(const struct report_opts *o, struct hist_opts *h)
{
	if (shows_only_fields(o) || (o->sort && h->keys[0] < COL_FIRST_KEY))
		return;
	key_first(h, COL_OVERHEAD);
	if (h->children)
		key_first(h, COL_CHILDREN);
	if (o->latency)
		key_first(h, COL_LATENCY);
	if (o->latency && h->children)
		key_first(h, COL_LATENCY_CHILDREN);
}

static void plain_opts(const struct report_opts *o, struct hist_opts *h)
{
	h->sorted_by_symbol = o->sort && str_starts(str_of(o->sort), "sym") && !o->fields;
	h->percent_limit = o->percent_limit;
	h->relative = o->percentage && strcmp(o->percentage, "relative") == 0;
	h->wide_objects = !o->separator && !o->widths && !o->dsos;
	h->nanoseconds = o->nanoseconds;
	h->group_sort = o->group_sort;
	h->separator = o->separator;
	h->widths = o->widths;
	h->full_paths = o->full_paths;
	h->symbol_filter = o->symbol_filter;
	h->chain_key = o->graph.key;
	h->lines_in_chains = o->graph.key != CHAIN_FUNCTION;
	h->fine_frames = report_wants_lines(o) || report_wants_addresses(o);
	h->split_comms = report_joins_threads(o);
}

int report_hist_opts(const struct report_opts *o, const struct tacho_profile *p, struct hist_opts *h,
		     struct tacho_error *e)
{
	bool chains = has_chains(p) && o->mode != REPORT_BRANCH, children;
	int err = report_sort_keys(o, h, e);

	h->graph = o->graph;
	h->chains = chains && (o->graph.style != GRAPH_NONE || !o->no_children);
	children = chains && !o->no_children && o->mode != REPORT_MEMORY;
	h->children = children && !o->hierarchy;
	if (!h->children && h->graph.style == GRAPH_NONE)
		h->chains = false;
	if (err == 0)
		err = report_columns(o, h, e);
	if (err < 0)
		return err;
	/* perf shows callers first with children, also where no column is theirs, callees first without. */
	if (!h->graph.order_given)
		h->graph.caller = children;
	if (o->inverted)
		h->graph.caller = true;
	values_first(o, h);
	for (size_t i = 0; i < h->n_keys; i++) {
		h->has_key[h->keys[i]] = true;
		h->modes = h->modes || (h->keys[i] >= COL_SYS && h->keys[i] <= COL_GUEST_US);
		h->latency = h->latency || h->keys[i] == COL_LATENCY || h->keys[i] == COL_LATENCY_CHILDREN;
		/* Some of the details are shown times the number of samples. */
		h->samples = h->samples || h->keys[i] == COL_SAMPLES ||
			     (h->keys[i] >= COL_FIRST_OF_DETAIL && h->keys[i] < COL_FIRST_OF_FRAME);
	}
	h->samples = h->samples || o->show_samples || o->json;
	h->modes = h->modes || o->show_modes;
	plain_opts(o, h);
	return 0;
}

static bool is_among(uint32_t event, const uint32_t *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (events[i] == event)
			return true;
	return false;
}

void report_drop_fields(struct hist_opts *h, const struct tacho_profile *p, const uint32_t *events,
			size_t n)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	bool seen[TACHO_FIELDS_MAX] = { 0 };
	size_t kept = 0;

	for (size_t i = 0; hist_n_fields() && i < tacho_profile_n_rows(p); i++) {
		const struct tacho_profile_detail *d = tacho_profile_detail(p, rows[i].detail);

		for (size_t k = 0; d && is_among(rows[i].event, events, n) && k < hist_n_fields(); k++)
			seen[k] = seen[k] || d->fields[k];
	}
	for (size_t i = 0; i < h->n_columns; i++) {
		enum hist_column c = h->columns[i];

		if (c < COL_FIELD || c > COL_FIELD_LAST || seen[c - COL_FIELD])
			h->columns[kept++] = c;
	}
	h->n_columns = kept;
}

/* ---- what the keys ask the profile for ---- */

static bool names_key(const char *keys, const char *name)
{
	struct str rest = str_of(keys), word;

	while (keys && str_cut(&rest, ',', &word)) {
		if (word.n && word.s[0] == '+')
			word = str_n(word.s + 1, word.n - 1);
		if (str_is(word, name))
			return true;
	}
	return false;
}

bool report_wants_key(const struct report_opts *o, const char *name)
{
	return names_key(o->sort, name) || names_key(o->fields, name);
}

bool report_joins_threads(const struct report_opts *o)
{
	struct hist_opts tried = { 0 };
	struct tacho_error e;

	if (report_wants_browser(o) || report_sort_keys(o, &tried, &e) < 0 || report_columns(o, &tried, &e) < 0)
		return false;
	for (size_t i = 0; i < tried.n_keys; i++)
		if (tried.keys[i] > COL_COMM && tried.keys[i] < COL_FIRST_OF_FRAME)
			return false;
	return true;
}

bool report_wants_lines(const struct report_opts *o)
{
	return report_wants_key(o, "srcline") || report_wants_key(o, "srcfile") ||
	       report_wants_key(o, "srcline_from") || report_wants_key(o, "srcline_to") ||
	       o->graph.key != CHAIN_FUNCTION;
}

bool report_wants_addresses(const struct report_opts *o)
{
	return report_wants_key(o, "symoff") || o->graph.key == CHAIN_ADDRESS;
}

/* Refuses keys that the recording, as it is read, has nothing for. */
static int key_fits(const struct report_opts *o, enum hist_column c, struct tacho_error *e)
{
	const char *name = hist_column_name(c);

	if (hist_column_of_branch(c) && o->mode != REPORT_BRANCH) {
		error_set(e, -EINVAL, "the key %s is for branches", name);
		error_hint(e, "-b reports branches, of a recording made with 'record -b'");
		return -EINVAL;
	}
	if (hist_column_of_memory(c) && o->mode != REPORT_MEMORY) {
		error_set(e, -EINVAL, "the key %s is for accesses to memory", name);
		error_hint(e, "--mem-mode reports them, of a recording made with 'record -d -W'");
		return -EINVAL;
	}
	return 0;
}

int report_keep(const struct report_opts *o, struct tacho_profile_opts *out, struct tacho_error *e)
{
	struct hist_opts tried = { 0 };
	int err = report_sort_keys(o, &tried, e);

	if (err == 0)
		err = report_columns(o, &tried, e);
	for (size_t i = 0; i < tried.n_keys && err == 0; i++) {
		out->keep |= hist_detail_keep(tried.keys[i]);
		err = key_fits(o, tried.keys[i], e);
	}
	if (o->show_modes)
		out->keep |= TACHO_KEEP_SPACE;
	if (o->latency)
		out->keep |= TACHO_KEEP_PARALLELISM;
	out->parallelism = o->parallelism;
	if (err == 0 && ((out->keep & TACHO_KEEP_PARALLELISM) || o->parallelism) && !o->has_switches) {
		err = error_set(e, -EINVAL, "latency and parallelism need the context switches, which were not recorded");
		error_hint(e, "'record --latency' records them, with -a --switch-events");
	}
	out->fields = hist_fields();
	out->n_fields = hist_n_fields();
	out->raw_fields = o->raw_trace;
	return err;
}
