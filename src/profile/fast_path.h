/*
 * The short way of the samples that most files are full of: nothing but addresses, a thread, a time and a
 * chain, in a file that is mapped, for a profile that keeps all of them and nothing else of them.
 */
#ifndef PROFILE_FAST_PATH_H
#define PROFILE_FAST_PATH_H

#include "profile/profile.h"

struct load;

struct lane_event {			/* where a sample of it has what, in bytes from its start; 0: nowhere */
	uint32_t ip, task, time, period, chain;
	uint64_t same_period;		/* of all samples, where they do not tell */
	uint32_t event;			/* the profile's id */
	bool open;			/* its samples may go this way */
	uint64_t n, sum;		/* those that did, and their periods */
};

struct lane_id {			/* of events: each CPU has its own */
	uint64_t id;
	struct lane_event *event;	/* NULL: free */
};

struct lane_task {			/* who was sampled lately: a few, again and again */
	uint32_t tid, pid;
	uint32_t thread;		/* of its rows */
	uint32_t age;			/* as the lane's, or it is not known any more */
	struct whose whose;
};

#define LANE_IDS 32u			/* powers of two */
#define LANE_TASKS 64u

struct lane {
	struct lane_event *events;	/* of the file, as it begins */
	size_t n_events;		/* 0: nothing goes this way */
	uint32_t id_at;			/* where a sample has its event's id; 0: there is one event */
	uint32_t age;			/* how often all tasks were forgotten, + 1 */
	struct lane_id ids[LANE_IDS];	/* by the lower bits */
	struct lane_task tasks[LANE_TASKS];	/* by tid */
};

int lane_open(struct load *l);		/* 0 or -ENOMEM */
/* Counts the samples that went this way. */
void lane_close(struct load *l);
void lane_done(struct lane *lane);
/* Maps, names or tasks change. */
void lane_forget(struct lane *lane);
/* Takes the records that come next as far as they lie ready, short way or long. 0 or -ENOMEM. */
int lane_take(struct load *l);

#endif
