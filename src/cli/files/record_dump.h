/*
 * The records of a recording in perf's form, for -D of script, report and annotate: the bytes, and a line with the
 * main fields. `script -D --json` has all fields.
 */
#ifndef CLI_FILES_RECORD_DUMP_H
#define CLI_FILES_RECORD_DUMP_H

#include "base/buf.h"

#include <tacho/perfdata.h>
#include <tacho/symbol.h>

struct record_dump {
	const char *path;		/* as in the output */
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;	/* for the names of threads and objects */
	struct tacho_scratch *scratch;
	uint64_t sample_types;		/* of all events */
	bool sample_id_all;
	size_t n_events;		/* from which these are */
	uint32_t trace_kind;		/* of AUXTRACE_INFO; 0: none yet */
};

int record_dump_init(struct record_dump *d, const char *input, struct tacho_perfdata *pd, struct tacho_error *e);
void record_dump_done(struct record_dump *d);
/* Appends a record. Returns 0; -EBADMSG if it is damaged, then only its bytes are appended; -ENOMEM. */
int record_dump_put(struct record_dump *d, const struct tacho_record *rec, struct buf *out);

/* The name of a type of record without the prefix PERF_RECORD_, also of those that only tools write. */
const char *record_kind_name(uint32_t type);

/* Appends the fields of a sample, a line each. */
void sample_dump(struct buf *out, const struct tacho_sample *s, const struct tacho_layout *lay,
		 const struct tacho_record *rec);

#endif
