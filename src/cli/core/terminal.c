/*
 * Terminal properties, line wrapping, and the pager: a child process that reads stdout through a pipe. The
 * pager is started only if its program is found, because otherwise the output would be lost.
 */
#include "cli/core/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/num.h"

bool pager_off;
static pid_t pager_pid;

bool term_is_tty(int fd)
{
	return isatty(fd) == 1;
}

unsigned term_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	uint32_t width = 0;

	/* With a pager, stdout is a pipe; stderr is still the terminal. */
	if (pager_pid && fd == STDOUT_FILENO)
		fd = STDERR_FILENO;
	if (!term_is_tty(fd))
		return 80;
	if (columns && num_u32(str_of(columns), &width))
		width = 0;
	if (!width && ioctl(fd, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (!width)
		return 80;
	return max_of(40u, min_of(width, 200u));
}

bool term_has_colors(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no_color && *no_color)
		return false;
	if (!term || !*term || !strcmp(term, "dumb"))
		return false;
	return (pager_pid && fd == STDOUT_FILENO) || term_is_tty(fd);
}

void term_styled(struct buf *out, bool colors, const char *style, const char *text)
{
	if (colors)
		buf_puts(out, style);
	buf_puts(out, text);
	if (colors)
		buf_puts(out, TERM_PLAIN);
}

void term_wrap(struct buf *out, struct str text, size_t at, size_t indent, size_t width)
{
	bool first = true;
	struct str word;

	while (str_cut(&text, ' ', &word)) {
		if (!word.n)
			continue;
		if (!first && at + 1 + word.n > width) {
			buf_putc(out, '\n');
			buf_pad(out, ' ', indent);
			at = indent;
		} else if (!first) {
			buf_putc(out, ' ');
			at++;
		}
		buf_str(out, word);
		at += word.n;
		first = false;
	}
}

static bool is_in_path(struct str program)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "/usr/bin:/bin"), dir;
	char at[4096];

	if (str_find(program, '/') >= 0)
		return snprintf(at, sizeof(at), "%.*s", STR(program)) < (int)sizeof(at) &&
		       io_is_accessible(at, X_OK);
	while (str_cut(&rest, ':', &dir))
		if (snprintf(at, sizeof(at), "%.*s/%.*s", STR(dir), STR(program)) < (int)sizeof(at) &&
		    io_is_accessible(at, X_OK))
			return true;
	return false;
}

/* Returns the pager's command line, or NULL if it is empty, "cat" or not installed. */
static const char *pager_command(void)
{
	static const char *const names[] = { "TACHO_PAGER", "PERF_PAGER", "PAGER" };
	const char *line = NULL;
	struct str rest, program;

	for (size_t i = 0; !line && i < countof(names); i++)
		line = getenv(names[i]);
	if (!line)
		line = "less";
	rest = str_trim(str_of(line));
	str_cut(&rest, ' ', &program);
	if (!program.n || str_is(program, "cat") || !is_in_path(program))
		return NULL;
	return line;
}

static _Noreturn void run_pager(const char *line, const int ends[2])
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

void pager_start(void)
{
	const char *line;
	int ends[2];
	pid_t pid;

	if (pager_off || pager_pid || !term_is_tty(STDOUT_FILENO))
		return;
	line = pager_command();
	if (!line || pipe2(ends, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run_pager(line, ends);
	if (pid > 0 && dup2(ends[1], STDOUT_FILENO) >= 0)
		pager_pid = pid;
	close(ends[0]);
	close(ends[1]);
}

void pager_finish(void)
{
	if (!pager_pid)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);	/* the pager reads end of file */
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}
