/*
 * The running exporters of a configuration. On a reload, exporters with unchanged settings continue
 * with their queues and connections; the others are stopped, and their unsent bodies remain on disk
 * for exporters of the same name.
 */
#include "agent/export/exporter.h"

#include <errno.h>

#include "agent/export/runner.h"
#include "base/clock.h"
#include "base/error.h"

#define MAX_EXPORTERS 32
#define RELOAD_GRACE_MS 500

struct exporters {
	struct exporter_env env;
	pthread_rwlock_t lock;		/* guards the list, not the exporters */
	struct exporter_runner *v[MAX_EXPORTERS];
	size_t n;
	bool started;
};

void exporters_take(struct exporters *x, const struct point_batch *b)
{
	if (!b->n_points)
		return;
	pthread_rwlock_rdlock(&x->lock);
	for (size_t i = 0; i < x->n; i++)
		exporter_runner_take(x->v[i], b);
	pthread_rwlock_unlock(&x->lock);
}

bool exporters_want_profile(struct exporters *x, const char *format)
{
	bool wanted = false;

	pthread_rwlock_rdlock(&x->lock);
	for (size_t i = 0; i < x->n; i++)
		wanted = wanted || exporter_runner_wants_profile(x->v[i], format);
	pthread_rwlock_unlock(&x->lock);
	return wanted;
}

void exporters_take_profile(struct exporters *x, const char *format, struct str profile, uint64_t n_samples,
			    int64_t from_ns, int64_t to_ns)
{
	pthread_rwlock_rdlock(&x->lock);
	for (size_t i = 0; i < x->n; i++)
		if (exporter_runner_wants_profile(x->v[i], format))
			exporter_runner_take_profile(x->v[i], profile, n_samples, from_ns, to_ns);
	pthread_rwlock_unlock(&x->lock);
}

size_t exporters_status(struct exporters *x, struct exporter_status *out, size_t max)
{
	size_t n;

	pthread_rwlock_rdlock(&x->lock);
	n = min_of(x->n, max);
	for (size_t i = 0; i < n; i++)
		exporter_runner_status(x->v[i], &out[i]);
	pthread_rwlock_unlock(&x->lock);
	return n;
}

/* ---- which exporters are unchanged ---- */

/* key_show() does not print secrets, so they are compared directly. */
static bool same_secret(const struct config_key *row, const void *a, const void *b)
{
	const char *x = *(char *const *)((const char *)a + row->at);
	const char *y = *(char *const *)((const char *)b + row->at);

	return x && y ? !strcmp(x, y) : x == y;
}

static bool same_keys(const struct config_key *rows, const void *a, const void *b)
{
	struct buf x = { 0 }, y = { 0 };
	bool same = true;

	for (const struct config_key *row = rows; same && row->kind != KEY_END; row++) {
		if (row->kind == KEY_SECRET) {
			same = same_secret(row, a, b);
			continue;
		}
		buf_clear(&x);
		buf_clear(&y);
		key_show(row, a, &x);
		key_show(row, b, &y);
		same = str_eq(buf_view(&x), buf_view(&y)) && !buf_failed(&x) && !buf_failed(&y);
	}
	buf_done(&x);
	buf_done(&y);
	return same;
}

static bool same_labels(const struct key_pairs *a, const struct key_pairs *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = !strcmp(a->v[i].name, b->v[i].name) && !strcmp(a->v[i].value, b->v[i].value);
	return same;
}

static bool is_unchanged(const struct exporter_runner *p, const struct export_config *as,
			 const struct agent_config *cfg)
{
	const struct export_config *is = exporter_runner_config(p);

	return !strcmp(is->name, as->name) && is->type == as->type &&
	       same_labels(&exporter_runner_agent_config(p)->labels, &cfg->labels) &&
	       same_keys(is->type->keys, is->settings, as->settings) &&
	       (!exporter_pushes(is->type) || same_keys(push_keys, is->settings, as->settings));
}

static const struct export_config *find_unchanged(const struct agent_config *cfg,
						  const struct exporter_runner *p)
{
	for (size_t i = 0; i < cfg->n_exports; i++)
		if (is_unchanged(p, &cfg->exports[i], cfg))
			return &cfg->exports[i];
	return NULL;
}

/* ---- life ---- */

static bool is_running(const struct exporters *x, const char *name)
{
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(exporter_runner_config(x->v[i])->name, name))
			return true;
	return false;
}

static void stop_all(struct exporter_runner **v, size_t n, unsigned grace_ms)
{
	for (size_t i = 0; i < n; i++)
		exporter_runner_stop(v[i], grace_ms);
	for (size_t i = 0; i < n; i++)
		exporter_runner_free(v[i]);
}

/* Stops exporters that are not in the configuration or have changed. */
static void stop_changed(struct exporters *x, const struct agent_config *cfg)
{
	struct exporter_runner *gone[MAX_EXPORTERS];
	size_t n_gone = 0, kept = 0;

	pthread_rwlock_wrlock(&x->lock);
	for (size_t i = 0; i < x->n; i++)
		if (find_unchanged(cfg, x->v[i]))
			x->v[kept++] = x->v[i];
		else
			gone[n_gone++] = x->v[i];
	x->n = kept;
	pthread_rwlock_unlock(&x->lock);
	stop_all(gone, n_gone, RELOAD_GRACE_MS);
}

static int start_exporter(struct exporters *x, const struct export_config *cfg, struct tacho_error *e)
{
	struct exporter_runner *p = NULL;
	int err = exporter_runner_new(&p, cfg, &x->env, e);

	if (err < 0)
		return err;
	pthread_rwlock_wrlock(&x->lock);
	x->v[x->n++] = p;
	pthread_rwlock_unlock(&x->lock);
	return 0;
}

int exporters_apply(struct exporters *x, const struct agent_config *cfg, struct tacho_error *e)
{
	int err = 0;

	if (cfg->n_exports > MAX_EXPORTERS)
		return error_set(e, -E2BIG, "more than %d exports", MAX_EXPORTERS);
	stop_changed(x, cfg);
	config_free(x->env.config);
	x->env.config = config_hold(cfg);
	x->env.since_ns = x->started ? clock_wall_ns() : 0;
	x->started = true;
	for (size_t i = 0; i < cfg->n_exports; i++) {
		struct tacho_error why = { .column = -1 };

		if (is_running(x, cfg->exports[i].name) ||
		    start_exporter(x, &cfg->exports[i], &why) == 0)
			continue;
		if (!err)
			err = error_set(e, why.code ? why.code : -EINVAL, "%s", why.message);
	}
	return err;
}

int exporters_start(struct exporters **out, const struct agent_config *cfg,
		    const struct exporter_env *env, struct tacho_error *e)
{
	struct exporters *x = calloc(1, sizeof(*x));
	int err;

	if (!x)
		return error_nomem(e);
	x->env = *env;
	x->env.config = NULL;
	pthread_rwlock_init(&x->lock, NULL);
	err = exporters_apply(x, cfg, e);
	if (err < 0) {
		exporters_stop(x, 0);
		return err;
	}
	*out = x;
	return 0;
}

void exporters_stop(struct exporters *x, unsigned grace_ms)
{
	if (!x)
		return;
	stop_all(x->v, x->n, grace_ms);
	pthread_rwlock_destroy(&x->lock);
	config_free(x->env.config);
	free(x);
}
