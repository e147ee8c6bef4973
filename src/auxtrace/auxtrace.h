/*
 * Internal declarations of auxtrace/: from the AUXTRACE records of a recording to samples.
 *
 *	trace_list (records -> queues of contiguous bytes) -> a decoder per queue -> synth (samples as records)
 *	expand (both recordings in the order of time: sideband records first, then the trace up to their time)
 *
 * A queue is the trace of one CPU or of one thread. Its bytes are a list of runs; between two runs, data is missing.
 */
#ifndef AUXTRACE_AUXTRACE_H
#define AUXTRACE_AUXTRACE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/int_map.h"
#include "base/vec.h"
#include "record/perf_abi.h"
#include "record/record.h"

#include <tacho/auxtrace.h>
#include <tacho/perfdata.h>

enum { TRACE_NONE, TRACE_INTEL_PT, TRACE_INTEL_BTS, TRACE_ARM_ETM, TRACE_ARM_SPE, TRACE_S390, TRACE_HISI_PTT, TRACE_VPA_DTL };

/* ---- AUXTRACE_INFO: info.c ---- */
struct pt_info {
	uint64_t pmu_type, time_shift, time_mult, time_zero, has_time_zero, tsc_bit, noretcomp_bit, have_switches,
		 snapshot, per_cpu, mtc_bit, mtc_freq_bits, ctc_numerator, ctc_denominator, cyc_bit, max_ratio;
};

struct spe_info {
	uint64_t version, pmu_type;
	uint64_t midr;			/* of the first CPU; 0: unknown */
};

struct trace_info {
	uint32_t kind;			/* TRACE_... */
	union {
		struct pt_info pt;
		struct spe_info spe;
	};
};

/* Returns 0, -EBADMSG if the record is too short, or -EOPNOTSUPP with *out filled in if its kind cannot be decoded. */
int trace_info_decode(struct trace_info *out, const struct tacho_record *rec, struct tacho_error *e);
const char *trace_kind_name(uint32_t kind);	/* "intel_pt"; NULL: unknown */

/* How the times of a trace become those of samples. */
struct time_conversion {
	uint64_t shift, mult, zero;
	uint64_t cycles, mask;		/* TIME_CONV of Linux 5.13: the clock is shorter than 64 bits */
	bool known;
};
uint64_t time_from_ticks(const struct time_conversion *c, uint64_t ticks);

/* ---- the traces of a recording: trace_list.c ---- */
struct trace_piece {			/* the data of an AUXTRACE record */
	uint64_t file_offset, n;
	uint64_t position;		/* in the AUX area */
	uint64_t reference;
};

struct trace_run {			/* consecutive pieces */
	size_t first, n;		/* in aux_queue.pieces */
	uint64_t bytes;
};

struct aux_queue {
	uint32_t number;		/* index of the AUX area */
	int32_t cpu, tid;		/* -1: none */
	struct { struct trace_piece *v; size_t n, cap; } pieces;
	struct { struct trace_run *v; size_t n, cap; } runs;
};

struct trace_list {
	struct trace_info info;
	struct time_conversion time;
	struct { struct aux_queue *v; size_t n, cap; } queues;
	uint64_t n_bytes;
	uint64_t file_size;		/* filled in by the caller */
};

/* Reads the recording from its start. Returns 0 also if there is no trace. */
int trace_list_read(struct trace_list *l, struct tacho_perfdata *pd, struct tacho_error *e);
void trace_list_done(struct trace_list *l);
/* Copies the bytes of a run from the file; *out is freed with trace_bytes_free(). */
int trace_run_load(const struct aux_queue *q, const struct trace_run *run, int fd, uint8_t **out);
void trace_bytes_free(uint8_t *bytes, uint64_t n);

/* ---- code of traced processes: trace_code.c ---- */
struct trace_code_line;
struct trace_code {
	struct tacho_symbols *symbols;
	struct trace_code_line *lines;	/* CODE_LINES of them */
	uint32_t generation;		/* changes with the maps of any process */
};
int trace_code_init(struct trace_code *c, struct tacho_symbols *symbols);
void trace_code_done(struct trace_code *c);
static inline void trace_code_invalidate(struct trace_code *c) { c->generation++; }
/* Copies up to n <= 16 bytes of code at an address of a process. Returns how many, 0: none can be read, or -ENOMEM. */
int trace_code_read(struct trace_code *c, uint32_t pid, uint64_t ip, uint8_t *out, size_t n);

/* ---- samples: synth.c ---- */
enum synth_event {
	SYNTH_BRANCHES, SYNTH_INSTRUCTIONS, SYNTH_TRANSACTIONS,
	SYNTH_PTWRITE, SYNTH_MWAIT, SYNTH_PWRE, SYNTH_EXSTOP, SYNTH_PWRX, SYNTH_CBR, SYNTH_PSB,
	SYNTH_L1D_MISS, SYNTH_L1D_ACCESS, SYNTH_LLC_MISS, SYNTH_LLC_ACCESS, SYNTH_TLB_MISS, SYNTH_TLB_ACCESS,
	SYNTH_BRANCH, SYNTH_REMOTE, SYNTH_MEMORY, SYNTH_SPE_INSTRUCTIONS,
	N_SYNTH_EVENTS,
};

#define PERF_TYPE_SYNTH 0x80000000u	/* perf's type of events that only exist in decoded traces */
enum { SYNTH_CONFIG_PTWRITE, SYNTH_CONFIG_MWAIT, SYNTH_CONFIG_PWRE, SYNTH_CONFIG_EXSTOP, SYNTH_CONFIG_PWRX, SYNTH_CONFIG_CBR,
       SYNTH_CONFIG_PSB };

