/*
 * Facts that describe the machine a recording is made on: names, CPUs and their topology, memory, PMUs, NUMA nodes. They are
 * read from /proc and /sys below the given roots.
 */
#ifndef SYS_MACHINE_FACTS_H
#define SYS_MACHINE_FACTS_H

#include "base/arena.h"
#include "base/str.h"

struct machine_cpu {			/* UINT32_MAX: unknown, e.g. because the CPU is offline */
	uint32_t core, socket, die;
};

struct machine_pmu_cap {		/* a file below caps/: "branches" is "32" */
	struct str name, value;
};

struct machine_pmu {
	uint32_t type;
	struct str name;
	struct { struct machine_pmu_cap *v; size_t n, cap; } caps;	/* by name */
};

struct machine_node {
	uint32_t node;
	uint64_t total_kb, free_kb;
	struct str cpus;		/* "0-3,8" */
};

struct machine_facts {			/* empty strings and zeros: unknown */
	struct arena arena;		/* memory of all strings */
	struct str hostname, release, arch;
	struct str cpu_model;		/* "Intel(R) Xeon(R) ..." */
	struct str cpu_id;		/* "GenuineIntel,6,106,6" on x86, the main ID register on arm64 */
	uint64_t memory_kb;
	uint32_t n_cpus, n_online;	/* n_cpus: the highest number of a present CPU, plus one */
	struct machine_cpu *cpus;
	struct strlist packages, cores, dies;	/* distinct sibling lists, in CPU order */
	struct { struct machine_pmu *v; size_t n, cap; } pmus;	/* by name */
	struct { struct machine_node *v; size_t n, cap; } nodes;
};

int machine_facts_read(struct machine_facts *out, const char *sysfs, const char *procfs);	/* 0 or -ENOMEM */
void machine_facts_done(struct machine_facts *m);

#endif
