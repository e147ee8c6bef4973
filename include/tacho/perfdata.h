#ifndef TACHO_PERFDATA_H
#define TACHO_PERFDATA_H

#include <tacho/record.h>

TACHO_BEGIN_DECLS

/*
 * Reading and writing perf.data files, pipes and directories.
 *
 *	open -> events, features -> next, next ... -> close
 *	create -> add events, features -> write, write ... -> finish
 */
enum tacho_feature {		/* numbers of the file format (HEADER_* in perf) */
	TACHO_FEATURE_TRACING_DATA = 1, TACHO_FEATURE_BUILD_ID, TACHO_FEATURE_HOSTNAME,
	TACHO_FEATURE_OSRELEASE, TACHO_FEATURE_VERSION, TACHO_FEATURE_ARCH, TACHO_FEATURE_NRCPUS,
	TACHO_FEATURE_CPUDESC, TACHO_FEATURE_CPUID, TACHO_FEATURE_TOTAL_MEM, TACHO_FEATURE_CMDLINE,
	TACHO_FEATURE_EVENT_DESC, TACHO_FEATURE_CPU_TOPOLOGY, TACHO_FEATURE_NUMA_TOPOLOGY,
	TACHO_FEATURE_BRANCH_STACK, TACHO_FEATURE_PMU_MAPPINGS, TACHO_FEATURE_GROUP_DESC,
	TACHO_FEATURE_AUXTRACE, TACHO_FEATURE_STAT, TACHO_FEATURE_CACHE, TACHO_FEATURE_SAMPLE_TIME,
	TACHO_FEATURE_MEM_TOPOLOGY, TACHO_FEATURE_CLOCKID, TACHO_FEATURE_DIR_FORMAT,
	TACHO_FEATURE_BPF_PROG_INFO, TACHO_FEATURE_BPF_BTF, TACHO_FEATURE_COMPRESSED,
	TACHO_FEATURE_CPU_PMU_CAPS, TACHO_FEATURE_CLOCK_DATA, TACHO_FEATURE_HYBRID_TOPOLOGY,
	TACHO_FEATURE_PMU_CAPS, TACHO_FEATURE_CPU_DOMAIN_INFO, TACHO_FEATURE_E_MACHINE,
	TACHO_FEATURE_CLN_SIZE,
	TACHO_FEATURE_SYMBOLS = 254,	/* tacho's own: see tacho_symbols_set_embedded() */
	TACHO_FEATURE_MAX = 256,
};

/* Types of records that are written by tools. */
enum {
	TACHO_RECORD_HEADER_ATTR = 64, TACHO_RECORD_EVENT_TYPE, TACHO_RECORD_TRACING_DATA,
	TACHO_RECORD_BUILD_ID, TACHO_RECORD_FINISHED_ROUND, TACHO_RECORD_ID_INDEX,
	TACHO_RECORD_AUXTRACE_INFO, TACHO_RECORD_AUXTRACE, TACHO_RECORD_AUXTRACE_ERROR,
	TACHO_RECORD_THREAD_MAP, TACHO_RECORD_CPU_MAP, TACHO_RECORD_STAT_CONFIG, TACHO_RECORD_STAT,
	TACHO_RECORD_STAT_ROUND, TACHO_RECORD_EVENT_UPDATE, TACHO_RECORD_TIME_CONV,
	TACHO_RECORD_HEADER_FEATURE, TACHO_RECORD_COMPRESSED, TACHO_RECORD_FINISHED_INIT,
	TACHO_RECORD_COMPRESSED2, TACHO_RECORD_BPF_METADATA, TACHO_RECORD_SCHEDSTAT_CPU,
	TACHO_RECORD_SCHEDSTAT_DOMAIN,
};

struct tacho_perfdata;

struct tacho_perfdata_opts {
	size_t size;
	bool ordered;		/* return records in time order, across CPUs, in bounded memory; samples with
				 * a deferred call chain (Linux 6.19) are returned with the complete chain, at
				 * the position of its user part */
	bool force;		/* read files that belong to another user */
	bool no_events;		/* also open files without any event, such as perf's of `sched stats` */
};

