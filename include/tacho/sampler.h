#ifndef TACHO_SAMPLER_H
#define TACHO_SAMPLER_H

#include <tacho/evset.h>
#include <tacho/record.h>

TACHO_BEGIN_DECLS

/*
 * A sampler: events that are sampled into ring buffers, and functions to read the records from them.
 * <tacho/recorder.h> writes them to perf.data files.
 *
 *	new -> add, add ... -> open -> (synthesize) -> start -> wait, drain, drain ... -> stop ->
 *	drain -> settle -> free
 *
 * open() adds a dummy event after the caller's events, the tracker, which delivers mmap, comm, fork and exit
 * records. It has its own ring buffers, so that these records are not lost when there are too many samples, and
 * it stays enabled from open to free. All records have the event's id at the same position
 * (PERF_SAMPLE_IDENTIFIER), and time, pid and tid.
 *
 * A sampler is used by one thread at a time and borrows the `struct tacho` it came from. It belongs to the process
 * that opened it: in a child all calls return -EPERM, except those that free it or return what is known already. Calls
 * that need an open sampler return -EBADF before.
 */
struct tacho_sampler;

TACHO_API int tacho_sampler_new(struct tacho_sampler **out, struct tacho *t);
TACHO_API void tacho_sampler_free(struct tacho_sampler *s);

/* Add events, as for an event set. If none was added before open, cycles are sampled with the highest
 * precision, or cpu-clock without a PMU. */
TACHO_API int tacho_sampler_add(struct tacho_sampler *s, const char *spec, struct tacho_error *e);
TACHO_API int tacho_sampler_set_cgroup(struct tacho_sampler *s, size_t first, size_t n,
				       const char *path, struct tacho_error *e);
/* Like tacho_evset_set_filter(); for events that are not tracepoints the filter compares fields of the samples
 * ("period > 1000, cpu == 1"), and open fails if samples lack them or the BPF program that filters cannot be loaded. */
TACHO_API int tacho_sampler_set_filter(struct tacho_sampler *s, size_t first, size_t n,
				       const char *filter, struct tacho_error *e);

/* The event set with the sampler's events: to add events and set cgroups and filters before open, and to list,
 * start and stop events after it. It must not be opened, read or freed itself. */
TACHO_API struct tacho_evset *tacho_sampler_evset(const struct tacho_sampler *s);

enum tacho_chain {			/* how call chains are recorded */
	TACHO_CHAIN_NONE,
	TACHO_CHAIN_FP,			/* frame pointers, followed by the kernel */
	TACHO_CHAIN_DWARF,		/* user registers and a part of the stack; a recorder unwinds them */
	TACHO_CHAIN_LBR,		/* last branch records of the processor */
	TACHO_CHAIN_AUTO,		/* as DWARF where stacks can be unwound (x86-64, arm64), else as FP */
};

/* Bits of `fields`: fields of a sample besides id, ip, pid, tid and time. */
enum {
	TACHO_FIELD_PERIOD = 1 << 0,
	TACHO_FIELD_CPU = 1 << 1,
	TACHO_FIELD_ADDR = 1 << 2,	/* data addresses; non-executable mappings are recorded as well */
	TACHO_FIELD_PHYS_ADDR = 1 << 3,
	TACHO_FIELD_RAW = 1 << 4,
	TACHO_FIELD_WEIGHT = 1 << 5,
	TACHO_FIELD_DATA_SRC = 1 << 6,
	TACHO_FIELD_TRANSACTION = 1 << 7,
	TACHO_FIELD_CGROUP = 1 << 8,	/* cgroup ids, and records with the cgroups' names */
	TACHO_FIELD_DATA_PAGE_SIZE = 1 << 9,
	TACHO_FIELD_CODE_PAGE_SIZE = 1 << 10,
};

