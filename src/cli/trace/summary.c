/*
 * Counts and times of calls, per thread or in total (-s, -S), as perf prints them, and with -c as strace does.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>

#include "base/io.h"
#include "base/json.h"


void trace_stats_free(struct trace_stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->calls.n; i++)
		int_map_done(&s->calls.v[i].errnos);
	vec_done(&s->calls);
	int_map_done(&s->by_nr);
	free(s);
}

struct call_stats *trace_stats_of(struct trace_stats *s, uint32_t nr)
{
	struct call_stats *c;
	uint32_t i;

	if (int_map_get(&s->by_nr, nr, &i))
		return &s->calls.v[i];
	c = vec_add(&s->calls);
	if (!c || int_map_put(&s->by_nr, nr, (uint32_t)(s->calls.n - 1)) < 0)
		return NULL;
	c->min_ns = UINT64_MAX;
	return c;
}

static const char *name_of(struct trace *t, uint32_t key, char room[TRACE_NAME_ROOM])
{
	return trace_call_name(t, key & ~TRACE_OF_32_BITS, key & TRACE_OF_32_BITS, room);
}

static void count(struct trace_stats *s, const struct trace_call *call, bool with_errnos)
{
	struct call_stats *c = trace_stats_of(s, call->nr | (call->th->compat ? TRACE_OF_32_BITS : 0));
	uint64_t ns = call->entry_ns ? call->exit_ns - call->entry_ns : 0;
	double delta;
	uint32_t n = 0;

	s->events += 2;
	if (!c)
		return;
	c->calls++;
	c->sum_ns += ns;
	c->min_ns = min_of(c->min_ns, ns);
	c->max_ns = max_of(c->max_ns, ns);
	delta = (double)ns - c->mean;
	c->mean += delta / (double)c->calls;
	c->m2 += delta * ((double)ns - c->mean);
	if (call->c.ret < 0 && call->c.ret > -4096) {
		c->errors++;
		if (with_errnos) {
			int_map_get(&c->errnos, (uint64_t)-call->c.ret, &n);
			int_map_put(&c->errnos, (uint64_t)-call->c.ret, n + 1);
		}
	}
}

/* "0::/user.slice" */
static void read_cgroup(struct trace_thread *th)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", th->pid);
	if (io_read_small(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return;
	at = strstr(text, "0::");
	if (!at)
		at = text;
	at = strchr(at, '/');
	if (at)
		th->cgroup = str_dup(str_n(at, strcspn(at, "\n")));
}

bool trace_summary_by_cgroup(const struct trace_opts *o)
{
	return o->summary_mode && !strcmp(o->summary_mode, "cgroup") && !o->strace_counts;
}

bool trace_summary_by_thread(const struct trace_opts *o)
{
	return (!o->summary_mode || !strcmp(o->summary_mode, "thread")) && !o->strace_counts;
}

void trace_count_call(struct trace *t, struct trace_call *call)
{
	const struct trace_opts *o = t->o;
	bool total = (o->summary_mode && !strcmp(o->summary_mode, "total")) || o->strace_counts;

	if (!(o->summary || o->with_summary || o->strace_counts || o->errno_summary) || !trace_selects(t, call->nr))
		return;
	if (!total && !call->th->stats) {
		call->th->stats = calloc(1, sizeof(*call->th->stats));
		if (o->summary_mode && !strcmp(o->summary_mode, "cgroup"))
			read_cgroup(call->th);
	}
	if (!total && call->th->stats)
		count(call->th->stats, call, o->errno_summary);
	count(&t->total, call, o->errno_summary);
}

/* Indexes of the calls with the longest total time first. The caller frees them. */
static uint32_t *sorted_numbers(const struct trace_stats *s, size_t *n)
{
	uint32_t *nrs = calloc(s->calls.n + 1, sizeof(*nrs));

	*n = 0;
	for (size_t i = 0; nrs && i < s->by_nr.cap; i++) {
		const struct int_map_slot *slot = &s->by_nr.slots[i];
		size_t at = *n;

		if (!slot->used)
			continue;
		while (at > 0) {
			uint32_t before = 0;

			int_map_get(&s->by_nr, nrs[at - 1], &before);
			if (s->calls.v[before].sum_ns >= s->calls.v[slot->value].sum_ns)
				break;
			nrs[at] = nrs[at - 1];
			at--;
		}
		nrs[at] = (uint32_t)slot->key;
		(*n)++;
	}
	return nrs;
}

static void print_errnos(struct trace *t, const struct call_stats *c)
{
	for (size_t i = 0; i < c->errnos.cap; i++)
		if (c->errnos.slots[i].used) {
			const char *name = tacho_errno_name((int)c->errnos.slots[i].key);

			buf_printf(&t->out, "\t\t\t\t%s: %u\n", name ? name : "?", c->errnos.slots[i].value);
		}
}

static void put_json_errnos(struct json *j, const struct call_stats *c)
{
	json_key(j, "errnos");
	json_begin(j, '{');
	for (size_t i = 0; i < c->errnos.cap; i++)
		if (c->errnos.slots[i].used) {
			const char *name = tacho_errno_name((int)c->errnos.slots[i].key);

			json_key(j, name ? name : "?");
			json_u64(j, c->errnos.slots[i].value);
		}
	json_end(j);
}

static double deviation_percent(const struct call_stats *c)
{
	double variance = c->calls > 1 ? c->m2 / (double)(c->calls - 1) : 0;

	return c->mean > 0 ? 100 * sqrt(variance / (double)c->calls) / c->mean : 0;
}

static void print_table(struct trace *t, const struct trace_stats *s)
{
	size_t n;
	uint32_t *nrs = sorted_numbers(s, &n);

	buf_puts(&t->out, "   syscall            calls  errors  total       min       avg       max       stddev\n"
			  "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
			  "   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
	for (size_t i = 0; nrs && i < n; i++) {
		const struct call_stats *c;
		char room[TRACE_NAME_ROOM];
		uint32_t at = 0;

		int_map_get(&s->by_nr, nrs[i], &at);
		c = &s->calls.v[at];
		buf_printf(&t->out, "   %-15s %8llu %6llu %9.3f %9.3f %9.3f %9.3f %9.2f%%\n",
			   name_of(t, nrs[i], room), (unsigned long long)c->calls,
			   (unsigned long long)c->errors, (double)c->sum_ns / 1e6, (double)c->min_ns / 1e6,
			   (double)c->sum_ns / 1e6 / (double)c->calls, (double)c->max_ns / 1e6, deviation_percent(c));
		if (t->o->errno_summary)
			print_errnos(t, c);
	}
	buf_puts(&t->out, "\n\n");
	free(nrs);
}

static void number_or_blank(uint64_t n, char out[24])
{
	out[0] = '\0';
	if (n)
		snprintf(out, 24, "%llu", (unsigned long long)n);
}

static void print_strace_counts(struct trace *t)
{
	uint64_t sum_ns = 0, calls = 0, errors = 0;
	char errors_text[24], room[TRACE_NAME_ROOM];
	size_t n;
	uint32_t *nrs = sorted_numbers(&t->total, &n);

	for (size_t i = 0; i < t->total.calls.n; i++)
		sum_ns += t->total.calls.v[i].sum_ns;
	buf_puts(&t->out, "% time     seconds  usecs/call     calls    errors syscall\n"
			  "------ ----------- ----------- --------- --------- ----------------\n");
	for (size_t i = 0; nrs && i < n; i++) {
		const struct call_stats *c;
		uint32_t at = 0;

		int_map_get(&t->total.by_nr, nrs[i], &at);
		c = &t->total.calls.v[at];
		number_or_blank(c->errors, errors_text);
		buf_printf(&t->out, "%6.2f %11.6f %11llu %9llu %9s %s\n",
			   sum_ns ? 100 * (double)c->sum_ns / (double)sum_ns : 0, (double)c->sum_ns / 1e9,
			   (unsigned long long)(c->sum_ns / 1000 / c->calls), (unsigned long long)c->calls, errors_text,
			   name_of(t, nrs[i], room));
		calls += c->calls;
		errors += c->errors;
	}
	number_or_blank(errors, errors_text);
	buf_puts(&t->out, "------ ----------- ----------- --------- --------- ----------------\n");
	buf_printf(&t->out, "100.00 %11.6f %11llu %9llu %9s total\n", (double)sum_ns / 1e9,
		   (unsigned long long)(calls ? sum_ns / 1000 / calls : 0), (unsigned long long)calls, errors_text);
	free(nrs);
}

static void print_threads(struct trace *t)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		const struct trace_thread *th = t->threads.v[i];

		if (!th->stats)
			continue;
		buf_putc(&t->out, ' ');
		buf_text(&t->out, str_of(th->comm));
		buf_printf(&t->out, " (%d), %llu events, %.1f%%\n\n", th->tid, (unsigned long long)th->stats->events,
			   100 * (double)th->stats->events / (double)max_of(t->total.events, (uint64_t)1));
		print_table(t, th->stats);
	}
}

