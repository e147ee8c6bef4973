/*
 * Runs a view in the kernel: loads views.bpf.c with the view as constant data, attaches it, and reads its results.
 */
#ifndef BPF_VIEWS_H
#define BPF_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/view_program.h"

#include <tacho/common.h>

struct bpf_view;

struct bpf_view_opts {
	const struct view_program *program;
	const char *tracepoints[VIEW_EVENTS];	/* "block:block_rq_issue"; NULL: a raw program or a probe */
	bool has_samples;		/* event 0 is attached to perf events by bpf_view_attach_samples() */
	bool has_probes, has_function_tracepoints;	/* event 0, and 1 for returns, is attached by bpf_view_attach() */
	uint32_t ring_bytes, n_sums, n_stacks;
};

/* Loads and attaches, except probes. 0, or a negative errno with the reason, as tacho_bpf_probe(). */
int bpf_view_open(struct bpf_view **out, const struct bpf_view_opts *opts, struct tacho_error *e);
void bpf_view_close(struct bpf_view *v);

/* Selects a process, with has_processes. */
int bpf_view_add_process(struct bpf_view *v, uint32_t pid);
/* Attaches event 0, or 1 if is_return, to an open perf event of a uprobe, kprobe or tracepoint, which it takes over. */
int bpf_view_attach(struct bpf_view *v, int perf_fd, bool is_tracepoint, bool is_return, uint64_t function, struct tacho_error *e);

/* Attaches event 0 to an open perf event that takes samples, and takes that over. */
int bpf_view_attach_samples(struct bpf_view *v, int perf_fd, struct tacho_error *e);

/* Polls readable when much of the ring is filled. */
int bpf_view_fd(const struct bpf_view *v);
typedef int bpf_view_record_fn(void *arg, const struct view_record *r);
/* Calls fn for the records in the ring. Returns their number, or a negative errno of fn. */
int bpf_view_drain(struct bpf_view *v, bpf_view_record_fn *fn, void *arg);
typedef int bpf_view_sum_fn(void *arg, const struct view_key *key, const struct view_sum *sum);
int bpf_view_sums(struct bpf_view *v, bpf_view_sum_fn *fn, void *arg);
/* The addresses of a stack, innermost first, as of the last bpf_view_sums(). Returns how many, or a negative errno. */
int bpf_view_stack(struct bpf_view *v, int64_t id, uint64_t ips[VIEW_STACK]);
/* Adds up VIEW_LOST_..., and how often a program did not run because another one was running on that CPU. */
int bpf_view_lost(const struct bpf_view *v, uint64_t lost[VIEW_LOST], uint64_t *missed);

#endif
