/*
 * One table of system calls that transfer data, write it to a disk, or wait for it.
 */
#include "kernel/timechart_io.h"

#define CALL(name, kind) { #name, "syscalls:sys_enter_" #name, "syscalls:sys_exit_" #name, TACHO_TIMECHART_##kind }
static const struct chart_call calls[] = {
	CALL(read, READ), CALL(pread64, READ), CALL(readv, READ), CALL(preadv, READ), CALL(preadv2, READ),
	CALL(write, WRITE), CALL(pwrite64, WRITE), CALL(writev, WRITE), CALL(pwritev, WRITE),
	CALL(pwritev2, WRITE), CALL(sync, SYNC), CALL(sync_file_range, SYNC), CALL(fsync, SYNC),
	CALL(fdatasync, SYNC), CALL(msync, SYNC), CALL(recvfrom, RECEIVE), CALL(recvmsg, RECEIVE),
	CALL(recvmmsg, RECEIVE), CALL(sendto, SEND), CALL(sendmsg, SEND), CALL(sendmmsg, SEND),
	CALL(epoll_wait, POLL), CALL(epoll_pwait, POLL), CALL(epoll_pwait2, POLL), CALL(poll, POLL),
	CALL(ppoll, POLL), CALL(pselect6, POLL), CALL(select, POLL),
};

const struct chart_call *chart_call(size_t i)
{
	return i < countof(calls) ? &calls[i] : NULL;
}

const char *tacho_timechart_call(size_t i)
{
	return i < countof(calls) ? calls[i].name : NULL;
}
