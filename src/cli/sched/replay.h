/*
 * `tacho sched replay`: what each task does, as steps for a thread that acts like it.
 */
#ifndef CLI_SCHED_REPLAY_H
#define CLI_SCHED_REPLAY_H

#include "base/vec.h"
#include "cli/sched/sched.h"

#include <semaphore.h>

#define REPLAY_TASKS_MAX 8000

enum replay_kind {
	REPLAY_RUN,			/* burn `ns` of CPU time */
	REPLAY_SLEEP,			/* for `ns`: no task has woken it up */
	REPLAY_WAIT,			/* until another task wakes it up */
	REPLAY_WAKE,			/* wake up the task with number `task` */
};

struct replay_step {
	uint64_t ns;			/* RUN, SLEEP; of a WAIT that is not decided yet: when it began */
	uint32_t task;
	enum replay_kind kind;
};

struct replay_task {
	char *comm;
	uint32_t tid;
	struct { struct replay_step *v; size_t n, cap; } steps;
	uint64_t run_from;		/* while it runs: since when without a step */
	uint64_t run_ns, sleep_ns;	/* sums */
	bool sleeps;			/* its last step is a WAIT, and it has not been woken up */
	sem_t wakeups;			/* while replaying */
};

struct replay_plan {
	struct { struct replay_task **v; size_t n, cap; } tasks;	/* in the order of appearance */
	struct { uint32_t *v; size_t n, cap; } number;		/* index in the recording -> number + 1 */
	uint64_t n_runs, n_sleeps, n_wakeups, n_targetless;
};

/* An event of the recording. 0 or -ENOMEM. */
int replay_plan_event(struct replay_plan *plan, const struct tacho_sched_event *ev);
/* After the last one: drops what is not complete, and tasks that do nothing. */
void replay_plan_finish(struct replay_plan *plan);
void replay_plan_done(struct replay_plan *plan);

#endif