/* Opens a file, a directory (perf record --threads), or stdin ("-"). Error messages about damage have its offset. */
TACHO_API int tacho_perfdata_open(struct tacho_perfdata **out, const char *path,
				  const struct tacho_perfdata_opts *opts, struct tacho_error *e);
TACHO_API void tacho_perfdata_close(struct tacho_perfdata *pd);

struct tacho_file_event {
	const char *name;		/* from the file, or derived from the attr */
	const void *attr;		/* attr_size bytes, in this machine's byte order */
	size_t attr_size;
	struct tacho_layout layout;
	const uint64_t *ids;
	size_t n_ids;
	uint32_t leader, group_size;	/* from GROUP_DESC; else its own index and 1 */
	const char *unit;
	double scale;
};
TACHO_API size_t tacho_perfdata_n_events(const struct tacho_perfdata *pd);
TACHO_API const struct tacho_file_event *tacho_perfdata_event(const struct tacho_perfdata *pd, size_t i);
/* The index of the event that a record belongs to: by its id, or 0 if there is only one event. -1: none. */
TACHO_API int tacho_perfdata_event_of(const struct tacho_perfdata *pd, const struct tacho_record *rec);
/* Whether the samples of an event have counter values with ids (PERF_SAMPLE_READ, PERF_FORMAT_ID). */
TACHO_API bool tacho_perfdata_has_values(const struct tacho_file_event *ev);
/* A sample with counter values counts as one sample of each counter. Call this once for each value `i` of
 * each sample of `event`, in time order. Returns 1 if the value belongs to event `*of`, which has counted
 * `*counted` since the last sample with its value; 0 if it has counted nothing or its id is unknown; or
 * -ENOMEM. */
TACHO_API int tacho_perfdata_counted(struct tacho_perfdata *pd, size_t event, const struct tacho_sample *s,
				     size_t i, size_t *of, uint64_t *counted);

/*
 * Selects the samples between two events: from a sample of `on` to the next sample of `off`, repeatedly. The caller
 * sets the names and `show`, does not change them afterwards, and initializes the other fields to zero.
 */
struct tacho_switch {
	const char *on, *off;		/* names of events; NULL: from the beginning, to the end */
	bool show;			/* include the samples of these two events that switch */
	bool is_on, was_on;		/* private, as are the following fields */
	size_t n_known, on_event, off_event;
};
/* Returns -EINVAL if the recording has no event of these names. In a pipe, events may appear later; check again at
 * the end. */
TACHO_API int tacho_switch_check(struct tacho_switch *sw, const struct tacho_perfdata *pd,
				 struct tacho_error *e);
/* Whether a sample of this event is selected. Must be called for all samples, in time order. */
TACHO_API bool tacho_switch_lets(struct tacho_switch *sw, const struct tacho_perfdata *pd, size_t event);

/* Returns 1 with a record (decompressed), 0 at the end, or a negative errno if the file is damaged; *e then has the
 * offset. All records before the damage have been returned. */
TACHO_API int tacho_perfdata_next(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e);
/* Checks for damage outside the records, which makes features unreadable. Returns 0, or a negative errno with
 * the offset in *e. tacho_perfdata_next() reports it, too, after the last record. */
TACHO_API int tacho_perfdata_damage(const struct tacho_perfdata *pd, struct tacho_error *e);
/* Fills in up to n records that the next calls of tacho_perfdata_next() will return, as far as they are known without
 * reading further, and returns how many; often 0. Each is valid until the call after the one that returns it. */
TACHO_API size_t tacho_perfdata_ahead(const struct tacho_perfdata *pd, struct tacho_record *out, size_t n);
/* Warnings about problems that did not stop reading, e.g. that the recorder was killed; NULL: none. */
TACHO_API const char *tacho_perfdata_warning(const struct tacho_perfdata *pd);

