/*
 * Zooms and filters of a table, its sort keys, and the choice of another recording.
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

static bool has_key(struct browser *b, enum tacho_report_column_id id)
{
	return tacho_report_has_key(browser_table(b)->report, id);
}

bool browser_can_zoom(struct browser *b, enum browser_zoom zoom)
{
	switch (zoom) {
	case ZOOM_THREAD:
		return has_key(b, TACHO_COLUMN_COMM) || has_key(b, TACHO_COLUMN_PID) || has_key(b, TACHO_COLUMN_TID);
	case ZOOM_DSO:
		return has_key(b, TACHO_COLUMN_DSO);
	case ZOOM_SOCKET:
		return has_key(b, TACHO_COLUMN_SOCKET);
	default:
		return has_key(b, TACHO_COLUMN_SYMBOL);
	}
}

static void remove_zoom(struct browser_table *t, enum browser_zoom zoom)
{
	struct rows_filter *f = &t->rows.filter;
	size_t n = 0;

	if (zoom == ZOOM_THREAD) {
		f->comm = NULL;
		f->by_tid = false;
	} else if (zoom == ZOOM_DSO) {
		f->dso = NULL;
	} else if (zoom == ZOOM_SOCKET) {
		f->by_socket = false;
	} else {
		rows_filter_symbol(&t->rows, NULL);
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

/* Adds a zoom and moves the cursor to the first line. A zoom is active at most once, so the array cannot
 * overflow. */
static void push_zoom(struct browser *b, enum browser_zoom zoom)
{
	struct browser_table *t = browser_table(b);

	t->zooms[t->n_zooms++] = zoom;
	t->scroll = (struct scroll){ 0 };
	browser_refresh(b);
}

static void pop_zoom(struct browser *b, enum browser_zoom zoom)
{
	struct browser_table *t = browser_table(b);

	remove_zoom(t, zoom);
	t->scroll = (struct scroll){ 0 };
	browser_refresh(b);
}

bool browser_zoom_back(struct browser *b)
{
	struct browser_table *t = browser_table(b);

	if (!t->n_zooms)
		return false;
	pop_zoom(b, t->zooms[t->n_zooms - 1]);
	return true;
}

void browser_zoom_dso(struct browser *b, const char *dso)
{
	struct browser_table *t = browser_table(b);

	if (!browser_can_zoom(b, ZOOM_DSO)) {
		browser_message(b, "The table is not sorted by dso");
		return;
	}
	remove_zoom(t, ZOOM_DSO);
	t->rows.filter.dso = dso;
	push_zoom(b, ZOOM_DSO);
}

/* Whether the line shows a single thread instead of all threads of that name. */
static bool line_has_tid(struct browser *b, const struct rows_line *l)
{
	const struct rows *r = &browser_table(b)->rows;

	return (has_key(b, TACHO_COLUMN_PID) && rows_line_has(r, l, tacho_report_column(TACHO_COLUMN_PID))) ||
	       (has_key(b, TACHO_COLUMN_TID) && rows_line_has(r, l, tacho_report_column(TACHO_COLUMN_TID)));
}

bool browser_line_has(struct browser *b, const struct rows_line *l, enum browser_zoom zoom)
{
	const struct rows *r = &browser_table(b)->rows;

	if (!browser_can_zoom(b, zoom))
		return false;
	if (zoom == ZOOM_DSO)
		return rows_line_has(r, l, tacho_report_column(TACHO_COLUMN_DSO));
	if (zoom == ZOOM_SOCKET)
		return rows_line_has(r, l, tacho_report_column(TACHO_COLUMN_SOCKET));
	return rows_line_has(r, l, tacho_report_column(TACHO_COLUMN_COMM)) || line_has_tid(b, l);
}

static void zoom_thread(struct browser *b, const struct rows_line *l)
{
	struct browser_table *t = browser_table(b);
	const struct tacho_profile_thread *thread =
		tacho_report_thread(t->report, l->entry);

	t->rows.filter.comm = thread->comm;
	t->rows.filter.by_tid = line_has_tid(b, l);
	t->rows.filter.tid = thread->tid;
	push_zoom(b, ZOOM_THREAD);
}

