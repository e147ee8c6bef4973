/*
 * The key bindings of the browser, which are perf's. Each is a table row with a function and a help text. The
 * man page has the same rows; tests/cmd/report/browser-keys.sh compares them.
 */
#include "cli/browser/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"
#include "cli/files/header_text.h"

#define MAX_PRINT_FILES 1000

static void report_no_memory(struct browser *b, int err)
{
	if (err < 0)
		browser_message(b, "Out of memory");
}

/* ---- leaving ---- */

static enum browser_next on_quit(struct browser *b, int key)
{
	(void)b;
	(void)key;
	return NEXT_QUIT;
}

/* Goes back one step: from the last zoom, then from the table to the list of events, then out of the
 * browser. */
static enum browser_next on_back(struct browser *b, int key)
{
	struct browser_table *t = browser_table(b);
	struct menu m = browser_menu(b);

	if (key == KEY_IS_LEFT && t->skip) {
		t->skip--;
		return NEXT_STAY;
	}
	if (browser_zoom_back(b))
		return NEXT_STAY;
	if (b->n_tables > 1)
		return NEXT_BACK;
	if (key == KEY_IS_LEFT)
		return NEXT_STAY;
	return menu_confirm(&m, "Leave the browser? ENTER or y: yes") ? NEXT_QUIT : NEXT_STAY;
}

static enum browser_next on_right(struct browser *b, int key)
{
	struct browser_table *t = browser_table(b);

	(void)key;
	if (t->skip + 1 < t->rows.n_columns)
		t->skip++;
	return NEXT_STAY;
}

static enum browser_next on_tab(struct browser *b, int key)
{
	if (b->n_tables < 2) {
		browser_message(b, "There is only one event");
		return NEXT_STAY;
	}
	return key == KEY_IS_TAB ? NEXT_EVENT : NEXT_EVENT_BEFORE;
}

static enum browser_next on_file(struct browser *b, int key)
{
	(void)key;
	if (b->live) {
		browser_message(b, "s reads another recording, in report");
		return NEXT_STAY;
	}
	return browser_choose_file(b) ? NEXT_FILE : NEXT_STAY;
}

/* ---- folding ---- */

static enum browser_next on_toggle(struct browser *b, int key)
{
	struct browser_table *t = browser_table(b);

	(void)key;
	report_no_memory(b, rows_toggle(&t->rows, t->scroll.at));
	return NEXT_STAY;
}

static enum browser_next on_entry(struct browser *b, int key)
{
	struct browser_table *t = browser_table(b);
	struct rows_line l;

	if (!browser_line(b, &l))
		return NEXT_STAY;
	t->scroll.at = l.home;
	browser_line(b, &l);
	report_no_memory(b, rows_open_entry(&t->rows, l.home, key == 'e' && rows_sign(&t->rows, &l) == '+'));
	return NEXT_STAY;
}

static enum browser_next on_all(struct browser *b, int key)
{
	struct browser_table *t = browser_table(b);
	struct rows_line l;
	bool there = browser_line(b, &l);

	report_no_memory(b, rows_open_all(&t->rows, key == 'E'));
	if (there)
		t->scroll.at = rows_find(&t->rows, &l);
	return NEXT_STAY;
}

/* ---- display settings ---- */

static enum browser_next on_annotate(struct browser *b, int key)
{
	struct browser_table *t = browser_table(b);
	struct rows_line l;

	(void)key;
	if (b->stacks.shape != SHAPE_TABLE)
		browser_annotate(b, stack_view_frame(b));
	else if (browser_line(b, &l))
		browser_annotate(b, rows_frame(&t->rows, &l));
	return NEXT_STAY;
}

static enum browser_next on_zoom(struct browser *b, int key)
{
	browser_zoom(b, key == 't' ? ZOOM_THREAD : key == 'S' ? ZOOM_SOCKET : ZOOM_DSO);
	return NEXT_STAY;
}

static enum browser_next on_kernel(struct browser *b, int key)
{
	(void)key;
	for (size_t i = 0; i < tacho_profile_n_objects(b->profile); i++) {
		const struct tacho_profile_object *o = tacho_profile_object(b->profile, i);

		if (o->kernel && strcmp(o->name, "[kernel.kallsyms]") == 0) {
			browser_zoom_dso(b, o->name);
			return NEXT_STAY;
		}
	}
	browser_message(b, "There are no samples in the kernel");
	return NEXT_STAY;
}

static enum browser_next on_search(struct browser *b, int key)
{
	struct menu m = browser_menu(b);
	char typed[MENU_TYPED_MAX] = "";

