#ifndef TACHO_RECORD_H
#define TACHO_RECORD_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Records: what the kernel writes into rings and the tools write into perf.data. Everything here
 * is pure: bytes in, views out. A view borrows the bytes it was made from, or the scratch that
 * was handed in, and is valid until either changes.
 */

enum tacho_record_type {
	TACHO_RECORD_MMAP = 1,
	TACHO_RECORD_LOST,
	TACHO_RECORD_COMM,
	TACHO_RECORD_EXIT,
	TACHO_RECORD_THROTTLE,
	TACHO_RECORD_UNTHROTTLE,
	TACHO_RECORD_FORK,
	TACHO_RECORD_READ,
	TACHO_RECORD_SAMPLE,
	TACHO_RECORD_MMAP2,
	TACHO_RECORD_AUX,
	TACHO_RECORD_ITRACE_START,
	TACHO_RECORD_LOST_SAMPLES,
	TACHO_RECORD_SWITCH,
	TACHO_RECORD_SWITCH_CPU_WIDE,
	TACHO_RECORD_NAMESPACES,
	TACHO_RECORD_KSYMBOL,
	TACHO_RECORD_BPF_EVENT,
	TACHO_RECORD_CGROUP,
	TACHO_RECORD_TEXT_POKE,
	TACHO_RECORD_AUX_OUTPUT_HW_ID,
	TACHO_RECORD_CALLCHAIN_DEFERRED,
	/* 64 and up are the tools' own, found in files only: <tacho/perfdata.h> */
};

/* One record as it lies there. Nothing but its header has been looked at. */
struct tacho_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;			/* with its 8-byte header */
	const uint8_t *bytes;		/* the header's first byte */
	uint64_t offset;		/* where it began in the file or stream */
	bool swapped;			/* the other byte order than this machine's */
};

struct tacho_record_iter {
	const uint8_t *at, *end;
	uint64_t offset;		/* of `at` */
	bool swapped;
};

/* Returns 1 with a record, 0 at a clean end, -EBADMSG at a header that cannot be (size below 8),
 * -ENODATA when the last record is cut off. */
TACHO_API int tacho_record_next(struct tacho_record_iter *it, struct tacho_record *rec);

/* What of a perf_event_attr decides how its records look. */
struct tacho_layout {
	uint64_t sample_type, read_format, branch_type;
	uint64_t regs_user, regs_intr;
	uint64_t period;		/* of every sample, where sample_type has no PERIOD; 1 where the
					 * attr has a frequency instead */
	bool sample_id_all;
	uint16_t machine;		/* ELF e_machine, for register names in dumps; 0: unknown */
};
/* `attr` has `size` bytes, already in this machine's byte order. 0 or -EINVAL. */
TACHO_API int tacho_layout_init(struct tacho_layout *out, const void *attr, size_t size);

/* Room for what cannot be a view: words of the other byte order or at odd addresses. */
struct tacho_scratch {
	uint64_t words[8192];		/* a record is below 64 KiB */
	size_t used;
};

struct tacho_words {			/* in this machine's byte order */
	const uint64_t *v;
	size_t n;
};

struct tacho_read_value {
	uint64_t value, id, lost;
};

struct tacho_read {			/* a counter's or group's values inside a record */
	uint64_t enabled_ns, running_ns;
	size_t n;			/* 1, or as many as the group has */
	struct tacho_words words;	/* as they lie there; tacho_read_get() picks */
	uint64_t format;
};
/* Value `i` of `r`; id and lost are zero where the format has none, all is past the last one. */
TACHO_API struct tacho_read_value tacho_read_get(const struct tacho_read *r, size_t i);

struct tacho_branch {
	uint64_t from, to;
	uint64_t flags;			/* mispred 1, predicted 1, in_tx 1, abort 1, cycles 16, type 4,
					 * spec 2, new_type 4, priv 3 */
};

struct tacho_regs {
	uint64_t abi;			/* 0: none, 1: 32 bit, 2: 64 bit */
	uint64_t mask;
	struct tacho_words values;	/* one per bit of mask, lowest first */
};