static void zoom_socket(struct browser *b, const struct rows_line *l)
{
	struct browser_table *t = browser_table(b);

	t->rows.filter.by_socket = true;
	t->rows.filter.socket = tacho_report_key_value(t->report, l->entry, tacho_report_column(TACHO_COLUMN_SOCKET));
	push_zoom(b, ZOOM_SOCKET);
}

void browser_zoom(struct browser *b, enum browser_zoom zoom)
{
	static const char *const keys[] = {
		[ZOOM_THREAD] = "comm, pid or tid", [ZOOM_DSO] = "dso", [ZOOM_SOCKET] = "socket",
	};
	struct browser_table *t = browser_table(b);
	const struct tacho_profile_frame *f;
	struct rows_line l;

	if (is_zoomed(t, zoom)) {
		pop_zoom(b, zoom);
		return;
	}
	if (!browser_line(b, &l))
		return;
	if (!browser_can_zoom(b, zoom)) {
		browser_message(b, "The table is not sorted by %s%s", keys[zoom],
				zoom == ZOOM_SOCKET ? ": start with -s socket,comm,dso,symbol" : "");
		return;
	}
	if (!browser_line_has(b, &l, zoom)) {
		browser_message(b, "The line stands for several: open it first");
		return;
	}
	if (zoom == ZOOM_THREAD) {
		zoom_thread(b, &l);
		return;
	}
	if (zoom == ZOOM_SOCKET) {
		zoom_socket(b, &l);
		return;
	}
	f = tacho_profile_frame(b->profile, l.entry->frame);
	browser_zoom_dso(b, f ? f->code->object_name : "[unknown]");
}

void browser_set_symbol(struct browser *b, const char *text)
{
	struct browser_table *t = browser_table(b);

	if (!browser_can_zoom(b, ZOOM_SYMBOL)) {
		browser_message(b, "The table is not sorted by symbol");
		return;
	}
	pop_zoom(b, ZOOM_SYMBOL);
	if (!*text)
		return;
	if (rows_filter_symbol(&t->rows, text) < 0) {
		browser_message(b, "Out of memory");
		return;
	}
	push_zoom(b, ZOOM_SYMBOL);
}

/* ---- sorting ---- */

void browser_free_tables(struct browser *b)
{
	stack_view_forget(&b->stacks);
	for (size_t i = 0; i < b->n_tables; i++)
		browser_table_done(&b->tables[i]);
}

static bool had_key(const struct report_view *had, const struct tacho_report_column *c)
{
	static const enum tacho_report_column_id always[] = {
		TACHO_COLUMN_COMM, TACHO_COLUMN_PID, TACHO_COLUMN_TGID, TACHO_COLUMN_TID, TACHO_COLUMN_DSO,
		TACHO_COLUMN_SYMBOL,
	};
	bool had_it = is_value(c);

	for (size_t i = 0; i < countof(always); i++)
		had_it = had_it || c->id == always[i];
	for (size_t i = 0; i < had->report.n_keys; i++)
		had_it = had_it || had->report.keys[i] == c;
	return had_it;
}

/* Whether the profile has the data for all sort keys. Data that the initial keys did not need was not read
 * from the recording. */
static bool has_data(const struct browser *b, const struct report_view *now, const struct report_view *had,
		     struct tacho_error *e)
{
	for (size_t i = 0; i < now->report.n_keys; i++) {
		const struct tacho_report_column *c = now->report.keys[i];

		if (had_key(had, c) ||
		    (b->live && b->live->has_cgroups && strncmp(c->name, "cgroup", strlen("cgroup")) == 0))
			continue;
		if (c->kind == TACHO_REPORT_FIELD_KEY)
			return tacho_report_unknown_key(c->name, 0, strlen(c->name), e) == 0;
		return error_set(e, -EINVAL, "to sort by %s, start with -s %s", c->name, c->name) == 0;
	}
	return true;
}

static bool make_view(struct browser *b, struct report_opts *o, struct report_view *view, struct tacho_error *e)
{
	const char *list;

	if (report_parse_keys(o, &list, e) < 0 || report_complete_keys(o, e) < 0)
		return false;
	report_view_init(o, b->profile, view);
	view->report.sockets = b->view.report.sockets;
	view->report.n_sockets = b->view.report.n_sockets;
	return has_data(b, view, &b->first_view, e);
}

