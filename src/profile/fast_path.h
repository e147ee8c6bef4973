/*
 * The fast path of loading: samples that consist of addresses, a thread, a time and maybe a call chain, in a mapped
 * file, for a profile that stores no other fields of them and filters them at most by thread and leaf. These samples
 * are read without being decoded.
 */
#ifndef PROFILE_FAST_PATH_H
#define PROFILE_FAST_PATH_H

#include "profile/stacks.h"

struct load;
struct pending_sample;

struct fast_event {			/* offsets of an event's sample fields from the record's start; 0: no such field */
	uint32_t ip, task, time, period;
	uint32_t chain;			/* or the end of the fields, if there is no chain */
	uint64_t fixed_period;		/* period of all samples, if they have no period field */
	uint32_t event;			/* event id in the profile */
	bool has_chain;			/* its samples have a call chain, which follows the other fields */
	bool leaf_only;			/* its stacks are the sampled address alone */
	bool usable;			/* its samples may take the fast path */
	uint64_t n, sum;		/* number of samples that the fast path has added or will add to a row,
					 * and the sum of their periods */
	uint64_t n_rejected, sum_rejected;	/* of those that a filter rejects */
};

struct fast_event_id {			/* each CPU's counter of an event has its own id */
	uint64_t id;
	struct fast_event *event;	/* NULL: free slot */
};

struct fast_task {
	uint32_t tid, pid;
	uint32_t thread;		/* thread id in the profile */
	uint64_t row_seed;		/* seed of leaf_row.tag */
	uint32_t generation;		/* valid while equal to fast_path.generation */
	struct task_context context;
};

struct fast_path {
	struct fast_event *events;	/* events of the file when loading began */
	bool filters;			/* rows are filtered, so samples are counted when their rows are known */
	bool filters_code;		/* by object or function */
	size_t n_events;		/* 0: no sample takes the fast path */
	uint32_t id_offset;		/* offset of the event's id in a sample; 0: there is only one event */
	uint32_t generation;		/* generation of `tasks`; incremented when maps or comms change */
	struct fast_event_id ids[FAST_EVENT_IDS];	/* caches.h; by the lower bits of the id */
	struct fast_task tasks[FAST_TASKS];	/* caches.h; by tid */
	struct leaf_row *leaf_rows;	/* caches.h; NULL: not used. By offset, then by the start of the range */
	size_t leaf_row_mask;
	unsigned leaf_row_shift;	/* bits of an offset that are ignored in the lookup */
	bool leaf_ranges;		/* addresses of the same symbol have the same frame */
};

int fast_path_open(struct load *l);	/* 0 or -ENOMEM */
void fast_path_done(struct fast_path *fast);
/* Reads the records that are already in memory in time order, on the fast or the slow path. 0 or -ENOMEM. */
int fast_path_read(struct load *l);
/* Later samples at addresses of the same frame are added to the row of this sample, or rejected as this one was. */
void fast_path_remember_leaf(struct load *l, const struct pending_sample *w);
/* Invalidates the cached tasks. To be called when maps or comms have changed. */
void fast_path_forget_tasks(struct fast_path *fast);
/* Adds the counts of the fast path to the events of the profile, at the end of the file. */
void fast_path_add_totals(struct load *l);

#endif
