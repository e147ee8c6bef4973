/*
 * Internals of a sampler, shared by the files of this directory. A sampler has an event set that is
 * opened for sampling (count/evset_internal.h), and adds sampling attributes, ring buffers, and counts
 * taken from the records while they are drained.
 *
 *	set      events x CPUs or threads = descriptors, opened by count/
 *	rings    per CPU (or thread) one for samples and one for the tracker's records
 *	ids      id in a record -> event
 *	hitmap   mappings of each process, and the objects samples hit
 */
#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <pthread.h>

#include "count/evset_internal.h"
#include "sample/aux.h"
#include "base/int_map.h"
#include "sample/hitmap.h"
#include "sample/live_records.h"
#include "sample/ring.h"

#include <tacho/sampler.h>

#define SAMPLER_DEFAULT_FREQ 4000

/* Fields at the start of every sample. All but the ip are also in the sample_id trailer of other records.
 *	+0 header  +8 id  +16 ip  +24 pid, tid  +32 time */
#define SAMPLER_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct sampler_ring {
	struct ring ring;
	struct aux aux;
	int aux_fd;			/* descriptor of the event that fills the AUX area; -1: none */
	int32_t cpu, tid;		/* -1: any */
	bool tracker;			/* contains the tracker's records, not samples */
	bool overwrite;			/* the kernel overwrites the oldest records */
	int polled_fd;			/* the descriptor that epoll watches; -1: all targets have ended */
	struct idlist fds;		/* descriptors of events that write into it; the first is mapped */
	uint64_t seen_head;		/* overwrite ring: head at the last snapshot */
	size_t next;			/* index in fds of the descriptor to watch after polled_fd */
	struct sampler_reader *reader;	/* reader that drains it; NULL: tacho_sampler_drain() */
};

struct sampler_count {			/* per event */
	struct tacho_sampler_stats stats;
	uint64_t lost_in_records;	/* sum of LOST and LOST_SAMPLES records */
	bool lost_is_final;		/* stats.lost was read from the kernel at the end */
	uint64_t *ids;
	size_t n_ids;
};

/* The rings that one thread drains, and its own sample counts. */
struct sampler_reader {
	pthread_mutex_t busy;		/* held while it drains, and by others to read its counts */
	struct cpuset cpus, pinned;	/* CPUs whose rings it drains; CPUs its thread runs on */
	int epoll;
	struct sampler_count *counts;
	struct buf bounce;
};

/* The state used to drain rings: that of the sampler (in the caller's thread) or of a reader. */
struct drainer {
	struct tacho_sampler *s;
	struct sampler_count *counts;
	struct hitmap *hitmap;		/* NULL in a reader: mappings and hits are not tracked */
	struct buf *bounce;
};

struct tacho_sampler {
	struct tacho *t;
	struct tacho_evset *set;
	struct tacho_sampler_opts opts;
	struct tacho_evset_opts target;	/* copy of *opts.target */
	bool is_open;
	bool stopped;			/* tacho_sampler_stop() was called */
	bool has_modules;		/* the hitmap has mappings of kernel modules */
	bool rate_given;		/* the options set a period or frequency */
	struct { struct sampler_ring *v; size_t n, cap; } rings;
	int epoll;
	size_t n_watched;		/* rings watched by epoll */
	size_t n_ended;			/* watched rings whose targets have all ended */
	unsigned ring_pages;
	struct int_map ids;
	struct sampler_count *counts;
	size_t n_counts;
	struct tacho_layout *layouts;	/* of the records of each event */
	struct hitmap hitmap;
	struct buf bounce;		/* contiguous copy of a record that wraps around */
	struct sampler_reader *readers;
	size_t n_readers;
	struct cpuset online;		/* CPUs at the last tacho_sampler_check_cpus(), at first at open */
	int user_filter;		/* BPF program for target.by_uid; negative: none */
	struct { struct sample_filter_program **v; size_t n, cap; } filters;	/* of the events that have one */
	uint64_t id_bytes;		/* size of the sample_id trailer of synthesized records */
	struct live_records *live;	/* of tacho_sampler_next(); NULL: it was not called yet */
};

/* sampler.c: -EBADF if it is not open, -EPERM in a child of the process that opened it: rings are not mapped there. */
int sampler_check_open(const struct tacho_sampler *s);

/* options.c: 0, or -EINVAL with a sentence. check_stack() needs the events' attrs. */
int sampler_check_options(const struct tacho_sampler_opts *o, struct tacho_error *e);
int sampler_check_stack(const struct tacho_sampler *s, struct tacho_error *e);

/* attr.c: fills in the sampling part of every attr. */
int sampler_prepare(struct tacho_sampler *s, struct tacho_error *e);
bool sampler_is_aux(const struct tacho_sampler *s, uint32_t event);	/* whether it fills an AUX area */
uint32_t sampler_aux_pages(const struct tacho_sampler *s);
bool sampler_wants_data_mmaps(const struct tacho_sampler *s);	/* including non-executable mappings */

/* user_target.c: plan() is called before sampler_prepare(), attach() after opening. 0 or a negative errno. */
int user_target_plan(struct tacho_sampler *s);
int user_target_attach(struct tacho_sampler *s, struct tacho_error *e);

/* filter.c: check() is called after sampler_prepare(), attach() after opening. 0 or a negative errno. */
int filters_check(const struct tacho_sampler *s, struct tacho_error *e);
int filters_attach(struct tacho_sampler *s, struct tacho_error *e);
void filters_done(struct tacho_sampler *s);

/* rings.c */
void rings_plan(struct tacho_sampler *s);	/* call after sampler_prepare(), before opening */
int rings_open(struct tacho_sampler *s, struct tacho_error *e);
void rings_close(struct tacho_sampler *s);
bool rings_watch(struct tacho_sampler *s, size_t i);	/* adds its next fd to epoll; false: none left */
/* Watches other descriptors in place of those whose targets have ended. Returns how many rings have ended
 * as a result. */
size_t rings_check_ended(struct tacho_sampler *s, int epoll);

/* drain.c: checks and counts every record of a span. *cut is the offset of the record that wraps around, or
 * UINT64_MAX. */
int sampler_inspect(const struct drainer *d, const struct ring_span *span, uint64_t *cut);
struct drainer sampler_drainer(struct tacho_sampler *s);
/* Drains the tracker's rings only. */
int64_t sampler_drain_tracker(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);
int64_t sampler_drain_ring(const struct drainer *d, size_t i, tacho_bytes_fn *fn, void *arg);

/* readers.c */
void readers_close(struct tacho_sampler *s);
/* The counts of event i, including those of all readers. */
struct sampler_count readers_sum(const struct tacho_sampler *s, size_t i);

/* The first open event. Synthesized records have its sample_id trailer. */
const struct counted_event *sampler_first(const struct tacho_sampler *s);

/* synth.c, synth_kernel.c: state of one tacho_sampler_synthesize() call. */
struct synth {
	struct tacho_sampler *s;
	tacho_bytes_fn *fn;
	void *arg;
	struct buf out;			/* records not yet passed to fn */
	char *text;			/* contents of the /proc file being read */
	size_t text_size;
	bool data;			/* include non-executable mappings */
};
#define SYNTH_FLUSH (256u << 10)
/* Appends a zeroed record of `bytes`, rounded up to 8, plus the sample_id trailer, and fills in its header.
 * Returns NULL without memory. */
void *synth_record(struct synth *y, uint32_t type, uint16_t misc, size_t bytes);
int synth_flush(struct synth *y);
int synth_kernel(struct synth *y);
int synth_cgroups(struct synth *y);

#endif
