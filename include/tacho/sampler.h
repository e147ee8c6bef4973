#ifndef TACHO_SAMPLER_H
#define TACHO_SAMPLER_H

#include <tacho/evset.h>

TACHO_BEGIN_DECLS

/*
 * A sampler: events that write records into rings, and the bytes that come out of them.
 *
 *	new -> add, add ... -> open -> (synthesize) -> start -> wait, drain, drain ... -> stop ->
 *	drain -> settle -> free
 *
 * Behind the caller's events open() adds one that counts nothing and tells of maps, names, forks
 * and the like. It has rings of its own, so that a flood of samples never costs a map, and it
 * runs from open to close. All records carry the event's id at the same place
 * (PERF_SAMPLE_IDENTIFIER), and time and thread.
 *
 * A sampler is used by one thread at a time and borrows the `struct tacho` it came from.
 */
struct tacho_sampler;

TACHO_API int tacho_sampler_new(struct tacho_sampler **out, struct tacho *t);
TACHO_API void tacho_sampler_free(struct tacho_sampler *s);

/* The events and their limits, exactly as for an event set; adding none before open means
 * cycles as precise as can be, or without a PMU cpu-clock. */
TACHO_API int tacho_sampler_add(struct tacho_sampler *s, const char *spec, struct tacho_error *e);
TACHO_API int tacho_sampler_set_cgroup(struct tacho_sampler *s, size_t first, size_t n,
				       const char *path, struct tacho_error *e);
TACHO_API int tacho_sampler_set_filter(struct tacho_sampler *s, size_t first, size_t n,
				       const char *filter, struct tacho_error *e);

enum tacho_chain {			/* how call chains are taken */
	TACHO_CHAIN_NONE,
	TACHO_CHAIN_FP,			/* frame pointers, walked by the kernel */
	TACHO_CHAIN_DWARF,		/* registers and a piece of the stack, unwound by the reader */
	TACHO_CHAIN_LBR,		/* the processor's own record of calls */
};

/* Bits of `fields`: what a sample holds beyond id, ip, pid, tid and time. */
enum {
	TACHO_FIELD_PERIOD = 1 << 0,
	TACHO_FIELD_CPU = 1 << 1,
	TACHO_FIELD_ADDR = 1 << 2,	/* data addresses; maps of data are recorded as well */
	TACHO_FIELD_PHYS_ADDR = 1 << 3,
	TACHO_FIELD_RAW = 1 << 4,
	TACHO_FIELD_WEIGHT = 1 << 5,
	TACHO_FIELD_DATA_SRC = 1 << 6,
	TACHO_FIELD_TRANSACTION = 1 << 7,
	TACHO_FIELD_CGROUP = 1 << 8,	/* and the cgroups' names */
	TACHO_FIELD_DATA_PAGE_SIZE = 1 << 9,
	TACHO_FIELD_CODE_PAGE_SIZE = 1 << 10,
};

struct tacho_sampler_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	struct tacho_evset_opts target;	/* on what; no_inherit, all_user, enable_on_exec ... too */
	uint64_t period;		/* a sample every so many events ... */
	uint64_t freq;			/* ... or so many a second; 0 and 0: 4000 a second */
	bool freq_max;			/* as many a second as the kernel allows */
	bool strict_freq;		/* refuse a freq above that instead of lowering it */
	uint32_t fields;		/* TACHO_FIELD_ bits */
	enum tacho_chain chain;
	uint32_t stack_bytes;		/* with DWARF; 0: 8192 */
	bool chain_no_kernel, chain_no_user;
	uint64_t regs_intr, regs_user;	/* register masks, see <tacho/record.h> */
	uint64_t branch_filter;		/* branch_sample_type; 0: no branch stacks */
	bool counts_per_thread;		/* READ records at each thread's end */
	bool use_clockid;
	int32_t clockid;
	bool switches, namespaces, text_poke;	/* more to tell of */
	bool no_bpf;			/* do not tell of BPF programs and their symbols */
	bool no_build_ids;		/* do not ask for them: Linux 6.18 hands them to other
					 * recorders as well, and perf 6.1 crashes on those */
	uint32_t ring_pages;		/* data pages per ring, a power of two; 0: what fits well */
	bool per_thread_rings;		/* a ring for each thread rather than for each CPU; threads and
					 * children that come later are not sampled then */
	bool overwrite;			/* keep the newest; read by tacho_sampler_snapshot() */
	bool no_buffering;		/* wake up for each sample: costs 10 times as much */
	/* Events that fill an AUX area (intel_pt, arm_spe ...): the bytes come as AUXTRACE records. */
	uint32_t aux_pages;		/* per area, a power of two; 0: 4 MiB */
	bool aux_snapshot;		/* the newest stays in the area; tacho_sampler_snapshot() */
	uint64_t aux_snapshot_bytes;	/* how much of it then; 0: all */
	uint32_t aux_sample_bytes;	/* nothing by itself: so much of it in each sample of the
					 * other events of its group */
};

/* Opens and maps everything; disabled as tacho_evset_open() leaves it. Rings become smaller where
 * the limit on locked memory asks for it. Returns how many events sample, or a negative errno. */
TACHO_API int tacho_sampler_open(struct tacho_sampler *s, const struct tacho_sampler_opts *opts,
				 struct tacho_error *e);

/* After open the last one is the event that tells of maps. */
TACHO_API size_t tacho_sampler_size(const struct tacho_sampler *s);
TACHO_API const struct tacho_event *tacho_sampler_event(const struct tacho_sampler *s, size_t i);
/* The attr as the kernel took it. -ENODEV when the event could not be opened: *why says it. */
TACHO_API int tacho_sampler_attr(const struct tacho_sampler *s, size_t i, void *attr, size_t size,
				 const char **why);
