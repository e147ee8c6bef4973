/*
 * `tacho top` on the screen: the browser of report, which asks for the newest profile at each refresh.
 */
#include "cli/top/top.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/browser/browser.h"
#include "cli/core/run_command.h"

struct screen_top {
	const struct top_opts *o;
	struct top_feed *feed;
	struct top_live *live;
};

static int refresh(void *arg, const struct tacho_profile **p)
{
	struct screen_top *t = arg;
	struct top_window w;
	int err = top_feed_take(t->feed, &w) ? top_live_add(t->live, &w) : 0;

	*p = t->live->profile;
	return err;
}

static struct tacho_profile *addresses(void *arg)
{
	return ((struct screen_top *)arg)->live->addresses;
}

static void put_status(void *arg, struct buf *out)
{
	struct screen_top *t = arg;
	const char *why;

	top_live_status(t->live, out);
	if (top_feed_ended(t->feed, &why))
		buf_printf(out, "%s%s", out->n ? "; " : "", why);
	else if (*top_feed_notes(t->feed))
		buf_printf(out, "%s%s", out->n ? "; " : "", top_feed_notes(t->feed));
}

static void put_info(void *arg, struct buf *out)
{
	const struct screen_top *t = arg;
	const struct record_opts *r = &t->o->rec;

	buf_printf(out, "Target: %s\n", top_feed_target(t->feed));
	for (size_t i = 0; t->live->profile && i < tacho_profile_n_events(t->live->profile); i++)
		buf_printf(out, "Event: %s\n", tacho_profile_event(t->live->profile, i)->name);
	if (r->period)
		buf_printf(out, "A sample every %" PRIu64 " events\n", r->period);
	else
		buf_printf(out, "Frequency: %s Hz\n", r->freq ? r->freq : "4000");
	buf_printf(out, "Refresh: every %g s; older samples %s\n", t->o->delay_s, t->live->zero ? "are forgotten" : "decay by an eighth");
	buf_printf(out, "Samples since the start: %" PRIu64 ", lost: %" PRIu64 "\n", t->live->samples, t->live->lost);
	if (*top_feed_notes(t->feed))
		buf_printf(out, "Note: %s\n", top_feed_notes(t->feed));
}

static void freeze(void *arg, bool on)
{
	top_feed_enable(((struct screen_top *)arg)->feed, !on);
}

static bool toggle_zero(void *arg)
{
	struct screen_top *t = arg;

	t->live->zero = !t->live->zero;
	return t->live->zero;
}

static int browse(struct screen_top *t, const struct run_signals *signals, struct tacho_error *e)
{
	const struct screen_wait wait = { .mask = &signals->before, .ending = run_signals_ending,
					  .tick_fd = top_feed_fd(t->feed) };
	const struct browser_live live = { .arg = t, .refresh = refresh, .addresses = addresses, .status = put_status,
					   .info = put_info, .freeze = freeze, .toggle_zero = toggle_zero,
					   .has_cgroups = t->o->rec.all_cgroups };
	struct screen screen = { .wait = &wait };
	char *file = NULL;
	int err = screen_open(&screen, e);

	if (err < 0)
		return err;
	err = browser_run(&screen, &(struct browser_input){ .opts = &t->o->rep, .live = &live }, &file, e);
	screen_close(&screen);
	free(file);
	return err;
}

int top_screen(const struct top_opts *o, struct top_feed *f, struct top_live *l)
{
	struct screen_top t = { .o = o, .feed = f, .live = l };
	struct tacho_error e = { .column = -1 };
	struct run_signals signals;
	int err;

	run_signals_catch(&signals, false);
	err = browse(&t, &signals, &e);
	run_signals_restore(&signals);
	if ((err == -ENOTTY || err == -EOPNOTSUPP) && !o->rep.tui)
		return top_text(o, f, l);	/* no screen: text does as well */
	if (err < 0)
		message_error("top", NULL, NULL, &e);
	return err < 0 ? EXIT_FAILED : 0;
}
