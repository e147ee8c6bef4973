/*
 * Busy time is the elapsed time that was not idle, waiting for a disk or stolen: the kernel accounts idle time
 * exactly, but samples user and system time at timer ticks, so their sum misses tasks that sleep when the timer
 * ticks.
 *
 * /proc/stat rounds each time down to ticks of 10 ms, so between two readings more idle time may appear than has
 * passed. The excess is taken from the busy time of the next readings: if it were dropped, all roundings in the other
 * direction would remain, and an idle CPU would seem to be busy.
 */
#include "agent/source/cpu_times.h"

#include "base/defs.h"

#define EXCESS_MAX_NS 100000000		/* three roundings and a delayed reading; more than that is not rounding */

static uint64_t risen(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;		/* iowait may go back */
}

static int64_t idle_time(const struct tacho_cpu_times *t)
{
	return (int64_t)(t->idle_ns + t->iowait_ns + t->steal_ns);
}

static void add_busy(struct cpu_time_counters *c, const struct tacho_cpu_times *t, uint64_t elapsed_ns)
{
	int64_t free_ns = c->unassigned_ns + (int64_t)elapsed_ns - (idle_time(t) - idle_time(&c->last));

	if (free_ns > 0)
		c->total_ns[CPU_BUSY] += min_of((uint64_t)free_ns, elapsed_ns);
	c->unassigned_ns = free_ns > 0 ? 0 : max_of(free_ns, (int64_t)-EXCESS_MAX_NS);
}

void cpu_times_add(struct cpu_time_counters *c, const struct tacho_cpu_times *t, uint64_t now_ns)
{
	const struct tacho_cpu_times *b = &c->last;

	if (c->read_ns) {
		add_busy(c, t, risen(now_ns, c->read_ns));
		c->total_ns[CPU_USER] += risen(t->user_ns, b->user_ns);
		c->total_ns[CPU_SYSTEM] += risen(t->system_ns, b->system_ns);
		c->total_ns[CPU_IOWAIT] += risen(t->iowait_ns, b->iowait_ns);
		c->total_ns[CPU_STEAL] += risen(t->steal_ns, b->steal_ns);
	}
	c->last = *t;
	c->read_ns = now_ns;
}

void cpu_times_interrupt(struct cpu_time_counters *c)
{
	c->read_ns = 0;
	c->unassigned_ns = 0;
}
