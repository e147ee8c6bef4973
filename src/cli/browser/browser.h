/*
 * The interactive browser of `tacho report`:
 *
 *	browser.c		tables, the main loop, drawing
 *	keys.c			the table of keys, with their functions and help texts
 *	filters.c		zooms, filters, sorting, other recordings
 *	rows.c			the lines of a table
 *	call_tree.c		call chains below an entry
 *	hierarchy.c		the levels of --hierarchy
 *	annotate_view.c		a function's instructions; annotate.c: their samples; disasm*.c: disassemblers
 *	live_view.c		a profile that changes: `tacho top`
 *	open_lines.c		which lines are open, when a table is made again
 *	stack_view.c		the call tree and the flame graph; stack_tree.c: their nodes
 *	menu.c			lists, questions, help
 *	screen*.c		the terminal
 */
#ifndef CLI_BROWSER_BROWSER_H
#define CLI_BROWSER_BROWSER_H

#include "cli/annotate/annotate.h"
#include "cli/browser/menu.h"
#include "cli/browser/rows.h"
#include "cli/browser/stack_view.h"
#include "cli/report/report.h"

#define BROWSER_ZOOMS_MAX 4

/* A profile that changes while it is shown. */
struct browser_live {
	void *arg;
	/* Replaces *p, which may be NULL, by the newest profile. 0 or -ENOMEM. */
	int (*refresh)(void *arg, const struct tacho_profile **p);
	/* The same samples by instruction address, for annotate. */
	struct tacho_profile *(*addresses)(void *arg);
	void (*status)(void *arg, struct buf *out);	/* the last line of the screen */
	void (*info)(void *arg, struct buf *out);	/* what is sampled, for the key i */
	void (*freeze)(void *arg, bool on);
	bool (*toggle_zero)(void *arg);	/* returns whether samples are forgotten at each refresh */
	bool has_cgroups;
};

enum browser_next { NEXT_STAY, NEXT_BACK, NEXT_QUIT, NEXT_EVENT, NEXT_EVENT_BEFORE, NEXT_FILE, NEXT_EMPTY };
enum browser_zoom { ZOOM_THREAD, ZOOM_DSO, ZOOM_SYMBOL, ZOOM_SOCKET };

struct browser_table {			/* the table of one event or event group */
	uint32_t members[64];
	size_t n_members;
	bool built;
	struct report_view view;		/* the fields that its events have */
	struct tacho_report *report;
	struct rows rows;
	struct scroll scroll;
	size_t skip;			/* number of columns scrolled out on the left */
	enum browser_zoom zooms[BROWSER_ZOOMS_MAX];	/* active zooms, in the order of activation */
	size_t n_zooms;
};

struct browser {
	struct screen *screen;
	struct report_opts opts;	/* a copy, because sorting changes it */
	struct tacho_perfdata *pd;
	const struct tacho_profile *profile;
	struct report_view view;
	struct browser_table *tables;
	size_t n_tables, current;
	bool no_titles, verbose, relative;
	bool failed;			/* out of memory */
	double percent_limit;
	struct report_view first_view;	/* at the start: the profile has what its keys need */
	char *sort;			/* sort keys chosen in the browser; owned */
	char *first_sort;		/* sort keys before the key g; owned */
	char message[400];		/* last line until the next key; empty: `quality` is shown */
	char *quality;			/* owned */
	struct addresses *addresses;	/* for annotate; read when first needed */
	char *file;			/* recording to open after NEXT_FILE; the caller frees it */
	const struct browser_live *live;	/* NULL: the profile does not change */
	bool frozen;
	struct stack_view stacks;	/* shown in place of the table */
	char *zoom_comm, *zoom_dso;	/* live: texts of filters; owned */
};

struct browser_input {
	const struct report_opts *opts;
	struct tacho_perfdata *pd;
	const struct tacho_profile *profile;
	const struct report_view *view;
	const struct browser_live *live;	/* NULL: none. Otherwise `pd` and `profile` are NULL */
};

/* Shows the profile until the user quits. Returns 0, 1 if the user chose another recording (*file is its
 * name on the heap), or a negative errno. */
int browser_run(struct screen *screen, const struct browser_input *in, char **file, struct tacho_error *e);

/* ---- shared by its files ---- */
struct browser_table *browser_table(struct browser *b);		/* the current table */
void browser_draw(struct browser *b);
struct menu browser_menu(struct browser *b);
void browser_message(struct browser *b, const char *fmt, ...) printf_like(2, 3);
/* Finds the line under the cursor; returns false if there is none. */
bool browser_line(struct browser *b, struct rows_line *out);
int browser_table_build(struct browser *b, struct browser_table *t);	/* 0 or -ENOMEM */
void browser_table_done(struct browser_table *t);
/* Updates the lines after a change of filters or settings; the cursor stays on the same line number. */
void browser_refresh(struct browser *b);
void browser_title(struct browser *b, struct buf *out);
int browser_find_tables(struct browser *b);		/* of b->profile, which has no tables yet. 0 or -ENOMEM */

/* live_view.c */
int browser_wait_key(struct browser *b);		/* a key, or KEY_IS_TICK */
/* Gets the newest profile and makes the current table again. 0 or -ENOMEM. */
int browser_refresh_profile(struct browser *b);
enum browser_next browser_wait_for_samples(struct browser *b);
void browser_freeze(struct browser *b);

/* keys.c */
enum browser_next browser_key(struct browser *b, int key);
void browser_help(const struct browser *b, struct buf *out);

/* filters.c */
bool browser_can_zoom(struct browser *b, enum browser_zoom zoom);	/* the table has its sort key */
/* Whether all entries of the line have one value of that key: one thread, object or socket. */
bool browser_line_has(struct browser *b, const struct rows_line *l, enum browser_zoom zoom);
void browser_zoom(struct browser *b, enum browser_zoom zoom);		/* leaves the zoom if it is active */
void browser_zoom_dso(struct browser *b, const char *dso);
bool browser_zoom_back(struct browser *b);		/* leaves the last zoom; false: no zoom is active */
void browser_set_symbol(struct browser *b, const char *text);
void browser_sort_menu(struct browser *b);
void browser_next_grouping(struct browser *b);
void browser_free_tables(struct browser *b);
void browser_sort_event(struct browser *b, uint32_t nth);
bool browser_choose_file(struct browser *b);		/* sets b->file */

/* annotate_view.c */
void browser_annotate(struct browser *b, const struct tacho_profile_frame *f);

#endif
