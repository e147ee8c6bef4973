/*
 * Turns a record of syscalls.bpf.c into an event. Sizes are checked, so that any bytes are safe.
 */
#include "bpf/syscall_event.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bpf/syscall_record.h"

int syscall_event_read(struct tacho_syscall_event *ev, const void *bytes, size_t n)
{
	struct syscall_record r = { 0 };
	const size_t head = offsetof(struct syscall_record, v);

	if (n < head)
		return -EBADMSG;
	memcpy(&r, bytes, n < sizeof(r) ? n : sizeof(r));
	if (r.size > n || r.size < (r.type == RECORD_EXIT ? head : sizeof(r)) || r.type < RECORD_ENTRY || r.type > RECORD_CALL)
		return -EBADMSG;
	*ev = (struct tacho_syscall_event){ .size = sizeof(*ev), .type = (enum tacho_syscall_event_type)r.type, .cpu = r.cpu,
		.pid = r.pid, .tid = r.tid, .nr = r.nr, .compat = r.compat, .time_ns = r.time_ns, .ret = r.ret,
		.entry_ns = r.entry_ns };
	memcpy(ev->v, r.v, sizeof(ev->v));
	if (r.type == RECORD_EXIT)
		ev->v[0] = r.ret;
	if (r.type == RECORD_EXEC)
		memcpy(ev->comm, &r.v[1], sizeof(ev->comm) - 1);
	else if (r.type == RECORD_COMM)
		memcpy(ev->comm, r.v, sizeof(ev->comm) - 1);
	if (r.size > sizeof(r)) {
		ev->parts = (const char *)bytes + sizeof(r);
		ev->n_parts = r.size - sizeof(r);
	}
	return 0;
}
