/*
 * Replaces the configuration of a running agent. Unchanged sources are not touched; in changed ones,
 * series that exist before and after are continued and the others end. An invalid file changes
 * nothing.
 */
#include "agent/core/collector_internal.h"

#include <errno.h>
#include <stdio.h>

#include "agent/config/compare.h"
#include "base/clock.h"
#include "base/error.h"

static bool same_events(const struct source_config *a, const struct source_config *b)
{
	if (a->n_events != b->n_events || !same_list(&a->metrics, &b->metrics))
		return false;
	for (size_t i = 0; i < a->n_events; i++)
		if (!same_text(a->events[i].spec, b->events[i].spec) ||
		    !same_text(a->events[i].name, b->events[i].name) ||
		    !same_text(a->events[i].refused, b->events[i].refused))
			return false;
	return true;
}

static bool same_groups(const struct source_config *a, const struct source_config *b)
{
	if (a->n_groups != b->n_groups)
		return false;
	for (size_t i = 0; i < a->n_groups; i++)
		if (strcmp(a->groups[i].label, b->groups[i].label) != 0 ||
		    a->groups[i].n_cpus != b->groups[i].n_cpus ||
		    memcmp(a->groups[i].cpus, b->groups[i].cpus,
			   a->groups[i].n_cpus * sizeof(*a->groups[i].cpus)) != 0)
			return false;
	return true;
}

static bool same_pids(const struct source_config *a, const struct source_config *b)
{
	return a->n_pids == b->n_pids &&
	       (a->n_pids == 0 || memcmp(a->pids, b->pids, a->n_pids * sizeof(*a->pids)) == 0);
}

/* Whether both sources count the same. Intervals are not compared: they can change without reopening
 * counters. */
static bool same_source(const struct source_config *a, const struct source_config *b)
{
	return a->target == b->target && a->per == b->per && a->naming == b->naming &&
	       a->no_merge == b->no_merge && a->children == b->children && a->top == b->top &&
	       same_text(a->cpus, b->cpus) && same_text(a->process, b->process) &&
	       same_text(a->user, b->user) && same_list(&a->command, &b->command) &&
	       same_list(&a->cgroups, &b->cgroups) && same_pids(a, b) && same_groups(a, b) &&
	       same_events(a, b);
}

/* The running source continues with the new configuration's settings. */
static void adopt_config(struct agent_source *s, const struct source_config *cfg)
{
	s->config = cfg;
	s->flush_at_ns = 0;
	for (size_t i = 0; i < s->flush_queue.n; i++)
		s->flush_queue.v[i]->source = cfg->name;
	for (size_t i = 0; i < cfg->n_events; i++)
		s->events[i].config = &cfg->events[i];
	if (s->interval_ns != cfg->interval_ns) {
		uint64_t now = clock_mono_ns();

		s->interval_ns = cfg->interval_ns;
		s->next_ns = now - now % s->interval_ns + s->interval_ns;
	}
}

static void end_series(struct collector *c, struct agent_source *s)
{
	for (size_t i = 0; i < s->counters.n; i++)
		registry_end(&c->agent->registry, s->counters.v[i].series);
}

/* Continues the running source of that name if it counts the same, or opens `cfg`. */
static int continue_or_open(struct collector *c, struct agent_source **old, size_t n_old,
			    const struct source_config *cfg, struct agent_source **out,
			    struct tacho_error *e)
{
	uint64_t now = clock_mono_ns();
	struct agent_source *from = NULL;
	int err;

	for (size_t i = 0; i < n_old; i++) {
		if (!old[i] || strcmp(old[i]->config->name, cfg->name) != 0)
			continue;
		if (same_source(old[i]->config, cfg)) {
			*out = take(old[i]);
			adopt_config(*out, cfg);
			return 0;
		}
		from = old[i];
	}
	err = source_open(out, &(struct source_context){ c->agent, c->tacho, &c->fds }, cfg, from, e);
	if (err == 0)
		(*out)->next_ns = now - now % cfg->interval_ns + cfg->interval_ns;
	return err;
}

/* Flushes and ends the old sources that were not continued. */
static void free_old_sources(struct collector *c)
{
	for (size_t i = 0; i < c->n_sources; i++) {
		if (!c->sources[i])
			continue;
		collector_flush(c, c->sources[i]);
		end_series(c, c->sources[i]);
		source_free(c->sources[i]);
	}
	free(c->sources);
}

/* HTTP threads read the configuration under config_lock, the loop under the collector's lock.
 * Threads that need both take them in this order. */
static void set_config(struct collector *c, const struct agent_config *cfg)
{
	pthread_rwlock_wrlock(&c->agent->config_lock);
	pthread_mutex_lock(&c->lock);
	c->agent->config = cfg;
	pthread_mutex_unlock(&c->lock);
	pthread_rwlock_unlock(&c->agent->config_lock);
}

/* A source that cannot be opened (e.g. its command no longer exists) does not stop the others.
 * Returns the first error. */
static int continue_or_open_all(struct collector *c, const struct agent_config *cfg,
				struct source_config *const *order, struct agent_source **fresh,
				size_t *n, struct tacho_error *e)
{
	int first = 0;

	for (size_t i = 0; i < cfg->n_sources; i++) {
		int err = continue_or_open(c, c->sources, c->n_sources, order[i], &fresh[*n],
					   first ? NULL : e);

		if (err == 0)
			++*n;
		else if (!first)
			first = err;
	}
	return first;
}

int collector_apply(struct collector *c, const struct agent_config *cfg, struct tacho_error *e)
{
	scoped(freep) struct source_config **order = collector_order(cfg);
	struct agent_source **fresh = calloc(cfg->n_sources + 1, sizeof(*fresh));
	size_t n = 0;
	int err;

	if (!fresh || !order) {
		free(fresh);
		return error_nomem(e);
	}
	pthread_mutex_lock(&c->lock);
	err = continue_or_open_all(c, cfg, order, fresh, &n, e);
	free_old_sources(c);
	c->sources = fresh;
	c->n_sources = n;
	collector_watch_cgroups(c);
	collector_watch_tasks(c, false);
	pthread_mutex_unlock(&c->lock);
	set_config(c, cfg);
	collector_wake(c);
	return err;
}
