/*
 * `tacho buildid-cache`: manages copies of objects by build ID, so that a recording can be analysed after
 * its programs were updated.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <limits.h>

#include "cli/core/download.h"
#include "cli/files/build_id_cache.h"
#include "cli/files/build_id_table.h"
#include "cli/files/recorded_objects.h"

struct cache_opts {
	struct strlist add, remove, purge, update;
	const char *dir, *missing, *debuginfod;
	bool purge_all, list, force;
	unsigned verbose;
};

#define AT(field) offsetof(struct cache_opts, field)
static const struct option_row cache_rows[] = {
	{ OPT_LIST, 'a', "add", AT(add), "FILES", "copy these files into the cache, separated by commas",
	  .complete = "file" },
	{ OPT_LIST, 'r', "remove", AT(remove), "FILES", "remove the copies of these files in their current version",
	  .complete = "file" },
	{ OPT_LIST, 'p', "purge", AT(purge), "FILES", "remove the copies of these files in all versions",
	  .complete = "file" },
	{ OPT_FLAG, 'P', "purge-all", AT(purge_all), NULL, "remove every copy" },
	{ OPT_LIST, 'u', "update", AT(update), "FILES", "replace the copies of these files",
	  .complete = "file" },
	{ OPT_FLAG, 'l', "list", AT(list), NULL, "list the build IDs and paths of all copies" },
	{ OPT_STR, 'M', "missing", AT(missing), "FILE",
	  "list the objects of a recording that have no copy; - is stdin", .complete = "file" },
	{ OPT_STR, 0, "buildid-dir", AT(dir), "DIR", "use the cache in DIR (default: .debug in the home directory)",
	  .complete = "file" },
	{ OPT_STR, 0, "debuginfod", AT(debuginfod), "URLS",
	  "with -a and -u: download debug files of stripped programs from these servers, or those of $DEBUGINFOD_URLS",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "do not fail if a copy to be removed does not exist" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "print what is done" },
	REFUSED('k', "kcore",
		"/proc/kcore is not copied; use 'report -k vmlinux'"),
	REFUSED(0, "target-ns", "use the path in this namespace: /proc/PID/root/..."),
	{ .kind = OPT_END },
};

struct cache_run {
	const struct cache_opts *opts;
	struct cache_dir dir;
	struct buf out;
	struct strlist ids;		/* build IDs of entries to be removed */
	const char *path;		/* remove only copies of this file; NULL: all entries */
	int status;
};

static void report_result(struct cache_run *r, const char *action, const char *id, const char *path, int err)
{
	if (err)
		r->status = EXIT_FAILED;
	if (err)
		message_text("buildid-cache", "cannot %s %s: %s", action, path, strerror(-err));
	else if (r->opts->verbose)
		message_text("buildid-cache", "%s %s %s", action, id, path);
}

static int id_of(const char *path, char text[41])
{
	uint8_t id[20];
	int n = tacho_build_id_of_file(path, id);

	if (n <= 0)
		return n < 0 ? n : -ENOENT;
	build_id_text(id, (size_t)n, text);
	return 0;
}

/* Stores the debug file of a stripped program as well. It is not an error if there is none. */
static void add_debug(struct cache_run *r, const char *id, const char *path)
{
	struct tacho_symbols_opts opts = { .size = sizeof(opts), .build_id_dir = r->dir.path, .live = !r->opts->debuginfod,
					   .progress = download_progress() };
	scoped(closep) int fd = -1;
	int err;

	fd = tacho_debug_file_open(path, &opts, NULL);
	if (fd == -ENOENT && r->opts->debuginfod)
		message_text("buildid-cache", "no debug file of %s was found, and none could be downloaded from the servers", path);
	if (fd == -ENOENT || fd == -EEXIST)
		return;
	err = fd < 0 ? fd : cache_add_debug(&r->dir, fd, id);
	if (err != -EEXIST)
		report_result(r, "add debug file of", id, path, err);
}

static void add_one(struct cache_run *r, const char *path)
{
	char id[41] = "";
	int err = id_of(path, id);

	if (!err)
		err = cache_add(&r->dir, path, id);
	report_result(r, "add", id, path, err == -EEXIST ? 0 : err);
	if (!err || err == -EEXIST)
		add_debug(r, id, path);
}

static void remove_one(struct cache_run *r, const char *path)
{
	char id[41] = "";
	int err = id_of(path, id);

	if (!err)
		err = cache_remove(&r->dir, id);
	report_result(r, "remove", id, path, err == -ENOENT && r->opts->force ? 0 : err);
}

static void update_one(struct cache_run *r, const char *path)
{
	char id[41] = "";
	int err = id_of(path, id);

	if (!err) {
		cache_remove(&r->dir, id);
		err = cache_add(&r->dir, path, id);
	}
	report_result(r, "update", id, path, err);
	if (!err)
		add_debug(r, id, path);
}

