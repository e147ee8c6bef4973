/*
 * The fast path of loading: samples that consist of addresses, a thread, a time and a call chain, in a mapped file, for a
 * profile that accepts all of them and keeps nothing else of them. They are read without being decoded.
 */
#ifndef PROFILE_FAST_PATH_H
#define PROFILE_FAST_PATH_H

#include "profile/stacks.h"

struct load;

struct fast_event {			/* offsets of an event's sample fields from the record's start; 0: no such field */
	uint32_t ip, task, time, period, chain;
	uint64_t fixed_period;		/* of all samples, if they have no period field */
	uint32_t event;			/* the profile's id */
	bool usable;			/* its samples may take the fast path */
	uint64_t n, sum;		/* of the samples that did: how many, and their periods */
};

struct fast_event_id {			/* each CPU's counter of an event has its own id */
	uint64_t id;
	struct fast_event *event;	/* NULL: free */
};

struct fast_task {
	uint32_t tid, pid;
	uint32_t thread;		/* of its rows */
	uint32_t generation;		/* valid while equal to the fast path's */
	struct task_context context;
};

struct fast_path {
	struct fast_event *events;	/* of the file when loading began */
	size_t n_events;		/* 0: no sample takes the fast path */
	uint32_t id_offset;		/* of the event's id in a sample; 0: there is one event */
	uint32_t generation;		/* of the tasks; incremented when maps or comms change */
	struct fast_event_id ids[FAST_EVENT_IDS];	/* caches.h; by the lower bits of the id */
	struct fast_task tasks[FAST_TASKS];	/* caches.h; by tid */
};

int fast_path_open(struct load *l);	/* 0 or -ENOMEM */
void fast_path_done(struct fast_path *fast);
/* Reads records, by either path, as far as they are in memory in the order of time. 0 or -ENOMEM. */
int fast_path_read(struct load *l);
/* Maps or comms have changed. */
void fast_path_forget_tasks(struct fast_path *fast);
/* Adds what it counted to the events of the profile, at the end of the file. */
void fast_path_add_totals(struct load *l);

#endif
