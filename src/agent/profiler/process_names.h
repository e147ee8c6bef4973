/*
 * The service, container and pod of each process in the profile.
 *
 *	new -> note (records), look_up, find ..., prune -> free
 *
 * A process is looked up when it has been sampled; if it has ended by then, it has the names of its parent.
 */
#ifndef AGENT_PROFILER_PROCESS_NAMES_H
#define AGENT_PROFILER_PROCESS_NAMES_H

#include "agent/source/cgroup_names.h"

#include <stddef.h>
#include <stdint.h>

struct tacho;
struct process_names;

int process_names_new(struct process_names **out);		/* 0 or -ENOMEM */
void process_names_free(struct process_names *n);
/* Remembers parents from the FORK records among these. */
void process_names_note(struct process_names *n, const void *records, size_t n_bytes);
/* Reads the control group of a process that was sampled, unless it is known. */
void process_names_look_up(struct process_names *n, struct tacho *t, uint32_t pid);
/* The names of a process that was looked up; NULL: unknown. Valid until the next prune. */
const struct cgroup_names *process_names_find(const struct process_names *n, uint32_t pid);
/* Forgets everything when very many processes have been seen. */
void process_names_prune(struct process_names *n);

#endif