struct tacho_sampler_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const struct tacho_evset_opts *target;	/* processes, CPUs ..., and no_inherit, all_user, enable_on_exec ...; NULL:
					 * the calling thread. Copied by open */
	uint64_t period;		/* events per sample; excludes freq and freq_max */
	uint64_t freq;			/* samples per second; if period and freq are 0: 4000 */
	bool freq_max;			/* the highest frequency the kernel allows */
	bool strict_freq;		/* fail if freq is above that, instead of lowering it */
	uint32_t fields;		/* TACHO_FIELD_ bits */
	enum tacho_chain chain;
	uint32_t stack_bytes;		/* for TACHO_CHAIN_DWARF, 0: 8192; and AUTO, 0: 65528; a multiple of 8 */
	bool chain_no_kernel, chain_no_user;
	bool chain_deferred;		/* TACHO_CHAIN_FP: the kernel walks the user stack when the task returns to user
					 * space, in records of their own, so that it can read pages that are not in
					 * memory; since Linux 6.19 */
	uint64_t regs_intr, regs_user;	/* register masks, see <tacho/record.h> */
	uint64_t branch_filter;		/* branch_sample_type; 0: no branch stacks */
	bool counts_per_thread;		/* a READ record with the counts when a thread exits */
	bool use_clockid;
	int32_t clockid;
	bool switches, namespaces, text_poke;	/* record these as well */
	bool no_bpf;			/* do not record BPF programs and their symbols */
	bool no_build_ids;		/* no build IDs in mmap records: on Linux 6.18 other recorders on the
					 * machine get them as well, and perf 6.1 crashes on them */
	uint32_t ring_pages;		/* data pages per ring, a power of two; 0: chosen automatically */
	bool per_thread_rings;		/* one ring per thread instead of per CPU; threads and children
					 * started later are not sampled */
	bool overwrite;			/* overwrite the oldest samples; read by tacho_sampler_snapshot() */
	bool no_buffering;		/* wake up for each sample: costs 10 times as much */
	/* For events that fill an AUX area (intel_pt, arm_spe ...), whose data comes as AUXTRACE records: */
	uint32_t aux_pages;		/* per area, a power of two; 0: 4 MiB */
	bool aux_snapshot;		/* overwrite the oldest data; read by tacho_sampler_snapshot() */
	uint64_t aux_snapshot_bytes;	/* bytes per snapshot; 0: all */
	uint32_t aux_sample_bytes;	/* if not 0, AUX data has no records, but each sample of the other
					 * events of its group contains this many bytes */
	bool data_mmaps;		/* record non-executable mappings; always with data addresses, and with copies of
					 * stacks, in case that another tool unwinds them */
	bool unwound_here;		/* copies of stacks are unwound on this machine: that needs no mappings of data */
	bool no_samples;		/* no samples: only mappings, tasks and the counts of threads */
	bool read_times;		/* enabled and running times in samples of group values (:S) */
};

/* Opens the events, disabled like after tacho_evset_open(), and maps the ring buffers, which are made smaller if
 * the limit on locked memory requires it. Returns how many events are sampled, or a negative errno: unlike an event
 * set, a sampler whose events can all not be opened is an error. After an error it can be opened again with other options.
 * Unknown bits and values, and options without effect, are refused with -EINVAL. */
TACHO_API int tacho_sampler_open(struct tacho_sampler *s, const struct tacho_sampler_opts *opts,
				 struct tacho_error *e);

/* The number of events. After open the last one is the tracker. */
TACHO_API size_t tacho_sampler_size(const struct tacho_sampler *s);
TACHO_API const struct tacho_event *tacho_sampler_event(const struct tacho_sampler *s, size_t i);
/* The attr the event was opened with. -ENODEV if it could not be opened; *why is then the reason. */
TACHO_API int tacho_sampler_attr(const struct tacho_sampler *s, size_t i, void *attr, size_t size,
				 const char **why);
/* The ids in the records of event i, one per descriptor. */
TACHO_API int tacho_sampler_ids(const struct tacho_sampler *s, size_t i, const uint64_t **ids,
				size_t *n);
TACHO_API const struct tacho_note *tacho_sampler_notes(const struct tacho_sampler *s, size_t *n);
/* Bytes of data per ring buffer, as mapped. */
TACHO_API size_t tacho_sampler_ring_bytes(const struct tacho_sampler *s);

/* The number of AUX areas. */
TACHO_API size_t tacho_sampler_n_aux(const struct tacho_sampler *s);

TACHO_API int tacho_sampler_start(struct tacho_sampler *s);
TACHO_API int tacho_sampler_stop(struct tacho_sampler *s);	/* except the tracker */
/* Like tacho_evset_start_event(); -EINVAL for the tracker. */
TACHO_API int tacho_sampler_start_event(struct tacho_sampler *s, size_t i);
TACHO_API int tacho_sampler_stop_event(struct tacho_sampler *s, size_t i);

/* Receives complete records; the records of a ring come in ring order. Returns 0, or a negative errno to
 * stop. */
typedef int tacho_bytes_fn(void *arg, const void *bytes, size_t n);

/* A descriptor that polls readable when a ring is filled to its watermark or a target has ended. */
TACHO_API int tacho_sampler_fd(const struct tacho_sampler *s);
/* Call this when the descriptor is readable. Returns 1 once all targets have ended, else 0. */
TACHO_API int tacho_sampler_look(struct tacho_sampler *s);
/* To be called once a second: whether a sampled CPU went offline, whose events the kernel has then removed for good, or
 * another one came online. Returns how many since the last call, with a sentence and a hint in *e, or a negative
 * errno. */
TACHO_API int tacho_sampler_check_cpus(struct tacho_sampler *s, struct tacho_error *e);
/* Passes the records in all rings to `fn` and releases them to the kernel. Returns the number of bytes, or
 * a negative errno: the error of `fn`, or -EBADMSG if a ring has invalid records. */
TACHO_API int64_t tacho_sampler_drain(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);
/* Like tacho_sampler_drain(), and with `overwrite` also passes the current contents of the sample rings,
 * newest record first within each ring; with `aux_snapshot` the current contents of the AUX areas. */
TACHO_API int64_t tacho_sampler_snapshot(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);
/* After stop and the last drain: reads from the kernel how many samples each event has lost, and passes
 * LOST_SAMPLES records with these numbers. */
TACHO_API int tacho_sampler_settle(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg);

