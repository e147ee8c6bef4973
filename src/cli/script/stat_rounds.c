/*
 * Prints the counts of a file that `stat record` wrote. Each round of counts becomes a row per event, thread
 * and CPU with what was counted since the previous round:
 *
 *	CPU   THREAD             VAL             ENA             RUN            TIME EVENT
 *	 -1    22988          865612          865612          865612       100150616 task-clock
 */
#include "cli/script/python.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/stat/file.h"

struct script_counts {
	struct stat_input in;
	bool head_printed;
};

static int by_event_and_place(const void *pa, const void *pb)
{
	const struct stat_counter *a = *(struct stat_counter *const *)pa, *b = *(struct stat_counter *const *)pb;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int32_t thread_of(const struct stat_input *in, const struct stat_counter *c)
{
	return c->thread < in->n_threads ? in->tids[c->thread] : -1;
}

static void print_count(struct script *s, const struct stat_counter *c, uint32_t event, uint64_t time_ns)
{
	const struct stat_input *in = &s->counts->in;
	const char *name = tacho_perfdata_event(s->pd, event)->name;
	uint64_t value = in->scale ? c->round.scaled : c->round.raw;
	struct json j = { .out = &s->sink.out };

	if (s->python) {
		python_count(s, &(struct python_count){ name, c->cpu, thread_of(in, c), time_ns, value, c->round.enabled_ns,
							c->round.running_ns });
		return;
	}
	if (!s->opts->json) {
		buf_printf(j.out, "%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %s\n",
			   c->cpu, thread_of(in, c), value, c->round.enabled_ns, c->round.running_ns, time_ns,
			   name);
		return;
	}
	json_begin(&j, '{');
	json_member(&j, "type", str, "count");
	json_member(&j, "event", str, name);
	json_member(&j, "cpu", i64, c->cpu);
	json_member(&j, "tid", i64, thread_of(in, c));
	json_member(&j, "time_ns", u64, time_ns);
	json_member(&j, "value", u64, value);
	json_member(&j, "enabled_ns", u64, c->round.enabled_ns);
	json_member(&j, "running_ns", u64, c->round.running_ns);
	json_end(&j);
	buf_putc(j.out, '\n');
}

/* An event that could not be opened has no counters. As in perf it has rows of zeros, for the places where
 * the first event was counted. */
static void print_missing(struct script *s, struct stat_counter *const *first, size_t n, uint32_t event,
			  uint64_t time_ns)
{
	for (size_t i = 0; i < n && first[i]->event == first[0]->event; i++) {
		struct stat_counter none = { .cpu = first[i]->cpu, .thread = first[i]->thread };

		print_count(s, &none, event, time_ns);
	}
}

static int print_round(struct script *s, uint64_t time_ns)
{
	struct stat_input *in = &s->counts->in;
	scoped(freep) struct stat_counter **order = calloc(in->counters.n + 1, sizeof(*order));
	size_t n = 0, i = 0;

	if (!order)
		return -ENOMEM;
	for (size_t k = 0; k < in->counters.n; k++)
		if (in->counters.v[k].seen)
			order[n++] = &in->counters.v[k];
	qsort(order, n, sizeof(struct stat_counter *), by_event_and_place);
	if (!s->counts->head_printed && !s->opts->json && !s->python)
		buf_printf(&s->sink.out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN",
			   "TIME", "EVENT");
	s->counts->head_printed = true;
	for (uint32_t event = 0; event < tacho_perfdata_n_events(s->pd); event++) {
		if (i == n || order[i]->event != event)
			print_missing(s, order, n, event, time_ns);
		for (; i < n && order[i]->event == event; i++)
			print_count(s, order[i], event, time_ns);
	}
	if (s->python)
		python_interval(s, time_ns);
	sink_write_if_full(s, &s->sink);
	return 0;
}

int stat_rounds_record(struct script *s, const struct tacho_record *rec)
{
	enum stat_round_kind kind;
	uint64_t time_ns;
	int err;

	if (rec->type != TACHO_RECORD_THREAD_MAP && rec->type != TACHO_RECORD_STAT_CONFIG &&
	    rec->type != TACHO_RECORD_STAT && rec->type != TACHO_RECORD_STAT_ROUND)
		return 0;
	if (!s->counts) {
		s->counts = calloc(1, sizeof(*s->counts));
		if (!s->counts)
			return -ENOMEM;
		stat_input_init(&s->counts->in, s->pd);
	}
	err = stat_input_record(&s->counts->in, rec, &kind, &time_ns, NULL);
	return err > 0 ? print_round(s, time_ns) : err;
}

void stat_rounds_done(struct script *s)
{
	if (!s->counts)
		return;
	stat_input_done(&s->counts->in);
	free(s->counts);
}
