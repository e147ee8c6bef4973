/*
 * Triggers. One recording runs at a time, in its own thread; a trigger that fires meanwhile is
 * checked again a second later.
 */
#include "agent/core/triggers.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/core/collector.h"
#include "agent/core/metric_names.h"
#include "agent/profiler/profiler.h"
#include "agent/core/series_rates.h"
#include "base/clock.h"
#include "base/error.h"

#define RETRY_DIR_NS 60000000000ull	/* wait before retrying a directory that could not be created */

struct trigger {
	const struct trigger_config *config;
	struct condition condition;
	struct series_rates series_rates;
	uint64_t since_ns, quiet_until_ns;
	double value;			/* at the last check */
};

struct triggers {
	struct agent *agent;
	struct trigger *v;
	size_t n;
	/* the recording */
	pthread_t thread;
	_Atomic bool busy;
	bool started;			/* `thread` must be joined */
	const struct trigger *firing;
	double value;
	char dir[PATH_MAX];
};

void triggers_free(struct triggers *t)
{
	if (!t)
		return;
	if (t->started)
		pthread_join(t->thread, NULL);
	for (size_t i = 0; i < t->n; i++) {
		condition_done(&t->v[i].condition);
		series_rates_done(&t->v[i].series_rates);
	}
	free(t->v);
	free(t);
}

int triggers_new(struct triggers **out, struct agent *a, const struct agent_config *cfg,
		 struct tacho_error *e)
{
	struct triggers *t = calloc(1, sizeof(*t));
	int err = 0;

	if (t)
		t->v = calloc(cfg->n_triggers + 1, sizeof(*t->v));
	if (!t || !t->v) {
		triggers_free(t);
		return error_nomem(e);
	}
	t->agent = a;
	for (; err == 0 && t->n < cfg->n_triggers; t->n++) {
		struct trigger *one = &t->v[t->n];

		one->config = &cfg->triggers[t->n];
		one->value = NAN;
		err = condition_parse(&one->condition, one->config->when, e);
	}
	if (err < 0) {
		triggers_free(t);
		return err;
	}
	*out = t;
	return 0;
}

/* ---- values ---- */

/* The sum or the largest of the selected series' values; NAN if there is no such series. */
static double select_value(struct registry *r, const struct condition *c)
{
	bool largest = c->func == CONDITION_MAX_VALUE;
	double v = NAN;

	pthread_rwlock_rdlock(&r->lock);
	for (size_t i = 0; i < r->n; i++)
		if (condition_selects(c, r->series[i])) {
			double x = r->series[i]->last.value;

			v = isnan(v) ? x : largest ? fmax(v, x) : v + x;
		}
	pthread_rwlock_unlock(&r->lock);
	return v;
}

static double condition_value(struct triggers *t, struct trigger *one, uint64_t now)
{
	const struct condition *c = &one->condition;

	if (c->func == CONDITION_RATE || c->func == CONDITION_MAX_RATE)
		return series_rates_update(&one->series_rates, &t->agent->registry, c, now);
	return select_value(&t->agent->registry, c);
}

/* ---- firing ---- */

static void *record_thread(void *arg)
{
	struct triggers *t = arg;
	const struct trigger_config *cfg = t->firing->config;
	struct tacho_error e = { .column = -1 };
	struct store_event ev = { .time_ns = clock_wall_ns(), .kind = "trigger", .name = cfg->name };
	struct recording_opts opts = { .length_ns = cfg->length_ns,
				       .action = cfg->action,
				       .dir = t->dir,
				       .max_bytes = cfg->max_bytes };
	scoped(buf_done) struct buf name = { 0 };
	char *path = NULL, text[1000], note[256] = "";
	int err;

	buf_puts(&name, "trigger-");
	metric_put_clean_name(&name, str_of(cfg->name));		/* part of the file name */
	opts.name = name.bytes;
	err = buf_failed(&name) ? error_nomem(&e) : profiler_record(t->agent, &opts, &path, note, &e);
	snprintf(text, sizeof(text), "%s (was %g)%s%s%s%s", cfg->when, t->value, err < 0 ? ", but: " : "",
		 err < 0 ? e.message : "", note[0] ? "; " : "", note);
	ev.text = text;
	ev.path = path;
	if (t->agent->store)
		store_event_put(t->agent->store, &ev);
	if (t->agent->log)
		t->agent->log(t->agent->log_arg, err < 0 || note[0] ? TACHO_LOG_WARN : TACHO_LOG_INFO, text);
	free(path);
	t->busy = false;
	return NULL;
}

static int choose_dir(struct triggers *t, const struct trigger_config *cfg)
{
	t->dir[0] = '\0';
	if (cfg->dir)
		snprintf(t->dir, sizeof(t->dir), "%s", cfg->dir);
	else if (t->agent->state_dir)
		snprintf(t->dir, sizeof(t->dir), "%.4000s/triggers", t->agent->state_dir);
	else
		return -ENOENT;
	return mkdir(t->dir, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static void log_no_dir(struct triggers *t, const struct trigger *one, int err)
{
	char text[700];

	if (!t->agent->log)
		return;
	snprintf(text, sizeof(text),
		 "trigger '%.60s' cannot record: %.300s: %s; set its 'dir' to a writable "
		 "directory",
		 one->config->name, t->dir[0] ? t->dir : "there is no state directory",
		 strerror(-err));
	t->agent->log(t->agent->log_arg, TACHO_LOG_WARN, text);
}

static void start_recording(struct triggers *t, struct trigger *one, double value, uint64_t now)
{
	int err;

	if (t->busy)
		return;
	if (t->started)
		pthread_join(t->thread, NULL);
	t->started = false;
	err = choose_dir(t, one->config);
	if (err < 0) {
		log_no_dir(t, one, err);
		one->quiet_until_ns = now + max_of(one->config->cooldown_ns, (uint64_t)RETRY_DIR_NS);
		return;
	}
	t->firing = one;
	t->value = value;
	t->busy = true;
	t->started = pthread_create(&t->thread, NULL, record_thread, t) == 0;
	t->busy = t->started;
	one->quiet_until_ns = now + one->config->length_ns + one->config->cooldown_ns;
	one->since_ns = 0;
}

void triggers_check(void *triggers, struct collector *c)
{
	struct triggers *t = triggers;
	uint64_t now = clock_mono_ns();

	(void)c;
	for (size_t i = 0; i < t->n; i++) {
		struct trigger *one = &t->v[i];
		double value = one->value = condition_value(t, one, now);

		if (isnan(value) || !condition_holds(&one->condition, value)) {
			one->since_ns = 0;
			continue;
		}
		if (!one->since_ns)
			one->since_ns = now;
		if (now - one->since_ns >= one->condition.for_ns && now >= one->quiet_until_ns)
			start_recording(t, one, value, now);
	}
}

int triggers_status(struct triggers *t, int (*fn)(void *arg, const struct trigger_status *), void *arg)
{
	uint64_t now = clock_mono_ns();
	int err = 0;

	for (size_t i = 0; err == 0 && i < t->n; i++) {
		const struct trigger *one = &t->v[i];
		const struct trigger_status st = {
			.config = one->config, .value = one->value, .threshold = one->condition.limit,
			.holds = !isnan(one->value) && condition_holds(&one->condition, one->value),
			.recording = t->busy && t->firing == one,
			.quiet_ns = one->quiet_until_ns > now ? one->quiet_until_ns - now : 0,
		};

		err = fn(arg, &st);
	}
	return err;
}
