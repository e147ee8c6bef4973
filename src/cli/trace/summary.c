/*
 * Counts and times of calls, per thread or in total (-s, -S), as perf prints them, and with -c as strace does.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

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

static struct call_stats *stats_of(struct trace_stats *s, uint32_t nr)
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

static void count(struct trace_stats *s, const struct trace_call *call, bool with_errnos)
{
	struct call_stats *c = stats_of(s, call->nr);
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

void trace_count_call(struct trace *t, struct trace_call *call)
{
	const struct trace_opts *o = t->o;
	bool total = (o->summary_mode && strcmp(o->summary_mode, "thread") != 0) || o->strace_counts;

	if (!(o->summary || o->with_summary || o->strace_counts || o->errno_summary) || !trace_selects(t, call->nr))
		return;
	if (!total && !call->th->stats)
		call->th->stats = calloc(1, sizeof(*call->th->stats));
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
		char room[24];
		uint32_t at = 0;

		int_map_get(&s->by_nr, nrs[i], &at);
		c = &s->calls.v[at];
		buf_printf(&t->out, "   %-15s %8llu %6llu %9.3f %9.3f %9.3f %9.3f %9.2f%%\n",
			   trace_call_name(t, nrs[i], false, room), (unsigned long long)c->calls,
			   (unsigned long long)c->errors, (double)c->sum_ns / 1e6, (double)c->min_ns / 1e6,
			   (double)c->sum_ns / 1e6 / (double)c->calls, (double)c->max_ns / 1e6, deviation_percent(c));
		if (t->o->errno_summary)
			print_errnos(t, c);
	}
	buf_puts(&t->out, "\n\n");
	free(nrs);
}

static void print_strace_counts(struct trace *t)
{
	uint64_t sum_ns = 0, calls = 0, errors = 0;
	char errors_text[24], room[24];
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
		snprintf(errors_text, sizeof(errors_text), c->errors ? "%llu" : "", (unsigned long long)c->errors);
		buf_printf(&t->out, "%6.2f %11.6f %11llu %9llu %9s %s\n",
			   sum_ns ? 100 * (double)c->sum_ns / (double)sum_ns : 0, (double)c->sum_ns / 1e9,
			   (unsigned long long)(c->sum_ns / 1000 / c->calls), (unsigned long long)c->calls, errors_text,
			   trace_call_name(t, nrs[i], false, room));
		calls += c->calls;
		errors += c->errors;
	}
	snprintf(errors_text, sizeof(errors_text), errors ? "%llu" : "", (unsigned long long)errors);
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
		buf_printf(&t->out, " %s (%d), %llu events, %.1f%%\n\n", th->comm, th->tid,
			   (unsigned long long)th->stats->events,
			   100 * (double)th->stats->events / (double)max_of(t->total.events, (uint64_t)1));
		print_table(t, th->stats);
	}
}

void trace_print_summary(struct trace *t)
{
	const struct trace_opts *o = t->o;

	if (o->strace_counts) {
		print_strace_counts(t);
		return;
	}
	if (!(o->summary || o->with_summary || o->errno_summary))
		return;
	buf_puts(&t->out, "\n Summary of events:\n\n");
	if (o->summary_mode && strcmp(o->summary_mode, "thread") != 0) {
		buf_printf(&t->out, " total, %llu events\n\n", (unsigned long long)t->total.events);
		print_table(t, &t->total);
	} else {
		print_threads(t);
	}
}
