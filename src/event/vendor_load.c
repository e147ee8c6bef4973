/*
 * Loads event lists: a file, the files that a mapfile.csv selects, or the lists for this CPU in the default
 * directories. The default directories are searched only when a name is not found elsewhere.
 */
#include "event/vendor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/vec.h"

static bool looks_like_json(struct str text)
{
	text = str_trim(text);
	return text.n && (text.s[0] == '{' || text.s[0] == '[');
}

static int read_list(struct vendor_list *l, struct tacho_error *e)
{
	struct vendor_builder b = { 0 };
	struct buf text = { 0 };
	int err = io_read(l->path, VENDOR_FILE_MAX, &text);

	if (err < 0) {
		error_set(e, err, "%s", err == -EFBIG ? "too large for an event list" : strerror(-err));
	} else {
		/* Skip a byte order mark. */
		size_t skip = str_starts(buf_view(&text), "\xef\xbb\xbf") ? 3 : 0;
		struct str view = str_n(text.bytes ? text.bytes + skip : "", text.n - skip);

		err = looks_like_json(view) ? vendor_read_json(&b, text.bytes + skip, view.n, e) :
					      vendor_read_text(&b, view, e);
		if (!err && vendor_build(&b, l) < 0)
			err = error_nomem(e);
	}
	vendor_builder_done(&b);
	buf_done(&text);
	return err;
}

