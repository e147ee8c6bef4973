/*
 * The keys of `tacho report`: those of -s and -F, or the default ones of the recording. Branches, accesses to memory
 * and tracepoints have default keys of their own.
 */
#include "cli/report/report.h"

#include <errno.h>

#include "base/error.h"
#include "cli/report/data_types.h"

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

const char *report_default_keys(const struct report_opts *o)
{
	if (o->mode == REPORT_TRACE && o->raw_trace && o->all_fields && *o->all_fields)
		return o->all_fields;
	return default_keys[o->mode];
}

/* "+KEY,..." is added to the default keys. */
static bool is_added(const char *list)
{
	return list && list[0] == '+';
}

/* "EVENT.*" stands for all fields of a tracepoint, "trace_fields" for those of all. */
static bool is_any_field(struct str word)
{
	return str_is(word, "trace_fields") || str_ends(word, ".*");
}

/* Whether the list has names of fields that are not known before the file is open. */
static bool needs_file(const char *list)
{
	struct str rest = str_of(list + is_added(list)), word;

	while (str_cut(&rest, ',', &word))
		if (is_any_field(str_trim(word)))
			return true;
	return false;
}

static int parse(struct report_keys *k, const char *text, struct column_list *out, struct tacho_error *e)
{
	return tacho_report_parse_keys(k->fields, text, out->v, &out->n, e);
}

static int parse_list(struct report_opts *o, const char *text, struct column_list *out, struct tacho_error *e)
{
	out->n = 0;
	return text && !needs_file(text) ? parse(&o->keys, text + is_added(text), out, e) : 0;
}

int report_parse_keys(struct report_opts *o, const char **list, struct tacho_error *e)
{
	int err;

	*list = o->sort;
	if (!o->keys.fields && tacho_report_fields_new(&o->keys.fields) < 0)
		return error_nomem(e);
	err = parse_list(o, o->sort, &o->keys.sort, e);
	if (err < 0)
		return err;
	*list = o->shown;
	return parse_list(o, o->shown, &o->keys.shown, e);
}

static int append(struct column_list *to, const struct tacho_report_column *const *v, size_t n,
		  struct tacho_error *e)
{
	for (size_t i = 0; i < n; i++) {
		bool known = false;

		for (size_t k = 0; k < to->n; k++)
			known = known || to->v[k] == v[i];
		if (!known && to->n == TACHO_REPORT_KEYS_MAX)
			return error_set(e, -EINVAL, "more than %d keys", TACHO_REPORT_KEYS_MAX);
		if (!known)
			to->v[to->n++] = v[i];
	}
	return 0;
}

/* Appends the file's fields that `word` stands for; the word itself if there are none. */
static void put_fields(const char *all_fields, struct str word, struct buf *out)
{
	struct str rest = str_of(all_fields ? all_fields : ""), name, event = str_n(word.s, word.n - 2);
	size_t before = out->n;

	while (rest.n && str_cut(&rest, ',', &name)) {
		size_t dot = name.n;

		while (dot && name.s[dot - 1] != '.')
			dot--;
		if (str_is(word, "trace_fields") || (dot && str_names_event(event, str_n(name.s, dot - 1))))
			buf_printf(out, "%.*s,", STR(name));
	}
	if (out->n == before)
		buf_printf(out, "%.*s,", STR(word));
}

/* Parses the list if it has names that stand for several fields of the file. */
static int complete_list(struct report_opts *o, const char *text, struct column_list *out, struct tacho_error *e)
{
	struct str rest = str_of(text ? text + is_added(text) : ""), word;
	scoped(buf_done) struct buf list = { 0 };

	if (!text || !needs_file(text))
		return 0;
	while (str_cut(&rest, ',', &word)) {
		word = str_trim(word);
		if (is_any_field(word))
			put_fields(o->all_fields, word, &list);
		else
			buf_printf(&list, "%.*s,", STR(word));
	}
	buf_putc(&list, '\0');
	if (buf_failed(&list))
		return error_nomem(e);
	out->n = 0;			/* of an earlier file */
	return parse(&o->keys, list.bytes, out, e);
}

