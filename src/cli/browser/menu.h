/*
 * Dialogs on top of the browser's screen: lists to choose from, text input, questions, help and long texts. A
 * dialog receives all keys until it closes.
 */
#ifndef CLI_BROWSER_MENU_H
#define CLI_BROWSER_MENU_H

#include "cli/browser/screen.h"

#define MENU_TYPED_MAX 200

struct menu {
	struct screen *screen;
	void (*draw_background)(void *arg);	/* draws the screen below the dialog; NULL: empty screen */
	void *arg;
};

struct menu_list {
	const char *title, *status;	/* first and last line of the screen */
	char *const *items;
	size_t n;
};
/* Shows a full-screen list with the cursor at line `from`. Returns the index of the chosen item, or -1. If
 * `key` is not NULL, *key is the key that closed the list. */
int menu_choose(const struct menu *m, const struct menu_list *list, size_t from, int *key);
/* Edits a line of text in `out` (MENU_TYPED_MAX bytes); false: cancelled, `out` is unchanged. */
bool menu_type(const struct menu *m, const char *title, const char *help, char *out);
bool menu_confirm(const struct menu *m, const char *question);
/* Shows a box with lines of text until a key is pressed. Lines are wrapped; "KEYS\tTEXT" has the text in a column. */
void menu_box(const struct menu *m, const char *title, const char *text);
/* Shows a full-screen text that can be scrolled. */
void menu_text(const struct menu *m, const char *title, const char *text);

/* ---- scrolling ---- */
struct scroll {
	uint64_t top, at;		/* number of the first visible line; of the cursor's line */
};
/* Handles the navigation keys for n lines, `page` of which are visible. Returns false for other keys. In
 * any case, the position is limited to the existing lines. */
bool scroll_key(struct scroll *s, int key, uint64_t n, uint64_t page);

#endif
