/*
 * The metrics of the context's lists, read on first use. Unlike events, metrics are few, so they are
 * not cached on disk but always read from the list's file.
 */
#include "event/metric.h"

#include <errno.h>

#include "base/io.h"
#include "base/vec.h"
#include "event/vendor.h"

void metric_defs_free(struct metric_defs *d)
{
	if (!d)
		return;
	arena_done(&d->arena);
	vec_done(&d->list);
	vec_done(&d->latencies);
	free(d);
}

static int read_file(struct tacho *t, struct metric_defs *d, const char *path)
{
	scoped(buf_done) struct buf text = { 0 };
	int err = io_read(path, VENDOR_FILE_MAX, &text);
	size_t skip = err == 0 && str_starts(buf_view(&text), "\xef\xbb\xbf") ? 3 : 0;
	struct str view = err == 0 && text.n ? str_trim(str_n(text.bytes + skip, text.n - skip)) : str_n("", 0);

	if (view.n && (view.s[0] == '{' || view.s[0] == '['))
		err = metric_defs_read(d, text.bytes + skip, text.n - skip);
	if (err == -EFBIG)
		tacho_log(t, TACHO_LOG_WARN, "'%.200s' has too many metrics; the rest is ignored", path);
	else if (err < 0 && err != -ENOMEM)
		tacho_log(t, TACHO_LOG_WARN, "the metrics of '%.200s' cannot be read: %s", path,
			  err == -EINVAL ? "not valid JSON" : strerror(-err));
	return err == -ENOMEM ? err : 0;
}

static int read_lists(struct tacho *t, struct metric_defs *d, const struct vendor_lists *lists, size_t *done)
{
	int err = 0;

	while (!err && *done < lists->n)
		err = read_file(t, d, lists->v[(*done)++]->path);
	return err;
}

int metric_defs_get(struct tacho *t, bool search, const struct metric_defs **out)
{
	struct vendor_set *set;
	int err = vendor_get(t, false, &set);

	if (!err && search && !set->given.n)
		err = vendor_get(t, true, &set);
	if (!t->metrics)
		t->metrics = calloc(1, sizeof(*t->metrics));
	if (err < 0 || !t->metrics)
		return -ENOMEM;
	err = read_lists(t, t->metrics, &set->given, &t->metrics->n_given);
	if (!err)
		err = read_lists(t, t->metrics, &set->found, &t->metrics->n_found);
	*out = t->metrics;
	return err;
}

const struct metric_def *metric_defs_find(const struct metric_defs *d, const char *name)
{
	struct str wanted = str_of(name);

	for (size_t i = 0; i < d->list.n; i++)
		if (str_ieq(str_of(d->list.v[i].name), wanted) ||
		    (d->list.v[i].legacy[0] && !strcmp(d->list.v[i].legacy, name)))
			return &d->list.v[i];
	return NULL;
}