static bool has_cgroups(const struct browser *b)
{
	for (size_t i = 0; i < b->first_view.report.n_keys; i++)
		if (strncmp(b->first_view.report.keys[i]->name, "cgroup", strlen("cgroup")) == 0)
			return true;
	return b->live && b->live->has_cgroups;
}

static void sort_by(struct browser *b, const char *keys)
{
	struct report_opts o = b->opts;
	struct report_view now;
	struct tacho_error e = { .column = -1 };
	char *copy = strdup(keys);

	o.sort = copy;
	o.shown = NULL;
	if (!copy || !make_view(b, &o, &now, &e)) {
		browser_message(b, "%s", copy ? e.message : "Out of memory");
		free(copy);
		return;
	}
	browser_free_tables(b);
	b->view = now;
	b->opts = o;
	free(b->sort);
	b->sort = copy;
	if (browser_table_build(b, browser_table(b)) == 0)
		browser_message(b, "Sorted by %s", keys);
}

/* Groups by command, process, thread and cgroup in turn, then by function as at first. */
void browser_next_grouping(struct browser *b)
{
	static const char *const groupings[] = { "comm", "tgid", "pid", "cgroup" };
	bool is_first = !b->sort, found = false;
	size_t next = 0;

	if (is_first && !b->first_sort) {
		b->first_sort = strdup(b->opts.sort ? b->opts.sort : report_default_keys(&b->opts));
		if (!b->first_sort)
			return;
	}
	for (size_t i = 0; b->sort && i < countof(groupings); i++)
		if (strcmp(b->sort, groupings[i]) == 0) {
			next = i + 1;
			found = true;
		}
	if (!found)
		next = 0;
	if (next + 1 == countof(groupings) && !has_cgroups(b))
		next++;
	sort_by(b, next < countof(groupings) ? groupings[next] : b->first_sort);
}

void browser_sort_menu(struct browser *b)
{
	static const char *const presets[] = { "comm,dso,symbol", "dso,symbol", "symbol", "comm", "dso",
					       "pid", "pid,symbol", "tid,dso" };
	char *items[countof(presets) + 1], typed[MENU_TYPED_MAX];
	static char other[] = "other keys ...";
	struct menu_list list = { .title = "Sort by", .status = "ENTER: sort   ESC: back", .items = items,
				  .n = countof(items) };
	struct menu m = browser_menu(b);
	int at;

	for (size_t i = 0; i < countof(presets); i++)
		items[i] = (char *)presets[i];
	items[countof(presets)] = other;
	at = menu_choose(&m, &list, 0, NULL);
	if (at < 0)
		return;
	if ((size_t)at < countof(presets)) {
		sort_by(b, presets[at]);
		return;
	}
	snprintf(typed, sizeof(typed), "%s", b->opts.sort ? b->opts.sort : presets[0]);
	if (menu_type(&m, "Sort by", "Keys separated by commas: comm, dso, symbol, pid, tgid, tid,\n"
				     "cpu, time, cgroup, parent, overhead, sample, period\n", typed) && typed[0])
		sort_by(b, typed);
}

void browser_sort_event(struct browser *b, uint32_t nth)
{
	struct browser_table *t = browser_table(b);

	if (nth >= t->n_members) {
		browser_message(b, "The group has %zu event%s", t->n_members, t->n_members == 1 ? "" : "s");
		return;
	}
	b->view.report.group_sort = nth;
	if (tacho_report_sort_by_event(t->report, nth) < 0)
		browser_message(b, "Out of memory");
	else
		browser_message(b, "Sorted by %s", tacho_profile_event(b->profile, t->members[nth])->name);
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

bool browser_choose_file(struct browser *b)
{
	scoped(strlist_done) struct strlist files = { 0 };
	struct menu_list list = { .title = "Recordings in this directory", .status = "ENTER: read   ESC: back" };
	struct menu m = browser_menu(b);
	int at;

	if (recordings_here(&files) < 0 || !files.n) {
		browser_message(b, "This directory has no recordings");
		return false;
	}
	list.items = files.v;
	list.n = files.n;
	at = menu_choose(&m, &list, 0, NULL);
	if (at < 0)
		return false;
	b->file = strdup(files.v[at]);
	return b->file != NULL;
}
