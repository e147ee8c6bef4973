/*
 * The screen of the interactive browser: styled text at positions, and keys. The layer is thin, so that tests
 * can replace the terminal by a grid of characters in memory:
 *
 *	browser*.c -> screen.c (widths, clipping) -> struct screen_ops
 *							screen_curses.c		a terminal
 *							screen_none.c		a build without curses
 *							tests/unit		a grid in memory
 */
#ifndef CLI_BROWSER_SCREEN_H
#define CLI_BROWSER_SCREEN_H

#include "base/buf.h"

#include <tacho/common.h>

#include <signal.h>

enum screen_style {
	STYLE_PLAIN, STYLE_TITLE, STYLE_SELECTED,
	STYLE_HOT,			/* a large share: red */
	STYLE_WARM,			/* a medium share: green */
	STYLE_QUIET,			/* addresses and similar text: magenta */
	STYLE_BOX_USER, STYLE_BOX_KERNEL, STYLE_BOX_OTHER,	/* boxes of a flame graph */
	STYLE_COUNT,
};

/* Codes of keys that are not printable characters. A printable character is its own code. */
enum screen_key {
	KEY_IS_ESC = 27, KEY_IS_TAB = 9, KEY_IS_ENTER = 10, KEY_IS_CTRL_C = 3, KEY_IS_RUBOUT = 127,
	KEY_IS_UP = 0x110000, KEY_IS_DOWN, KEY_IS_LEFT, KEY_IS_RIGHT, KEY_IS_PAGE_UP, KEY_IS_PAGE_DOWN,
	KEY_IS_HOME, KEY_IS_END, KEY_IS_UNTAB, KEY_IS_F1,
	KEY_IS_RESIZE,			/* the size of the screen has changed */
	KEY_IS_GONE,			/* the terminal is closed; there are no more keys */
	KEY_IS_TICK,			/* no key, but new data: only from key_or_tick() */
	KEY_IS_OTHER,			/* a key that the browser does not use */
};

/* For commands that catch signals and have data that changes. */
struct screen_wait {
	const sigset_t *mask;		/* signals that are blocked while a key is waited for */
	int (*ending)(void);		/* not 0: a signal ends the program, and the screen answers KEY_IS_GONE */
	int tick_fd;			/* polls readable when there is new data */
};

struct screen {
	const struct screen_ops *ops;
	int rows, cols;			/* updated by screen_open() and with each key */
	void *arg;			/* for the functions of `ops` */
	const struct screen_wait *wait;	/* set before screen_open(); NULL: nothing but keys */
};

struct screen_ops {
	/* `text` is printable and fits into the line. */
	void (*put)(struct screen *s, int row, int col, enum screen_style style, const char *text);
	/* Draws an empty frame, which must be within the screen. */
	void (*frame)(struct screen *s, int row, int col, int rows, int cols);
	void (*clear)(struct screen *s);
	void (*show)(struct screen *s);		/* displays what was drawn */
	int (*key)(struct screen *s);		/* waits for a key */
	int (*key_or_tick)(struct screen *s);	/* the same, or for new data; needs `wait` */
	void (*close)(struct screen *s);
};

/* Opens the terminal on stdin and stdout. 0, -EOPNOTSUPP in a build without curses, or -ENOTTY. */
int screen_open(struct screen *s, struct tacho_error *e);
bool screen_is_built_in(void);
void screen_close(struct screen *s);		/* may be called twice */

/* Draws the part of `text` that fits; the position may be outside the screen. Control characters and bytes
 * that are not characters of the locale become '?'. Returns the column after the text. */
int screen_put(struct screen *s, int row, int col, enum screen_style style, const char *text);
/* As screen_put(), but pads the text with blanks up to column `end`. */
void screen_fill(struct screen *s, int row, int col, int end, enum screen_style style, const char *text);
/* Returns the length in bytes of the part of `text` that fits into a line of `room` columns, broken at a blank if there is
 * one, and at least one character; *next is set to where the next line begins. */
size_t screen_break(const char *text, size_t room, const char **next);
/* Draws the text in `rows` lines, which are filled with blanks; screen_lines() returns how many lines it needs, at least
 * one and at most `most`. */
void screen_fill_lines(struct screen *s, int row, int rows, enum screen_style style, const char *text);
int screen_lines(const struct screen *s, const char *text, int most);
/* Returns the width of the text in columns; a tab counts as one. */
size_t screen_width(const char *text);
/* Appends the part of the text that fits into `room` columns, with unprintable characters replaced.
 * Returns its width. */
size_t screen_clip(struct buf *out, const char *text, size_t room);

#endif
