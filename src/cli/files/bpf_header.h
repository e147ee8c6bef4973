/*
 * BPF programs in a file's header, for cli/files/header_text.c.
 */
#ifndef CLI_FILES_BPF_HEADER_H
#define CLI_FILES_BPF_HEADER_H

#include "base/buf.h"
#include "cli/files/feature_payload.h"

void file_bpf_programs(const struct tacho_perfdata *pd, struct payload *p, struct buf *out);
void file_bpf_types(const struct tacho_perfdata *pd, struct payload *p, struct buf *out);

#endif
