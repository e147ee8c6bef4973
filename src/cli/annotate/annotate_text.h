/*
 * The writers of `tacho annotate`, which print one function at a time.
 */
#ifndef CLI_ANNOTATE_ANNOTATE_TEXT_H
#define CLI_ANNOTATE_ANNOTATE_TEXT_H

#include "base/json.h"
#include "cli/annotate/annotate.h"

enum annotate_value { ANNOTATE_PERCENT, ANNOTATE_SAMPLES, ANNOTATE_PERIOD };

struct annotate_style {
	enum annotate_value value;
	bool global;			/* 100 % are all samples of the event, not those of the function */
	bool hits;			/* percentages of numbers of samples, not of periods */
	bool summary;			/* -l: a summary of source lines, and these beside the instructions */
	bool full_paths, raw_bytes;
	bool addresses;			/* -v: first the sampled addresses */
};

struct annotate_printed {
	const struct annotate *a;
	const struct annotate_rows *rows;
	const struct annotate_style *style;
	const struct tacho_profile *profile;
	const struct tacho_profile_frame *frame;
	const uint32_t *events;
	uint64_t frequency;		/* of the first event, in Hz; 0: it has a fixed period */
};

/* "cpu-clock:u", or "anon group { cycles, instructions }" */
void annotate_event_names(const struct tacho_profile *p, const uint32_t *events, size_t n, struct buf *out);
const char *annotate_percent_type(const struct annotate_style *s);	/* "local period" */
double annotate_percent(const struct annotate_printed *p, size_t line, size_t event);

void annotate_text(const struct annotate_printed *p, struct buf *out);		/* as perf's --stdio */
void annotate_compact_text(const struct annotate_printed *p, struct buf *out);	/* as perf's --stdio2 */
void annotate_json(const struct annotate_printed *p, struct json *j);

#endif
