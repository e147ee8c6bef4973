/*
 * `tacho top`: what the machine or some processes are doing now.
 *
 *	cmd_top.c	options
 *	feed.c		a thread: sampler -> a profile per refresh, with resolved symbols
 *	jit.c		--jit: functions of JIT compilers
 *	live.c		the profile that is shown: older samples count less and less
 *	top_text.c	--stdio and --json
 *	top_screen.c	the browser of report, which gets a new profile at each refresh
 *
 *	rings -drain-> records -load_next-> window -take-> live profile -> table, call tree, flame graph
 *	|------------- thread of the feed ---------|------------- main thread ------------------|
 *
 * The main thread never waits for symbols, so that keys are answered at once.
 */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include "cli/record/record.h"
#include "cli/report/report.h"

struct top_opts {
	struct record_opts rec;		/* first: it begins with the event arguments */
	struct report_opts rep;
	double delay_s;
	bool zero;			/* -z: nothing is left of the samples before the last refresh */
	bool hide_kernel, hide_user;
	uint32_t entries;		/* -E; 0: as many as fit, or all */
	uint32_t n_refreshes;		/* --interval-count; 0: until the end */
};

/* ---- feed.c ---- */

struct top_window {			/* the samples since the last window */
	struct tacho_profile *profile;
	struct tacho_profile *addresses;	/* the same by instruction address, for annotate */
	double seconds;			/* how long it took */
	uint64_t samples, lost, throttled;	/* in this time */
	double own_cpu;			/* CPU time of this process in this time, as a percentage of one CPU */
};

void top_window_done(struct top_window *w);

struct top_feed;

/* Opens the events and starts the thread. Errors are printed. Returns 0, or an exit status. */
int top_feed_start(struct top_feed **out, const struct top_opts *o);
void top_feed_stop(struct top_feed *f);			/* ends the thread; NULL is fine */
int top_feed_fd(const struct top_feed *f);		/* polls readable when a window can be taken */
bool top_feed_take(struct top_feed *f, struct top_window *out);	/* false: there is none */
/* Whether nothing will come any more: all processes have ended, or sampling failed, with the reason in *why. */
bool top_feed_ended(struct top_feed *f, const char **why);
void top_feed_enable(struct top_feed *f, bool on);	/* starts or stops the events */
const char *top_feed_target(const struct top_feed *f);	/* "all, 8 CPUs", "PID 17" */
const char *top_feed_notes(const struct top_feed *f);	/* what could not be opened; "" if all was */

/* ---- jit.c ---- */

struct top_jit;

/* Asks the JVMs among the targets for their functions, now and every few seconds, in a thread. `plan` must outlive it. 0 or
 * a negative errno. */
int top_jit_start(struct top_jit **out, const struct record_plan *plan);
void top_jit_stop(struct top_jit *j);			/* NULL is fine */

/* ---- live.c ---- */

struct top_live {
	struct tacho_profile_opts opts;	/* of the profile */
	struct tacho_profile_opts address_opts;
	struct tacho_profile *profile, *addresses;	/* NULL before the first window */
	struct top_window last;		/* numbers of the last window, without profiles */
	uint64_t samples, lost;		/* since the start */
	bool zero;
};

/* Options of the profiles, from the command's options. 0 or -EINVAL. */
int top_live_init(struct top_live *l, const struct top_opts *o, struct tacho_error *e);
/* Adds the window, whose profiles it takes; the rest decays. 0 or -ENOMEM. */
int top_live_add(struct top_live *l, struct top_window *w);
void top_live_done(struct top_live *l);
/* "4012 samples, 0 lost; 1.2 % own CPU; 0.3% without a name, 1.0% broken stacks" */
void top_live_status(const struct top_live *l, struct buf *out);

/* ---- top_text.c, top_screen.c: they return the exit status ---- */
int top_text(const struct top_opts *o, struct top_feed *f, struct top_live *l);
int top_screen(const struct top_opts *o, struct top_feed *f, struct top_live *l);

#endif
