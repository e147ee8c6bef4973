/* Records of syscalls.bpf.c as events. */
#ifndef BPF_SYSCALL_EVENT_H
#define BPF_SYSCALL_EVENT_H

#include <tacho/bpf.h>

/* Reads one record of n bytes; the event's parts point into it. 0 or -EBADMSG. */
int syscall_event_read(struct tacho_syscall_event *ev, const void *bytes, size_t n);

#endif
