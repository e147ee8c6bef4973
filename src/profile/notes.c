/*
 * Notes: what makes a profile incomplete, in sentences for people, each with what to do about it. Only what affects at least
 * one per cent of the samples is worth a note, except lost samples, which are always noted.
 */
#include "profile/profile.h"

#include <errno.h>

#define WORTH_A_NOTE 0.01
#define NAMED 3			/* the objects that a note names */

struct note_writer {
	const struct tacho_profile *p;
	int (*fn)(void *arg, const struct tacho_profile_note *note);
	void *arg;
	struct buf problem;
};

static double share_of(const struct note_writer *w, uint64_t n)
{
	uint64_t all = w->p->quality.samples;

	return all ? (double)n / (double)all : 0;
}

/* Passes on the note with the sentence in w->problem. */
static int pass_note(struct note_writer *w, const char *id, double share, const char *fix)
{
	struct tacho_profile_note note = { sizeof(note), id, share, w->problem.bytes, fix };
	int err = buf_failed(&w->problem) ? -ENOMEM : w->fn(w->arg, &note);

	buf_clear(&w->problem);
	return err;
}

/* ---- the objects that a problem comes from ---- */

enum culprit_of { OF_BROKEN, OF_UNRESOLVED };

static uint64_t culprit_samples(const struct tacho_profile_object *o, enum culprit_of what)
{
	return what == OF_BROKEN ? o->broken : o->unresolved;
}

/* The NAMED objects with the most samples of the problem, worst first; fewer if there are not as many. */
static size_t find_culprits(const struct tacho_profile *p, enum culprit_of what,
			    const struct tacho_profile_object *worst[NAMED])
{
	size_t n = 0;

	for (size_t i = 0; i < p->objects.n; i++) {
		const struct tacho_profile_object *o = &p->objects.v[i];
		size_t at = n;

		if (!culprit_samples(o, what))
			continue;
		while (at && culprit_samples(o, what) > culprit_samples(worst[at - 1], what)) {
			if (at < NAMED)
				worst[at] = worst[at - 1];
			at--;
		}
		if (at < NAMED)
			worst[at] = o;
		n = min_of(n + 1, (size_t)NAMED);
	}
	return n;
}

/* "libfoo.so 12.1 % (stripped: it has no symbols), [heap] 1.2 %" */
static void put_culprits(struct note_writer *w, enum culprit_of what,
			 const struct tacho_profile_object *const *worst, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double share = share_of(w, culprit_samples(worst[i], what));

		if (i && share < WORTH_A_NOTE)
			break;
		buf_printf(&w->problem, "%s%s %.1f %%", i ? ", " : "", worst[i]->name, 100 * share);
		if (what == OF_UNRESOLVED && worst[i]->why)
			buf_printf(&w->problem, " (%s)", worst[i]->why);
	}
}

static const char *fix_for_names(const struct tacho_profile_object *o)
{
	if (o->kernel)
		return "run as root, or 'sysctl -w kernel.kptr_restrict=0 kernel.perf_event_paranoid=1'; for a recording "
		       "of another kernel give --vmlinux or --kallsyms";
	if (o->jit)
		return "record with --jit, so that Node, Java, Python and .NET write the names of their functions";
	return "install its debug package, or build it without stripping; --symfs DIR reads objects below another "
	       "directory";
}

static const char *fix_for_stacks(const struct tacho_profile_object *o)
{
	if (o->jit)
		return "record with --jit, or start java with -XX:+PreserveFramePointer; node and Go always have frame pointers";
	return "code without frame pointers needs --call-graph dwarf when it is recorded (dwarf,32768 for deep stacks), or "
	       "-fno-omit-frame-pointer when it is built (rustc: -C force-frame-pointers=yes)";
}

/* ---- the notes ---- */

static int note_lost(struct note_writer *w)
{
	const struct tacho_profile_quality *q = &w->p->quality;
	uint64_t all = q->samples + q->lost;

	if (!q->lost)
		return 0;
	buf_printf(&w->problem, "%llu samples were lost while recording", (unsigned long long)q->lost);
	return pass_note(w, "lost", (double)q->lost / (double)all,
			 "record with a larger buffer (-m 4M) or less often (-F 999)");
}

static int note_throttled(struct note_writer *w)
{
	const struct tacho_profile_quality *q = &w->p->quality;

	if (!q->throttled)
		return 0;
	buf_printf(&w->problem, "the kernel paused sampling %llu times because it took too much CPU time",
		   (unsigned long long)q->throttled);
	return pass_note(w, "throttled", 0, "record less often (-F 999)");
}

static int note_no_chains(struct note_writer *w)
{
	for (size_t i = 0; i < w->p->events.n; i++)
		if (w->p->events.v[i].has_chains)
			return 0;
	if (!w->p->quality.samples || w->p->opts.no_chains)
		return 0;
	buf_puts(&w->problem, "the recording has no call chains");
	return pass_note(w, "no-chains", 1, "record with -g");
}

static int note_raw_stacks(struct note_writer *w)
{
	double share = share_of(w, w->p->quality.raw_stacks);

	if (!w->p->quality.raw_stacks || w->p->opts.no_chains)
		return 0;
	buf_printf(&w->problem, "%llu samples have a stack dump that cannot be unwound: only their kernel part and "
		   "innermost frame are shown", (unsigned long long)w->p->quality.raw_stacks);
	return pass_note(w, "raw-stacks", share, "only dumps of 64-bit programs on x86-64 and arm64 can be unwound; record "
			 "with -g code that has frame pointers");
}

static int note_broken_stacks(struct note_writer *w)
{
	const struct tacho_profile_object *worst[NAMED];
	double share = share_of(w, w->p->quality.broken_stacks);
	size_t n;

	if (share < WORTH_A_NOTE || w->p->quality.raw_stacks)
		return 0;
	n = find_culprits(w->p, OF_BROKEN, worst);
	buf_printf(&w->problem, "%.1f %% of the stacks are incomplete, because they end too early: in ", 100 * share);
	put_culprits(w, OF_BROKEN, worst, n);
	return pass_note(w, "broken-stacks", share, n ? fix_for_stacks(worst[0]) : NULL);
}

static int note_no_names(struct note_writer *w)
{
	const struct tacho_profile_object *worst[NAMED];
	double share = share_of(w, w->p->quality.unresolved);
	size_t n;

	if (share < WORTH_A_NOTE)
		return 0;
	n = find_culprits(w->p, OF_UNRESOLVED, worst);
	buf_printf(&w->problem, "%.1f %% of the samples are in functions without a name: ", 100 * share);
	put_culprits(w, OF_UNRESOLVED, worst, n);
	return pass_note(w, "no-names", share, n ? fix_for_names(worst[0]) : NULL);
}

int tacho_profile_notes(const struct tacho_profile *p,
			int (*fn)(void *arg, const struct tacho_profile_note *note), void *arg)
{
	static int (*const notes[])(struct note_writer *w) = {
		note_lost, note_throttled, note_no_chains, note_raw_stacks, note_broken_stacks, note_no_names,
	};
	struct note_writer w = { .p = p, .fn = fn, .arg = arg };
	int err = 0;

	for (size_t i = 0; i < countof(notes) && !err; i++)
		err = notes[i](&w);
	buf_done(&w.problem);
	return err;
}