/* Size, modification time and inode of the list's file, which identify its version in the cache. */
static int stat_source(const char *path, struct vendor_header *out, struct tacho_error *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_set(e, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(e, -EINVAL, "not a regular file");
	*out = (struct vendor_header){
		.source_size = (uint64_t)st.st_size, .source_ino = st.st_ino,
		.source_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
	};
	return 0;
}

int vendor_load(struct vendor_list **out, const char *path, struct tacho_error *e)
{
	struct vendor_list *l = calloc(1, sizeof(*l));
	struct vendor_header source = { 0 };
	struct tacho_error inner = { 0 };
	int err;

	if (!l)
		return error_nomem(e);
	l->path = strdup(path);
	err = l->path ? stat_source(path, &source, &inner) : error_nomem(&inner);
	if (!err && !vendor_cache_read(l, &source)) {
		err = read_list(l, &inner);
		if (!err) {
			struct vendor_header *head = l->block;

			head->source_size = source.source_size;
			head->source_mtime_ns = source.source_mtime_ns;
			head->source_ino = source.source_ino;
			vendor_cache_write(l);
		}
	}
	if (err) {
		vendor_list_free(l);
		return inner.code == -ENOMEM ? error_nomem(e) :
		       error_set(e, err, "event list '%.200s': %.200s", path, inner.message);
	}
	*out = l;
	return 0;
}

static void lists_done(struct vendor_lists *l)
{
	for (size_t i = 0; i < l->n; i++)
		vendor_list_free(l->v[i]);
	vec_done(l);
}

void vendor_set_free(struct vendor_set *s)
{
	if (!s)
		return;
	lists_done(&s->given);
	lists_done(&s->found);
	lists_done(&s->standards);
	free(s);
}

int vendor_add_file(struct vendor_lists *to, const char *path, const char *role, struct tacho_error *e)
{
	struct vendor_list *l, **slot;
	int err;

	for (size_t i = 0; i < to->n; i++)
		if (!strcmp(to->v[i]->path, path))
			return 0;
	err = vendor_load(&l, path, e);
	if (err < 0)
		return err;
	if (*role) {
		l->role = strdup(role);
		l->role_known = true;
	}
	slot = *role && !l->role ? NULL : vec_add(to);
	if (!slot) {
		vendor_list_free(l);
		return error_nomem(e);
	}
	*slot = l;
	return (int)l->head->n;
}

/* Adds all lists of a directory: the kernel's mapfiles have one for each CPU. */
static int add_dir(struct vendor_lists *to, const char *dir, const char *role, struct tacho_error *e)
{
	scoped(strlist_done) struct strlist names = { 0 };
	char path[PATH_MAX];
	int err = sys_list_dir(dir, &names), n = 0;

	if (err < 0)
		return error_set(e, err, "'%.200s': %s", dir, strerror(-err));
	for (size_t i = 0; err >= 0 && i < names.n; i++) {
		int len = snprintf(path, sizeof(path), "%s/%s", dir, names.v[i]);

		if (len < 0 || len >= (int)sizeof(path) || !str_ends(str_of(path), ".json"))
			continue;
		err = vendor_add_file(to, path, role, e);
		n += max_of(err, 0);
	}
	return err < 0 ? err : n;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int add_mapped(struct tacho *t, struct vendor_lists *to, const char *map, struct tacho_error *e)
{
	struct vendor_files files = { 0 };
	int err = vendor_map_read(t, map, &files, e), n = 0;

	for (size_t i = 0; err >= 0 && i < files.paths.n; i++) {
		err = is_directory(files.paths.v[i]) ? add_dir(to, files.paths.v[i], files.roles.v[i], e) :
		      vendor_add_file(to, files.paths.v[i], files.roles.v[i], e);
		n += max_of(err, 0);
		if (err == -ENOENT)	/* perhaps not all files of the mapfile were downloaded */
			err = 0;
	}
	vendor_files_done(&files);
	return err < 0 ? err : n;
}

static int add_path(struct tacho *t, struct vendor_lists *to, const char *path, struct tacho_error *e)
{
	char map[PATH_MAX];
	int n;

	if (!is_directory(path))
		return str_ends(str_of(path), ".csv") ? add_mapped(t, to, path, e) :
							vendor_add_file(to, path, "", e);
	n = snprintf(map, sizeof(map), "%s/mapfile.csv", path);
	if (n < 0 || n >= (int)sizeof(map))
		return error_set(e, -ENAMETOOLONG, "the path of an event list is too long");
	return add_mapped(t, to, map, e);
}

static int set_get(struct tacho *t, struct vendor_set **out)
{
	if (!t->vendor)
		t->vendor = calloc(1, sizeof(*t->vendor));
	*out = t->vendor;
	return t->vendor ? 0 : -ENOMEM;
}

int tacho_eventlist_add(struct tacho *t, const char *path, struct tacho_error *e)
{
	struct vendor_set *set;
	int err = set_get(t, &set), n;

	if (err < 0)
		return error_nomem(e);
	n = add_path(t, &set->given, path, e);
	return n;
}

/* Adds the lists of a default location. A missing location is skipped, an invalid list is logged. */
static int search_path(struct tacho *t, struct vendor_set *set, const char *path)
{
	struct tacho_error e = { 0 };
	int err = add_path(t, &set->found, path, &e);

	if (err < 0 && err != -ENOENT && err != -ENOTDIR)
		tacho_log(t, TACHO_LOG_WARN, "%s", e.message);
	return err == -ENOMEM ? err : 0;
}

static bool list_file_exists(char *out, size_t size, const char *dir, const char *id, const char *kind)
{
	int n = snprintf(out, size, "%s/%s-%s.json", dir, id, kind);

	return n > 0 && n < (int)size && io_is_accessible(out, R_OK);
}

/* Looks for lists downloaded by pmu-tools' event_download.py: GenuineIntel-6-55-4-core.json. */
static int search_by_cpu_id(struct tacho *t, struct vendor_set *set, const char *dir)
{
	static const char *const kinds[] = { "core", "uncore" };
	char id[64], shorter[64], path[PATH_MAX];
	const char *dash;
	int err = 0;

	if (vendor_cpu_id(t, id, sizeof(id)) < 0)
		return 0;
	dash = strrchr(id, '-');
	snprintf(shorter, sizeof(shorter), "%.*s", (int)(dash ? dash - id : 0), id);
	for (size_t i = 0; !err && i < countof(kinds); i++)
		if (list_file_exists(path, sizeof(path), dir, id, kinds[i]) ||
		    list_file_exists(path, sizeof(path), dir, shorter, kinds[i]))
			err = search_path(t, set, path);
	return err;
}

static bool default_dir(char *out, size_t size, const char *env, const char *below_home, const char *dir)
{
	const char *base = secure_getenv(env), *home = secure_getenv("HOME");
	int n = 0;

	if (base && *base == '/')
		n = snprintf(out, size, "%s/%s", base, dir);
	else if (home && *home)
		n = snprintf(out, size, "%s/%s/%s", home, below_home, dir);
	return n > 0 && n < (int)size;
}

static int search_default_dirs(struct tacho *t, struct vendor_set *set)
{
	const char *eventmap = secure_getenv("EVENTMAP");
	char path[PATH_MAX];
	int err = 0;

	if (eventmap && *eventmap && !vendor_map_is_cpu(eventmap))
		return search_path(t, set, eventmap);
	if (default_dir(path, sizeof(path), "XDG_DATA_HOME", ".local/share", "tacho/events"))
		err = search_path(t, set, path);
	if (!err && default_dir(path, sizeof(path), "XDG_CACHE_HOME", ".cache", "tacho/events"))
		err = search_path(t, set, path);
	if (!err && default_dir(path, sizeof(path), "XDG_CACHE_HOME", ".cache", "pmu-events")) {
		err = search_path(t, set, path);
		if (!err && !set->found.n)
			err = search_by_cpu_id(t, set, path);
	}
	return err ? err : search_path(t, set, "/usr/share/tacho/events");
}

int vendor_get(struct tacho *t, bool search_too, struct vendor_set **out)
{
	int err = set_get(t, out);

	if (err < 0 || !search_too || (*out)->searched)
		return err;
	(*out)->searched = true;
	return search_default_dirs(t, *out);
}
