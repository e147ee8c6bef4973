/*
 * Trials: maps a ring buffer, loads a BPF program, or queries a size, and releases it at once.
 */
#include "sys/kernel_trial.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

int trial_ring(int fd, unsigned pages)
{
	size_t n = (size_t)(pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, n);
	return 0;
}

/* The first fields of the argument of BPF_PROG_LOAD, see bpf(2); the kernel takes the others as zero. */
struct bpf_load {
	uint32_t type, n_insns;
	uint64_t insns, license;
	uint32_t log_level, log_size;
	uint64_t log;
	uint32_t kernel_version, flags;
};

enum { BPF_COMMAND_PROG_LOAD = 5, BPF_TYPE_PERF_EVENT = 7 };

int trial_bpf(void)
{
	/* r0 = 0; exit. An instruction is opcode, registers, 16-bit offset, 32-bit immediate. */
	static const uint8_t program[16] = { 0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95 };
	struct bpf_load load = {
		.type = BPF_TYPE_PERF_EVENT,
		.n_insns = sizeof(program) / 8,
		.insns = (uintptr_t)program,
		.license = (uintptr_t) "GPL",
	};
	long fd = syscall(SYS_bpf, BPF_COMMAND_PROG_LOAD, &load, sizeof(load));

	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

int trial_attr_size(const struct sys *sys)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = 1 };
	int fd = sys_perf_open(sys, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0) {		/* only a test's fake kernel accepts this */
		sys_perf_close(sys, fd);
		return -EINVAL;
	}
	return fd == -E2BIG && attr.size >= PERF_ATTR_SIZE_VER0 ? (int)attr.size : fd;
}
