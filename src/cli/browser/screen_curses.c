/*
 * Implements the screen on a terminal with ncursesw. The library is linked statically, because a shared
 * library would be loaded at the start of every command.
 *
 * LC_CTYPE is taken from the environment only while the screen is open; all other output uses the C locale. A
 * change of the terminal's size is reported as a key, if necessary by the next wait for a key.
 */
#include "cli/browser/screen.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <term.h>

#include "base/error.h"

#define CTRL_Z 26
#define ESC_WAIT_MS 50			/* maximum delay of the bytes that follow an ESC in a key's code */

static SCREEN *terminal;
static attr_t attributes[STYLE_COUNT];

bool screen_is_built_in(void)
{
	return true;
}

static void curses_put(struct screen *s, int row, int col, enum screen_style style, const char *text)
{
	(void)s;
	attrset((int)attributes[style]);
	mvaddstr(row, col, text);
	attrset(A_NORMAL);
}

static void curses_frame(struct screen *s, int row, int col, int rows, int cols)
{
	(void)s;
	for (int r = row; r < row + rows; r++)
		mvhline(r, col, ' ', cols);
	mvhline(row, col + 1, ACS_HLINE, cols - 2);
	mvhline(row + rows - 1, col + 1, ACS_HLINE, cols - 2);
	mvvline(row + 1, col, ACS_VLINE, rows - 2);
	mvvline(row + 1, col + cols - 1, ACS_VLINE, rows - 2);
	mvaddch(row, col, ACS_ULCORNER);
	mvaddch(row, col + cols - 1, ACS_URCORNER);
	mvaddch(row + rows - 1, col, ACS_LLCORNER);
	mvaddch(row + rows - 1, col + cols - 1, ACS_LRCORNER);
}

static void curses_clear(struct screen *s)
{
	(void)s;
	erase();
}

static void curses_show(struct screen *s)
{
	(void)s;
	refresh();
}

static const struct { int curses, key; } keys[] = {
	{ KEY_UP, KEY_IS_UP }, { KEY_DOWN, KEY_IS_DOWN }, { KEY_LEFT, KEY_IS_LEFT },
	{ KEY_RIGHT, KEY_IS_RIGHT }, { KEY_PPAGE, KEY_IS_PAGE_UP }, { KEY_NPAGE, KEY_IS_PAGE_DOWN },
	{ KEY_HOME, KEY_IS_HOME }, { KEY_END, KEY_IS_END }, { KEY_BTAB, KEY_IS_UNTAB },
	{ KEY_F(1), KEY_IS_F1 }, { KEY_ENTER, KEY_IS_ENTER }, { KEY_BACKSPACE, KEY_IS_RUBOUT },
	{ KEY_DC, KEY_IS_RUBOUT }, { KEY_RESIZE, KEY_IS_RESIZE }, { KEY_FIND, KEY_IS_HOME },
	{ KEY_SELECT, KEY_IS_END }, { KEY_A1, KEY_IS_HOME }, { KEY_C1, KEY_IS_END },
};

static int key_of(wint_t code)
{
	for (size_t i = 0; i < countof(keys); i++)
		if ((wint_t)keys[i].curses == code)
			return keys[i].key;
	return KEY_IS_OTHER;
}

static int char_of(wint_t code)
{
	if (code == '\r')
		return KEY_IS_ENTER;
	return code == '\b' ? KEY_IS_RUBOUT : (int)code;
}

/* Waits until get_wch() has something. Returns 0, KEY_IS_TICK or KEY_IS_GONE. */
static int wait_for_input(const struct screen_wait *w, bool ticks)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = ticks ? w->tick_fd : -1, .events = POLLIN } };
	int n = ppoll(fds, countof(fds), NULL, w->mask);

	if (w->ending())
		return KEY_IS_GONE;
	if (n < 0)			/* EINTR: perhaps the size has changed */
		return errno == EINTR ? 0 : KEY_IS_GONE;
	if (fds[0].revents & (POLLERR | POLLNVAL) || (fds[0].revents & (POLLIN | POLLHUP)) == POLLHUP)
		return KEY_IS_GONE;
	return fds[0].revents ? 0 : KEY_IS_TICK;
}

