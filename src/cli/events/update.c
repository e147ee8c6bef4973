/*
 * Fetches the lists of a CPU. mapfile.csv names them; update_file.c fetches each file. The mapfile
 * is fetched first and renamed into place last, so that it never names lists that have not been
 * fetched yet.
 */
#include "cli/events/update.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/json.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"

#define MAPFILE "mapfile.csv"
#define MAPFILE_NEW "mapfile.csv.new"
#define FILES_MAX 64			/* files for one CPU; at most 9 are known */

struct update {
	struct tacho *t;
	const struct update_opts *o;
	struct update_source source;
	char from[PATH_MAX], shown[200], dir[PATH_MAX], cpu[64];
	struct { char *name; bool events; } files[FILES_MAX];
	size_t n_files, n_taken, n_failed;
	int stop;			/* error that affects all remaining files; 0: none */
	bool bar;			/* show a progress bar (stderr is a terminal) */
	uint64_t bar_next_ns;
	struct buf out;
	struct json j;
};

/* ---- progress bar ---- */

static void clear_bar(struct update *u)
{
	if (u->bar)
		fputs("\r\033[K", stderr);
}

static void show_bar(void *arg, const char *name, uint64_t done, uint64_t total)
{
	struct update *u = arg;
	const char *slash = strrchr(name, '/');
	unsigned width = term_width(STDERR_FILENO), room = width > 70 ? 30 : 10, full;
	uint64_t now = clock_mono_ns();

	if (!u->bar || (now < u->bar_next_ns && done != total))
		return;
	u->bar_next_ns = now + 100000000;
	full = total ? (unsigned)(min_of(done, total) * room / total) : 0;
	fprintf(stderr, "\r\033[K%-.*s ", (int)width - 40, slash ? slash + 1 : name);
	if (total)
		fprintf(stderr, "[%.*s%*s] %3u%% ", (int)full, "==============================",
			(int)(room - full), "", (unsigned)(min_of(done, total) * 100 / total));
	fprintf(stderr, "%.1f MB", (double)done / 1e6);
	fflush(stderr);
}

/* ---- output ---- */

static void print_file(struct update *u, const struct update_file *f, const struct tacho_error *e)
{
	const char *state = e ? "failed" : f->unchanged ? "unchanged" : "fetched";

	clear_bar(u);
	if (u->o->json) {
		json_begin(&u->j, '{');
		json_member(&u->j, "file", str, f->name);
		json_member(&u->j, "state", str, state);
		json_member(&u->j, "bytes", u64, f->bytes);
		json_member(&u->j, "reason", str, e ? e->message : NULL);
		json_end(&u->j);
	} else if (!e) {
		buf_printf(&u->out, "%-10s %s (%llu bytes)\n", state, f->name, (unsigned long long)f->bytes);
	}
	if (e)
		message_error("events", NULL, NULL, e);
}

static void print_total(struct update *u)
{
	if (!u->o->json) {
		buf_printf(&u->out, "%zu of %zu files for %s are in %s\n", u->n_taken, u->n_files, u->cpu, u->dir);
		return;
	}
	json_end(&u->j);
	json_member(&u->j, "taken", u64, u->n_taken);
	json_member(&u->j, "failed", u64, u->n_failed);
	json_end(&u->j);
	buf_putc(&u->out, '\n');
}

/* ---- source and destination ---- */

static bool is_url(const char *from)
{
	return strstr(from, "://") != NULL;
}

/* Sets the source shown in messages: https://user:password@host/path without the password. */
static void set_shown_source(struct update *u)
{
	const char *host = strstr(u->from, "://"), *at;

	host = host ? host + 3 : u->from;
	at = is_url(u->from) ? memrchr(host, '@', strcspn(host, "/?#")) : NULL;
	snprintf(u->shown, sizeof(u->shown), "%.*s%.150s", (int)(at ? host - u->from : 0), u->from,
		 at ? at + 1 : u->from);
}