/* The payload of a feature, in the byte order of the file, or NULL. In a pipe: if it has been read already. */
TACHO_API const void *tacho_perfdata_feature(const struct tacho_perfdata *pd, enum tacho_feature f, size_t *n);
TACHO_API const char *tacho_perfdata_string(const struct tacho_perfdata *pd, enum tacho_feature f);	/* HOSTNAME ... */
TACHO_API bool tacho_perfdata_swapped(const struct tacho_perfdata *pd);
TACHO_API bool tacho_perfdata_is_pipe(const struct tacho_perfdata *pd);
/* Facts about the file itself, as shown by --header. */
struct tacho_file_facts {
	size_t size;
	uint64_t file_size, data_offset, data_size, features_offset;
	uint64_t captured_s;	/* modification time, seconds since the epoch */
};
TACHO_API int tacho_perfdata_facts(const struct tacho_perfdata *pd, struct tacho_file_facts *out);
/* The number of bytes read so far, including headers, to show the progress. Reading in time order reads ahead. May be
 * called from a signal handler. */
TACHO_API uint64_t tacho_perfdata_position(const struct tacho_perfdata *pd);

/* ---- decoded features ---- */
/*
 * Typed access to the payloads of features, which may come from a damaged file: nothing outside the payload is read.
 * Texts and bytes point into the payload and are valid until the recording is closed.
 *
 * All tacho_perfdata_*() functions below return 0 and fill in their result, or return -ENOENT if the recording does not
 * have the feature, -EBADMSG if the payload is damaged, or -EOPNOTSUPP if it has an unknown version. Lists are read
 * entry by entry; a tacho_*_next() function returns 1 with an entry, 0 at the end, or -EBADMSG.
 */
struct tacho_text {			/* not NUL-terminated */
	const char *s;
	size_t n;
};

struct tacho_bytes {			/* at == NULL: not present */
	const uint8_t *at;
	size_t n;
	bool swapped;			/* other byte order than this machine's */
};

struct tacho_feature_list {
	uint64_t left;			/* entries left; UINT64_MAX: unknown */
	uint64_t block_bytes;		/* MEM_TOPOLOGY: the size of a memory block */
	const uint8_t *at, *end;	/* private, as are the following fields */
	bool swapped, bad;
};

struct tacho_cpu_counts {		/* NRCPUS */
	uint32_t available, online;
};
TACHO_API int tacho_perfdata_cpu_counts(const struct tacho_perfdata *pd, struct tacho_cpu_counts *out);
TACHO_API int tacho_perfdata_total_memory(const struct tacho_perfdata *pd, uint64_t *kb);	/* TOTAL_MEM */
TACHO_API int tacho_perfdata_sample_time(const struct tacho_perfdata *pd, uint64_t *first_ns, uint64_t *last_ns);
TACHO_API int tacho_perfdata_clock_resolution(const struct tacho_perfdata *pd, uint64_t *ns);	/* CLOCKID */
TACHO_API int tacho_perfdata_dir_version(const struct tacho_perfdata *pd, uint64_t *version);	/* DIR_FORMAT */

struct tacho_file_clock {		/* CLOCK_DATA: one moment in wall clock time and in the time of samples */
	uint32_t clockid;
	uint64_t wall_ns, clock_ns;
};
/* Whether the times of all events are those of CLOCK_MONOTONIC. */
TACHO_API bool tacho_perfdata_is_monotonic(const struct tacho_perfdata *pd);
TACHO_API int tacho_perfdata_clock(const struct tacho_perfdata *pd, struct tacho_file_clock *out);

struct tacho_file_compression {		/* COMPRESSED */
	uint32_t version, type;		/* type 1: zstd */
	uint32_t level, ratio;
	uint32_t record_bytes;		/* maximum size of a decompressed record */
};
TACHO_API int tacho_perfdata_compression(const struct tacho_perfdata *pd, struct tacho_file_compression *out);
/* How many records of this type, COMPRESSED or COMPRESSED2, have been decompressed so far; they are not returned as records
 * themselves. */
