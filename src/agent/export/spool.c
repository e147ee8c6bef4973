/*
 * The queue on disk. For each item, its number, size and points are in memory; its body is read when
 * it is sent.
 */
#include "agent/export/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/vec.h"

#define BODY_MAX (64u << 20)
#define FORMAT_MAX 40

struct spool_item {
	uint64_t number, points, bytes;
	int64_t from_ns, to_ns;
	char *body;			/* in memory; NULL: in its file */
};

struct spool {
	char *dir;			/* NULL: in memory */
	char format[FORMAT_MAX + 1];
	int lock_fd;			/* the locked directory; -1: in memory */
	uint64_t max_bytes, bytes, points, next;
	struct { struct spool_item *v; size_t n, cap; } items;
	size_t first;			/* items before this index have been removed */
	struct buf text;		/* body of the first item */
};

static int make_path(const struct spool *s, uint64_t number, const char *suffix, char *out)
{
	int n = snprintf(out, PATH_MAX, "%s/%016llx%s", s->dir, (unsigned long long)number, suffix);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* ---- loading existing items ---- */

/* Version 1 of the header has no format: `format` becomes empty, which matches no exporter. */
static bool parse_header(struct str text, struct spool_item *spool_item,
			 char format[FORMAT_MAX + 1], size_t *n_header)
{
	const char *end = memchr(text.s, '\n', min_of(text.n, (size_t)128));
	unsigned long long points;
	long long from, to;
	char line[129];

	if (!end)
		return false;
	memcpy(line, text.s, (size_t)(end - text.s));
	line[end - text.s] = '\0';
	format[0] = '\0';
	if (sscanf(line, "tacho 2 %40[a-z0-9A-Z_+-] %llu %lld %lld", format, &points, &from, &to) != 4 &&
	    sscanf(line, "tacho 1 %llu %lld %lld", &points, &from, &to) != 3)
		return false;
	spool_item->points = points;
	spool_item->from_ns = from;
	spool_item->to_ns = to;
	*n_header = (size_t)(end - text.s) + 1;
	return true;
}

static bool read_header(struct spool *s, struct spool_item *spool_item, char format[FORMAT_MAX + 1])
{
	char path[PATH_MAX], head[129];
	struct stat st;
	size_t n_header;
	ssize_t n = -1;
	int fd = make_path(s, spool_item->number, "", path) == 0 ? open(path, O_RDONLY | O_CLOEXEC)
								 : -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, head, sizeof(head) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0 || !parse_header(str_n(head, (size_t)n), spool_item, format, &n_header))
		return false;
	spool_item->bytes = (uint64_t)st.st_size;
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct spool_item *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int add_item(struct spool *s, const struct spool_item *spool_item)
{
	struct spool_item *place = vec_add(&s->items);

	if (!place)
		return -ENOMEM;
	*place = *spool_item;
	s->bytes += spool_item->bytes;
	s->points += spool_item->points;
	s->next = max_of(s->next, spool_item->number + 1);
	return 0;
}

static int load_items(struct spool *s, uint64_t *n_foreign)
{
	DIR *dir = opendir(s->dir);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (err == 0 && (entry = readdir(dir))) {
		char *end, format[FORMAT_MAX + 1];
		struct spool_item spool_item = { 0 };

		if (strlen(entry->d_name) == 20 && str_ends(str_of(entry->d_name), ".new")) {
			unlinkat(dirfd(dir), entry->d_name, 0);		/* incompletely written */
			continue;
		}
		spool_item.number = strtoull(entry->d_name, &end, 16);
		if (strlen(entry->d_name) != 16 || *end || !read_header(s, &spool_item, format))
			continue;		/* not a queue file */
		if (!strcmp(format, s->format))
			err = add_item(s, &spool_item);
		else if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			*n_foreign += spool_item.points;
	}
	closedir(dir);
	if (s->items.n)
		qsort(s->items.v, s->items.n, sizeof(*s->items.v), by_number);
	return err;
}

/* Returns 1 if the directory was locked, 0 if another process holds it. */
static int lock_dir(struct spool *s, const char *dir)
{
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	s->lock_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock_fd < 0)
		return -errno;
	return flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0;
}