/* Under perf's name, the key `symbol`, spelled out, brings a column that only recordings of branches fill. */
static int append_ipc(const struct report_opts *o, struct column_list *to, struct tacho_error *e)
{
	struct column_list ipc = { .n = 0 };
	int err;

	if (strcmp(program_name, "perf") != 0 || !o->sort || !strstr(o->sort, "symbol") || o->mode == REPORT_BRANCH)
		return 0;
	err = tacho_report_parse_keys(o->keys.fields, "ipc_null", ipc.v, &ipc.n, e);
	return err < 0 ? err : append(to, ipc.v, ipc.n, e);
}

/* Keys that are only shown also tell entries apart. */
int report_complete_keys(struct report_opts *o, struct tacho_error *e)
{
	struct report_keys *k = &o->keys;
	const struct tacho_report_column *parent = tacho_report_column(TACHO_COLUMN_PARENT);
	bool only_shown = !o->sort && o->shown && !is_added(o->shown);
	int err = complete_list(o, o->sort, &k->sort, e);

	if (err == 0)
		err = complete_list(o, o->shown, &k->shown, e);
	k->all.n = 0;
	if (err == 0 && (is_added(o->sort) || (!o->sort && !only_shown)))
		err = parse(k, report_default_keys(o), &k->all, e);
	if (err == 0)
		err = append(&k->all, k->sort.v, k->sort.n, e);
	if (err == 0)
		err = append_ipc(o, &k->all, e);
	if (err == 0 && o->parent && k->all.n < TACHO_REPORT_KEYS_MAX)
		err = append(&k->all, &parent, 1, e);
	if (err == 0 && append(&k->all, k->shown.v, k->shown.n, e) < 0 && only_shown)
		err = -EINVAL;
	return err;
}

bool report_has_key(const struct report_opts *o, const struct tacho_report_column *c)
{
	for (size_t i = 0; i < o->keys.all.n; i++)
		if (o->keys.all.v[i] == c)
			return true;
	return false;
}

bool report_names_values(const struct report_opts *o)
{
	for (size_t i = 0; i < o->keys.sort.n && !o->latency; i++) {
		const char *name = o->keys.sort.v[i]->name;

		if (strstr(name, "overhead") || strstr(name, "latency"))
			return true;
	}
	return false;
}

bool report_adds_latency(const struct report_opts *o)
{
	return o->has_switches && !o->latency && o->mode == REPORT_PLAIN && !report_names_values(o) &&
	       !(o->shown && !is_added(o->shown));
}

bool report_joins_threads(const struct report_opts *o)
{
	if (report_wants_browser(o))
		return false;
	for (size_t i = 0; i < o->keys.all.n; i++) {
		const struct tacho_report_column *c = o->keys.all.v[i];

		if (c->kind != TACHO_REPORT_VALUE && c->kind != TACHO_REPORT_FRAME_KEY && c->id != TACHO_COLUMN_COMM)
			return false;
	}
	return true;
}

/* ---- what the keys need of the profile ---- */

int report_profile_opts(const struct report_opts *o, struct tacho_profile_opts *out, struct tacho_error *e)
{
	const struct report_keys *k = &o->keys;

	tacho_report_wants(k->all.v, k->all.n, out);
	if (o->graph.key != TACHO_CALLGRAPH_FUNCTION)
		out->per_srcline = true;
	if (o->graph.key == TACHO_CALLGRAPH_ADDRESS)
		out->per_address = true;
	if (o->show_modes)
		out->keep |= TACHO_KEEP_SPACE;
	if (o->latency || report_adds_latency(o))
		out->keep |= TACHO_KEEP_PARALLELISM;
	data_types_use(out);
	out->no_inlines = o->no_inline;
	out->parallelism = o->parallelism;
	out->fields = tacho_report_field_names(k->fields);
	out->n_fields = tacho_report_n_fields(k->fields);
	out->raw_fields = o->raw_trace;
	if (((out->keep & TACHO_KEEP_PARALLELISM) || o->parallelism) && !o->has_switches) {
		error_set(e, -EINVAL, "latency and parallelism need the context switches, which were not recorded");
		error_hint(e, "'record --latency' records them, with -a --switch-events");
		return -EINVAL;
	}
	return 0;
}
