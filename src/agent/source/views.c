/*
 * See views.h. A histogram is a series per power of two, cumulative as Prometheus wants it, with the upper limit in seconds as the
 * label le, and two for the sum and the count.
 */
#include "agent/source/views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/core/collector.h"
#include "base/clock.h"
#include "base/vec.h"

#define LEVELS 24			/* up to 16 s */
#define MAX_ROWS 400

struct exported_view {
	const char *name, *by, *label;	/* label: name of the label with the row's key; NULL: there is one row */
	struct metric bucket, sum, count;	/* bucket.name NULL: only the count */
};

#define COUNTER METRIC_COUNTER
static const struct exported_view exported[] = {
	{ "runqlat", "", NULL,
	  { "runqlat-bucket", "tacho_runqlat_seconds_bucket", "", "waits of threads for a CPU, by their longest time", COUNTER, 1, NAMING_TACHO },
	  { "runqlat-sum", "tacho_runqlat_seconds_sum", "", "time that threads waited for a CPU, in seconds", COUNTER, 1e-9, NAMING_TACHO },
	  { "runqlat-count", "tacho_runqlat_seconds_count", "", "waits of threads for a CPU", COUNTER, 1, NAMING_TACHO } },
	{ "biolat", "disk", "disk",
	  { "biolat-bucket", "tacho_biolat_seconds_bucket", "", "requests to disks, by their longest time", COUNTER, 1, NAMING_TACHO },
	  { "biolat-sum", "tacho_biolat_seconds_sum", "", "time of requests to disks, in seconds", COUNTER, 1e-9, NAMING_TACHO },
	  { "biolat-count", "tacho_biolat_seconds_count", "", "requests to disks", COUNTER, 1, NAMING_TACHO } },
	{ "syscount", "call", "call", { 0 }, { 0 },
	  { "syscount", "tacho_syscalls", "", "system calls that returned", COUNTER, 1, NAMING_TACHO } },
};

struct view_row_series {
	char key[40];
	uint32_t bucket[LEVELS + 1], sum, count;	/* IDs of series; the last bucket has no limit */
};

struct running_view {
	const struct exported_view *what;
	struct tacho_view *view;
	const struct metric *bucket, *sum, *count;
	struct { struct view_row_series *v; size_t n, cap; } rows;
};

struct agent_views {
	struct agent *agent;
	struct tacho *tacho;
	struct running_view running[countof(exported)];
	size_t n_running;
	struct { struct point *v; size_t n, cap; } points;
	uint64_t due_ns;
	int64_t last_ns, wall_ns;
	struct running_view *current;	/* whose rows are read */
	uint64_t lost_logged;
};

bool agent_views_has(const char *name, const char **names)
{
	*names = "runqlat, biolat, syscount";
	for (size_t i = 0; i < countof(exported); i++)
		if (!strcmp(exported[i].name, name))
			return true;
	return false;
}

static void log_text(const struct agent *a, const char *text)
{
	if (a->log)
		a->log(a->log_arg, TACHO_LOG_WARN, text);
}

static int start_view(struct agent_views *v, const struct exported_view *what)
{
	struct running_view *r = &v->running[v->n_running];
	const struct tacho_view_opts o = { .size = sizeof(o), .by = what->by, .max_rows = MAX_ROWS };
	struct registry *registry = &v->agent->registry;
	struct tacho_error e = { .column = -1 };
	char text[600];

	*r = (struct running_view){ .what = what };
	if (tacho_view_open(&r->view, v->tacho, what->name, &o, &e) < 0) {
		snprintf(text, sizeof(text), "the view %s cannot run: %.400s", what->name, e.message);
		log_text(v->agent, text);
		return 0;
	}
	v->n_running++;
	r->count = registry_metric(registry, &what->count);
	if (what->bucket.name) {
		r->bucket = registry_metric(registry, &what->bucket);
		r->sum = registry_metric(registry, &what->sum);
	}
	return r->count && (!what->bucket.name || (r->bucket && r->sum)) ? 0 : -ENOMEM;
}

int agent_views_new(struct agent_views **out, struct agent *a)
{
	const struct strlist *names = &a->config->usage.views;
	struct agent_views *v = calloc(1, sizeof(*v));
	int err = v && tacho_open(&v->tacho, NULL, NULL) == 0 ? 0 : -ENOMEM;

	if (v)
		v->agent = a;
	for (size_t i = 0; err == 0 && i < countof(exported) && !a->config->usage.off; i++)
		for (size_t k = 0; err == 0 && k < names->n; k++)
			if (!strcmp(names->v[k], exported[i].name)) {
				err = start_view(v, &exported[i]);
				break;
			}
	if (err < 0)
		agent_views_free(v);
	else
		*out = v;
	return err;
}

void agent_views_free(struct agent_views *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_running; i++) {
		tacho_view_close(v->running[i].view);
		vec_done(&v->running[i].rows);
	}
	vec_done(&v->points);
	tacho_close(v->tacho);
	free(v);
}

