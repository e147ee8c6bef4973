/*
 * The library's functions are declared here: its header is not needed to build.
 */
#include "symbol/debuginfod.h"

#include "base/vec.h"
#include "base/shared_library.h"

#include <errno.h>
#include <unistd.h>

struct debuginfod_client;		/* of the library */
typedef int (*progress_fn)(struct debuginfod_client *c, long done, long total);
typedef int (*find_fn)(struct debuginfod_client *c, const unsigned char *id, int n, char **path);

struct missing_file {
	struct build_id id;
	enum debuginfod_kind kind;
};

struct debuginfod {
	void *library;
	struct debuginfod_client *client;
	void (*end)(struct debuginfod_client *c);
	find_fn find[2];		/* by enum debuginfod_kind */
	bool begun;
	bool given_up;			/* the library is missing, or no server can be reached */
	struct { struct missing_file *v; size_t n, cap; } missing;	/* not asked for again */
	debuginfod_progress progress;
	void *arg;
	const char *name;		/* what is being downloaded */
	bool shown;
};

/* The library passes only its client to the progress function; a thread downloads one file at a time. */
static _Thread_local struct debuginfod *downloading;

static int on_progress(struct debuginfod_client *c, long done, long total)
{
	struct debuginfod *d = downloading;

	(void)c;
	if (!d || !d->progress)
		return 0;
	d->shown = true;
	return d->progress(d->arg, d->name, (uint64_t)max_of(done, 0L), (uint64_t)max_of(total, 0L));
}

/* Assigns the address of a function to a pointer of any function type. */
static bool find_function(void *library, const char *name, void *out)
{
	void *function = shared_library_find(library, name);

	memcpy(out, &function, sizeof(function));
	return function;
}

static bool begin(struct debuginfod *d)
{
	struct debuginfod_client *(*start)(void);
	void (*set_progress)(struct debuginfod_client *c, progress_fn fn);

	d->begun = true;
	d->library = shared_library_open("libdebuginfod.so.1");
	if (!d->library)
		return false;
	if (!find_function(d->library, "debuginfod_begin", &start) || !find_function(d->library, "debuginfod_end", &d->end) ||
	    !find_function(d->library, "debuginfod_set_progressfn", &set_progress) ||
	    !find_function(d->library, "debuginfod_find_executable", &d->find[DEBUGINFOD_EXECUTABLE]) ||
	    !find_function(d->library, "debuginfod_find_debuginfo", &d->find[DEBUGINFOD_DEBUGINFO]))
		return false;
	d->client = start();
	if (d->client && d->progress)
		set_progress(d->client, on_progress);
	return d->client;
}

int debuginfod_new(struct debuginfod **out, debuginfod_progress progress, void *arg)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	*out = NULL;
	if (!urls || !*urls)
		return 0;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->progress = progress;
	(*out)->arg = arg;
	return 0;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* The library is not unloaded: libcurl below it has handlers that run at exit. */
	vec_done(&d->missing);
	free(d);
}

static bool is_missing(const struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id)
{
	for (size_t i = 0; i < d->missing.n; i++)
		if (d->missing.v[i].kind == kind && d->missing.v[i].id.n == id->n &&
		    memcmp(d->missing.v[i].id.bytes, id->bytes, id->n) == 0)
			return true;
	return false;
}

static int note_missing(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id)
{
	struct missing_file *m = vec_next(&d->missing);

	if (!m)
		return -ENOMEM;
	*m = (struct missing_file){ *id, kind };
	return -ENOENT;
}

/* A file descriptor or a negative errno. */
static int download(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id, const char *name,
		    char **path)
{
	int fd;

	d->name = name;
	d->shown = false;
	downloading = d;
	fd = d->find[kind](d->client, id->bytes, id->n, path);
	downloading = NULL;
	if (d->shown)
		d->progress(d->arg, name, UINT64_MAX, 0);
	return fd;
}

int debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const struct build_id *id, const char *name,
		    char **path)
{
	char *found = NULL;
	int fd;

	if (!d || !id->n)
		return -ENOENT;
	if (!d->given_up && !d->begun)
		d->given_up = !begin(d);
	if (d->given_up)
		return -EOPNOTSUPP;
	if (is_missing(d, kind, id))
		return -ENOENT;
	fd = download(d, kind, id, name, &found);
	if (fd >= 0) {
		close(fd);
		*path = found;
		return found ? 0 : -ENOMEM;
	}
	free(found);
	if (fd == -ENOENT)
		return note_missing(d, kind, id);
	d->given_up = fd != -ENOMEM;
	return fd;
}
