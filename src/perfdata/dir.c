/*
 * A perf.data directory, as `perf record --threads` writes it: `data` is a normal file with header, events
 * and features; data.0, data.1 ... contain only records, and each is a stream that is compressed and
 * ordered independently.
 */
#include "perfdata/perfdata.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#define DIR_VERSION 1
#define STREAMS_MAX 4096

static bool is_part(const char *name)
{
	struct str s = str_of(name);

	return str_starts(s, "data.") && s.n > 5 && s.n < 12 &&
	       strspn(name + 5, "0123456789") == s.n - 5;
}

static int list_parts(const char *path, struct strlist *out, struct tacho_error *e)
{
	DIR *dir = opendir(path);
	const struct dirent *d;
	int err = 0;

	if (!dir)
		return error_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
	while (err == 0 && out->n < STREAMS_MAX && (d = readdir(dir)))
		if (is_part(d->d_name))
			err = strlist_add(out, str_of(d->d_name));
	closedir(dir);
	return err < 0 ? error_nomem(e) : 0;
}

static int compare_number(const void *a, const void *b)
{
	return str_natcmp(*(char *const *)a, *(char *const *)b);
}

static int open_part(struct tacho_perfdata *pd, const char *dir, const char *name,
		     const struct tacho_perfdata_opts *opts, struct tacho_error *e)
{
	scoped(buf_done) struct buf path = { 0 };
	struct perfdata_input *src = input_add(pd);
	int err;

	buf_printf(&path, "%s/%s", dir, name);
	if (!src || buf_failed(&path))
		return error_nomem(e);
	err = check_regular_file(path.bytes, e);
	if (err == 0)
		err = input_file_open(&src->file, path.bytes, opts, e);
	if (err == -ENODATA)		/* empty: the thread had no data */
		return 0;
	if (err < 0)
		return err;
	stream_init_mapped(&src->stream, pd, &src->file, 0, src->file.size);
	return 0;
}

/* DIR_FORMAT says that the records are in data.0, data.1 ... without a gap. Recordings with a copy of the kernel
 * (--kcore) are directories without them. */
static void check_parts(struct tacho_perfdata *pd, const char *path, const struct strlist *parts)
{
	char name[32];

	if (!tacho_perfdata_feature(pd, TACHO_FEATURE_DIR_FORMAT, NULL))
		return;
	for (size_t i = 0; i < max_of(parts->n, (size_t)1); i++) {
		snprintf(name, sizeof(name), "data.%zu", i);
		if (i >= parts->n || strcmp(parts->v[i], name) != 0) {
			add_damage(pd, "%s/%s is missing: its records are lost", path, name);
			return;
		}
	}
}

static void check_version(struct tacho_perfdata *pd)
{
	size_t n;
	const void *v = tacho_perfdata_feature(pd, TACHO_FEATURE_DIR_FORMAT, &n);

	if (v && n >= 8 && load_u64(v, pd->header.swap) != DIR_VERSION)
		add_warning(pd, "the directory has format version %llu, but only %d is supported",
		     (unsigned long long)load_u64(v, pd->header.swap), DIR_VERSION);
}

int dir_open(struct tacho_perfdata *pd, const char *path, const struct tacho_perfdata_opts *opts,
	     struct tacho_error *e)
{
	scoped(strlist_done) struct strlist parts = { 0 };
	int err = list_parts(path, &parts, e);

	if (err < 0)
		return err;
	if (parts.n)
		qsort(parts.v, parts.n, sizeof(*parts.v), compare_number);
	for (size_t i = 0; i < parts.n; i++) {
		err = open_part(pd, path, parts.v[i], opts, e);
		if (err < 0)
			return err;
	}
	check_version(pd);
	check_parts(pd, path, &parts);
	return 0;
}
