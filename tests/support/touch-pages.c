/*
 * touch-pages N: maps N fresh anonymous pages and writes one byte into each, in order, so that
 * it takes exactly N page faults more than `touch-pages 0`. Huge pages are refused for the
 * mapping; they would serve many pages with one fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t n_pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (n_pages + 1) * page_bytes;
	volatile char *at;

	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED) {
		perror("touch-pages: mmap");
		return 1;
	}
	madvise((void *)at, bytes, MADV_NOHUGEPAGE);	/* refused without huge pages: as well */
	for (size_t i = 0; i < n_pages; i++)
		at[i * page_bytes] = 1;
	return 0;
}