TACHO_API uint64_t tacho_perfdata_n_compressed(const struct tacho_perfdata *pd, uint32_t type);

struct tacho_cpu_topology {		/* CPU_TOPOLOGY */
	struct tacho_feature_list sockets, threads, dies;	/* sibling lists ("0-3,8"), for tacho_text_next() */
	uint32_t n_cpus;
	bool has_dies;			/* since Linux 5.3 */
	bool swapped;			/* private, as are the following fields */
	const uint8_t *cpus, *die_ids;
};
struct tacho_cpu_position {
	int32_t core, socket, die;	/* -1: the CPU was offline */
};
TACHO_API int tacho_perfdata_topology(const struct tacho_perfdata *pd, struct tacho_cpu_topology *out);
/* False if there is no such CPU. */
TACHO_API bool tacho_topology_cpu(const struct tacho_cpu_topology *t, uint32_t cpu, struct tacho_cpu_position *out);

/* Starts reading a feature that is a list: BUILD_ID, CMDLINE, NUMA_TOPOLOGY, PMU_MAPPINGS, GROUP_DESC, CACHE, MEM_TOPOLOGY,
 * BPF_PROG_INFO, BPF_BTF, CPU_PMU_CAPS, HYBRID_TOPOLOGY, PMU_CAPS. -EINVAL for other features. */
TACHO_API int tacho_perfdata_list(const struct tacho_perfdata *pd, enum tacho_feature f, struct tacho_feature_list *out);
TACHO_API int tacho_text_next(struct tacho_feature_list *list, struct tacho_text *out);	/* CMDLINE, sibling lists */

struct tacho_file_build_id {		/* BUILD_ID */
	const char *path;
	uint8_t id[20];
	size_t n;
	uint16_t misc;
	int32_t pid;
	bool kernel;			/* the kernel or one of its modules */
};
TACHO_API int tacho_build_id_next(struct tacho_feature_list *list, struct tacho_file_build_id *out);

struct tacho_numa_node {		/* NUMA_TOPOLOGY */
	uint32_t node;
	uint64_t total_kb, free_kb;
	struct tacho_text cpus;
};
TACHO_API int tacho_numa_node_next(struct tacho_feature_list *list, struct tacho_numa_node *out);

struct tacho_cpu_cache {		/* CACHE */
	uint32_t level, line_bytes, sets, ways;
	struct tacho_text type, size, cpus;
};
TACHO_API int tacho_cpu_cache_next(struct tacho_feature_list *list, struct tacho_cpu_cache *out);

struct tacho_pmu_mapping {		/* PMU_MAPPINGS */
	uint32_t type;
	struct tacho_text name;
};
TACHO_API int tacho_pmu_mapping_next(struct tacho_feature_list *list, struct tacho_pmu_mapping *out);

struct tacho_group_desc {		/* GROUP_DESC */
	struct tacho_text name;
	uint32_t leader, n;		/* index of the leader; number of events including the leader */
};
TACHO_API int tacho_group_desc_next(struct tacho_feature_list *list, struct tacho_group_desc *out);

struct tacho_memory_node {		/* MEM_TOPOLOGY */
	uint64_t node, n_blocks;
	const uint8_t *bitmap;		/* private */
	bool swapped;
};
TACHO_API int tacho_memory_node_next(struct tacho_feature_list *list, struct tacho_memory_node *out);
/* Whether the memory block belongs to the node. */
TACHO_API bool tacho_memory_node_has(const struct tacho_memory_node *node, uint64_t block);

struct tacho_hybrid_pmu {		/* HYBRID_TOPOLOGY */
	struct tacho_text name, cpus;
};
TACHO_API int tacho_hybrid_pmu_next(struct tacho_feature_list *list, struct tacho_hybrid_pmu *out);

struct tacho_pmu_cap {			/* CPU_PMU_CAPS, or the capabilities of one PMU */
	struct tacho_text name, value;
};
TACHO_API int tacho_pmu_cap_next(struct tacho_feature_list *list, struct tacho_pmu_cap *out);