int spool_open(struct spool **out, const char *dir, const char *format, uint64_t max_bytes,
	       uint64_t *n_foreign)
{
	struct spool *s = calloc(1, sizeof(*s));
	uint64_t foreign = 0;
	int err;

	if (!s)
		return -ENOMEM;
	snprintf(s->format, sizeof(s->format), "%s", format);
	s->lock_fd = -1;
	s->max_bytes = max_bytes;
	err = dir ? lock_dir(s, dir) : 0;
	if (err > 0) {
		s->dir = strdup(dir);
		err = s->dir ? load_items(s, &foreign) : -ENOMEM;
	}
	if (n_foreign)
		*n_foreign = foreign;
	if (err < 0) {
		spool_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	for (size_t i = s->first; i < s->items.n; i++)
		free(s->items.v[i].body);
	vec_done(&s->items);
	buf_done(&s->text);
	closep(&s->lock_fd);
	free(s->dir);
	free(s);
}

/* ---- adding and removing ---- */

static int write_item(struct spool *s, struct spool_item *spool_item, const struct export_body *from)
{
	char path[PATH_MAX], fresh[PATH_MAX], head[128];
	int n, fd, err;

	if (make_path(s, spool_item->number, "", path) < 0 ||
	    make_path(s, spool_item->number, ".new", fresh) < 0)
		return -ENAMETOOLONG;
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	n = snprintf(head, sizeof(head), "tacho 2 %s %llu %lld %lld\n", s->format,
		     (unsigned long long)from->n_points, (long long)from->from_ns, (long long)from->to_ns);
	err = io_write_all(fd, head, (size_t)n);
	if (err == 0)
		err = io_write_all(fd, from->body.s, from->body.n);
	close(fd);
	if (err == 0 && rename(fresh, path) < 0)
		err = -errno;
	if (err < 0)
		unlink(fresh);
	return err;
}

/* On disk; in memory if there is no directory or writing fails. */
static int store_item(struct spool *s, struct spool_item *spool_item, const struct export_body *from)
{
	if (s->dir && write_item(s, spool_item, from) == 0)
		return 0;
	spool_item->body = malloc(max_of(from->body.n, (size_t)1));
	if (!spool_item->body)
		return -ENOMEM;
	memcpy(spool_item->body, from->body.s, from->body.n);
	return 0;
}

static void delete_item(const struct spool *s, struct spool_item *spool_item)
{
	char path[PATH_MAX];

	if (s->dir && make_path(s, spool_item->number, "", path) == 0)
		unlink(path);
	free(take(spool_item->body));
}

uint64_t spool_put(struct spool *s, const struct export_body *from)
{
	struct spool_item spool_item = { .number = s->next++,
					 .points = from->n_points,
					 .bytes = from->body.n + 64,
					 .from_ns = from->from_ns,
					 .to_ns = from->to_ns },
			  *place;
	uint64_t dropped = 0;

	if (spool_item.bytes > s->max_bytes || from->body.n > BODY_MAX)
		return from->n_points;
	while (s->bytes + spool_item.bytes > s->max_bytes && s->first < s->items.n) {
		dropped += s->items.v[s->first].points;
		spool_drop_first(s);
	}
	if (store_item(s, &spool_item, from) < 0)
		return dropped + from->n_points;
	place = vec_add(&s->items);
	if (!place) {
		delete_item(s, &spool_item);
		return dropped + from->n_points;
	}
	*place = spool_item;
	s->bytes += spool_item.bytes;
	s->points += spool_item.points;
	return dropped;
}

bool spool_first(struct spool *s, struct export_body *out)
{
	while (s->first < s->items.n) {
		struct spool_item *spool_item = &s->items.v[s->first], head = { 0 };
		char path[PATH_MAX], format[FORMAT_MAX + 1];
		size_t n_header = 0;

		*out = (struct export_body){ .n_points = spool_item->points, .from_ns = spool_item->from_ns,
					  .to_ns = spool_item->to_ns };
		if (spool_item->body) {
			out->body = str_n(spool_item->body, spool_item->bytes - 64);
			return true;
		}
		buf_clear(&s->text);
		if (make_path(s, spool_item->number, "", path) == 0 &&
		    io_read(path, BODY_MAX + 256, &s->text) == 0 &&
		    parse_header(buf_view(&s->text), &head, format, &n_header) &&
		    !strcmp(format, s->format)) {
			out->body = str_n(s->text.bytes + n_header, s->text.n - n_header);
			return true;
		}
		spool_drop_first(s);		/* another program removed the file */
	}
	return false;
}

void spool_drop_first(struct spool *s)
{
	if (s->first >= s->items.n)
		return;
	delete_item(s, &s->items.v[s->first]);
	s->bytes -= s->items.v[s->first].bytes;
	s->points -= s->items.v[s->first].points;
	s->first++;
	if (s->first >= 64 && s->first * 2 >= s->items.n) {	/* compact the list */
		s->items.n -= s->first;
		memmove(s->items.v, s->items.v + s->first, s->items.n * sizeof(*s->items.v));
		s->first = 0;
	}
}

uint64_t spool_bytes(const struct spool *s)
{
	return s->bytes;
}

uint64_t spool_points(const struct spool *s)
{
	return s->points;
}

int64_t spool_oldest_ns(const struct spool *s)
{
	return s->first < s->items.n ? s->items.v[s->first].from_ns : 0;
}
