/*
 * Which thread runs on each CPU, from context switches (SWITCH, SWITCH_CPU_WIDE or the tracepoint sched:sched_switch) and, until
 * the first of them, from ITRACE_START; and the process of each thread.
 */
#include "auxtrace/auxtrace.h"

#include <errno.h>
#include <string.h>

#define MAX_CPUS 65536u
#define NO_TASK ((struct running_task){ UINT32_MAX, UINT32_MAX })

static int set_on_cpu(struct task_tracker *t, uint32_t cpu, struct running_task task)
{
	if (cpu >= MAX_CPUS)
		return 0;
	while (t->cpus.n <= cpu) {
		struct running_task *slot = vec_next(&t->cpus);

		if (!slot)
			return -ENOMEM;
		*slot = NO_TASK;
	}
	t->cpus.v[cpu] = task;
	return 0;
}

struct running_task task_on_cpu(const struct task_tracker *t, int32_t cpu)
{
	return cpu >= 0 && (size_t)cpu < t->cpus.n ? t->cpus.v[cpu] : NO_TASK;
}

struct running_task task_of_tid(const struct task_tracker *t, int32_t tid)
{
	uint32_t pid = (uint32_t)tid;

	if (tid < 0)
		return NO_TASK;
	int_map_get(&t->pids, (uint32_t)tid, &pid);
	return (struct running_task){ pid, (uint32_t)tid };
}

static int started(struct task_tracker *t, const struct tacho_sideband *rec)
{
	struct running_task now = task_on_cpu(t, (int32_t)rec->id.cpu);

	if (!(rec->id.type & PERF_SAMPLE_CPU) || now.tid != UINT32_MAX)
		return 0;
	return set_on_cpu(t, rec->id.cpu, (struct running_task){ rec->task_id.pid, rec->task_id.tid });
}

/* SWITCH is written in the context of the thread that it names, SWITCH_CPU_WIDE also names the other thread. */
static int switched(struct task_tracker *t, const struct tacho_sideband *rec)
{
	bool out = rec->misc & PERF_MISC_BIT13;
	struct running_task task = { rec->id.pid, rec->id.tid };

	if (!(rec->id.type & PERF_SAMPLE_CPU))
		return 0;
	if (out && rec->type == TACHO_RECORD_SWITCH_CPU_WIDE)
		task = (struct running_task){ rec->task_id.pid, rec->task_id.tid };
	else if (out)
		return 0;		/* what follows in the kernel still belongs to it */
	return set_on_cpu(t, rec->id.cpu, task);
}

int task_tracker_record(struct task_tracker *t, const struct tacho_sideband *rec)
{
	switch (rec->type) {
	case TACHO_RECORD_COMM: return int_map_put(&t->pids, rec->comm.tid, rec->comm.pid);
	case TACHO_RECORD_FORK: return int_map_put(&t->pids, rec->task.tid, rec->task.pid);
	case TACHO_RECORD_ITRACE_START: {
		int err = int_map_put(&t->pids, rec->task_id.tid, rec->task_id.pid);

		return err ? err : started(t, rec);
	}
	case TACHO_RECORD_SWITCH:
	case TACHO_RECORD_SWITCH_CPU_WIDE: return switched(t, rec);
	default: return 0;
	}
}

/* The fields of sched_switch have had the same offsets since Linux 2.6.35: next_pid is a u32 at byte 56 of the raw data. */
int task_tracker_sched_switch(struct task_tracker *t, const struct tacho_sample *s)
{
	uint32_t next;

	if (!s->raw || s->n_raw < 60 || !(s->type & PERF_SAMPLE_CPU))
		return 0;
	memcpy(&next, s->raw + 56, sizeof(next));
	return set_on_cpu(t, s->cpu, task_of_tid(t, (int32_t)next));
}

void task_tracker_done(struct task_tracker *t)
{
	int_map_done(&t->pids);
	vec_done(&t->cpus);
}