/* The layout of a record that a callback got, by the id of its event, which is put into *event unless that is NULL (as in
 * struct tacho_live_record). A record without an id has that of the tracker. NULL: the sampler is not open. */
TACHO_API const struct tacho_layout *tacho_sampler_layout(const struct tacho_sampler *s, const struct tacho_record *rec,
							  uint32_t *event);

/* A record as it comes. Borrowed: valid until the next call of tacho_sampler_next(). */
struct tacho_live_record {
	size_t size;
	uint32_t event;			/* index of its event, the last one for the tracker's records; UINT32_MAX: none */
	const struct tacho_record *record;
	const struct tacho_layout *layout;	/* for tacho_sideband_decode() */
	const struct tacho_sample *sample;	/* decoded; NULL: the record is not a sample */
};
/*
 * Returns the records of all rings one by one, in the order of time: 1 with a record in *out; 0 if there was none for
 * `timeout_ms` (negative: waits until there is one); -ESRCH once all targets have ended and everything was returned;
 * -EOPNOTSUPP with AUX areas, -EBUSY after a split. The rings are looked at when they are filled to their watermark, and
 * every 100 ms. Takes the place of fd, look and drain.
 */
TACHO_API int tacho_sampler_next(struct tacho_sampler *s, const struct tacho_live_record **out, int timeout_ms);

/*
 * Readers: the rings of samples are divided among threads of the caller.
 *
 *	open -> split -> start -> each thread: (pin) wait, reader_drain ... -> stop -> join -> drain
 *
 * tacho_sampler_drain() then passes the tracker's records only. While readers drain, the sampler's
 * thread may call drain, look and stats.
 */
/* `layout`: "cpu" (or NULL), "core", "package", "numa", or "CPUS/CPUS:CPUS/CPUS...": CPUs whose rings are read /
 * CPUs that reader's thread should run on. Returns the number of readers, or a negative errno. */
TACHO_API int tacho_sampler_split(struct tacho_sampler *s, const char *layout,
				  struct tacho_error *e);
/* The number of rings of all readers. Rings are numbered from 0. */
TACHO_API size_t tacho_sampler_n_rings(const struct tacho_sampler *s);
/* Like tacho_sampler_fd(), for the rings of reader k. */
TACHO_API int tacho_sampler_reader_fd(const struct tacho_sampler *s, size_t k);
/* Moves the calling thread to the CPUs of reader k. 0 or a negative errno. */
TACHO_API int tacho_sampler_reader_pin(const struct tacho_sampler *s, size_t k);
typedef int tacho_ring_bytes_fn(void *arg, size_t ring, const void *bytes, size_t n);
TACHO_API int64_t tacho_sampler_reader_drain(struct tacho_sampler *s, size_t k,
					     tacho_ring_bytes_fn *fn, void *arg);

struct tacho_sampler_stats {
	size_t size;
	uint64_t samples;
	uint64_t lost;			/* from LOST and LOST_SAMPLES records; after settle from the kernel */
	uint64_t throttled;		/* number of times the kernel throttled it because of its high
					 * frequency */
	uint64_t first_ns, last_ns;	/* times of its samples; both 0: none */
};
/* Statistics of event i, or with SIZE_MAX of all except the tracker. */
TACHO_API int tacho_sampler_stats(const struct tacho_sampler *s, size_t i,
				  struct tacho_sampler_stats *out);

/* Resets first_ns and last_ns, so that they only include samples drained later, e.g. for the next file. */
TACHO_API void tacho_sampler_forget_times(struct tacho_sampler *s);

enum {					/* records to synthesize */
	TACHO_SYNTH_KERNEL = 1 << 0,	/* mappings of the kernel and its modules */
	TACHO_SYNTH_TASK = 1 << 1,	/* FORK and COMM for the target's existing processes */
	TACHO_SYNTH_MMAP = 1 << 2,	/* their executable mappings */
	TACHO_SYNTH_CGROUP = 1 << 3,	/* the cgroups' names by id */
	TACHO_SYNTH_ALL = 15,
};
/* Passes records that describe what existed before the recording (processes, mappings, cgroups), with the
 * sample_id trailer of the first event. */
TACHO_API int tacho_sampler_synthesize(struct tacho_sampler *s, unsigned what, tacho_bytes_fn *fn,
				       void *arg, struct tacho_error *e);

/* A file or kernel module with code. Borrowed: valid for the call. */
struct tacho_sampled_object {
	size_t size;
	const char *path;		/* "[kernel.kallsyms]", "[vdso]" and "[ext4]" too */
	uint8_t build_id[20], n_build_id;
	bool kernel;
	bool hit;			/* the ip of a sample was in it */
	int32_t pid;			/* the last process that mapped it, which may have ended; 0: none */
};
/* Calls `fn` for the objects with a known build ID: those with samples, or with `all` (and always after
 * a split) all that were mapped. */
TACHO_API int tacho_sampler_objects(struct tacho_sampler *s, bool all,
				    int (*fn)(void *arg, const struct tacho_sampled_object *o),
				    void *arg);

TACHO_END_DECLS
#endif
