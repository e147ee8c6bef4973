/*
 * The inside of a sampler, shared by the files of this room. Its events are an event set that is
 * opened for sampling (count/evset_internal.h); this room adds what samples hold, the rings, and what is
 * learned from the records on their way through.
 *
 *	set      events x places = descriptors		opened by count/
 *	rings    one per CPU (or thread), for samples, and one for the tracker's records
 *	ids      a record's id -> event
 *	hitmap   who has mapped what, and what was hit
 */
#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <pthread.h>

#include "count/evset_internal.h"
#include "sample/aux.h"
#include "sample/ids.h"
#include "sample/hitmap.h"
#include "sample/ring.h"

#include <tacho/sampler.h>

#define SAMPLER_DEFAULT_FREQ 4000

/* Every sample begins with these, and every other record ends with those of them it can have:
 *	+0 header  +8 id  +16 ip  +24 pid, tid  +32 time */
#define SAMPLER_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct sampler_ring {
	struct ring ring;
	struct aux aux;
	int aux_fd;			/* of the event that fills it; -1: none */
	int32_t cpu, tid;		/* whose; -1: any */
	bool tracks;			/* maps and tasks rather than samples */
	bool keeps;			/* the newest: the kernel writes over the oldest */
	int polled;			/* the descriptor that epoll watches; -1: all have ended */
	struct idlist fds;		/* all that write into it, its owner first */
	uint64_t seen_head;		/* of an overwrite ring: up to where it was handed out */
	size_t next;			/* the one to watch when `polled` has ended */
	struct sampler_reader *reader;	/* who empties it; NULL: tacho_sampler_drain() */
};

struct sampler_count {			/* per event */
	struct tacho_sampler_stats stats;
	uint64_t told;			/* lost, as told by records */
	bool settled;			/* stats.lost is final */
	uint64_t *ids;
	size_t n_ids;
};

/* A thread's share of the rings. What it learns is its own until somebody adds it up. */
struct sampler_reader {
	pthread_mutex_t busy;		/* held while it drains, and to read what it has learned */
	struct cpuset cpus, pinned;	/* whose rings; where the thread runs */
	int epoll;
	struct sampler_count *counts;
	struct buf bounce;
};

/* With what rings are emptied, by the caller's thread or a reader's. */
struct drainer {
	struct tacho_sampler *s;
	struct sampler_count *counts;
	struct hitmap *hitmap;		/* NULL: maps and hits are somebody else's */
	struct buf *bounce;
};

struct tacho_sampler {
	struct tacho *t;
	struct tacho_evset *set;
	struct tacho_sampler_opts opts;
	bool is_open;
	bool stopped;			/* by tacho_sampler_stop() */
	bool has_modules;		/* the kernel has maps beside its own */
	bool rate_given;		/* somebody said how often, for all events */
	struct { struct sampler_ring *v; size_t n, cap; } rings;
	int epoll;
	size_t n_watched;		/* rings that epoll looks after */
	size_t n_ended;			/* of these, all of whose targets have */
	unsigned ring_pages;
	struct event_ids ids;
	struct sampler_count *counts;
	size_t n_counts;
	struct hitmap hitmap;
	struct buf bounce;		/* a record that the wrap cut in two */
	struct sampler_reader *readers;
	size_t n_readers;
	uint64_t id_bytes;		/* of the trailer that synthesized records carry */
};

/* attr.c: the sampler's share of every attr. */
int sampler_prepare(struct tacho_sampler *s, struct tacho_error *e);
bool sampler_is_aux(const struct tacho_sampler *s, uint32_t event);	/* fills an AUX area */
uint32_t sampler_aux_pages(const struct tacho_sampler *s);
bool sampler_wants_data(const struct tacho_sampler *s);	/* maps of data are told of */

/* rings.c */
void rings_plan(struct tacho_sampler *s);	/* after sampler_prepare(), before opening */
int rings_open(struct tacho_sampler *s, struct tacho_error *e);
void rings_close(struct tacho_sampler *s);
bool rings_watch(struct tacho_sampler *s, size_t i);	/* the next descriptor; false: none is left */
/* Takes note of what `epoll` has to tell; returns how many rings have come to their end. */
size_t rings_look(struct tacho_sampler *s, int epoll);

/* drain.c: looks at every record of a span on its way out; *cut is where the one begins that the
 * ring's wrap cuts, or UINT64_MAX. */
int sampler_inspect(const struct drainer *d, const struct ring_span *span, uint64_t *cut);
struct drainer sampler_drainer(struct tacho_sampler *s);
int64_t sampler_drain_ring(const struct drainer *d, size_t i, tacho_bytes_fn *fn, void *arg);

/* readers.c */
void readers_close(struct tacho_sampler *s);
/* What event i's counts are with those of all readers. */
struct sampler_count readers_sum(const struct tacho_sampler *s, size_t i);

/* The first event that is open, whose layout synthesized records have. */
const struct counted *sampler_first(const struct tacho_sampler *s);

/* synth.c, synth_kernel.c: what one run of synthesis carries along. */
struct synth {
	struct tacho_sampler *s;
	tacho_bytes_fn *fn;
	void *arg;
	struct buf out;			/* records that go out together */
	char *text;			/* of the file being read */
	size_t text_size;
	bool data;			/* maps of data too */
};
#define SYNTH_FLUSH (256u << 10)
/* Room for a record of `bytes`, zeroed, with header and trailer; NULL without memory. The size
 * is rounded up to 8. */
void *synth_record(struct synth *y, uint32_t type, uint16_t misc, size_t bytes);
int synth_flush(struct synth *y);
int synth_kernel(struct synth *y);
int synth_cgroups(struct synth *y);

#endif
