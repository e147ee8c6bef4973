#ifndef TACHO_PERFDATA_H
#define TACHO_PERFDATA_H

#include <tacho/record.h>

TACHO_BEGIN_DECLS

/*
 * perf.data files, pipes and directories, both ways.
 *
 *	open -> events, features -> next, next ... -> close
 *	create -> add events, features -> write, write ... -> finish
 */
enum tacho_feature {		/* the file format's own numbers */
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
	TACHO_FEATURE_CLN_SIZE, TACHO_FEATURE_MAX = 256,
};

/* The tools' own records. */
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
	bool ordered;		/* samples and side-band by time, across CPUs, in bounded memory; samples
				 * whose call chain came in two parts (Linux 6.19) with both, as soon as
				 * the second is there */
	bool force;		/* read a file of another user */
};

/* `path` "-" is stdin; a directory is one too. Errors name the offset and what is wrong there. */
TACHO_API int tacho_perfdata_open(struct tacho_perfdata **out, const char *path,
				  const struct tacho_perfdata_opts *opts, struct tacho_error *e);
TACHO_API void tacho_perfdata_close(struct tacho_perfdata *pd);

struct tacho_file_event {
	const char *name;		/* the file's, or one made from the attr */
	const void *attr;	/* in this machine's byte order, attr_size bytes */
	size_t attr_size;
	struct tacho_layout layout;
	const uint64_t *ids;
	size_t n_ids;
	uint32_t leader, group_size;	/* from GROUP_DESC, else its own index and 1 */
	const char *unit;
	double scale;
};
TACHO_API size_t tacho_perfdata_n_events(const struct tacho_perfdata *pd);
TACHO_API const struct tacho_file_event *tacho_perfdata_event(const struct tacho_perfdata *pd, size_t i);
/* Which event a record belongs to: by its id, or the only one there is. -1: none. */
TACHO_API int tacho_perfdata_event_of(const struct tacho_perfdata *pd, const struct tacho_record *rec);
/* Whether its samples carry values of counters with their ids (PERF_SAMPLE_READ, PERF_FORMAT_ID). */
TACHO_API bool tacho_perfdata_has_values(const struct tacho_file_event *ev);
/* Such a sample of `event` stands for one of each counter. 1: value `i` is of the event `*of`, which counted `*counted` since the last sample that
 * had it; 0: it counted nothing, or nobody knows it; or -ENOMEM. Each once, in the order of time. */
TACHO_API int tacho_perfdata_counted(struct tacho_perfdata *pd, size_t event, const struct tacho_sample *s,
				     size_t i, size_t *of, uint64_t *counted);

/*
 * Samples between two events: none before one of `on`, none behind one of `off`, and again. All start
 * zeroed but for the names and `show`, which must stay as they are.
 */
struct tacho_switch {
	const char *on, *off;		/* names of events; NULL: from the beginning, to the end */
	bool show;			/* also the samples of these two that begin or end something */
	bool is_on, was_on;		/* the call's own, like all that follows */
	size_t n_known, on_event, off_event;
};
/* -EINVAL where the recording has no such event. A pipe may tell of it later: ask when it is read. */
TACHO_API int tacho_switch_check(struct tacho_switch *sw, const struct tacho_perfdata *pd,
				 struct tacho_error *e);
/* Whether a sample of this event counts; asked for all of them, in the order of time. */
TACHO_API bool tacho_switch_lets(struct tacho_switch *sw, const struct tacho_perfdata *pd, size_t event);

/* Returns 1 with a record (already decompressed), 0 at the end, a negative errno where the file
 * is damaged: *e then has the offset; everything before it has been returned. */
TACHO_API int tacho_perfdata_next(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e);
/* Damage outside the records: names and facts of the recording are missing. Returns 0, or a negative
 * errno and in *e where it is. next() tells it, too, after the last record. */
TACHO_API int tacho_perfdata_damage(const struct tacho_perfdata *pd, struct tacho_error *e);
/* What the next calls will give, as far as that is known without reading on: fills up to n and
 * returns how many, often 0. Each holds until the call after the one that gives it. */
TACHO_API size_t tacho_perfdata_ahead(const struct tacho_perfdata *pd, struct tacho_record *out, size_t n);
/* Something to tell although reading goes on ("the recorder died: read to the end of the file"). */
TACHO_API const char *tacho_perfdata_warning(const struct tacho_perfdata *pd);

/* A feature's payload in file byte order, or NULL. In a pipe: what has been seen so far. */
TACHO_API const void *tacho_perfdata_feature(const struct tacho_perfdata *pd, enum tacho_feature f, size_t *n);
TACHO_API const char *tacho_perfdata_string(const struct tacho_perfdata *pd, enum tacho_feature f);	/* HOSTNAME ... */
TACHO_API bool tacho_perfdata_swapped(const struct tacho_perfdata *pd);
TACHO_API bool tacho_perfdata_is_pipe(const struct tacho_perfdata *pd);
/* (record offset, header size, attr size, data offset and size, feature offset) for --header. */
struct tacho_file_facts {
	size_t size;
	uint64_t file_size, data_offset, data_size, features_offset;
	uint64_t captured_s;	/* mtime */
};
TACHO_API int tacho_perfdata_facts(const struct tacho_perfdata *pd, struct tacho_file_facts *out);
/* How many bytes of the file have been read, headers included: for showing progress. Ordering reads
 * ahead. May be asked from a signal's handler. */
