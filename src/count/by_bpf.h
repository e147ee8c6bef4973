/*
 * Events of a set that a BPF program counts.
 */
#ifndef COUNT_BY_BPF_H
#define COUNT_BY_BPF_H

#include "count/evset_internal.h"

/* Before events get their places: decides which are counted by BPF, and loads the program. Without BPF, there are none, and a
 * note with the reason. 0 or -ENOMEM. */
int by_bpf_prepare(struct tacho_evset *set);
/* Opens these events, once for all programs that count them, and attaches the program. */
int by_bpf_open(struct tacho_evset *set, struct tacho_error *e);

void by_bpf_start(struct tacho_evset *set);
void by_bpf_stop(struct tacho_evset *set);
/* Returns how many counters were read. */
int by_bpf_read(struct tacho_evset *set);
/* Tasks that start later are counted, so that the target does not end. */
bool by_bpf_never_ends(const struct tacho_evset *set);
void by_bpf_close(struct tacho_evset *set);

#endif
