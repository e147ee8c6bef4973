/*
 * Maps an event's control page, shared and read-only. fork() does not copy the mapping: a child process that
 * accesses it gets SIGSEGV, so the owner must know which process mapped it.
 */
#include "sys/counter_page.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int sys_map_page(int fd, const struct perf_event_mmap_page **out)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	(void)*(const volatile uint32_t *)page;
	*out = page;
	return 0;
}

void sys_unmap_page(const struct perf_event_mmap_page *page)
{
	if (page)
		munmap((void *)(uintptr_t)page, (size_t)sysconf(_SC_PAGESIZE));
}