struct tacho_pmu_caps {			/* PMU_CAPS */
	struct tacho_text name;
	struct tacho_feature_list caps;	/* for tacho_pmu_cap_next() */
};
TACHO_API int tacho_pmu_caps_next(struct tacho_feature_list *list, struct tacho_pmu_caps *out);

struct tacho_bpf_program {		/* BPF_PROG_INFO */
	uint32_t id;
	uint32_t n_functions;		/* 0: the kernel did not report them */
	struct tacho_bytes info, arrays, btf;	/* struct bpf_prog_info and the data that it refers to */
};
struct tacho_bpf_function {
	uint8_t tag[8];
	uint64_t address;
	uint32_t size;
	struct tacho_text name;		/* empty: unknown */
};
TACHO_API int tacho_bpf_program_next(const struct tacho_perfdata *pd, struct tacho_feature_list *list,
				     struct tacho_bpf_program *out);
/* Returns 0, -EINVAL or -EBADMSG. */
TACHO_API int tacho_bpf_function(const struct tacho_bpf_program *p, uint32_t i, struct tacho_bpf_function *out);

struct tacho_bpf_types {		/* BPF_BTF */
	uint32_t id;
	struct tacho_bytes btf;
};
TACHO_API int tacho_bpf_types_next(struct tacho_feature_list *list, struct tacho_bpf_types *out);

struct tacho_trace;
/* TRACING_DATA: the formats of tracepoints, see <tacho/trace.h>. Free *out with tacho_trace_free(). Also returns -ENOMEM. */
TACHO_API int tacho_perfdata_tracing(const struct tacho_perfdata *pd, struct tacho_trace **out, struct tacho_error *e);

/* ---- records of tools ---- */
/* Starts reading a record that contains a list: THREAD_MAP, STAT_CONFIG, or BUILD_ID (a list of one entry, as in the feature).
 * Returns 0, -EINVAL for other records, or -EBADMSG. */
TACHO_API int tacho_record_list(const struct tacho_record *rec, struct tacho_feature_list *out);

struct tacho_thread_map_entry {		/* THREAD_MAP: the threads that STAT records refer to */
	int64_t tid;
	struct tacho_text comm;
};
TACHO_API int tacho_thread_map_next(struct tacho_feature_list *list, struct tacho_thread_map_entry *out);

struct tacho_stat_config {		/* STAT_CONFIG: options of `stat record` */
	uint64_t tag, value;		/* tag 0: aggregation mode, 1: interval in ms, 2: whether to scale */
};
TACHO_API int tacho_stat_config_next(struct tacho_feature_list *list, struct tacho_stat_config *out);

struct tacho_stat_value {		/* STAT: the value of a counter since it was enabled */
	uint64_t id;
	int32_t cpu;
	uint32_t thread;		/* index in THREAD_MAP */
	uint64_t value, enabled_ns, running_ns;
};
/* Both return 0, -EINVAL for other records, or -EBADMSG. */
TACHO_API int tacho_stat_value_decode(const struct tacho_record *rec, struct tacho_stat_value *out);
TACHO_API int tacho_stat_round_decode(const struct tacho_record *rec, bool *final, uint64_t *time_ns);

/* ---- writing ---- */
/*
 * The writer produces files that all known readers accept: all attrs have the same size, the smallest that is
 * sufficient (128 bytes unless config3 or config4 is used: perf before 6.3 rejects longer ones), names are in
 * EVENT_DESC, the list of features is after the data. Until tacho_writer_finish(), the header describes the data up to
 * the last flush, so that the file of a killed recorder can be read.
 */
struct tacho_perfdata_writer;
struct tacho_writer_opts {
	size_t size;
	bool pipe;		/* write the pipe format, without seeking */
	int compress_level;	/* zstd level; 0: not compressed */
	bool bare;		/* write only records: data.N of a directory */
};
/* `fd` is an empty file or a pipe, and remains owned by the caller. */
TACHO_API int tacho_writer_open(struct tacho_perfdata_writer **out, int fd,
				const struct tacho_writer_opts *opts, struct tacho_error *e);