static int key_code(struct screen *s, int err, wint_t code)
{
	int key = err == KEY_CODE_YES ? key_of(code) : char_of(code);

	getmaxyx(stdscr, s->rows, s->cols);
	return key;
}

/* Keys come first, so that they are answered however often there is new data. */
static int waited_key(struct screen *s, bool ticks)
{
	int failures = 0;

	timeout(0);
	for (;;) {
		wint_t code = 0;
		int err = get_wch(&code), why;

		if (err == OK && code == CTRL_Z)
			raise(SIGTSTP);
		else if (err != ERR)
			return key_code(s, err, code);
		why = wait_for_input(s->wait, ticks);
		if (why)
			return why;
		if (err == ERR && ++failures > 100)	/* readable, but no key: the end of the terminal */
			return KEY_IS_GONE;
	}
}

static int curses_key_or_tick(struct screen *s)
{
	return waited_key(s, true);
}

static int curses_key(struct screen *s)
{
	wint_t code = 0;
	int err;

	if (s->wait)
		return waited_key(s, false);
	do {
		errno = 0;
		err = get_wch(&code);
		if (err == OK && code == CTRL_Z)
			raise(SIGTSTP);		/* curses restores the terminal, and redraws on SIGCONT */
	} while ((err == ERR && errno == EINTR) || (err == OK && code == CTRL_Z));
	if (err == ERR)
		return KEY_IS_GONE;
	return key_code(s, err, code);
}

static void curses_close(struct screen *s)
{
	(void)s;
	endwin();
	delscreen(terminal);
	terminal = NULL;
	setlocale(LC_CTYPE, "C");
}

static const struct screen_ops ops = {
	.put = curses_put, .frame = curses_frame, .clear = curses_clear, .show = curses_show,
	.key = curses_key, .key_or_tick = curses_key_or_tick, .close = curses_close,
};

static void set_colors(enum screen_style style, short fg, short bg, attr_t extra)
{
	init_pair((short)(style + 1), fg, bg);
	attributes[style] = (attr_t)COLOR_PAIR(style + 1) | extra;
}

/* Sets the attributes of the styles, with eight colours at most. Without colours, hot shares are bold. */
static void init_attributes(void)
{
	const char *no_color = getenv("NO_COLOR");

	memset(attributes, 0, sizeof(attributes));
	attributes[STYLE_TITLE] = A_REVERSE;
	attributes[STYLE_SELECTED] = A_REVERSE;
	attributes[STYLE_HOT] = A_BOLD;
	if ((no_color && *no_color) || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	set_colors(STYLE_TITLE, COLOR_WHITE, COLOR_BLUE, 0);
	set_colors(STYLE_SELECTED, COLOR_BLACK, COLOR_YELLOW, 0);
	set_colors(STYLE_HOT, COLOR_RED, -1, 0);
	set_colors(STYLE_WARM, COLOR_GREEN, -1, 0);
	set_colors(STYLE_QUIET, COLOR_MAGENTA, -1, 0);
	set_colors(STYLE_BOX_USER, COLOR_BLACK, COLOR_RED, 0);
	set_colors(STYLE_BOX_KERNEL, COLOR_BLACK, COLOR_CYAN, 0);
	set_colors(STYLE_BOX_OTHER, COLOR_BLACK, COLOR_WHITE, 0);
}

/* Whether terminfo knows the terminal. This is checked first, because newterm() leaks memory for unknown
 * terminals (ncurses 6.4). */
static bool is_terminal_known(void)
{
	int why;

	if (setupterm(NULL, STDOUT_FILENO, &why) == ERR)
		return false;
	del_curterm(cur_term);
	return true;
}

int screen_open(struct screen *s, struct tacho_error *e)
{
	const char *term = getenv("TERM");

	setlocale(LC_CTYPE, "");
	terminal = is_terminal_known() ? newterm(NULL, stdout, stdin) : NULL;
	if (!terminal) {
		setlocale(LC_CTYPE, "C");
		error_set(e, -ENOTTY, "the terminal type '%s' is unknown", term ? term : "");
		error_hint(e, "set TERM to the terminal's type (xterm, linux ...), or use --stdio");
		return -ENOTTY;
	}
	raw();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(ESC_WAIT_MS);
	curs_set(0);
	init_attributes();
	s->ops = &ops;
	getmaxyx(stdscr, s->rows, s->cols);
	return 0;
}
