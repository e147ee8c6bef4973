/*
 * What opens over the browser's screen: lists to choose from, a line to type, a question, help,
 * and long texts. Each keeps the keys until it closes.
 */
#ifndef CLI_BROWSER_MENU_H
#define CLI_BROWSER_MENU_H

#include "cli/browser/screen.h"

#define MENU_TYPED_MAX 200

struct menu {
	struct screen *screen;
	void (*behind)(void *arg);	/* draws what stands behind; NULL: nothing */
	void *arg;
};

/* A list over the whole screen, from line `from` on; returns the choice, or -1, and in *key the
 * key that ended it. */
int menu_choose(const struct menu *m, const char *title, char *const *items, size_t n, size_t from,
		const char *status, int *key);
/* A line to type into `out` (MENU_TYPED_MAX bytes), which may hold one; false: cancelled. */
bool menu_type(const struct menu *m, const char *title, const char *help, char *out);
bool menu_confirm(const struct menu *m, const char *question);
/* A box with lines in it, until a key. */
void menu_box(const struct menu *m, const char *title, const char *text);
/* A text over the whole screen, which scrolls. */
void menu_text(const struct menu *m, const char *title, const char *text);

/* ---- shared by whatever scrolls ---- */
struct scroll {
	uint64_t top, at;		/* first line on the screen; the one that is chosen */
};
/* Moves by one of the keys that navigate among n lines, `page` of which are on the screen; false
 * for other keys. Keeps within the lines with any key. */
bool scroll_key(struct scroll *s, int key, uint64_t n, uint64_t page);

#endif
