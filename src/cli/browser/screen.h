/*
 * The screen of the interactive browser: text at places, in a few styles, and keys. A thin layer,
 * so that a test can put a grid of characters in the terminal's place:
 *
 *	browser*.c -> screen.c (widths, clipping, lines) -> struct screen_ops
 *	                                                     screen_curses.c   a terminal
 *	                                                     screen_none.c     a build without
 *	                                                     tests/unit        a grid in memory
 */
#ifndef CLI_BROWSER_SCREEN_H
#define CLI_BROWSER_SCREEN_H

#include "base/buf.h"

#include <tacho/common.h>

enum screen_style {
	STYLE_PLAIN, STYLE_TITLE, STYLE_SELECTED,
	STYLE_HOT,			/* a large share: red */
	STYLE_WARM,			/* one worth looking at: green */
	STYLE_QUIET,			/* addresses and the like */
	STYLE_COUNT,
};

/* Keys beyond the characters they send; those stand for themselves. */
enum screen_key {
	KEY_IS_ESC = 27, KEY_IS_TAB = 9, KEY_IS_ENTER = 10, KEY_IS_CTRL_C = 3, KEY_IS_RUBOUT = 127,
	KEY_IS_UP = 0x110000, KEY_IS_DOWN, KEY_IS_LEFT, KEY_IS_RIGHT, KEY_IS_PAGE_UP, KEY_IS_PAGE_DOWN,
	KEY_IS_HOME, KEY_IS_END, KEY_IS_UNTAB, KEY_IS_F1,
	KEY_IS_RESIZE,			/* the screen has another size now */
	KEY_IS_GONE,			/* no more keys: the terminal is closed */
	KEY_IS_OTHER,			/* one that means nothing here */
};

struct screen {
	const struct screen_ops *ops;
	int rows, cols;			/* as of the last key or screen_open() */
	void *arg;			/* of the ops */
};

struct screen_ops {
	/* `text` is printable, of known width, and fits. */
	void (*put)(struct screen *s, int row, int col, enum screen_style style, const char *text);
	/* An empty frame; only frames that lie on the screen. */
	void (*frame)(struct screen *s, int row, int col, int rows, int cols);
	void (*clear)(struct screen *s);
	void (*show)(struct screen *s);		/* all that was put */
	int (*key)(struct screen *s);		/* waits for one */
	void (*close)(struct screen *s);
};

/* The terminal on stdin and stdout. 0, or -EOPNOTSUPP in a build without, -ENOTTY. */
int screen_open(struct screen *s, struct tacho_error *e);
bool screen_is_built_in(void);
void screen_close(struct screen *s);		/* twice is fine */

/* Puts what fits of `text` at a place that may lie outside. Bytes that are no character of the
 * locale, and control characters, become '?'. Returns the column behind it. */
int screen_put(struct screen *s, int row, int col, enum screen_style style, const char *text);
/* The same, up to column `end`, filled with blanks. */
void screen_fill(struct screen *s, int row, int col, int end, enum screen_style style, const char *text);
/* How many columns it takes; a tab takes one. */
size_t screen_width(const char *text);
/* Appends what fits into `room` columns, all of it printable; returns how many it takes. */
size_t screen_clip(struct buf *out, const char *text, size_t room);

#endif