static void add_stats(struct trace_stats *to, const struct trace_stats *from)
{
	to->events += from->events;
	for (size_t i = 0; i < from->by_nr.cap; i++) {
		const struct int_map_slot *slot = &from->by_nr.slots[i];
		const struct call_stats *f = slot->used ? &from->calls.v[slot->value] : NULL;
		struct call_stats *c = f ? trace_stats_of(to, (uint32_t)slot->key) : NULL;
		double delta;

		if (!c)
			continue;
		delta = f->mean - c->mean;
		c->m2 += f->m2 + delta * delta * (double)c->calls * (double)f->calls / (double)(c->calls + f->calls);
		c->calls += f->calls;
		c->mean += delta * (double)f->calls / (double)c->calls;
		c->errors += f->errors;
		c->sum_ns += f->sum_ns;
		c->min_ns = min_of(c->min_ns, f->min_ns);
		c->max_ns = max_of(c->max_ns, f->max_ns);
		for (size_t k = 0; k < f->errnos.cap; k++) {
			uint32_t n = 0;

			if (!f->errnos.slots[k].used)
				continue;
			int_map_get(&c->errnos, f->errnos.slots[k].key, &n);
			int_map_put(&c->errnos, f->errnos.slots[k].key, n + f->errnos.slots[k].value);
		}
	}
}

