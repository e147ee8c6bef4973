/*
 * Reading the counters of several CPUs. From one place, each read of another CPU's counter
 * makes the kernel interrupt that CPU and wait for it; or we move there with
 * sched_setaffinity and read at home, for the price of a migration. Which one is cheaper
 * depends: a CPU answers an interrupt in a microsecond on metal, in fifty in a guest, and in
 * half a millisecond when the hypervisor has taken it away, during which the reader spins. So both
 * are tried and timed, the cheaper one is used, and now and then the other gets another chance.
 */
#include "count/evset_internal.h"

#include <sched.h>
#include <time.h>

#define TRY_OTHER_AFTER 16	/* reads; doubled each time the other way was dearer again */
#define TRY_OTHER_MAX 1024
#define FORGET 8		/* a new cost weighs one in so many */

enum { STAY, MOVE };

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

/* The units of the CPU that units.v[*i] is of; *i ends behind them. They lie together. */
static int read_cpu(struct tacho_evset *set, size_t *i)
{
	int cpu = set->units.v[*i].cpu, n = 0;

	for (; *i < set->units.n && set->units.v[*i].cpu == cpu; ++*i)
		n += set_read_unit(set, &set->units.v[*i]);
	return n;
}

/* To that CPU, where it can be named in a cpu_set_t and we are allowed to run there; if not, the
 * reads that follow work all the same, from afar. */
static void move_to(int cpu)
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

/* The CPU we are on first, since it costs no move. */
static int read_by_moving(struct tacho_evset *set)
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
		move_to(set->units.v[i].cpu);
		n += read_cpu(set, &i);
	}
	sched_setaffinity(0, sizeof(before), &before);
	return n;
}

static int cheaper(const struct mover *m)
{
	return m->cost_ns[MOVE] < m->cost_ns[STAY] ? MOVE : STAY;
}

static int choose(const struct mover *m)
{
	if (m->n_reads < 2)
		return m->n_reads == 0 ? STAY : MOVE;
	return m->n_reads >= m->try_other_at ? !cheaper(m) : cheaper(m);
}

/* The dearer way may cost a lot where it is really dear, so it is tried ever more rarely. */
static void learn(struct mover *m, int way, double cost)
{
	int best = cheaper(m);

	m->cost_ns[way] += m->n_reads < 2 ? cost : (cost - m->cost_ns[way]) / FORGET;
	m->n_reads++;
	if (m->n_reads <= 2 || best != cheaper(m))
		m->patience = TRY_OTHER_AFTER;
	else if (way != best)
		m->patience = min_of(m->patience * 2, TRY_OTHER_MAX);
	else
		return;
	m->try_other_at = m->n_reads + m->patience;
}

int mover_read(struct tacho_evset *set)
{
	struct mover *m = &set->mover;
	int way = choose(m), n;
	double start, cost;

	if (set->t->sys.ops != &sys_kernel_ops)		/* nobody to move in a test's kernel */
		return read_all(set);
	start = thread_ns();
	n = way == MOVE ? read_by_moving(set) : read_all(set);
	cost = thread_ns() - start;
	learn(m, way, cost);
	return n;
}
