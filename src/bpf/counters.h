/*
 * Counters that a BPF program reads when the scheduler switches tasks: one set of events per CPU, however many tasks or
 * cgroups are counted. counter_program.h has the layout of the totals.
 *
 * The events are in maps of file descriptors. Such a map has a name made of a hash of what is counted, and it cannot be
 * changed once it is complete, so that several programs count with the same events: each finds the map among all maps of the
 * kernel, which needs CAP_SYS_ADMIN. The kernel frees it, and closes the events, when the last of them has ended.
 */
#ifndef BPF_COUNTERS_H
#define BPF_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/counter_program.h"

#include <tacho/common.h>

struct bpf_counters;

struct bpf_counters_opts {
	enum counter_target target;
	uint32_t n_events, n_buckets;
	size_t n_tasks, n_cgroups;	/* how many will be added */
	uint64_t counts_switches;	/* see counters.bpf.c */
	bool follows;			/* with COUNTER_TASKS: also what they start */
	uint32_t user;			/* with COUNTER_USER */
	uint32_t starts_at_exec_of;	/* start when this process executes a program; 0: with bpf_counters_start() */
};

/* Loads the programs; attaches those that follow tasks. 0, or a negative errno with the reason. */
int bpf_counters_open(struct bpf_counters **out, const struct bpf_counters_opts *opts, struct tacho_error *e);
void bpf_counters_close(struct bpf_counters *c);

/* A map of the events with this hash. Returns a file descriptor, or -ENOENT. */
int bpf_counters_find_events(uint64_t hash);
/* Makes such a map of the descriptors of one event on CPUs; fds[cpu] is negative where it is not open. Returns a file
 * descriptor or a negative errno. */
int bpf_counters_share_events(uint64_t hash, const int *fds, size_t n);

/* The map stays the caller's. */
int bpf_counters_set_event(struct bpf_counters *c, uint32_t i, int map);
int bpf_counters_add_task(struct bpf_counters *c, uint32_t tid);
int bpf_counters_add_cgroup(struct bpf_counters *c, uint64_t id, uint32_t bucket);
/* Attaches the program that runs at switches. */
int bpf_counters_attach(struct bpf_counters *c, struct tacho_error *e);

/* start and stop take effect on a CPU when it is collected. */
void bpf_counters_start(struct bpf_counters *c);
void bpf_counters_stop(struct bpf_counters *c);
/* Adds what the running task of the CPU has counted so far. */
int bpf_counters_collect(struct bpf_counters *c, int cpu);
struct counter_total bpf_counters_total(const struct bpf_counters *c, int cpu, uint32_t bucket, uint32_t event);
/* Threads that did not fit into the map. */
uint64_t bpf_counters_tasks_lost(const struct bpf_counters *c);

#endif
