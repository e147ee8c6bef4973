/*
 * The terminal: whether there is one, how wide it is, whether it shows colours, and a pager for
 * long output. Away from a terminal everything is plain and 80 wide.
 */
#ifndef CLI_CORE_TERMINAL_H
#define CLI_CORE_TERMINAL_H

#include "base/buf.h"

bool term_is_tty(int fd);
unsigned term_width(int fd);	/* 40 .. 200; 80 where it is not a terminal */
bool term_has_colors(int fd);	/* a terminal, not a dumb one, and NO_COLOR is not set */

#define TERM_BOLD "\033[1m"
#define TERM_RED "\033[31m"
#define TERM_GREEN "\033[32m"
#define TERM_YELLOW "\033[33m"
#define TERM_DIM "\033[2m"
#define TERM_PLAIN "\033[0m"

/* Appends `text` in the style, where `colors` says so. */
void term_styled(struct buf *out, bool colors, const char *style, const char *text);

/*
 * Appends `text` wrapped at blanks: the first line starts at column `at`, the others are
 * indented by `indent`, and none is longer than `width` unless a single word is.
 */
void term_wrap(struct buf *out, struct str text, size_t at, size_t indent, size_t width);

/*
 * From here on stdout goes through $TACHO_PAGER, $PAGER or less, where stdout is a terminal and
 * paging was not turned off. pager_finish() waits until the reader is done with it.
 */
extern bool pager_off;
void pager_start(void);
void pager_finish(void);

#endif
