/*
 * Hardware traces and raw samples in the dump of records (-D): what AUXTRACE_INFO says, the packets of AUXTRACE records, and
 * the registers of AMD IBS samples.
 */
#ifndef CLI_FILES_TRACE_DUMP_H
#define CLI_FILES_TRACE_DUMP_H

#include "base/buf.h"

#include <tacho/perfdata.h>

/* Appends what follows the head of an AUXTRACE_INFO, AUXTRACE or AUXTRACE_ERROR record, nothing for others, and the line break. *kind is
 * the kind of trace, which AUXTRACE_INFO sets. `path` is the recording. 0 or -ENOMEM. */
int trace_dump_put(const struct tacho_record *rec, const char *path, uint32_t *kind, struct buf *out);
/* Appends the registers of a sample of the PMU ibs_op or ibs_fetch; nothing for other PMUs. */
void ibs_dump_put(const struct tacho_perfdata *pd, uint32_t pmu_type, const struct tacho_sample *s, struct buf *out);

#endif
