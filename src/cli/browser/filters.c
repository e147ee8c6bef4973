/*
 * Zooms and filters of a table, its sort keys, and the way to another recording.
 */
#include "cli/browser/browser.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"

#define FILES_MAX 200

/* ---- zooms ---- */

static bool has_key(struct browser *b, enum hist_column c)
{
	return browser_table(b)->hist.opts->has_key[c];
}

bool browser_can_zoom(struct browser *b, enum browser_zoom zoom)
{
	switch (zoom) {
	case ZOOM_THREAD:
		return has_key(b, COL_COMM) || has_key(b, COL_PID) || has_key(b, COL_TID);
	case ZOOM_DSO:
		return has_key(b, COL_DSO);
	default:
		return has_key(b, COL_SYMBOL);
	}
}

static void forget(struct browser_table *t, enum browser_zoom zoom)
{
	struct rows_filter *f = &t->rows.filter;
	size_t n = 0;

	if (zoom == ZOOM_THREAD) {
		f->comm = NULL;
		f->by_tid = false;
	} else if (zoom == ZOOM_DSO) {
		f->dso = NULL;
	} else {
		free(f->symbol);
		f->symbol = NULL;
	}
	for (size_t i = 0; i < t->n_zooms; i++)
		if (t->zooms[i] != zoom)
			t->zooms[n++] = t->zooms[i];
	t->n_zooms = n;
}

static bool is_zoomed(const struct browser_table *t, enum browser_zoom zoom)
{
	for (size_t i = 0; i < t->n_zooms; i++)
		if (t->zooms[i] == zoom)
			return true;
	return false;
}

/* Each kind is there once, so there is room. The cursor goes to the first line. */
static void push(struct browser *b, enum browser_zoom zoom)
{
	struct browser_table *t = browser_table(b);

	t->zooms[t->n_zooms++] = zoom;
	t->scroll = (struct scroll){ 0 };
	browser_refresh(b);
}

static void pop(struct browser *b, enum browser_zoom zoom)
{
	struct browser_table *t = browser_table(b);

	forget(t, zoom);
	t->scroll = (struct scroll){ 0 };
	browser_refresh(b);
}

bool browser_zoom_back(struct browser *b)
{
	struct browser_table *t = browser_table(b);

	if (!t->n_zooms)
		return false;
	pop(b, t->zooms[t->n_zooms - 1]);
	return true;
}

void browser_zoom_dso(struct browser *b, const char *dso)
{
	struct browser_table *t = browser_table(b);

	if (!browser_can_zoom(b, ZOOM_DSO)) {
		browser_say(b, "The table is not sorted by dso");
		return;
	}
	forget(t, ZOOM_DSO);
	t->rows.filter.dso = dso;
	push(b, ZOOM_DSO);
}

/* Whether the line is of one thread, rather than of all that have its name. */
static bool tells_tid(struct browser *b, const struct rows_line *l)
{
	const struct rows *r = &browser_table(b)->rows;

	return (has_key(b, COL_PID) && rows_tells(r, l, COL_PID)) ||
	       (has_key(b, COL_TID) && rows_tells(r, l, COL_TID));
}

bool browser_tells(struct browser *b, const struct rows_line *l, enum browser_zoom zoom)
{
	const struct rows *r = &browser_table(b)->rows;

	if (!browser_can_zoom(b, zoom))
		return false;
	return zoom == ZOOM_DSO ? rows_tells(r, l, COL_DSO) : rows_tells(r, l, COL_COMM) || tells_tid(b, l);
}

static void zoom_thread(struct browser *b, const struct rows_line *l)
{
	struct browser_table *t = browser_table(b);
	const struct tacho_profile_thread *thread =
		tacho_profile_thread(b->profile, t->hist.groups.v[l->entry->group].thread);

	t->rows.filter.comm = thread->comm;
	t->rows.filter.by_tid = tells_tid(b, l);
	t->rows.filter.tid = thread->tid;
	push(b, ZOOM_THREAD);
}

void browser_zoom(struct browser *b, enum browser_zoom zoom)
{
	struct browser_table *t = browser_table(b);
	const struct tacho_profile_frame *f;
	struct rows_line l;

	if (is_zoomed(t, zoom)) {
		pop(b, zoom);
		return;
	}
	if (!browser_line(b, &l))
		return;
	if (!browser_can_zoom(b, zoom)) {
		browser_say(b, "The table is not sorted by %s", zoom == ZOOM_DSO ? "dso" : "comm, pid or tid");
		return;
	}
	if (!browser_tells(b, &l, zoom)) {
		browser_say(b, "The line has several of them: open it first");
		return;
	}
	if (zoom == ZOOM_THREAD) {
		zoom_thread(b, &l);
		return;
	}
	f = tacho_profile_frame(b->profile, l.entry->frame);
	browser_zoom_dso(b, f ? f->code->object_name : "[unknown]");
}

void browser_set_symbol(struct browser *b, const char *text)
{
	struct browser_table *t = browser_table(b);
	char *copy;

	if (!browser_can_zoom(b, ZOOM_SYMBOL)) {
		browser_say(b, "The table is not sorted by symbol");
		return;
	}
	pop(b, ZOOM_SYMBOL);
	if (!*text)
		return;
	copy = strdup(text);
	if (!copy) {
		browser_say(b, "Out of memory");
		return;
	}
	t->rows.filter.symbol = copy;
	push(b, ZOOM_SYMBOL);
}

