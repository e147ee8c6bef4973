/*
 * Dialogs over the browser's screen: lists to choose from, text input, questions, help and long texts. Each receives all keys
 * until it closes.
 */
#ifndef CLI_BROWSER_MENU_H
#define CLI_BROWSER_MENU_H

#include "cli/browser/screen.h"

#define MENU_TYPED_MAX 200

struct menu {
	struct screen *screen;
	void (*draw_background)(void *arg);	/* draws the screen below; NULL: empty */
	void *arg;
};

/* A list over the whole screen, with the cursor at line `from`; returns the chosen index, or -1. *key, if given, is the key
 * that closed it. */
int menu_choose(const struct menu *m, const char *title, char *const *items, size_t n, size_t from,
		const char *status, int *key);
/* Edits a line of text in `out` (MENU_TYPED_MAX bytes); false: cancelled, `out` is unchanged. */
bool menu_type(const struct menu *m, const char *title, const char *help, char *out);
bool menu_confirm(const struct menu *m, const char *question);
/* A box with lines of text, until a key is pressed. */
void menu_box(const struct menu *m, const char *title, const char *text);
/* A scrolling text over the whole screen. */
void menu_text(const struct menu *m, const char *title, const char *text);

/* ---- scrolling ---- */
struct scroll {
	uint64_t top, at;		/* first visible line; line of the cursor */
};
/* Handles the navigation keys for n lines, `page` of which are visible; false for other keys. Any key clamps the position to
 * the lines. */
bool scroll_key(struct scroll *s, int key, uint64_t n, uint64_t page);

#endif
