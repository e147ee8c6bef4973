/*
 * Deletes old recordings. The directory is read once; files of other names are not touched.
 */
#include "agent/profiler/recording_files.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

#define STAMP_CHARS 15		/* 20260131-235959 */

struct recording_file {
	char *path;
	uint64_t bytes;
	struct timespec time;
};

struct recording_file_list {
	struct recording_file *v;
	size_t n, cap;
};

/* NAME-, the date, and a suffix. */
static bool is_recording(const char *file, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(file, name, n) != 0 || file[n] != '-')
		return false;
	file += n + 1;
	for (size_t i = 0; i < STAMP_CHARS; i++)
		if (i == 8 ? file[i] != '-' : file[i] < '0' || file[i] > '9')
			return false;
	return file[STAMP_CHARS] != '\0';
}

static bool must_keep(const char *path, const char *const *keep, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(path, keep[i]) == 0)
			return true;
	return false;
}

/* Counts the file's bytes and, unless it must be kept, adds it to the list. */
static void add_file(struct recording_file_list *all, const char *path, const char *const *keep,
		     size_t n, struct recordings_usage *out)
{
	struct recording_file *place;
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	out->bytes += (uint64_t)st.st_size;
	out->files++;
	place = must_keep(path, keep, n) ? NULL : vec_add(all);
	if (!place)
		return;
	*place = (struct recording_file){ strdup(path), (uint64_t)st.st_size, st.st_mtim };
	if (!place->path)
		all->n--;
}

static int by_age(const void *a, const void *b)
{
	const struct recording_file *x = a, *y = b;

	if (x->time.tv_sec != y->time.tv_sec)
		return x->time.tv_sec < y->time.tv_sec ? -1 : 1;
	if (x->time.tv_nsec != y->time.tv_nsec)
		return x->time.tv_nsec < y->time.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

static bool exceeds_limit(const struct recordings_limit *bound, const struct recordings_usage *now)
{
	return (bound->max_bytes && now->bytes > bound->max_bytes) ||
	       (bound->max_files && now->files > bound->max_files);
}

void recordings_trim(const char *dir, const char *name, const struct recordings_limit *bound,
		     const char *const *keep, size_t n, struct recordings_usage *out)
{
	struct recording_file_list all = { 0 };
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *d = opendir(dir);

	*out = (struct recordings_usage){ 0 };
	while (d && (entry = readdir(d)))
		if (is_recording(entry->d_name, name) &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) < sizeof(path))
			add_file(&all, path, keep, n, out);
	if (d)
		closedir(d);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_age);
	for (size_t i = 0; i < all.n; i++) {
		if (exceeds_limit(bound, out) && unlink(all.v[i].path) == 0) {
			out->bytes -= all.v[i].bytes;
			out->files--;
			out->removed++;
		}
		free(all.v[i].path);
	}
	vec_done(&all);
}