/* A sample; fields that its sample_type does not have are zero (ids and pids: see `type`). */
struct tacho_sample {
	uint64_t type;			/* sample_type: which fields were there */
	uint64_t id, ip, time, addr, stream_id, period;
	uint32_t pid, tid, cpu;
	struct tacho_read read;
	struct tacho_words chain;	/* with its context markers */
	const uint8_t *raw;
	uint32_t n_raw;
	uint64_t branch_hw_index;	/* UINT64_MAX: not given */
	const struct tacho_branch *branches;
	size_t n_branches;
	struct tacho_words branch_counters;
	struct tacho_regs regs_user, regs_intr;
	const uint8_t *stack;
	uint64_t n_stack, n_stack_used;	/* dumped; really in use */
	uint64_t weight;		/* WEIGHT, or the low 32 bits of WEIGHT_STRUCT */
	uint16_t weight2, weight3;
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	const uint8_t *aux;
	uint64_t n_aux;
};

/* 0, or -EBADMSG when the record does not hold what its layout promises; *out is then zero.
 * Bytes behind the last known field are let be: a newer kernel may have put them there. */
TACHO_API int tacho_sample_decode(struct tacho_sample *out, const struct tacho_record *rec,
				  const struct tacho_layout *lay, struct tacho_scratch *scratch);
/* The same, for one sample after the other: *out is zero, or as an earlier call left it. What the
 * layout of that one has not is zero already, and is not made so once more. */
TACHO_API int tacho_sample_decode_again(struct tacho_sample *out, const struct tacho_record *rec,
					const struct tacho_layout *lay, struct tacho_scratch *scratch);
/* Only the event's id, without decoding the rest; 0 where the layout carries none. Works for
 * samples and, through the trailer, for all others. */
TACHO_API uint64_t tacho_record_id(const struct tacho_record *rec, const struct tacho_layout *lay);
/* The time of any record, or UINT64_MAX where it has none. */
TACHO_API uint64_t tacho_record_time(const struct tacho_record *rec, const struct tacho_layout *lay);

/* The trailer of records that are no samples; zero where it has not the field. */
struct tacho_sample_id {
	uint64_t type;
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id;
};

struct tacho_mmap {			/* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	uint8_t build_id[20], n_build_id;	/* n 0: none */
	const char *path;		/* NUL-terminated within the record */
};

struct tacho_sideband {			/* any record but SAMPLE */
	uint32_t type;
	uint16_t misc;
	struct tacho_sample_id id;
	union {
		struct tacho_mmap mmap;
		struct { uint32_t pid, tid; const char *name; } comm;
		struct { uint32_t pid, ppid, tid, ptid; uint64_t time; } task;	/* FORK, EXIT */
		struct { uint64_t id, lost; } lost;		/* LOST, LOST_SAMPLES (id 0) */
		struct { uint64_t time, id, stream_id; } throttle;
		struct { uint32_t pid, tid; struct tacho_read read; } read;
		struct { uint64_t offset, size, flags; } aux;
		struct { uint32_t pid, tid; } task_id;		/* ITRACE_START, SWITCH_CPU_WIDE (the other) */
		struct { uint32_t pid, tid; uint64_t n; struct tacho_words dev_inode; } namespaces;
		struct { uint64_t addr; uint32_t len; uint16_t type, flags; const char *name; } ksymbol;
		struct { uint16_t type, flags; uint32_t id; uint8_t tag[8]; } bpf;
		struct { uint64_t id; const char *path; } cgroup;
		struct { uint64_t addr; uint16_t n_old, n_new; const uint8_t *bytes; } text_poke;
		struct { uint64_t hw_id; } hw_id;
		struct { uint64_t cookie; struct tacho_words chain; } deferred;
	};
};

/* 0; -EOPNOTSUPP for a type that is not known (pass it on by its size); -EBADMSG. `lay` may be
 * NULL: then no trailer is looked for, and READ is refused. Nothing but 0 leaves views in *out. */
TACHO_API int tacho_sideband_decode(struct tacho_sideband *out, const struct tacho_record *rec,
				 const struct tacho_layout *lay, struct tacho_scratch *scratch);

/* "PERF_RECORD_MMAP2" or NULL. */
TACHO_API const char *tacho_record_name(uint32_t type);

/* One record as text lines or as one JSON object (stable, versioned); the caller frees.
 * `lay` may be NULL: then only header and bytes are shown. NULL without memory. */
TACHO_API char *tacho_record_text(const struct tacho_record *rec, const struct tacho_layout *lay);
TACHO_API char *tacho_record_json(const struct tacho_record *rec, const struct tacho_layout *lay);

/* The name of register `bit` on `machine` (an ELF e_machine number), or NULL. */
TACHO_API const char *tacho_reg_name(unsigned machine, unsigned bit);

TACHO_END_DECLS
#endif
