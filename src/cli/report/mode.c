/*
 * The content of a recording decides what `tacho report` shows by default: branches if there are any, or the texts of
 * tracepoints if there are no other events. Fields of tracepoints are known from the formats in the file.
 */
#include "cli/report/report.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "record/perf_abi.h"

#include <tacho/trace.h>

#define BRANCH_CALL_STACK (1ull << 11)	/* of branch_sample_type: the stack of callers */

static void trace_freep(struct tacho_trace **t)
{
	tacho_trace_free(*t);
}

static bool has_sample(const struct tacho_perfdata *pd, uint64_t bit)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_layout *lay = &tacho_perfdata_event(pd, i)->layout;

		if ((lay->sample_type & bit) &&
		    !(bit == PERF_SAMPLE_BRANCH_STACK && (lay->branch_type & BRANCH_CALL_STACK)))
			return true;
	}
	return false;
}

static bool is_tracepoint(const struct tacho_file_event *fe)
{
	const struct perf_event_attr *attr = fe->attr;

	return fe->attr_size >= PERF_ATTR_SIZE_VER0 && attr->type == PERF_TYPE_TRACEPOINT;
}

static bool only_tracepoints(const struct tacho_perfdata *pd)
{
	size_t n = tacho_perfdata_n_events(pd);

	for (size_t i = 0; i < n; i++)
		if (!is_tracepoint(tacho_perfdata_event(pd, i)))
			return false;
	return n != 0;
}

/* ---- fields ---- */

static int formats_of(const struct tacho_perfdata *pd, struct tacho_trace **out)
{
	return tacho_perfdata_tracing(pd, out, NULL);
}

static const struct tacho_trace_event *format_of(struct tacho_trace *t, const struct tacho_file_event *fe)
{
	const struct perf_event_attr *attr = fe->attr;

	return is_tracepoint(fe) ? tacho_trace_find(t, attr->config) : NULL;
}

/* "EVENT.FIELD,..." of all tracepoints. */
static int fields_list(const struct tacho_perfdata *pd, struct tacho_trace *t, char **out)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(pd, i);
		const struct tacho_trace_event *format = format_of(t, fe);

		for (size_t k = 0; format && k < tacho_trace_n_fields(format); k++) {
			const char *name = tacho_trace_field(format, k)->name;

			if (!str_starts(str_of(name), "common_"))
				buf_printf(&list, "%s%s.%s", list.n ? "," : "", fe->name, name);
		}
	}
	buf_puts(&list, "");
	*out = buf_take(&list);
	return *out ? 0 : -ENOMEM;
}

static bool has_field(const struct tacho_perfdata *pd, struct tacho_trace *t, const char *asked)
{
	const char *dot = strrchr(asked, '.'), *name = dot ? dot + 1 : asked;

	for (size_t i = 0; t && i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(pd, i);
		const struct tacho_trace_event *format = format_of(t, fe);

		if (dot && !str_names_event(str_n(asked, (size_t)(dot - asked)), str_of(fe->name)))
			continue;
		for (size_t k = 0; format && k < tacho_trace_n_fields(format); k++)
			if (strcmp(tacho_trace_field(format, k)->name, name) == 0)
				return true;
	}
	return false;
}

/* The name's place in -s or -F. *text is set to that option's text. */
static struct str word_in(const struct report_opts *o, const char *word, const char **text)
{
	const char *lists[] = { o->sort, o->shown };

	for (size_t i = 0; i < countof(lists); i++) {
		struct str rest = str_of(lists[i]), one;

		*text = lists[i];
		while (lists[i] && str_cut(&rest, ',', &one)) {
			if (one.s == lists[i] && one.n && one.s[0] == '+')
				one = str_n(one.s + 1, one.n - 1);
			one = str_trim(one);
			if (str_is(one, word))
				return one;
		}
	}
	*text = word;
	return str_of(word);
}

static int refuse_name(const struct report_opts *o, const char *name, const char **list, struct tacho_error *e)
{
	struct str word = word_in(o, name, list);

	return tacho_report_unknown_key(*list, (size_t)(word.s - *list), word.n, e);
}

