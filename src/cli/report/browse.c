/*
 * Whether `tacho report` opens its browser, and the line that shows how much of the file has been read.
 *
 * The file is read in one call that may take long. Meanwhile a timer's signal handler prints the position in the
 * file: it only reads numbers and calls write().
 */
#include "cli/report/report.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <termios.h>

#include "base/error.h"
#include "cli/browser/browser.h"
#include "cli/core/terminal.h"

#define FIRST_MS 300			/* files that are read sooner show nothing */
#define STEP_MS 100

bool report_wants_browser(const struct report_opts *o)
{
	const char *term = getenv("TERM");

	if (o->stdio || o->json || o->quiet || o->separator || o->widths)
		return false;
	if (o->stats || o->tasks || o->mmaps || o->dump || o->header_only)
		return false;
	if (!term_is_tty(STDIN_FILENO) || !term_is_tty(STDOUT_FILENO))
		return false;
	return o->tui || (screen_is_built_in() && term && *term && strcmp(term, "dumb") != 0);
}

/* ---- progress ---- */

static const struct tacho_perfdata *reading;
static uint64_t reading_bytes;
static volatile sig_atomic_t shown;
static struct termios saved_terminal;		/* echo is off while the file is read */
static bool is_terminal_saved;

static void set_timer(long first_ms, long step_ms)
{
	struct itimerval timer = { .it_interval.tv_usec = step_ms * 1000, .it_value.tv_usec = first_ms * 1000 };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_timer(int sig)
{
	char line[] = "\rReading the recording:   0%";
	uint64_t percent = tacho_perfdata_position(reading) * 100 / reading_bytes;
	size_t at = sizeof(line) - 2;
	ssize_t unused;

	(void)sig;
	percent = min_of(percent, (uint64_t)100);
	for (int i = 0; i < 3 && (percent || i == 0); i++, percent /= 10)
		line[--at] = (char)('0' + percent % 10);
	unused = write(STDOUT_FILENO, line, sizeof(line) - 1);
	(void)unused;
	shown = 1;
}

/* A signal that ends the program restores the terminal first. */
static void on_end(int sig)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
	raise(sig);			/* again, with its default action */
}

static void watch_ends(bool on)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	static struct sigaction before[countof(ends)];
	struct sigaction act = { .sa_handler = on_end, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < countof(ends); i++)
		sigaction(ends[i], on ? &act : &before[i], on ? &before[i] : NULL);
}

void report_progress_begin(const struct tacho_perfdata *pd)
{
	struct sigaction act = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct tacho_file_facts facts = { .size = sizeof(facts) };

	if (tacho_perfdata_facts(pd, &facts) < 0 || !facts.file_size || tacho_perfdata_is_pipe(pd))
		return;
	reading = pd;
	reading_bytes = facts.file_size;
	is_terminal_saved = tcgetattr(STDIN_FILENO, &saved_terminal) == 0;
	if (is_terminal_saved) {
		struct termios quiet = saved_terminal;

		watch_ends(true);
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
	}
	if (sigaction(SIGALRM, &act, NULL) == 0)
		set_timer(FIRST_MS, STEP_MS);
}

void report_progress_end(void)
{
	static const char wipe[] = "\r\033[K";
	ssize_t unused;

	if (!reading)
		return;
	set_timer(0, 0);
	signal(SIGALRM, SIG_DFL);
	reading = NULL;
	if (is_terminal_saved) {
		tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
		watch_ends(false);
	}
	unused = shown ? write(STDOUT_FILENO, wipe, sizeof(wipe) - 1) : 0;
	(void)unused;
	shown = 0;
}

int report_browse(const struct report_opts *o, struct tacho_perfdata *pd, const struct tacho_profile *p,
		  const struct report_view *view, char **file, struct tacho_error *e)
{
	struct screen screen = { 0 };
	int err = screen_open(&screen, e);

	if (err < 0)
		return err;
	err = browser_run(&screen, &(struct browser_input){ o, pd, p, view }, file, e);
	screen_close(&screen);
	return err;
}