/* Adds a series with the label of the row and, for a bucket, its limit. 0: out of memory. */
static uint32_t add_series(const struct agent_views *v, const struct metric *m, const char *key, const char *limit)
{
	const struct running_view *r = v->current;
	struct label labels[3];
	size_t n = 0;
	int64_t id;

	if (r->what->label)
		labels[n++] = (struct label){ r->what->label, (char *)key };
	if (limit)
		labels[n++] = (struct label){ "le", (char *)limit };
	labels[n++] = (struct label){ "source", (char *)"usage" };
	id = registry_add(&v->agent->registry, &(struct series_desc){ .metric = m, .source = "usage", .labels = labels, .n_labels = n,
								      .start_ns = v->wall_ns });
	return id < 0 ? 0 : (uint32_t)id;
}

static int add_row_series(const struct agent_views *v, struct view_row_series *s)
{
	const struct running_view *r = v->current;
	bool ok = (s->count = add_series(v, r->count, s->key, NULL)) != 0;

	if (!r->bucket)
		return ok ? 0 : -ENOMEM;
	ok = ok && (s->sum = add_series(v, r->sum, s->key, NULL)) != 0;
	for (unsigned i = 0; ok && i <= LEVELS; i++) {
		char limit[32];

		snprintf(limit, sizeof(limit), "%.9g", (double)(UINT64_C(2) << i) * 1e-6);
		ok = (s->bucket[i] = add_series(v, r->bucket, s->key, i < LEVELS ? limit : "+Inf")) != 0;
	}
	return ok ? 0 : -ENOMEM;
}

static struct view_row_series *find_row(struct agent_views *v, const char *key)
{
	struct running_view *r = v->current;
	struct view_row_series *s;

	for (size_t i = 0; i < r->rows.n; i++)
		if (!strcmp(r->rows.v[i].key, key))
			return &r->rows.v[i];
	s = vec_add(&r->rows);
	if (!s)
		return NULL;
	snprintf(s->key, sizeof(s->key), "%s", key);
	return add_row_series(v, s) < 0 ? NULL : s;
}

static int put_point(struct agent_views *v, uint32_t series, uint64_t count, double scale)
{
	struct point *p = vec_add(&v->points);

	if (!p)
		return -ENOMEM;
	*p = (struct point){ .series = series, .state = TACHO_COUNTING, .value = (double)count * scale, .count = count, .raw = count };
	return 0;
}

static int on_row(void *arg, const struct tacho_view_row *row)
{
	struct agent_views *v = arg;
	char key[sizeof((struct view_row_series){ 0 }.key)] = "";
	struct view_row_series *s;
	uint64_t below = 0;
	int err;

	if (v->current->what->label)
		snprintf(key, sizeof(key), "%.39s", row->values[0].text);
	s = find_row(v, key);
	err = s ? put_point(v, s->count, row->count, 1) : -ENOMEM;
	if (err < 0 || !v->current->bucket)
		return err;
	err = put_point(v, s->sum, row->sum, 1e-9);
	for (uint32_t i = 0; err == 0 && i < LEVELS && i < row->n_levels; i++) {
		below += row->levels[i];
		err = put_point(v, s->bucket[i], below, 1);
	}
	return err < 0 ? err : put_point(v, s->bucket[LEVELS], row->count, 1);
}

static int no_row(void *arg, const struct tacho_view_row *row)
{
	(void)arg, (void)row;
	return 0;
}

static void log_lost(struct agent_views *v)
{
	uint64_t lost = 0;
	const char *why = "";
	char text[300];

	for (size_t i = 0; i < v->n_running; i++)
		lost += tacho_view_lost(v->running[i].view, &why);
	if (!v->lost_logged && lost) {
		snprintf(text, sizeof(text), "views have lost events: %.200s", why);
		log_text(v->agent, text);
	}
	v->lost_logged = lost;
}

void agent_views_measure(void *views, struct collector *c)
{
	struct agent_views *v = views;
	uint64_t now = clock_mono_ns();
	struct point_batch b;
	int err = 0;

	for (size_t i = 0; i < v->n_running; i++)
		tacho_view_read(v->running[i].view, false, no_row, NULL);
	if (!v->n_running || now < v->due_ns)
		return;
	v->due_ns = now - now % v->agent->config->usage.interval_ns + v->agent->config->usage.interval_ns;
	v->points.n = 0;
	v->wall_ns = clock_wall_ns();
	for (size_t i = 0; err == 0 && i < v->n_running; i++) {
		v->current = &v->running[i];
		err = tacho_view_sums(v->running[i].view, false, on_row, v);
	}
	log_lost(v);
	if (err < 0 || !v->points.n)
		return;
	b = (struct point_batch){ .source = "usage", .time_ns = v->wall_ns, .points = v->points.v, .n_points = v->points.n,
				  .interval_ns = v->last_ns && v->wall_ns > v->last_ns ? (uint64_t)(v->wall_ns - v->last_ns) : 0 };
	v->last_ns = v->wall_ns;
	collector_deliver(c, &b);
}