static bool same_cgroup(const struct trace_thread *a, const struct trace_thread *b)
{
	return !strcmp(a->cgroup ? a->cgroup : "?", b->cgroup ? b->cgroup : "?");
}

/* The first thread of each cgroup collects the others' counts. */
static void merge_cgroups(struct trace *t)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		struct trace_thread *th = t->threads.v[i];

		if (!th->stats)
			continue;
		for (size_t k = i + 1; k < t->threads.n; k++) {
			struct trace_thread *other = t->threads.v[k];

			if (!other->stats || !same_cgroup(th, other))
				continue;
			add_stats(th->stats, other->stats);
			trace_stats_free(other->stats);
			other->stats = NULL;
		}
	}
}

static void print_cgroups(struct trace *t)
{
	merge_cgroups(t);
	for (size_t i = 0; i < t->threads.n; i++) {
		const struct trace_thread *th = t->threads.v[i];

		if (!th->stats)
			continue;
		buf_printf(&t->out, " cgroup %s, %llu events\n\n", th->cgroup ? th->cgroup : "?",
			   (unsigned long long)th->stats->events);
		print_table(t, th->stats);
	}
}

static void print_counted_cgroups(struct trace *t)
{
	for (size_t i = 0; i < t->cgroups.n; i++) {
		struct trace_cgroup *g = &t->cgroups.v[i];
		char *path = trace_cgroup_path(g->id);

		if (path)
			buf_printf(&t->out, " cgroup %s, %llu events\n\n", path, (unsigned long long)g->stats->events);
		else
			buf_printf(&t->out, " cgroup %llu, %llu events\n\n", (unsigned long long)g->id, (unsigned long long)g->stats->events);
		free(path);
		print_table(t, g->stats);
	}
}

