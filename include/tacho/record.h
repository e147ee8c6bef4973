#ifndef TACHO_RECORD_H
#define TACHO_RECORD_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Decoding of perf_events records, which the kernel writes to ring buffers and tools write to perf.data files.
 * The functions make no system calls: they take bytes and return views. A view points into these bytes or into
 * the scratch buffer of the call, and is valid until either of them changes.
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
	/* types from 64 on are written by tools and found only in files: <tacho/perfdata.h> */
};

/* A record, of which only the header has been decoded. */
struct tacho_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;			/* including the 8-byte header */
	const uint8_t *bytes;		/* the record, starting with its header */
	uint64_t offset;		/* in the file or stream */
	bool swapped;			/* other byte order than this machine's */
};

struct tacho_record_iter {
	const uint8_t *at, *end;
	uint64_t offset;		/* offset of `at` */
	bool swapped;
};

/* Returns 1 with a record, 0 at the end, -EBADMSG at an invalid header (size below 8), -ENODATA if the last
 * record is incomplete. */
TACHO_API int tacho_record_next(struct tacho_record_iter *it, struct tacho_record *rec);

/* The fields of a perf_event_attr that determine the layout of its records. */
struct tacho_layout {
	uint64_t sample_type, read_format, branch_type;
	uint64_t regs_user, regs_intr;
	uint64_t period;		/* period of a sample if sample_type has no PERIOD; 1 if the attr
					 * has a frequency instead */
	bool sample_id_all;
	uint16_t machine;		/* ELF e_machine, for register names in dumps; 0: unknown */
	uint64_t reserved[6];
};
/* `attr` has `size` bytes and is in this machine's byte order. Returns 0 or -EINVAL. */
TACHO_API int tacho_layout_init(struct tacho_layout *out, const void *attr, size_t size);

/* Memory for fields that cannot be returned in place: words in the other byte order or at unaligned addresses. */
struct tacho_scratch {
	uint64_t words[8192];		/* a record is smaller than 64 KiB */
	size_t used;
};

struct tacho_words {			/* an array of words in this machine's byte order */
	const uint64_t *v;
	size_t n;
};

struct tacho_read_value {
	uint64_t value, id, lost;
};

struct tacho_read {			/* values of a counter or a group, inside a record */
	uint64_t enabled_ns, running_ns;
	size_t n;			/* number of values: 1, or the size of the group */
	struct tacho_words words;	/* in the layout of `format`; use tacho_read_get() */
	uint64_t format;
};
/* Value number `i`. id and lost are 0 if the format does not have them; everything is 0 if i >= n. */
TACHO_API struct tacho_read_value tacho_read_get(const struct tacho_read *r, size_t i);

struct tacho_branch {
	uint64_t from, to;
	uint64_t flags;			/* mispred 1, predicted 1, in_tx 1, abort 1, cycles 16, type 4,
					 * spec 2, new_type 4, priv 3 */
};

struct tacho_regs {
	uint64_t abi;			/* 0: none, 1: 32 bit, 2: 64 bit */
	uint64_t mask;
	struct tacho_words values;	/* one for each bit in mask, lowest bit first */
};

/* A sample. Fields that its sample_type does not have are zero; see `type`. */
struct tacho_sample {
	uint64_t type;			/* sample_type: which fields are present */
	uint64_t id, ip, time, addr, stream_id, period;
	uint32_t pid, tid, cpu;
	struct tacho_read read;
	struct tacho_words chain;	/* the call chain, including context markers */
	const uint8_t *raw;
	uint32_t n_raw;
	uint64_t branch_hw_index;	/* UINT64_MAX: not present */
	const struct tacho_branch *branches;
	size_t n_branches;
	struct tacho_words branch_counters;
	struct tacho_regs regs_user, regs_intr;
	const uint8_t *stack;
	uint64_t n_stack, n_stack_used;	/* bytes dumped; bytes that are valid */
	uint64_t weight;		/* WEIGHT, or the low 32 bits of WEIGHT_STRUCT */
	uint16_t weight2, weight3;
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	const uint8_t *aux;
	uint64_t n_aux;
	/* later members are added here */
};

