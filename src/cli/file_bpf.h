/*
 * BPF programs in a file's header, for cli/file_header.c.
 */
#ifndef CLI_FILE_BPF_H
#define CLI_FILE_BPF_H

#include "base/buf.h"
#include "cli/payload.h"

void file_bpf_programs(const struct tacho_perfdata *pd, struct payload *p, struct buf *out);
void file_bpf_types(const struct tacho_perfdata *pd, struct payload *p, struct buf *out);

#endif
