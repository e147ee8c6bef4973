/*
 * The CPU topology according to sysfs: which core, cluster, die, socket, memory node and caches each CPU
 * belongs to.
 */
#ifndef SYS_TOPOLOGY_H
#define SYS_TOPOLOGY_H

#include "sys/sys.h"

#define TOPOLOGY_CACHES 4		/* levels 1 to 4 */

struct topology_cpu {
	int cpu;
	int socket, die, cluster, core;		/* 0 if sysfs does not have it */
	int node;				/* -1: no NUMA information */
	int cache_id[TOPOLOGY_CACHES + 1];	/* by level, data or unified; -1: none */
	int last_level;				/* the highest cache level; 0: no caches known */
};

struct topology {
	struct topology_cpu *cpus;	/* online CPUs, ascending */
	size_t n;
	unsigned n_cores, n_dies, n_sockets;
};

int topology_read(struct topology *out, const struct sys *sys);	/* 0 or a negative errno */
void topology_done(struct topology *t);
const struct topology_cpu *topology_cpu(const struct topology *t, int cpu);	/* NULL: unknown */

#endif