static int open_source(struct update *u, struct tacho_error *e)
{
	const char *from = u->o->from, *env = getenv("TACHO_EVENTS_URL");
	struct stat st;
	size_t n;

	from = from && *from ? from : env && *env ? env : UPDATE_URL;
	n = strlen(from);
	while (n > 1 && from[n - 1] == '/')
		n--;
	if (n >= sizeof(u->from) - 300)
		return error_set(e, -ENAMETOOLONG, "--from is too long");
	snprintf(u->from, sizeof(u->from), "%.*s", (int)n, from);
	set_shown_source(u);
	u->source = (struct update_source){ .from = u->from, .shown = u->shown, .progress = show_bar, .arg = u };
	if (is_url(u->from))
		return fetch_open(&u->source.fetch, u->o->timeout_s ? u->o->timeout_s : 30, e);
	if (stat(u->from, &st) < 0)
		return error_set(e, -errno, "--from '%.200s': %s", u->from, strerror(errno));
	return S_ISDIR(st.st_mode) ? 0 : error_set(e, -ENOTDIR, "--from '%.200s' is not a directory", u->from);
}

static int find_dir(struct update *u, struct tacho_error *e)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n = 0;

	if (u->o->to && *u->o->to)
		n = snprintf(u->dir, sizeof(u->dir), "%s", u->o->to);
	else if (data && *data == '/')
		n = snprintf(u->dir, sizeof(u->dir), "%s/tacho/events", data);
	else if (home && *home)
		n = snprintf(u->dir, sizeof(u->dir), "%s/.local/share/tacho/events", home);
	else
		return error_set(e, -ENOENT, "neither XDG_DATA_HOME nor HOME is set; "
				 "name a directory for the lists with --to");
	return n > 0 && n < (int)sizeof(u->dir) - 300 ? 0 :
	       error_set(e, -ENAMETOOLONG, "the path of the directory for lists is too long");
}