static void put_json_calls(struct trace *t, struct json *j, const struct trace_stats *s)
{
	size_t n;
	uint32_t *nrs = sorted_numbers(s, &n);

	json_member(j, "events", u64, s->events);
	json_key(j, "calls");
	json_begin(j, '[');
	for (size_t i = 0; nrs && i < n; i++) {
		const struct call_stats *c;
		char room[TRACE_NAME_ROOM];
		uint32_t at = 0;

		int_map_get(&s->by_nr, nrs[i], &at);
		c = &s->calls.v[at];
		json_begin(j, '{');
		json_member(j, "name", str, name_of(t, nrs[i], room));
		json_member(j, "calls", u64, c->calls);
		json_member(j, "errors", u64, c->errors);
		json_member(j, "total_ns", u64, c->sum_ns);
		json_member(j, "min_ns", u64, c->min_ns);
		json_member(j, "max_ns", u64, c->max_ns);
		json_member(j, "mean_ns", double, c->mean);
		json_member(j, "stddev_percent", double, deviation_percent(c));
		if (t->o->errno_summary)
			put_json_errnos(j, c);
		json_end(j);
	}
	json_end(j);
	free(nrs);
}

static void put_json_summary(struct trace *t, const char *kind, const struct trace_thread *th, const char *cgroup,
			     const struct trace_stats *s)
{
	struct json j = { .out = &t->out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.trace-summary/1");
	json_member(&j, "type", str, "summary");
	json_member(&j, "of", str, kind);
	if (th) {
		json_member(&j, "pid", i64, th->pid);
		json_member(&j, "tid", i64, th->tid);
		json_member(&j, "comm", str, th->comm);
	}
	if (cgroup)
		json_member(&j, "cgroup", str, cgroup);
	put_json_calls(t, &j, s);
	json_end(&j);
	buf_putc(&t->out, '\n');
}

/* An object per thread or control group, or one in total. */
static void print_json_summary(struct trace *t)
{
	const struct trace_opts *o = t->o;

	if (!trace_summary_by_thread(o) && !trace_summary_by_cgroup(o))
		put_json_summary(t, "total", NULL, NULL, &t->total);
	for (size_t i = 0; i < t->cgroups.n; i++) {
		char *path = trace_cgroup_path(t->cgroups.v[i].id);

		put_json_summary(t, "cgroup", NULL, path ? path : "?", t->cgroups.v[i].stats);
		free(path);
	}
	if (trace_summary_by_cgroup(o))
		merge_cgroups(t);
	for (size_t i = 0; i < t->threads.n; i++) {
		const struct trace_thread *th = t->threads.v[i];

		if (th->stats && trace_summary_by_cgroup(o))
			put_json_summary(t, "cgroup", NULL, th->cgroup ? th->cgroup : "?", th->stats);
		else if (th->stats)
			put_json_summary(t, "thread", th, NULL, th->stats);
	}
}

void trace_print_summary(struct trace *t)
{
	const struct trace_opts *o = t->o;

	if (o->json && (o->strace_counts || o->summary || o->with_summary || o->errno_summary)) {
		print_json_summary(t);
		return;
	}
	if (o->strace_counts) {
		print_strace_counts(t);
		return;
	}
	if (!(o->summary || o->with_summary || o->errno_summary))
		return;
	buf_puts(&t->out, "\n Summary of events:\n\n");
	if (trace_summary_by_cgroup(o)) {
		print_counted_cgroups(t);
		print_cgroups(t);
	} else if (o->summary_mode && strcmp(o->summary_mode, "thread") != 0) {
		buf_printf(&t->out, " total, %llu events\n\n", (unsigned long long)t->total.events);
		print_table(t, &t->total);
	} else {
		print_threads(t);
	}
}
