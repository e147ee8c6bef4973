/*
 * A small JIT compiler with a jitdump: jit PATH REUSES. Machine code of a counting loop is written to anonymous memory,
 * and runs as "first <blank>", then at the same address as "second", and so on up to REUSES functions, each of which takes
 * the same CPU time. A further one, "moved", is moved after its first half.
 *
 * The environment: JIT_FLAGS sets the header's flags, JIT_VERSION its version, JIT_CLOCK=wall uses the wall clock in the header.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const uint8_t loop[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
/* stp x29,x30,[sp,#-16]!; mov x29,sp; 1: subs x0,x0,#1; b.ne 1b; ldp x29,x30,[sp],#16; ret */
static const uint8_t loop[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x04, 0x00, 0xf1,
				0xe1, 0xff, 0xff, 0x54, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };
#else
#error "no machine code for this CPU"
#endif

static const char *const names[] = { "first one", "second", "third" };
static int dump;
static uint64_t n_functions;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t n)
{
	if (write(dump, bytes, n) != (ssize_t)n)
		abort();
}

static void put_header(void)
{
	const char *flags = getenv("JIT_FLAGS"), *version = getenv("JIT_VERSION"), *clock = getenv("JIT_CLOCK");
	uint32_t head[6] = { 0x4a695444, version ? (uint32_t)atoi(version) : 1, 40, MACHINE, 0, (uint32_t)getpid() };
	uint64_t rest[2] = { now(clock && !strcmp(clock, "wall") ? CLOCK_REALTIME : CLOCK_MONOTONIC),
			     flags ? (uint64_t)atoi(flags) : 0 };

	put(head, sizeof(head));
	put(rest, sizeof(rest));
}

static void put_record(uint32_t type, uint32_t n)
{
	uint32_t head[2] = { type, n + 16 };
	uint64_t time = now(CLOCK_MONOTONIC);

	put(head, sizeof(head));
	put(&time, sizeof(time));
}

static void put_lines(uint64_t addr)
{
	const char file[] = "made.up", same[] = "\xff";
	uint64_t body[2] = { addr, 2 }, second = addr + sizeof(loop) / 2;
	uint32_t line[2] = { 10 * (uint32_t)(n_functions + 1), 0 };

	put_record(2, (uint32_t)(sizeof(body) + 32 + sizeof(file) + sizeof(same)));
	put(body, sizeof(body));
	put(&addr, 8);
	put(line, sizeof(line));
	put(file, sizeof(file));
	line[0]++;
	put(&second, 8);
	put(line, sizeof(line));
	put(same, sizeof(same));
}

static void put_load(void *code, const char *name)
{
	uint32_t task[2] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t where[4] = { (uint64_t)(uintptr_t)code, (uint64_t)(uintptr_t)code, sizeof(loop), n_functions };

	put_lines(where[0]);
	put_record(0, (uint32_t)(sizeof(task) + sizeof(where) + strlen(name) + 1 + sizeof(loop)));
	put(task, sizeof(task));
	put(where, sizeof(where));
	put(name, strlen(name) + 1);
	put(loop, sizeof(loop));
	n_functions++;
}

static void put_move(void *from, void *to)
{
	uint32_t task[2] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t where[5] = { (uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to, sizeof(loop),
			      n_functions - 1 };

	put_record(1, sizeof(task) + sizeof(where));
	put(task, sizeof(task));
	put(where, sizeof(where));
}

/* Runs the code for that much CPU time. */
static void run(void *code, int ms)
{
	uint64_t (*fn)(uint64_t);
	uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)ms * 1000000;

	memcpy(&fn, &code, sizeof(fn));
	while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
		fn(2000000);
}

int main(int argc, char **argv)
{
	uint8_t *code = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[4096];
	int n = argc > 2 ? atoi(argv[2]) : 2;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", argc > 1 ? argv[1] : ".", (int)getpid());
	dump = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (dump < 0 || code == MAP_FAILED)
		return 1;
	put_header();
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		return 1;
	for (int i = 0; i < n && i < 3; i++) {
		memcpy(code, loop, sizeof(loop));
		__builtin___clear_cache((char *)code, (char *)code + sizeof(loop));
		put_load(code, names[i]);
		run(code, 150);
	}
	memcpy(code + 4096, loop, sizeof(loop));
	memcpy(code + 8192, loop, sizeof(loop));
	__builtin___clear_cache((char *)code, (char *)code + 8192 + sizeof(loop));
	put_load(code + 4096, "moved");
	run(code + 4096, 75);
	put_move(code + 4096, code + 8192);
	run(code + 8192, 75);
	put_record(3, 0);
	printf("%s\n", path);
	return 0;
}