TACHO_API uint64_t tacho_perfdata_position(const struct tacho_perfdata *pd);

/* ---- writing ---- */
/*
 * What is written is meant for every reader there is: attrs of one size, the smallest that holds
 * them all (128 bytes unless config3 or config4 is used: perf before 6.3 refuses longer ones),
 * names in EVENT_DESC, features behind the data. Until tacho_writer_finish() the header tells of
 * the data up to the last flush, so that what a killed recorder leaves can be read.
 */
struct tacho_perfdata_writer;
struct tacho_writer_opts {
	size_t size;
	bool pipe;		/* a stream: nothing is ever rewritten */
	int compress_level;	/* 0: none */
	bool bare;		/* records and nothing else: data.N of a directory */
};
/* `fd` stays the caller's, and is at the start of an empty file (or a pipe). */
TACHO_API int tacho_writer_open(struct tacho_perfdata_writer **out, int fd,
				const struct tacho_writer_opts *opts, struct tacho_error *e);
/* Everything is copied. 0, -EINVAL, -EBUSY after begin, -E2BIG where a field of the attr is set that
 * this library does not know, -ENOMEM. */
TACHO_API int tacho_writer_event(struct tacho_perfdata_writer *w, const char *name, const void *attr,
				 size_t size, const uint64_t *ids, size_t n_ids);
/* Replaces an earlier payload. In a file until finish, in a pipe until begin. EVENT_DESC and
 * COMPRESSED are made by the writer itself: those of another file are let be. 0, -EINVAL, -EBUSY,
 * -ENOMEM. */
TACHO_API int tacho_writer_feature(struct tacho_perfdata_writer *w, enum tacho_feature f,
				   const void *payload, size_t n);

/* Payloads of features, put together. All return 0, -EINVAL, -EBUSY or -ENOMEM. */
TACHO_API int tacho_writer_string(struct tacho_perfdata_writer *w, enum tacho_feature f,
				  const char *text);
TACHO_API int tacho_writer_cmdline(struct tacho_perfdata_writer *w, const char *const *argv,
				   size_t n);
TACHO_API int tacho_writer_sample_time(struct tacho_perfdata_writer *w, uint64_t first_ns,
				       uint64_t last_ns);
/* The clock of the samples' times, where it was chosen: its resolution, and what it and the wall
 * clock show now. */
TACHO_API int tacho_writer_clock(struct tacho_perfdata_writer *w, int clockid);
/* A group: `n` events from `leader` on, with the leader. */
TACHO_API int tacho_writer_group(struct tacho_perfdata_writer *w, const char *name,
				 uint32_t leader, uint32_t n);
/* One object's build id, at most 20 bytes; `misc` is 1 for the kernel and its modules, 2 else. */
TACHO_API int tacho_writer_build_id(struct tacho_perfdata_writer *w, uint16_t misc, int32_t pid,
				    const void *id, size_t n, const char *path);
/* Host name, kernel, CPUs, memory, PMUs and topology, from the given roots (NULL: /sys, /proc).
 * What the machine does not tell is left out. */
TACHO_API int tacho_writer_host(struct tacho_perfdata_writer *w, const char *sysfs,
				const char *procfs);
/* The formats of tracepoints, named "system:event", from tracefs (NULL: /sys/kernel/tracing). */
TACHO_API int tacho_writer_tracing(struct tacho_perfdata_writer *w, const char *tracefs,
				   const char *const *names, size_t n, struct tacho_error *e);

/* After events are known, and features as far as may be (in a pipe all): writes what stands before
 * the data. */
TACHO_API int tacho_writer_begin(struct tacho_perfdata_writer *w, struct tacho_error *e);
/* Whole records. They may wait for more, and go out with the next call, flush or finish. After a
 * failure (-ENOSPC ...) finish still makes a readable file of what was written before. */
TACHO_API int tacho_writer_records(struct tacho_perfdata_writer *w, const void *bytes, size_t n, struct tacho_error *e);
/* Now, with the features as they are: what a recorder leaves that is killed then is complete. */
TACHO_API int tacho_writer_flush(struct tacho_perfdata_writer *w, struct tacho_error *e);
/* The data's bytes so far, as they lie (or will lie) in the file; compressed when they have been. */
TACHO_API uint64_t tacho_writer_bytes(const struct tacho_perfdata_writer *w);
TACHO_API int tacho_writer_finish(struct tacho_perfdata_writer *w, struct tacho_error *e);
TACHO_API void tacho_writer_free(struct tacho_perfdata_writer *w);

TACHO_END_DECLS
#endif