/* ---- sorting ---- */

static void unbuild_all(struct browser *b)
{
	for (size_t i = 0; i < b->n_tables; i++)
		browser_unbuild(&b->tables[i]);
}

/* What was not kept when the recording was read cannot be sorted by now. */
static bool is_kept(const struct hist_opts *now, const struct hist_opts *had, struct tacho_error *e)
{
	static const enum hist_column always[] = { COL_COMM, COL_PID, COL_TGID, COL_TID, COL_DSO, COL_SYMBOL };

	for (size_t i = 0; i < now->n_keys; i++) {
		enum hist_column c = now->keys[i];
		bool kept = c < COL_FIRST_KEY || had->has_key[c];

		for (size_t k = 0; k < countof(always); k++)
			kept = kept || c == always[k];
		if (!kept && c >= COL_FIELD && c <= COL_FIELD_LAST)
			return hist_unknown_key(hist_column_name(c), str_of(hist_column_name(c)), e) == 0;
		if (!kept)
			return error_set(e, -EINVAL, "to sort by %s, start with -s %s", hist_column_name(c),
					 hist_column_name(c)) == 0;
	}
	return true;
}

static void sort_by(struct browser *b, const char *keys)
{
	struct hist_opts now = { .quantum_ns = b->hist_opts.quantum_ns, .parent = b->hist_opts.parent };
	struct report_opts o = b->opts;
	struct tacho_error e = { .column = -1 };
	char *copy = strdup(keys);

	o.sort = copy;
	o.fields = NULL;
	if (!copy || report_hist_opts(&o, b->profile, &now, &e) < 0 || !is_kept(&now, &b->hist_opts, &e)) {
		browser_say(b, "%s", copy ? e.message : "Out of memory");
		free(copy);
		return;
	}
	unbuild_all(b);
	b->hist_opts = now;
	b->opts = o;
	free(b->sort);
	b->sort = copy;
	if (browser_build(b, browser_table(b)) == 0)
		browser_say(b, "Sorted by %s", keys);
}

void browser_sort_menu(struct browser *b)
{
	static const char *const presets[] = { "comm,dso,symbol", "dso,symbol", "symbol", "comm", "dso",
					       "pid", "pid,symbol", "tid,dso" };
	char *items[countof(presets) + 1], typed[MENU_TYPED_MAX];
	static char other[] = "other keys ...";
	struct menu m = browser_menu(b);
	int at;

	for (size_t i = 0; i < countof(presets); i++)
		items[i] = (char *)presets[i];
	items[countof(presets)] = other;
	at = menu_choose(&m, "Sort by", items, countof(items), 0, "ENTER: sort   ESC: back", NULL);
	if (at < 0)
		return;
	if ((size_t)at < countof(presets)) {
		sort_by(b, presets[at]);
		return;
	}
	snprintf(typed, sizeof(typed), "%s", b->opts.sort ? b->opts.sort : presets[0]);
	if (menu_type(&m, "Sort by", "Keys with commas: comm, dso, symbol, pid, tgid, tid,\n"
				     "cpu, time, cgroup, parent, overhead, sample, period\n", typed) && typed[0])
		sort_by(b, typed);
}

void browser_sort_event(struct browser *b, uint32_t nth)
{
	struct browser_table *t = browser_table(b);

	if (nth >= t->n_members) {
		browser_say(b, "The group has %zu event%s", t->n_members, t->n_members == 1 ? "" : "s");
		return;
	}
	b->hist_opts.group_sort = nth;
	free(t->hist.order);
	t->hist.order = NULL;
	t->hist.n_order = 0;
	if (hist_order(&t->hist) < 0)
		browser_say(b, "Out of memory");
	else
		browser_say(b, "Sorted by %s", tacho_profile_event(b->profile, t->members[nth])->name);
	browser_refresh(b);
}

/* ---- another recording ---- */

static bool is_recording(int dir, const char *name)
{
	static const char magic[] = "PERFILE2";
	scoped(closep) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[8];
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head, magic, sizeof(head)) == 0;
}

static int cmp_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int recordings_here(struct strlist *out)
{
	DIR *dir = opendir(".");
	struct dirent *d;
	int err = 0;

	while (dir && err == 0 && out->n < FILES_MAX && (d = readdir(dir)))
		if (is_recording(dirfd(dir), d->d_name))
			err = strlist_add(out, str_of(d->d_name));
	if (dir)
		closedir(dir);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), cmp_names);
	return err;
}

bool browser_pick_file(struct browser *b)
{
	scoped(strlist_done) struct strlist files = { 0 };
	struct menu m = browser_menu(b);
	int at;

	if (recordings_here(&files) < 0 || !files.n) {
		browser_say(b, "There is no recording in this directory");
		return false;
	}
	at = menu_choose(&m, "Recordings in this directory", files.v, files.n, 0,
			 "ENTER: read it   ESC: back", NULL);
	if (at < 0)
		return false;
	b->file = strdup(files.v[at]);
	return b->file != NULL;
}
