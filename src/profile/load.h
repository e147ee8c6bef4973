/*
 * The state of loading a recording into a profile.
 *
 *	load.c		the loop over its records, and samples
 *	load_file.c	data from the file header: events, times, CPUs, build ids
 *	load_sideband.c	records that are not samples: maps, tasks, switches, losses
 *	fast_path.c	samples that need no decoding
 */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include "profile/detail.h"
#include "profile/fast_path.h"
#include "profile/intern.h"
#include "profile/parallelism.h"
#include "profile/profile.h"
#include "profile/stacks.h"

#include <tacho/unwind.h>

struct load_task {
	uint32_t pid;
	uint32_t thread;		/* id, or KEYMAP_NONE: its comm must be looked up */
};

struct recent_thread {
	uint32_t tid, pid;
	uint32_t thread;		/* id, or KEYMAP_NONE: free slot */
};

struct pending_sample {			/* a sample whose stack is in the batch */
	struct tacho_profile_row row;
	uint64_t time;
	bool raw_stack;			/* it has a stack dump that was not unwound */
	bool filtered;			/* rejected by parallelism or counted_cpus */
	bool counted_already;		/* by the fast path: only its row is missing */
	uint32_t parallelism;
	uint64_t leaf_tag, rejected_tag;	/* for fast_path_remember_leaf(); leaf_tag 0: not */
};

struct load {
	struct tacho_profile *profile;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_symbols *own;	/* equal to `symbols` if these are freed after loading; NULL:
					 * `symbols` belongs to the caller */
	struct stack_resolver stacks;
	struct pending_sample pending[MAX_BATCH];	/* one per stack of the batch */
	struct tacho_unwinder *unwinder;	/* NULL until a sample has a stack dump */
	struct tacho_scratch *scratch;
	struct tacho_sample sample;	/* the current one; see tacho_sample_decode_again() */
	struct keymap task_index;	/* tid -> index */
	struct { struct load_task *v; size_t n, cap; } tasks;
	struct recent_thread recent_threads[RECENT_THREADS];	/* caches.h; by tid */
	uint32_t *event_ids;		/* index of an event in the file -> its id in the profile */
	size_t n_event_ids;
	struct time_window *windows;
	size_t n_windows;
	struct tacho_switch event_switch;	/* opts.switch_on, switch_off */
	bool selects_samples;		/* some option checks each sample: see passes_selection() */
	size_t n_threads_before;	/* number of threads of files loaded before */
	struct details details;
	struct running_threads running;
	uint32_t n_cpus;
	uint64_t lost_in_records, lost_in_samples;	/* sums of LOST records, and of LOST_SAMPLES
							 * records */
	uint64_t first_ns, last_ns;	/* times of accepted samples; 0: no sample has a time */
	struct fast_path fast;
	uint64_t next_change;		/* tacho_symbols_next_change() */
};

/* ---- load.c ---- */
/* Processes a record of any type. 0 or -ENOMEM. */
int load_record(struct load *l, const struct tacho_record *rec);
/* Resolves the batch of stacks and adds its samples' rows. 0 or -ENOMEM. */
int load_flush(struct load *l);
/* Extends the range of times to include a sample's time; 0: the sample has no time. */
static inline void load_note_time(struct load *l, uint64_t time)
{
	if (time - 1 < l->first_ns - 1)
		l->first_ns = time;
	l->last_ns = max_of(l->last_ns, time);
}

/* Called with the time of each sample: the code at an address may have changed since the last one. 0 or -ENOMEM. */
int load_change_code(struct load *l, uint64_t time);
static inline int load_reach_time(struct load *l, uint64_t time)
{
	return time >= l->next_change ? load_change_code(l, time) : 0;
}

/* ---- load_file.c ---- */
/* Prepares the filters that depend on the file. 0 or a negative errno with *e. */
int load_file_filters(struct load *l, struct tacho_error *e);
/* Adds the file's new events to the profile: a pipe may describe events between records. 0 or -ENOMEM. */
int load_file_events(struct load *l);
int load_file_build_ids(struct load *l);	/* 0 or -ENOMEM */
uint32_t load_file_n_cpus(const struct tacho_perfdata *pd);	/* UINT32_MAX: not known */
static inline bool has_switch_filter(const struct load *l)
{
	return l->event_switch.on || l->event_switch.off;
}

/* ---- load_sideband.c ---- */
/* Processes a record that is not a sample. 0 or -ENOMEM. */
int load_sideband(struct load *l, const struct tacho_record *rec);
/* Counts a record that cannot be decoded. */
void load_note_bad(struct load *l, const struct tacho_record *rec);
/* The id of a thread with its current comm; KEYMAP_NONE if out of memory. */
uint32_t load_thread(struct load *l, uint32_t pid, uint32_t tid);
/* Stores the last comms of all threads and their processes in the profile. 0 or -ENOMEM. */
int load_last_comms(struct load *l);

#endif
