/*
 * `tacho data convert`: one pass over a recording, ordered by time. Each record is passed to the writer of
 * the output format.
 *
 *	cmd_data.c      options and messages
 *	convert.c       the pass over the records, with symbols and tracepoint formats
 *	convert_json.c  perf's JSON
 *	convert_ctf.c ctf_field.c ctf_stream.c   the Common Trace Format
 */
#ifndef CLI_FILES_CONVERT_H
#define CLI_FILES_CONVERT_H

#include "base/buf.h"
#include "record/perf_abi.h"
#include "base/vec.h"
#include "cli/core/command.h"
#include "cli/core/time_filter.h"

#include <tacho/perfdata.h>
#include <tacho/symbol.h>
#include <tacho/trace.h>

struct data_opts {
	const char *input, *json, *ctf, *time;
	bool all, tod, force;
};

struct convert_event {
	const struct tacho_file_event *file;
	const struct perf_event_attr *attr;
	const struct tacho_trace_event *trace;	/* NULL: not a tracepoint, or its format is unknown */
};

struct convert {
	const struct data_opts *opts;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_trace *trace;
	struct tacho_trace_opts trace_opts;
	struct { struct convert_event *v; size_t n, cap; } events;
	struct tacho_scratch *scratch;
	struct time_filter times;	/* --time */
	uint64_t samples, skipped, sideband_events, bytes, bad_records;
	const struct convert_writer *writer;
	void *out;			/* the writer's state */
};

struct convert_writer {
	const char *name;		/* "JSON" */
	const char *(*path)(const struct data_opts *o);
	/* All functions return 0, or a negative errno with *e filled in. */
	int (*open)(struct convert *c, struct tacho_error *e);
	int (*sample)(struct convert *c, size_t event, const struct tacho_record *rec,
		      const struct tacho_sample *s, struct tacho_error *e);
	int (*sideband)(struct convert *c, const struct tacho_sideband *o, struct tacho_error *e);	/* may be NULL */
	int (*finish)(struct convert *c, struct tacho_error *e);	/* also called for damaged recordings */
	void (*close)(struct convert *c);
};
extern const struct convert_writer convert_json, convert_ctf;

/* Converts the recording. If it is damaged, the records before the damage are converted. */
int convert_run(struct convert *c, struct tacho_error *e);
void convert_done(struct convert *c);

#endif
