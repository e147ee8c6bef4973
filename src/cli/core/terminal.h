/*
 * The terminal: whether a file descriptor is one, its width, whether to use colours, and the pager. Without
 * a terminal, output has no colours and 80 columns.
 */
#ifndef CLI_CORE_TERMINAL_H
#define CLI_CORE_TERMINAL_H

#include "base/buf.h"

bool term_is_tty(int fd);
unsigned term_width(int fd);	/* in columns, 40 to 200; 80 if fd is not a terminal */
bool term_has_colors(int fd);	/* fd is a terminal, TERM is not dumb, NO_COLOR is unset */

#define TERM_BOLD "\033[1m"
#define TERM_RED "\033[31m"
#define TERM_GREEN "\033[32m"
#define TERM_YELLOW "\033[33m"
#define TERM_DIM "\033[2m"
#define TERM_PLAIN "\033[0m"

/* Appends `text`, in the style if `colors` is set. */
void term_styled(struct buf *out, bool colors, const char *style, const char *text);

/*
 * Appends `text` wrapped at blanks: the first line starts at column `at`, the others are indented by
 * `indent`. Lines are at most `width` columns long unless a single word is longer.
 */
void term_wrap(struct buf *out, struct str text, size_t at, size_t indent, size_t width);

/*
 * Sends stdout through $TACHO_PAGER, $PERF_PAGER, $PAGER or less, if stdout is a terminal and pager_off is
 * not set. pager_finish() waits until the user quits the pager.
 */
extern bool pager_off;
void pager_start(void);
void pager_finish(void);

#endif
