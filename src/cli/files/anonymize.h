/*
 * Replaces the addresses in a recording, for `tacho inject --aslr`: the copy shows which code ran, but not where
 * it was loaded. Records must come in time order.
 */
#ifndef CLI_FILES_ANONYMIZE_H
#define CLI_FILES_ANONYMIZE_H

#include "base/buf.h"
#include "cli/files/address_remap.h"

#include <tacho/perfdata.h>

struct anonymizer {
	struct address_remap map;
	struct buf record;		/* the last record that was rewritten */
	struct tacho_scratch *scratch;
	uint64_t n_dropped;		/* samples */
};

int anonymizer_init(struct anonymizer *a);	/* 0 or -ENOMEM */
void anonymizer_done(struct anonymizer *a);

/* Whether the feature contains no addresses. */
bool anonymize_keeps_feature(enum tacho_feature f);
/* Copies the event's attr without the fields that contain addresses. Returns 0 or -ENOMEM; -EOPNOTSUPP if its
 * samples have unknown fields. */
int anonymize_attr(const struct tacho_file_event *ev, struct buf *out, struct tacho_error *e);
/* Returns 1 with the record to write instead in *rec, valid until the next call; 0: it must be left out;
 * -EBADMSG or -ENOMEM. */
int anonymize_record(struct anonymizer *a, const struct tacho_perfdata *pd, struct tacho_record *rec);

#endif