/* Adds an event; all arguments are copied. Returns 0, -EINVAL, -EBUSY after begin, -E2BIG if the attr sets a field that
 * this library does not know, or -ENOMEM. */
TACHO_API int tacho_writer_event(struct tacho_perfdata_writer *w, const char *name, const void *attr,
				 size_t size, const uint64_t *ids, size_t n_ids);
/* Sets or replaces the payload of a feature; possible until finish in a file, until begin in a pipe. EVENT_DESC and
 * COMPRESSED are ignored, because the writer generates them. Returns 0, -EINVAL, -EBUSY or -ENOMEM. */
TACHO_API int tacho_writer_feature(struct tacho_perfdata_writer *w, enum tacho_feature f,
				   const void *payload, size_t n);

/* Set features from values. All return 0, -EINVAL, -EBUSY or -ENOMEM. */
TACHO_API int tacho_writer_string(struct tacho_perfdata_writer *w, enum tacho_feature f,
				  const char *text);
TACHO_API int tacho_writer_cmdline(struct tacho_perfdata_writer *w, const char *const *argv,
				   size_t n);
TACHO_API int tacho_writer_sample_time(struct tacho_perfdata_writer *w, uint64_t first_ns,
				       uint64_t last_ns);
/* CLOCKID and CLOCK_DATA: the clock selected for the times of samples, its resolution, and the current time of this
 * clock and of the wall clock. */
TACHO_API int tacho_writer_clock(struct tacho_perfdata_writer *w, int clockid);
/* Adds a group: `n` consecutive events, beginning with the leader. */
TACHO_API int tacho_writer_group(struct tacho_perfdata_writer *w, const char *name,
				 uint32_t leader, uint32_t n);
/* Adds the build ID of an object, at most 20 bytes. `misc` is 1 for the kernel and its modules, otherwise 2. */
TACHO_API int tacho_writer_build_id(struct tacho_perfdata_writer *w, uint16_t misc, int32_t pid,
				    const void *id, size_t n, const char *path);
/* Sets the features that describe the machine: host name, kernel, CPUs, memory, PMUs and topology, read below the
 * given roots (NULL: /sys, /proc). Unavailable information is omitted. */
TACHO_API int tacho_writer_host(struct tacho_perfdata_writer *w, const char *sysfs,
				const char *procfs);
/* Sets TRACING_DATA: the formats of tracepoints, given as "system:event", read from tracefs (NULL:
 * /sys/kernel/tracing). */
TACHO_API int tacho_writer_tracing(struct tacho_perfdata_writer *w, const char *tracefs,
				   const char *const *names, size_t n, struct tacho_error *e);

/* Writes all parts of the file that precede the data. Call it when all events have been added, and as many
 * features as possible (all of them in a pipe). */
TACHO_API int tacho_writer_begin(struct tacho_perfdata_writer *w, struct tacho_error *e);
/* Writes complete records. They may be buffered until the next call, flush or finish. After a failure (-ENOSPC ...)
 * finish still makes a readable file of the data written before. */
TACHO_API int tacho_writer_records(struct tacho_perfdata_writer *w, const void *bytes, size_t n, struct tacho_error *e);
/* Writes buffered records and the current features. If the recorder is killed after that, the file is complete. */
TACHO_API int tacho_writer_flush(struct tacho_perfdata_writer *w, struct tacho_error *e);
/* The size of the data so far in bytes, compressed if compression is on; includes buffered records. */
TACHO_API uint64_t tacho_writer_bytes(const struct tacho_perfdata_writer *w);
TACHO_API int tacho_writer_finish(struct tacho_perfdata_writer *w, struct tacho_error *e);
TACHO_API void tacho_writer_free(struct tacho_perfdata_writer *w);

TACHO_END_DECLS
#endif
