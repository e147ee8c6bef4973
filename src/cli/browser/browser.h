/*
 * The interactive browser of `tacho report`:
 *
 *	browser.c            tables, the loop of the screen, drawing
 *	cli/browser/keys.c       what the keys do: one row per key, from which the help is made
 *	cli/browser/filters.c       zooms, filters, sorting
 *	cli/browser/rows.c       the lines of a table; cli/browser/call_tree.c the chains below an entry;
 *	cli/browser/hierarchy.c       the levels of --hierarchy
 *	cli/browser/annotate_view.c   a function's instructions; annotate.c what falls on each
 *	cli/browser/menu.c       lists, questions, help; screen*.c the terminal
 */
#ifndef CLI_BROWSER_BROWSER_H
#define CLI_BROWSER_BROWSER_H

#include "cli/browser/annotate.h"
#include "cli/browser/menu.h"
#include "cli/browser/rows.h"
#include "cli/report/report.h"

#define BROWSER_ZOOMS_MAX 3

enum browser_next { NEXT_STAY, NEXT_BACK, NEXT_QUIT, NEXT_EVENT, NEXT_EVENT_BEFORE, NEXT_FILE };
enum browser_zoom { ZOOM_THREAD, ZOOM_DSO, ZOOM_SYMBOL };

struct browser_table {			/* an event's, or a group's */
	uint32_t members[64];
	size_t n_members;
	bool built;
	struct report_view view;		/* without fields that its events do not have */
	struct tacho_report *report;
	struct rows rows;
	struct scroll scroll;
	size_t skip;			/* columns that are scrolled away */
	enum browser_zoom zooms[BROWSER_ZOOMS_MAX];	/* in the order they were made */
	size_t n_zooms;
};

struct browser {
	struct screen *screen;
	struct report_opts opts;	/* a copy: sorting changes it */
	struct tacho_perfdata *pd;
	const struct tacho_profile *profile;
	struct report_view view;
	struct browser_table *tables;
	size_t n_tables, current;
	bool no_titles, verbose, relative;
	bool failed;			/* for want of memory */
	double percent_limit;
	char *sort;			/* chosen in the browser; owned */
	char message[400];		/* for the last line, until the next key; empty: the quality */
	char *quality;			/* owned */
	struct addresses *addresses;	/* for annotate; read when first asked for */
	char *file;			/* chosen with NEXT_FILE; the caller's */
};

/* Shows the profile until the user leaves. 0, 1 with the name of another recording in *file
 * (heap), or a negative errno. */
int browser_run(struct screen *screen, const struct report_opts *o, struct tacho_perfdata *pd,
		const struct tacho_profile *p, const struct report_view *view, char **file,
		struct tacho_error *e);

/* ---- between its files ---- */
struct browser_table *browser_table(struct browser *b);		/* the one on the screen */
void browser_draw(struct browser *b);
struct menu browser_menu(struct browser *b);
void browser_say(struct browser *b, const char *fmt, ...) printf_like(2, 3);
/* Whether there is a line under the cursor. */
bool browser_line(struct browser *b, struct rows_line *out);
int browser_build(struct browser *b, struct browser_table *t);	/* 0 or -ENOMEM */
void browser_unbuild(struct browser_table *t);
/* After a change of what is shown: the cursor stays on the table's line `at`. */
void browser_refresh(struct browser *b);
void browser_title(struct browser *b, struct buf *out);

/* cli/browser/keys.c */
enum browser_next browser_key(struct browser *b, int key);
void browser_help(struct buf *out);

/* cli/browser/filters.c */
bool browser_can_zoom(struct browser *b, enum browser_zoom zoom);	/* by the keys of the table */
/* ... into what this line stands for: one thread's name or object. */
bool browser_tells(struct browser *b, const struct rows_line *l, enum browser_zoom zoom);
void browser_zoom(struct browser *b, enum browser_zoom zoom);		/* in, or out again */
void browser_zoom_dso(struct browser *b, const char *dso);
bool browser_zoom_back(struct browser *b);		/* the last one; false: there was none */
void browser_set_symbol(struct browser *b, const char *text);
void browser_sort_menu(struct browser *b);
void browser_sort_event(struct browser *b, uint32_t nth);
bool browser_pick_file(struct browser *b);		/* another recording, into b->file */

/* cli/browser/annotate_view.c */
void browser_annotate(struct browser *b, const struct tacho_profile_frame *f);

#endif
