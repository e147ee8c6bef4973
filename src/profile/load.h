/*
 * A file that is being loaded.
 */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include "profile/fast_path.h"
#include "profile/profile.h"
#include "profile/parallelism.h"

struct task {
	uint32_t pid;
	uint32_t thread;		/* id, or KEYMAP_NONE: ask the symbols */
};

#define MET_SLOTS 64u			/* a power of two */

struct met {				/* who was sampled lately: a few, again and again */
	uint32_t tid, pid;
	uint32_t thread;		/* id, or KEYMAP_NONE: free */
};

struct waiting {			/* a sample in the batch of stacks */
	struct tacho_profile_row row;
	uint64_t time;
	bool raw_stack;
	bool out;			/* by what else the sample tells */
	bool counted;			/* the lane has done so: only its row is missing */
	uint32_t parallelism;
};

struct load {
	struct tacho_profile *profile;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_symbols *own;	/* the same, where they end with the file */
	struct stacks stacks;
	struct tacho_scratch *scratch;
	struct tacho_sample sample;	/* the one at hand; see tacho_sample_decode_again() */
	struct keymap task_of;		/* tid -> index */
	struct { struct task *v; size_t n, cap; } tasks;
	struct met met[MET_SLOTS];	/* by tid */
	uint32_t *event_ids;		/* the file's -> ours */
	size_t n_event_ids;
	struct window *windows;
	size_t n_windows;
	struct tacho_switch between;	/* where that is a filter */
	bool picks;			/* some samples, by what is_picked() looks at */
	size_t n_threads_before;	/* of files that were loaded already */
	struct details details;
	struct running running;
	uint32_t n_cpus;
	uint64_t lost_told, lost_counted;	/* by LOST records, and by LOST_SAMPLES at the end */
	uint64_t first_ns, last_ns;	/* of samples that are kept; 0: none has a time */
	struct waiting waiting[BATCH_MOST];	/* for their stacks' nodes */
	struct lane lane;
};

/* The id of a thread with the name it has now; KEYMAP_NONE without memory. */
uint32_t load_thread(struct load *l, uint32_t pid, uint32_t tid);
/* A sample of that time is kept; 0: it tells none. */
static inline void load_time(struct load *l, uint64_t time)
{
	if (time - 1 < l->first_ns - 1)
		l->first_ns = time;
	l->last_ns = max_of(l->last_ns, time);
}
/* Takes any record. 0 or -ENOMEM. */
int load_record(struct load *l, const struct tacho_record *rec);
/* All samples that wait become rows. 0 or -ENOMEM. */
int load_settle(struct load *l);

#endif