static int collect_id(void *arg, const char *id, const char *path)
{
	struct cache_run *r = arg;

	if (r->path && strcmp(r->path, path) != 0)
		return 0;
	return strlist_add(&r->ids, str_of(id));
}

/* Collects the entries first, because the directory should not change while it is read. */
static void purge(struct cache_run *r, const char *path)
{
	char *full = path ? realpath(path, NULL) : NULL;
	int err;

	r->path = full ? full : path;
	err = cache_each(&r->dir, collect_id, r);
	for (size_t i = 0; i < r->ids.n && !err; i++)
		err = cache_remove(&r->dir, r->ids.v[i]);
	if (!err && path && !r->ids.n && !r->opts->force)
		err = -ENOENT;
	report_result(r, "purge", "", path ? path : "all", err);
	strlist_done(&r->ids);
	free(full);
}

static void put_entry(struct cache_run *r, const char *id, const char *path)
{
	buf_printf(&r->out, "%s ", id);
	buf_text(&r->out, str_of(path));
	buf_putc(&r->out, '\n');
}

static int list_one(void *arg, const char *id, const char *path)
{
	struct cache_run *r = arg;

	put_entry(r, id, path);
	return 0;
}

/* Lists the objects whose build ID is in the recording, but not in the cache. */
static int list_missing(struct cache_run *r, struct tacho_error *e)
{
	struct tacho_perfdata_opts pd_opts = { .size = sizeof(pd_opts), .force = r->opts->force };
	struct file_objects objects = { 0 };
	struct tacho_perfdata *pd = NULL;
	int err = tacho_perfdata_open(&pd, r->opts->missing, &pd_opts, e);

	if (err == 0)
		err = file_objects_read(&objects, pd, OBJECTS_RECORDS, e);
	for (size_t i = 0; i < objects.list.n; i++) {
		const struct file_object *o = &objects.list.v[i];
		char id[41] = "", folder[PATH_MAX];

		build_id_text(o->id, o->n, id);
		if (o->n && (r->dir.fd < 0 || cache_folder(&r->dir, id, folder, sizeof(folder)) < 0))
			put_entry(r, id, o->path);
	}
	file_objects_done(&objects);
	tacho_perfdata_close(pd);
	return err;
}

static void for_each_path(struct cache_run *r, const struct strlist *lists,
			  void (*fn)(struct cache_run *, const char *))
{
	for (size_t i = 0; i < lists->n; i++) {
		struct str rest = str_of(lists->v[i]), word;

		while (str_cut(&rest, ',', &word)) {
			char *path = str_dup(word);

			if (!path)
				r->status = EXIT_FAILED;
			else if (path[0])
				fn(r, path);
			free(path);
		}
	}
}

/* `urls` is empty if the option has no value. */
static bool set_servers(const char *urls)
{
	const char *set = urls[0] && setenv("DEBUGINFOD_URLS", urls, 1) == 0 ? urls : getenv("DEBUGINFOD_URLS");

	if (!set || !set[0])
		message_text("buildid-cache", "--debuginfod needs URLs of servers, also in $DEBUGINFOD_URLS");
	return set && set[0];
}

static int cache_command(void *opts, int argc, char **argv)
{
	const struct cache_opts *o = opts;
	struct cache_run r = { .opts = o };
	struct tacho_error e = { .column = -1 };
	bool changes = o->add.n || o->remove.n || o->purge.n || o->update.n || o->purge_all;
	int written;

	if (argc > 0) {
		message_text("buildid-cache", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (!changes && !o->list && !o->missing) {
		message_text("buildid-cache", "nothing to do: use one of -a, -r, -p, -P, -u, -l and -M");
		return EXIT_USAGE;
	}
	if (o->debuginfod && !set_servers(o->debuginfod))
		return EXIT_USAGE;
	if (cache_open(&r.dir, o->dir, o->add.n || o->update.n, &e) < 0) {
		cache_close(&r.dir);
		if (changes || e.code != -ENOENT) {
			message_error("buildid-cache", NULL, NULL, &e);
			return EXIT_FAILED;
		}
		r.dir = (struct cache_dir){ .fd = -1 };	/* treat a missing cache as empty */
	}
	for_each_path(&r, &o->add, add_one);
	for_each_path(&r, &o->remove, remove_one);
	for_each_path(&r, &o->purge, purge);
	if (o->purge_all)
		purge(&r, NULL);
	for_each_path(&r, &o->update, update_one);
	if (o->list && r.dir.fd >= 0)
		cache_each(&r.dir, list_one, &r);
	if (o->missing && list_missing(&r, &e) < 0) {
		message_error("buildid-cache", NULL, NULL, &e);
		r.status = EXIT_FAILED;
	}
	cache_close(&r.dir);
	written = print_out("buildid-cache", &r.out);
	return r.status ? r.status : written;
}

const struct command cmd_buildid_cache = {
	.name = "buildid-cache",
	.summary = "manage copies of programs by build ID",
	.rows = cache_rows,
	.opts_size = sizeof(struct cache_opts),
	.run = cache_command,
};