/* Returns 0, or -EBADMSG if the record is too short for its layout; then *out is zero. Unknown trailing bytes are
 * ignored, because a newer kernel may append fields. */
TACHO_API int tacho_sample_decode_sized(struct tacho_sample *out, size_t size, const struct tacho_record *rec,
					const struct tacho_layout *lay, struct tacho_scratch *scratch);
static inline int tacho_sample_decode(struct tacho_sample *out, const struct tacho_record *rec,
				      const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	return tacho_sample_decode_sized(out, sizeof(*out), rec, lay, scratch);
}
/* Like tacho_sample_decode(), but faster when decoding many samples into the same *out, which must be zero
 * before the first call and unmodified since the last one: fields that the layout does not have are not
 * cleared again. */
TACHO_API int tacho_sample_decode_again_sized(struct tacho_sample *out, size_t size, const struct tacho_record *rec,
					      const struct tacho_layout *lay, struct tacho_scratch *scratch);
static inline int tacho_sample_decode_again(struct tacho_sample *out, const struct tacho_record *rec,
					    const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	return tacho_sample_decode_again_sized(out, sizeof(*out), rec, lay, scratch);
}
/* The id of the record's event, without decoding the rest; 0 if the layout has none. Works for samples and, using
 * the trailer, for all other records. */
TACHO_API uint64_t tacho_record_id(const struct tacho_record *rec, const struct tacho_layout *lay);
/* The time of a record, or UINT64_MAX if it has none. */
TACHO_API uint64_t tacho_record_time(const struct tacho_record *rec, const struct tacho_layout *lay);

/* The sample_id trailer of all records but samples. Fields that it does not have are zero. */
struct tacho_sample_id {
	uint64_t type;
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id;
	uint64_t reserved[2];
};

struct tacho_mmap {			/* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	uint8_t build_id[20], n_build_id;	/* n_build_id 0: none */
	const char *path;		/* NUL-terminated within the record */
};

struct tacho_sideband {			/* any record but SAMPLE; `type` says which member is valid */
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
		struct { uint32_t pid, tid; } task_id;		/* ITRACE_START; SWITCH_CPU_WIDE: the previous or next task */
		struct { uint32_t pid, tid; uint64_t n; struct tacho_words dev_inode; } namespaces;
		struct { uint64_t addr; uint32_t len; uint16_t type, flags; const char *name; } ksymbol;
		struct { uint16_t type, flags; uint32_t id; uint8_t tag[8]; } bpf;
		struct { uint64_t id; const char *path; } cgroup;
		struct { uint64_t addr; uint16_t n_old, n_new; const uint8_t *bytes; } text_poke;
		struct { uint64_t hw_id; } hw_id;
		struct { uint64_t cookie; struct tacho_words chain; } deferred;
	};
};

/* Returns 0, -EOPNOTSUPP for an unknown type, or -EBADMSG. If `lay` is NULL, the trailer is not decoded, and READ
 * records are rejected. *out is only valid if 0 is returned. */
TACHO_API int tacho_sideband_decode_sized(struct tacho_sideband *out, size_t size, const struct tacho_record *rec,
					  const struct tacho_layout *lay, struct tacho_scratch *scratch);
static inline int tacho_sideband_decode(struct tacho_sideband *out, const struct tacho_record *rec,
					const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	return tacho_sideband_decode_sized(out, sizeof(*out), rec, lay, scratch);
}

/* "PERF_RECORD_MMAP2" or NULL. */
TACHO_API const char *tacho_record_name(uint32_t type);

/* Formats a record as lines of text, or as a JSON object (with a stable, versioned schema). The caller frees the
 * result, which is NULL if memory is exhausted. If `lay` is NULL, only the header and the bytes are shown. */
TACHO_API char *tacho_record_text(const struct tacho_record *rec, const struct tacho_layout *lay);
TACHO_API char *tacho_record_json(const struct tacho_record *rec, const struct tacho_layout *lay);

/* The name of register `bit` on `machine` (an ELF e_machine number), or NULL. */
TACHO_API const char *tacho_reg_name(unsigned machine, unsigned bit);

TACHO_END_DECLS
#endif