/* Opens and locks the directory, because two updates at the same time would write the same files. */
static int open_dir(struct update *u, int *fd, struct tacho_error *e)
{
	int err = find_dir(u, e);

	if (err < 0)
		return err;
	err = io_make_parent_dirs(u->dir, 0755);
	if (!err && mkdir(u->dir, 0755) < 0 && errno != EEXIST)
		err = -errno;
	*fd = err ? -1 : open(u->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0) {
		err = err ? err : -errno;
		return error_set(e, err, "the directory '%.300s': %s", u->dir, strerror(-err));
	}
	if (flock(*fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(e, -EBUSY, "another update of '%.300s' is running", u->dir);
	return 0;
}

/* ---- the files ---- */

static int add_file(void *arg, const struct tacho_mapped *file)
{
	struct update *u = arg;

	if (!str_ends(str_of(file->file), ".json"))
		return 0;
	for (size_t i = 0; i < u->n_files; i++)
		if (!strcmp(u->files[i].name, file->file))
			return 0;
	if (u->n_files == FILES_MAX)
		return -E2BIG;
	u->files[u->n_files].name = strdup(file->file);
	u->files[u->n_files].events = file->events;
	return u->files[u->n_files++].name ? 0 : -ENOMEM;
}

static int read_map(struct update *u, struct tacho_error *e)
{
	struct update_file map = { .name = MAPFILE, .as = MAPFILE_NEW };
	char path[PATH_MAX];
	int err = u->o->cpu && *u->o->cpu ? 0 : tacho_eventlist_cpu(u->t, u->cpu, sizeof(u->cpu), e);

	if (u->o->cpu)
		snprintf(u->cpu, sizeof(u->cpu), "%s", u->o->cpu);
	if (!err)
		err = update_take(&u->source, u->dir, &map, e);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%.*s/" MAPFILE_NEW, (int)sizeof(u->dir) - 300, u->dir);
	err = tacho_eventlist_map(u->t, path, u->cpu, add_file, u, e);
	if (err == -ENOENT) {
		error_set(e, err, "%.200s/" MAPFILE " has no list for the CPU %s", u->shown, u->cpu);
		error_hint(e, "name another CPU (GenuineIntel-6-55-4) with --cpu, or another source with --from");
	} else if (err == -E2BIG) {
		error_set(e, err, "%.200s/" MAPFILE " names more than %d files for the CPU %s", u->shown,
			  FILES_MAX, u->cpu);
	} else if (err == -ENOMEM) {
		error_nomem(e);
	}
	if (err >= 0 && !u->n_files)
		return error_set(e, -ENOENT, "%.200s/" MAPFILE " names directories, not files, for the CPU %s: use "
				 "it with --event-list", u->shown, u->cpu);
	return min_of(err, 0);
}

static void take_files(struct update *u)
{
	for (size_t i = 0; i < u->n_files && !u->stop; i++) {
		struct update_file f = { .name = u->files[i].name, .json = true, .events = u->files[i].events };
		struct tacho_error e = { .column = -1 };
		int err = update_take(&u->source, u->dir, &f, &e);

		print_file(u, &f, err < 0 ? &e : NULL);
		u->n_taken += err == 0;
		u->n_failed += err < 0;
		if (err == -EHOSTUNREACH || err == -ENOSPC || err == -EACCES || err == -EROFS)
			u->stop = err;
	}
	clear_bar(u);
}

/* Renames the new mapfile into place if at least one of its lists was fetched. */
static int install_map(struct update *u, struct tacho_error *e)
{
	char new[PATH_MAX], old[PATH_MAX];

	snprintf(new, sizeof(new), "%.*s/" MAPFILE_NEW, (int)sizeof(u->dir) - 300, u->dir);
	snprintf(old, sizeof(old), "%.*s/" MAPFILE, (int)sizeof(u->dir) - 300, u->dir);
	if (u->n_taken && rename(new, old) < 0)
		return error_set(e, -errno, "'%.300s' cannot be replaced: %s", old, strerror(errno));
	if (!u->n_taken)
		unlink(new);
	snprintf(new, sizeof(new), "%.*s/" MAPFILE_NEW ".tag", (int)sizeof(u->dir) - 300, u->dir);
	unlink(new);
	return 0;
}

static int update(struct update *u, struct tacho_error *e)
{
	scoped(closep) int lock = -1;
	int err = open_source(u, e), late;

	if (!err)
		err = open_dir(u, &lock, e);
	if (!err)
		err = read_map(u, e);
	clear_bar(u);
	if (!err) {
		u->j = (struct json){ .out = &u->out, .indent = 0 };
		if (u->o->json) {
			json_begin(&u->j, '{');
			json_member(&u->j, "schema", str, "tacho.events-update.v1");
			json_member(&u->j, "cpu", str, u->cpu);
			json_member(&u->j, "directory", str, u->dir);
			json_key(&u->j, "files");
			json_begin(&u->j, '[');
		}
		take_files(u);
		print_total(u);
	}
	late = lock >= 0 ? install_map(u, e) : 0;
	return err ? err : late;
}

int events_update(struct tacho *t, const struct update_opts *o)
{
	struct update *u = calloc(1, sizeof(*u));
	struct tacho_error e = { .column = -1 };
	int err, status;

	if (!u) {
		message_text("events", "out of memory");
		return EXIT_FAILED;
	}
	u->t = t;
	u->o = o;
	u->bar = term_is_tty(STDERR_FILENO);
	err = update(u, &e);
	if (err)
		message_error("events", NULL, NULL, &e);
	status = print_out("events", &u->out);
	if (err || u->n_failed)
		status = EXIT_FAILED;
	for (size_t i = 0; i < u->n_files; i++)
		free(u->files[i].name);
	fetch_close(u->source.fetch);
	free(u);
	return status;
}