struct synth_sample {
	uint64_t ip, addr, time, period;
	uint32_t pid, tid, cpu;
	uint32_t flags;
	uint16_t n_insn_bytes, depth;
	const uint64_t *chain;		/* with its context marker */
	size_t n_chain;
	const struct tacho_branch *branches;
	size_t n_branches;
	const void *raw;		/* from after its size; n_raw + 4 is a multiple of 8 */
	uint32_t n_raw;
	uint64_t weight, data_src, phys_addr;
};

struct trace_synth {
	struct tacho_itrace want;
	struct tacho_perfdata_writer *out;
	uint64_t ids[N_SYNTH_EVENTS];	/* 0: not asked for */
	uint64_t types[N_SYNTH_EVENTS];	/* sample_type */
	uint64_t first_id;
	bool kernel_start_known;
	uint64_t n_samples, n_errors, n_skipped;
	uint64_t bytes_in_round;
	struct buf record;
};

/* Adds the events that are asked for to the writer. `base` is the attr of the traced event. */
int synth_events_add(struct trace_synth *s, const struct perf_event_attr *base, uint32_t kind, bool has_time, bool has_cpu,
		     struct tacho_error *e);
/* Writes a sample, if the event is asked for. 0 or a negative errno. */
int synth_put(struct trace_synth *s, enum synth_event ev, const struct synth_sample *x, struct tacho_error *e);
static inline bool synth_wants(const struct trace_synth *s, enum synth_event ev) { return s->ids[ev] != 0; }

enum synth_error_code {			/* perf's numbers */
	SYNTH_ERROR_NOMEM = 1, SYNTH_ERROR_INTERNAL, SYNTH_ERROR_PACKET, SYNTH_ERROR_NODATA, SYNTH_ERROR_NO_CODE,
	SYNTH_ERROR_MISMATCH, SYNTH_ERROR_OVERFLOW, SYNTH_ERROR_LOST, SYNTH_ERROR_UNKNOWN, SYNTH_ERROR_LOOP,
};
struct synth_error {
	enum synth_error_code code;
	uint32_t cpu, pid, tid;
	uint64_t ip, time;
	uint64_t offset;		/* in the trace of the queue; UINT64_MAX: none */
	uint64_t resumed;		/* UINT64_MAX: not */
};
int synth_put_error(struct trace_synth *s, const struct synth_error *x, struct tacho_error *e);

/* ---- call stacks of traced threads: call_stack.c ---- */
#define CALL_STACK_MAX 1024u
struct call_stack {
	uint64_t v[CALL_STACK_MAX];	/* return addresses, outermost first */
	size_t n;
};
struct call_stacks {
	struct int_map by_tid;
	struct { struct call_stack **v; size_t n, cap; } list;
};
struct call_stack *call_stack_of(struct call_stacks *s, uint32_t tid);	/* NULL: out of memory */
void call_stack_branch(struct call_stack *c, uint32_t flags, uint64_t to, uint64_t return_address);
/* Fills in the chain of a sample at `ip`, with a context marker. Returns its length, at most max + 1. */
size_t call_stack_chain(const struct call_stack *c, uint64_t ip, uint64_t *out, size_t max);
void call_stacks_done(struct call_stacks *s);

/* ---- who runs where: tasks.c ---- */
struct running_task {
	uint32_t pid, tid;		/* UINT32_MAX: unknown */
};
struct task_tracker {
	struct int_map pids;		/* by tid */
	struct { struct running_task *v; size_t n, cap; } cpus;
	int32_t switch_event;		/* index of sched:sched_switch; -1: none */
};
int task_tracker_record(struct task_tracker *t, const struct tacho_sideband *rec);	/* 0 or -ENOMEM */
int task_tracker_sched_switch(struct task_tracker *t, const struct tacho_sample *s);
struct running_task task_on_cpu(const struct task_tracker *t, int32_t cpu);
struct running_task task_of_tid(const struct task_tracker *t, int32_t tid);
void task_tracker_done(struct task_tracker *t);

/* ---- decoders ---- */
struct expansion {			/* what all decoders of a recording share */
	struct trace_list traces;
	struct trace_synth synth;
	struct trace_code code;
	struct call_stacks stacks;
	struct task_tracker tasks;
	const struct perf_event_attr *attr;	/* of the traced event */
	uint64_t pt_config;
	const char *cpuid;
	int fd;				/* the recording's */
	bool has_time;
	uint64_t n_lost_bytes;
};

/* The first member of every decoder. */
struct trace_decoder {
	const struct trace_decoder_kind *kind;
};
/* The functions of a kind of trace. */
struct trace_decoder_kind {
	uint32_t kind;
	int (*open)(struct trace_decoder **out, struct expansion *x, const struct aux_queue *q, struct tacho_error *e);
	/* Decodes all that happened before `time`. 0 or a negative errno. */
	int (*decode_until)(struct trace_decoder *d, uint64_t time, struct tacho_error *e);
	void (*close)(struct trace_decoder *d);
};
extern const struct trace_decoder_kind pt_decoder_kind, spe_decoder_kind;
int pt_packets(const uint8_t *bytes, size_t n, int (*fn)(void *arg, const char *line, size_t n), void *arg);
int spe_packets(const uint8_t *bytes, size_t n, int (*fn)(void *arg, const char *line, size_t n), void *arg);

#endif