int report_check_fields(const struct report_opts *o, const struct tacho_perfdata *pd, const char **list,
			struct tacho_error *e)
{
	scoped(trace_freep) struct tacho_trace *t = NULL;
	size_t n = tacho_report_n_fields(o->keys.fields);
	const char *const *names = tacho_report_field_names(o->keys.fields);
	int err = n ? formats_of(pd, &t) : 0;

	if (err == -ENOMEM)
		return error_nomem(e);
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], "trace_fields") != 0 && !has_field(pd, t, names[i]))
			return refuse_name(o, names[i], list, e);
	return 0;
}

bool report_looks_wrong(const struct report_opts *o, const char **list, struct tacho_error *e)
{
	for (size_t i = 0; i < tacho_report_n_fields(o->keys.fields); i++) {
		refuse_name(o, tacho_report_field_names(o->keys.fields)[i], list, e);
		if (strstr(e->hint, "did you mean"))
			return true;
	}
	return false;
}

/* ---- the mode ---- */

static bool has_switches(const struct tacho_perfdata *pd)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(pd, i);
		const struct perf_event_attr *attr = fe->attr;

		if (fe->attr_size >= PERF_ATTR_SIZE_VER0 && (attr->flags & PERF_ATTR_CONTEXT_SWITCH))
			return true;
	}
	return false;
}

int report_mode(struct report_opts *o, const struct tacho_perfdata *pd, char **fields, struct tacho_error *e)
{
	bool branches = has_sample(pd, PERF_SAMPLE_BRANCH_STACK);
	scoped(trace_freep) struct tacho_trace *t = NULL;

	if (o->branches && !branches)
		return error_set(e, -EINVAL, "-b: no branches were recorded (record -b does)");
	if (o->memory && !has_sample(pd, PERF_SAMPLE_DATA_SRC))
		return error_set(e, -EINVAL, "--mem-mode: no sources of data were recorded (record -d does)");
	o->mode = o->memory ? REPORT_MEMORY : branches && !o->no_branches ? REPORT_BRANCH :
		  only_tracepoints(pd) ? REPORT_TRACE : REPORT_PLAIN;
	o->has_switches = has_switches(pd);
	o->has_accesses = has_sample(pd, PERF_SAMPLE_DATA_SRC) || has_sample(pd, PERF_SAMPLE_ADDR) ||
			  has_sample(pd, PERF_SAMPLE_PHYS_ADDR) || has_sample(pd, PERF_SAMPLE_DATA_PAGE_SIZE);
	if (formats_of(pd, &t) == 0) {
		if (fields_list(pd, t, fields) < 0)
			return error_nomem(e);
		o->all_fields = *fields;
	}
	return 0;
}

int32_t *report_sockets(const struct tacho_perfdata *pd, size_t *n)
{
	struct tacho_cpu_position at;
	struct tacho_cpu_topology t;
	int32_t *out;

	*n = 0;
	if (tacho_perfdata_topology(pd, &t) < 0)
		return NULL;
	out = calloc(t.n_cpus + 1ULL, sizeof(*out));
	for (; out && tacho_topology_cpu(&t, (uint32_t)*n, &at); ++*n)
		out[*n] = at.socket;
	return out;
}

int report_socket_cpus(const struct report_opts *o, const struct tacho_perfdata *pd, char **out,
		       struct tacho_error *e)
{
	scoped(freep) int32_t *sockets = NULL;
	struct buf list = { 0 };
	size_t n;

	*out = NULL;
	if (!o->socket)
		return 0;
	sockets = report_sockets(pd, &n);
	if (!sockets)
		return error_set(e, -EINVAL, "the recording does not say which CPUs its sockets have");
	for (size_t cpu = 0; cpu < n; cpu++)
		if (sockets[cpu] == (int32_t)(o->socket - 1))
			buf_printf(&list, "%s%zu", list.n ? "," : "", cpu);
	if (buf_failed(&list))
		return error_nomem(e);
	if (!list.n) {
		error_set(e, -EINVAL, "the recording's machine has no CPU on socket %" PRIu32, o->socket - 1);
		error_hint(e, "-s socket,cpu shows which there are");
		return -EINVAL;
	}
	*out = buf_take(&list);
	return *out ? 0 : error_nomem(e);
}