	(void)key;
	if (menu_type(&m, "Functions",
		      "Show functions whose name contains this text, or matches it as a regular expression.\n"
		      "An empty text shows all functions.\n", typed))
		browser_set_symbol(b, typed);
	return NEXT_STAY;
}

static enum browser_next on_limit(struct browser *b, int key)
{
	struct menu m = browser_menu(b);
	char typed[MENU_TYPED_MAX] = "";
	double limit;

	(void)key;
	if (!menu_type(&m, "Least share", "Entries and branches of call chains below this percentage are "
		       "hidden.\n", typed))
		return NEXT_STAY;
	if (num_double(str_of(typed), &limit) < 0 || limit < 0 || limit > 100) {
		browser_message(b, "'%.60s' is not a percentage from 0 to 100", typed);
		return NEXT_STAY;
	}
	b->percent_limit = limit;
	b->opts.graph.min_percent = b->view.graph.min_percent = limit;
	browser_refresh(b);
	return NEXT_STAY;
}

static enum browser_next on_relative(struct browser *b, int key)
{
	(void)key;
	b->relative = !b->relative;
	browser_message(b, "%s", b->relative ? "100 % is all samples that pass the filters" : "100 % is all samples");
	browser_refresh(b);
	return NEXT_STAY;
}

static enum browser_next on_titles(struct browser *b, int key)
{
	(void)key;
	b->no_titles = !b->no_titles;
	return NEXT_STAY;
}

static enum browser_next on_verbose(struct browser *b, int key)
{
	(void)key;
	b->verbose = !b->verbose;
	browser_message(b, "%s", b->verbose ? "With addresses, paths and objects" : "Without addresses and paths");
	browser_refresh(b);
	return NEXT_STAY;
}

/* Keys of perf top, and others of perf's browser that have nothing to act on here. */
static enum browser_next on_top_key(struct browser *b, int key)
{
	if (b->live && key == 'f')
		browser_freeze(b);
	else if (b->live && key == 'z')
		browser_message(b, b->live->toggle_zero(b->live->arg) ? "Samples are forgotten at each refresh" :
				"Older samples decay");
	else if (key == 'r')
		browser_message(b, "r runs scripts in perf: %s has no interpreter; 'script --json' passes samples to other "
				"programs", program_name);
	else
		browser_message(b, "%c is a key of perf top, which %s: a recording does not change", key,
				key == 'f' ? "enables and disables events" : "resets the counts");
	return NEXT_STAY;
}

static enum browser_next on_sort(struct browser *b, int key)
{
	(void)key;
	browser_sort_menu(b);
	return NEXT_STAY;
}

static enum browser_next on_shape(struct browser *b, int key)
{
	(void)key;
	stack_view_next(b);
	return NEXT_STAY;
}

static enum browser_next on_group(struct browser *b, int key)
{
	(void)key;
	browser_next_grouping(b);
	return NEXT_STAY;
}

static enum browser_next on_digit(struct browser *b, int key)
{
	browser_sort_event(b, (uint32_t)(key - '0'));
	return NEXT_STAY;
}

/* ---- dialogs and output files ---- */

static enum browser_next on_info(struct browser *b, int key)
{
	struct menu m = browser_menu(b);
	struct buf text = { 0 };

	(void)key;
	if (b->live)
		b->live->info(b->live->arg, &text);
	else
		file_header(b->pd, true, &text);
	if (!buf_failed(&text) && text.n)
		menu_text(&m, b->live ? "What is sampled" : "How it was recorded", text.bytes);
	buf_done(&text);
	return NEXT_STAY;
}

static enum browser_next on_help(struct browser *b, int key)
{
	struct menu m = browser_menu(b);
	struct buf text = { 0 };

	(void)key;
	browser_help(b, &text);
	if (!buf_failed(&text))
		menu_box(&m, "Help", text.bytes);
	buf_done(&text);
	return NEXT_STAY;
}

static void put_into_buf(void *arg, enum screen_style style, const char *text)
{
	(void)style;
	buf_puts(arg, text);
}

static void print_lines(struct browser *b, struct buf *out)
{
	struct rows *r = &browser_table(b)->rows;
	struct rows_line l;

	rows_fit(r, 0, 0);
	buf_puts(out, "# ");
	browser_title(b, out);
	buf_puts(out, "\n# ");
	rows_titles(r, 0, out);
	buf_puts(out, "\n#\n");
	for (uint64_t i = 0; rows_at(r, i, &l); i++) {
		rows_draw(r, &l, 0, put_into_buf, out);
		while (out->n && out->bytes[out->n - 1] == ' ')
			out->n--;
		buf_putc(out, '\n');
	}
}

