/*
 * A small JIT compiler with a perf map: jitmap MS NAME... Each function counts down for MS milliseconds of CPU time, called
 * from main(), and has a line in /tmp/perf-PID.map, whose path is printed. Lines have 0x in front of numbers or not, in turn.
 * With a last NAME of "-" the functions are nested instead, as those of an interpreter: the first calls the second and so on.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
static const uint8_t caller[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; blr x1; ldp x29,x30,[sp],#16; ret */
static const uint8_t caller[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x20, 0x00, 0x3f, 0xd6,
				  0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };
#else
#error "no machine code for this CPU"
#endif
#define FUNCTION_BYTES 64

typedef void function(uint64_t index, void (*callee)(uint64_t));

static uint8_t *code;
static uint64_t last, work_ns;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void work(uint64_t index)
{
	uint64_t end = cpu_ns() + work_ns;

	(void)index;
	while (cpu_ns() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static void next(uint64_t index)
{
	if (index == last)
		work(index);
	else
		((function *)(void *)(code + (index + 1) * FUNCTION_BYTES))(index + 1, next);
}

int main(int argc, char **argv)
{
	int n = argc - 2, nested = argc > 2 && strcmp(argv[argc - 1], "-") == 0;
	char path[64];
	FILE *map;

	n -= nested;
	work_ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	code = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (n < 1 || n > 65536 / FUNCTION_BYTES || code == MAP_FAILED || !map)
		return 1;
	for (int i = 0; i < n; i++) {
		memcpy(code + i * FUNCTION_BYTES, caller, sizeof(caller));
		fprintf(map, i % 2 ? "0x%lx 0x%zx %s\n" : "%lx %zx %s\n",
			(unsigned long)(code + i * FUNCTION_BYTES), sizeof(caller), argv[i + 2]);
	}
	fclose(map);
	__builtin___clear_cache((char *)code, (char *)code + 65536);
	puts(path);
	fflush(stdout);
	last = (uint64_t)n - 1;
	if (nested)
		((function *)(void *)code)(0, next);
	for (int i = 0; i < n && !nested; i++)
		((function *)(void *)(code + i * FUNCTION_BYTES))((uint64_t)i, work);
	return 0;
}
