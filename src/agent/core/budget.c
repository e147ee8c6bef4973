/*
 * Keeps the agent within its CPU budget. Its CPU time is checked every five seconds: above the
 * budget, rates are halved at once; they are doubled again only after six checks below half of the
 * budget, so that they do not oscillate.
 */
#include "agent/core/budget.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "agent/core/collector_internal.h"
#include "agent/profiler/profiler.h"
#include "base/clock.h"

#define CHECK_NS 5000000000ull
#define CALM_CHECKS 6
#define MAX_DOUBLINGS 6

struct budget {
	struct agent *agent;
	uint64_t last_ns, last_cpu_ns;
	unsigned calm;
	unsigned halved;		/* how many times the profile's frequency was halved */
	unsigned doubled;		/* how many times an interval was doubled, over all sources */
};

int budget_new(struct budget **out, struct agent *a)
{
	struct budget *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->agent = a;
	*out = b;
	return 0;
}

void budget_free(struct budget *b)
{
	free(b);
}

int budget_step(double percent, double budget, unsigned *calm)
{
	if (percent > budget) {
		*calm = 0;
		return 1;
	}
	if (percent > budget / 2) {
		*calm = 0;
		return 0;
	}
	if (++*calm < CALM_CHECKS)
		return 0;
	*calm = 0;
	return -1;
}

static uint64_t cpu_ns(void)
{
	return (uint64_t)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void report_change(struct budget *b, const char *text)
{
	struct store_event ev = { .time_ns = clock_wall_ns(), .kind = "budget", .name = "cpu",
				  .text = text };

	if (b->agent->log)
		b->agent->log(b->agent->log_arg, TACHO_LOG_WARN, text);
	if (b->agent->store)
		store_event_put(b->agent->store, &ev);
}

/* Returns the least important source that can still be slowed down or, to raise rates, the most
 * important one that was slowed down. */
static struct agent_source *find_source(struct collector *c, bool lower_rates)
{
	struct agent_source *found = NULL;

	for (size_t i = 0; i < c->n_sources; i++) {		/* sorted by priority, most important first */
		struct agent_source *s = c->sources[i];
		uint64_t base = s->config->interval_ns;

		if (lower_rates ? s->interval_ns < base << MAX_DOUBLINGS : s->interval_ns > base) {
			found = s;
			if (!lower_rates)
				break;
		}
	}
	return found;
}

static void set_interval(struct agent_source *s, uint64_t ns)
{
	uint64_t now = clock_mono_ns();

	s->interval_ns = ns;
	s->next_ns = now - now % ns + ns;
}

static uint64_t frequency_now(struct budget *b)
{
	struct profiler_status st = { 0 };

	if (b->agent->profiler)
		profiler_status(b->agent->profiler, &st);
	return st.running ? st.frequency : 0;
}

static void lower_rates(struct budget *b, struct collector *c, double percent)
{
	double budget = b->agent->config->cpu_budget;
	uint64_t hz = frequency_now(b);
	struct agent_source *s = find_source(c, true);
	char text[300];

	if (hz > 1 && profiler_frequency(b->agent->profiler, hz / 2) == 0) {
		b->halved++;
		snprintf(text, sizeof(text),
			 "the agent used %.1f %% of a CPU, above its cpu_budget of %.1f %%: the "
			 "profile's frequency is now %llu Hz",
			 percent, budget, (unsigned long long)hz / 2);
	} else if (s) {
		set_interval(s, s->interval_ns * 2);
		b->doubled++;
		snprintf(text, sizeof(text),
			 "the agent used %.1f %% of a CPU, above its cpu_budget of %.1f %%: source "
			 "'%.60s' is now read every %.3g s",
			 percent, budget, s->config->name, (double)s->interval_ns * 1e-9);
	} else {
		return;
	}
	report_change(b, text);
}

static void raise_rates(struct budget *b, struct collector *c)
{
	struct agent_source *s = b->doubled ? find_source(c, false) : NULL;
	uint64_t want = b->agent->config->profile.frequency, hz = frequency_now(b);
	char text[200];

	if (s) {
		set_interval(s, max_of(s->interval_ns / 2, s->config->interval_ns));
		b->doubled--;
		snprintf(text, sizeof(text),
			 "the agent is below its cpu_budget again: source '%.60s' is now read "
			 "every %.3g s",
			 s->config->name, (double)s->interval_ns * 1e-9);
	} else if (b->halved && hz && hz < want &&
		   profiler_frequency(b->agent->profiler, min_of(hz * 2, want)) == 0) {
		b->halved--;
		snprintf(text, sizeof(text),
			 "the agent is below its cpu_budget again: the profile's frequency is now "
			 "%llu Hz",
			 (unsigned long long)min_of(hz * 2, want));
	} else {
		return;
	}
	report_change(b, text);
}

/* A reload removed the limit: restore the profile's frequency. The reload itself has set the
 * intervals. */
static void restore_frequency(struct budget *b)
{
	if (b->halved && b->agent->profiler)
		profiler_frequency(b->agent->profiler, b->agent->config->profile.frequency);
	b->halved = b->doubled = b->calm = 0;
	b->last_ns = 0;
}

void budget_check(void *budget, struct collector *c)
{
	struct budget *b = budget;
	uint64_t now = clock_mono_ns(), cpu;
	double percent;
	int step;

	if (b->agent->config->cpu_budget <= 0)
		restore_frequency(b);
	if (b->agent->config->cpu_budget <= 0 || now - b->last_ns < CHECK_NS)
		return;
	cpu = cpu_ns();
	percent = (double)(cpu - b->last_cpu_ns) / (double)(now - b->last_ns) * 100;
	if (b->last_ns == 0)
		step = 0;
	else
		step = budget_step(percent, b->agent->config->cpu_budget, &b->calm);
	b->last_ns = now;
	b->last_cpu_ns = cpu;
	if (step > 0)
		lower_rates(b, c, percent);
	else if (step < 0)
		raise_rates(b, c);
}
