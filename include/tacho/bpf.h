#ifndef TACHO_BPF_H
#define TACHO_BPF_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * BPF programs that summarize in the kernel. Everything that uses them also works without them, at a higher cost;
 * these calls say whether this build has them and whether they can be loaded here.
 */

/* Whether the programs were built (it takes clang, bpftool and libbpf's headers). */
TACHO_API bool tacho_bpf_is_built_in(void);

/* Loads a small program, which is removed at once. Returns 0, or a negative errno with one sentence that says why no
 * program can be loaded: -EOPNOTSUPP (not built in, no libbpf), -EPERM (capabilities, lockdown), or another error of
 * the kernel. */
TACHO_API int tacho_bpf_probe(struct tacho_error *e);

TACHO_END_DECLS
#endif
