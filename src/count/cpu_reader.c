/*
 * Reads the counters of several CPUs, in one of two ways. In a remote read, the kernel sends the other CPU
 * an interrupt and spins until it answers: a microsecond on bare metal, fifty in a guest, half a millisecond
 * if the hypervisor has descheduled the CPU. Alternatively, this thread migrates to the CPU with
 * sched_setaffinity() and reads locally, which costs a migration. As either can be cheaper, both are timed;
 * the cheaper one is used, and the other is tried again at growing intervals.
 */
#include "count/evset_internal.h"

#include <sched.h>
#include <time.h>

#define TRY_OTHER_AFTER 16	/* reads; doubled each time the other way is still more expensive */
#define TRY_OTHER_MAX 1024
#define COST_WEIGHT 8		/* a new cost enters the moving average with a weight of 1/8 */

enum { REMOTE, MIGRATE };		/* index into cost_ns[] */

static double thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int read_all(struct tacho_evset *set)
{
	int n = 0;

	for (size_t i = 0; i < set->units.n; i++)
		n += set_read_unit(set, &set->units.v[i]);
	return n;
}

/* Reads all units of the CPU of units.v[*i] and advances *i past them. Units are sorted by CPU. */
static int read_cpu(struct tacho_evset *set, size_t *i)
{
	int cpu = set->units.v[*i].cpu, n = 0;

	for (; *i < set->units.n && set->units.v[*i].cpu == cpu; ++*i)
		n += set_read_unit(set, &set->units.v[*i]);
	return n;
}

/* Migrates to `cpu`. If that fails (cpuset restrictions, a CPU number too large for cpu_set_t), the following
 * reads are remote. */
static void migrate_to(int cpu)
{
	cpu_set_t there;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	sched_setaffinity(0, sizeof(there), &there);
}

static void skip_cpu(const struct tacho_evset *set, size_t *i)
{
	int cpu = set->units.v[*i].cpu;

	while (*i < set->units.n && set->units.v[*i].cpu == cpu)
		++*i;
}

/* Reads the units of the current CPU first, because they need no migration. */
static int read_by_migrating(struct tacho_evset *set)
{
	int here = sched_getcpu(), n = 0;
	cpu_set_t before;

	if (sched_getaffinity(0, sizeof(before), &before) < 0)
		return read_all(set);
	for (size_t i = 0; i < set->units.n;)
		if (set->units.v[i].cpu == here)
			n += read_cpu(set, &i);
		else
			skip_cpu(set, &i);
	for (size_t i = 0; i < set->units.n;) {
		if (set->units.v[i].cpu == here) {
			skip_cpu(set, &i);
			continue;
		}
		migrate_to(set->units.v[i].cpu);
		n += read_cpu(set, &i);
	}
	sched_setaffinity(0, sizeof(before), &before);
	return n;
}

static int cheaper_way(const struct cpu_reader *m)
{
	return m->cost_ns[MIGRATE] < m->cost_ns[REMOTE] ? MIGRATE : REMOTE;
}

static int choose_way(const struct cpu_reader *m)
{
	if (m->n_reads < 2)
		return m->n_reads == 0 ? REMOTE : MIGRATE;
	return m->n_reads >= m->try_other_at ? !cheaper_way(m) : cheaper_way(m);
}

/* Records the cost of a read. The more expensive way can be very expensive, so it is tried less and less
 * often. */
static void record_cost(struct cpu_reader *m, int way, double cost)
{
	int best = cheaper_way(m);

	m->cost_ns[way] += m->n_reads < 2 ? cost : (cost - m->cost_ns[way]) / COST_WEIGHT;
	m->n_reads++;
	if (m->n_reads <= 2 || best != cheaper_way(m))
		m->try_interval = TRY_OTHER_AFTER;
	else if (way != best)
		m->try_interval = min_of(m->try_interval * 2, TRY_OTHER_MAX);
	else
		return;
	m->try_other_at = m->n_reads + m->try_interval;
}

int cpu_reader_read_all(struct tacho_evset *set)
{
	struct cpu_reader *m = &set->cpu_reader;
	int way = choose_way(m), n;
	double start, cost;

	if (set->t->sys.ops != &sys_kernel_ops)		/* a fake kernel has no CPUs to migrate to */
		return read_all(set);
	start = thread_ns();
	n = way == MIGRATE ? read_by_migrating(set) : read_all(set);
	cost = thread_ns() - start;
	record_cost(m, way, cost);
	return n;
}