/* The ids that records of event i carry, one per descriptor. */
TACHO_API int tacho_sampler_ids(const struct tacho_sampler *s, size_t i, const uint64_t **ids,
				size_t *n);
TACHO_API const struct tacho_note *tacho_sampler_notes(const struct tacho_sampler *s, size_t *n);
/* Bytes of data per ring, as they could be had. */
TACHO_API size_t tacho_sampler_ring_bytes(const struct tacho_sampler *s);

/* How many AUX areas there are. */
TACHO_API size_t tacho_sampler_n_aux(const struct tacho_sampler *s);

TACHO_API int tacho_sampler_start(struct tacho_sampler *s);
TACHO_API int tacho_sampler_stop(struct tacho_sampler *s);	/* maps are still told of */
/* As tacho_evset_start_event(); the event that tells of maps is not turned: -EINVAL. */
TACHO_API int tacho_sampler_start_event(struct tacho_sampler *s, size_t i);
TACHO_API int tacho_sampler_stop_event(struct tacho_sampler *s, size_t i);

/* Takes bytes of whole records, in the order they have in one ring. 0, or a negative errno to
 * stop. */
typedef int tacho_bytes_fn(void *arg, const void *bytes, size_t n);

/* A descriptor that polls readable when a ring is filled by a quarter or a target has ended. */
TACHO_API int tacho_sampler_fd(const struct tacho_sampler *s);
/* Takes note of why it was readable. Returns 1 once all targets have ended, else 0. */
TACHO_API int tacho_sampler_look(struct tacho_sampler *s);
/* Hands out what every ring holds and lets the kernel have the room again. Returns how many bytes
 * that were, or a negative errno: what `fn` returned, or -EBADMSG for a broken ring. */
TACHO_API int64_t tacho_sampler_drain(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);
/* With `overwrite`: what the rings hold right now, newest record first within each ring; and what
 * was told of maps since the last time. With `aux_snapshot`: what the AUX areas hold right now. */
TACHO_API int64_t tacho_sampler_snapshot(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);
/* After stop and the last drain: asks the kernel how many samples each event lost in all, and
 * hands out LOST_SAMPLES records that say so. */
TACHO_API int tacho_sampler_settle(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);

/*
 * Readers: the rings of samples divided among threads of the caller's.
 *
 *	open -> split -> start -> each thread: (pin) wait, reader_drain ... -> stop -> join -> drain
 *
 * tacho_sampler_drain() then hands out maps and tasks only. While readers drain, the sampler's
 * thread may call drain, look and stats.
 */
/* `layout`: "cpu" (or NULL), "core", "package", "numa", or "CPUS/CPUS:CPUS/CPUS...": whose rings /
 * where that reader's thread is to run. Returns how many readers there are, or a negative errno. */
TACHO_API int tacho_sampler_split(struct tacho_sampler *s, const char *layout,
				  struct tacho_error *e);
/* How many rings the readers have together; they are numbered from 0. */
TACHO_API size_t tacho_sampler_n_rings(const struct tacho_sampler *s);
/* Polls readable as tacho_sampler_fd() does, for reader k's rings. */
TACHO_API int tacho_sampler_reader_fd(const struct tacho_sampler *s, size_t k);
/* The calling thread runs where reader k is to run. 0 or a negative errno. */
TACHO_API int tacho_sampler_reader_pin(const struct tacho_sampler *s, size_t k);
typedef int tacho_ring_bytes_fn(void *arg, size_t ring, const void *bytes, size_t n);
TACHO_API int64_t tacho_sampler_reader_drain(struct tacho_sampler *s, size_t k,
					     tacho_ring_bytes_fn *fn, void *arg);

struct tacho_sampler_stats {
	size_t size;
	uint64_t samples;
	uint64_t lost;			/* told by LOST and LOST_SAMPLES, or after settle by the counters */
	uint64_t throttled;		/* how often the kernel paused it */
	uint64_t first_ns, last_ns;	/* of its samples; 0 and 0: none */
};
/* Of event i; of all but the last with SIZE_MAX. */
TACHO_API int tacho_sampler_stats(const struct tacho_sampler *s, size_t i,
				  struct tacho_sampler_stats *out);

/* Forgets the first and the last time: those told from here on are of samples yet to be drained,
 * as for the next of several files. */
TACHO_API void tacho_sampler_forget_times(struct tacho_sampler *s);

enum {					/* what to synthesize */
	TACHO_SYNTH_KERNEL = 1 << 0,	/* the kernel's and its modules' maps */
	TACHO_SYNTH_TASK = 1 << 1,	/* FORK and COMM of the target's processes as they are now */
	TACHO_SYNTH_MMAP = 1 << 2,	/* their executable maps */
	TACHO_SYNTH_CGROUP = 1 << 3,	/* the cgroups' names by id */
	TACHO_SYNTH_ALL = 15,
};
/* Records about what was there before the recording, in the layout of the first event's. */
TACHO_API int tacho_sampler_synthesize(struct tacho_sampler *s, unsigned what, tacho_bytes_fn *fn,
				       void *arg, struct tacho_error *e);

/* An object with code. Borrowed: valid for the call. */
struct tacho_sampled_object {
	size_t size;
	const char *path;		/* "[kernel.kallsyms]", "[vdso]" and "[ext4]" too */
	uint8_t build_id[20], n_build_id;
	bool kernel;
	bool hit;			/* a sample's ip was in it */
};
/* The objects that have a build id: those that samples hit, or all that were mapped (always, after
 * a split). */
TACHO_API int tacho_sampler_objects(struct tacho_sampler *s, bool all,
				    int (*fn)(void *arg, const struct tacho_sampled_object *o),
				    void *arg);

TACHO_END_DECLS
#endif