/* Creates the first NAME.hist.N that does not exist. */
static int create_print_file(char *name, size_t size)
{
	int fd = -1;

	for (int i = 0; fd < 0 && i < MAX_PRINT_FILES; i++) {
		snprintf(name, size, "%s.hist.%d", program_name, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

static enum browser_next on_print(struct browser *b, int key)
{
	struct buf out = { 0 };
	char name[64];
	int fd = create_print_file(name, sizeof(name)), err = fd;

	(void)key;
	if (fd >= 0) {
		print_lines(b, &out);
		err = buf_failed(&out) ? -ENOMEM : io_write_all(fd, out.bytes, out.n);
		if (close(fd) < 0 && err == 0)
			err = -errno;
	}
	buf_done(&out);
	if (err < 0)
		browser_message(b, "cannot write %s: %s", name, strerror(-err));
	else
		browser_message(b, "written to %s", name);
	return NEXT_STAY;
}

static enum browser_next on_menu(struct browser *b, int key);

/* ---- the table ---- */

typedef enum browser_next key_run(struct browser *b, int key);

static const struct browser_key_row {
	const char *name, *help;	/* name NULL: more keys of the previous row */
	key_run *run;
	int keys[4];			/* 0-terminated unless full */
	enum { IN_BOTH, IN_REPORT, IN_TOP } where;
} rows[] = {
	{ "h ? F1", "show this help", on_help, { 'h', '?', KEY_IS_F1 } },
	{ "UP DOWN PGUP PGDN", "move the cursor, also with SPACE, HOME and END", NULL, { 0 } },
	{ "RIGHT", "scroll the columns; LEFT scrolls back", on_right, { KEY_IS_RIGHT } },
	{ "ESC LEFT", "leave the last zoom, then return to the list of events", on_back,
	  { KEY_IS_ESC, KEY_IS_LEFT } },
	{ "q CTRL+C", "quit", on_quit, { 'q', KEY_IS_CTRL_C, KEY_IS_GONE } },
	{ "ENTER m", "open a menu of actions for the line", on_menu, { KEY_IS_ENTER, 'm' } },
	{ "+", "expand or collapse one level of the call chain", on_toggle, { '+', '-' } },
	{ "e", "expand or collapse all levels below the entry", on_entry, { 'e' } },
	{ "c", "collapse all levels below the entry", on_entry, { 'c' } },
	{ "E", "expand the call chains of all entries", on_all, { 'E' } },
	{ "C", "collapse the call chains of all entries", on_all, { 'C' } },
	{ "v", "show the call tree, then a flame graph, then the table again", on_shape, { 'v' } },
	{ "a", "annotate the function: show its instructions", on_annotate, { 'a' } },
	{ "d", "zoom into the object, or out of it", on_zoom, { 'd' } },
	{ "t", "zoom into the thread, or out of it", on_zoom, { 't' } },
	{ "S", "zoom into the processor socket, or out of it", on_zoom, { 'S' } },
	{ "k", "zoom into the kernel", on_kernel, { 'k' } },
	{ "/", "show only functions whose names contain a text or match a regular expression", on_search, { '/' } },
	{ "L", "hide entries and branches below a percentage", on_limit, { 'L' } },
	{ "F", "let 100 % be all samples, or those that pass the filters", on_relative, { 'F' } },
	{ "H", "show or hide the column titles", on_titles, { 'H' } },
	{ "V", "show or hide addresses, paths, and objects in call chains", on_verbose, { 'V' } },
	{ "o", "choose the sort keys", on_sort, { 'o' } },
	{ "g", "group by command, process, thread, cgroup, then by function again", on_group, { 'g' } },
	{ "0-9", "sort by this event of the group", on_digit, { '0', '1', '2', '3' } },
	{ NULL, NULL, on_digit, { '4', '5', '6', '7' } },
	{ NULL, NULL, on_digit, { '8', '9' } },
	{ "TAB UNTAB", "show the next or the previous event", on_tab, { KEY_IS_TAB, KEY_IS_UNTAB } },
	{ "i", "show how the recording was made", on_info, { 'i' }, IN_REPORT },
	{ "i", "show what is sampled", on_info, { 'i' }, IN_TOP },
	{ "P", "write the lines to NAME.hist.N", on_print, { 'P' } },
	{ "s", "open another recording in this directory", on_file, { 's' }, IN_REPORT },
	{ "r f z", "unavailable: scripts (r), and keys of perf top (f, z)", on_top_key,
	  { 'r', 'f', 'z' }, IN_REPORT },
	{ "f", "freeze what is shown and stop the events, or go on", on_top_key, { 'f' }, IN_TOP },
	{ "z", "forget the samples at each refresh, or let them decay", on_top_key, { 'z' }, IN_TOP },
};

static bool is_row_of(const struct browser *b, const struct browser_key_row *row)
{
	return row->where == IN_BOTH || row->where == (b->live ? IN_TOP : IN_REPORT);
}

enum browser_next browser_key(struct browser *b, int key)
{
	for (size_t i = 0; i < countof(rows); i++)
		for (size_t k = 0; k < countof(rows[i].keys) && rows[i].keys[k]; k++)
			if (rows[i].keys[k] == key && is_row_of(b, &rows[i]))
				return rows[i].run(b, key);
	browser_message(b, "Unknown key; '?' shows the help");
	return NEXT_STAY;
}

void browser_help(const struct browser *b, struct buf *out)
{
	for (size_t i = 0; i < countof(rows); i++)
		if (rows[i].name && is_row_of(b, &rows[i]))
			buf_printf(out, "%s\t%s\n", rows[i].name, rows[i].help);
}

/* ---- the menu of actions for a line ---- */

enum { CHOICE_SYMBOL = -1 };		/* the only action without a key */

struct choices {
	char *texts[12];
	int keys[12];			/* keys[i]: the key with the action of texts[i] */
	size_t n;
};

static void choice_add(struct choices *c, int key, const char *fmt, ...) printf_like(3, 4);
static void choice_add(struct choices *c, int key, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (c->n < countof(c->texts))
		c->texts[c->n] = buf_take(&text);
	else
		buf_done(&text);
	if (c->n < countof(c->texts) && c->texts[c->n])
		c->keys[c->n++] = key;
}

static void choices_of_line(struct browser *b, struct choices *c)
{
	struct browser_table *t = browser_table(b);
	const struct tacho_profile_frame *f;
	const struct tacho_profile_thread *thread;
	const struct rows_filter *zoomed = &t->rows.filter;
	struct rows_line l;
	char sign;

	if (!browser_line(b, &l))
		return;
	f = rows_frame(&t->rows, &l);
	thread = tacho_report_thread(t->report, l.entry);
	sign = rows_sign(&t->rows, &l);
	if (f && f->known)
		choice_add(c, 'a', "Annotate %s", f->code->name);
	if (f && f->known && browser_can_zoom(b, ZOOM_SYMBOL))
		choice_add(c, CHOICE_SYMBOL, "Zoom into the function %s", f->code->name);
	if (browser_line_has(b, &l, ZOOM_THREAD))
		choice_add(c, 't', "Zoom %s the thread %s", zoomed->comm ? "out of" : "into", thread->comm);
	if (browser_line_has(b, &l, ZOOM_DSO) && f)
		choice_add(c, 'd', "Zoom %s the object %s",
			   zoomed->dso ? "out of" : "into", f->code->object_name);
	if (browser_line_has(b, &l, ZOOM_SOCKET))
		choice_add(c, 'S', "Zoom %s the processor socket", zoomed->by_socket ? "out of" : "into");
	if (sign != ' ')
		choice_add(c, '+', "%s the lines below %s", sign == '+' ? "Open" : "Close",
			   f ? f->code->name : thread->comm);
}

static void zoom_symbol(struct browser *b)
{
	const struct tacho_profile_frame *f;
	struct rows_line l;

	f = browser_line(b, &l) ? rows_frame(&browser_table(b)->rows, &l) : NULL;
	if (f)
		browser_set_symbol(b, f->code->name);
}

static enum browser_next on_menu(struct browser *b, int key)
{
	struct menu m = browser_menu(b);
	struct choices c = { .n = 0 };
	struct menu_list list = { .status = "ENTER: choose   ESC: back" };
	struct buf title = { 0 };
	int at;

	(void)key;
	choices_of_line(b, &c);
	choice_add(&c, 'o', "Sort by other keys");
	if (!b->live)
		choice_add(&c, 's', "Read another recording of this directory");
	choice_add(&c, 'q', "Leave the browser");
	browser_title(b, &title);
	list.title = buf_failed(&title) ? "" : title.bytes;
	list.items = c.texts;
	list.n = c.n;
	at = menu_choose(&m, &list, 0, NULL);
	key = at >= 0 ? c.keys[at] : 0;
	if (key == CHOICE_SYMBOL) {
		zoom_symbol(b);
		key = 0;
	}
	for (size_t i = 0; i < c.n; i++)
		free(c.texts[i]);
	buf_done(&title);
	return key ? browser_key(b, key) : NEXT_STAY;
}
