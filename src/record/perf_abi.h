/*
 * Our own copy of the perf_events ABI of Linux 7.0, so that the binary does not depend on the kernel
 * headers of the build host. The bit fields of perf_event_attr are one integer here, so that tables can
 * say which bit came with which kernel. Do not include <linux/perf_event.h> together with this header.
 */
#ifndef RECORD_PERF_ABI_H
#define RECORD_PERF_ABI_H

#include <stdint.h>

enum {
	PERF_TYPE_HARDWARE,
	PERF_TYPE_SOFTWARE,
	PERF_TYPE_TRACEPOINT,
	PERF_TYPE_HW_CACHE,
	PERF_TYPE_RAW,
	PERF_TYPE_BREAKPOINT,
	PERF_TYPE_MAX,
};

enum {
	PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_REFERENCES,
	PERF_COUNT_HW_CACHE_MISSES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	PERF_COUNT_HW_BRANCH_MISSES,
	PERF_COUNT_HW_BUS_CYCLES,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	PERF_COUNT_HW_REF_CPU_CYCLES,
	PERF_COUNT_HW_MAX,
};

/* A cache event's config is cache | op << 8 | result << 16. */
enum {
	PERF_COUNT_HW_CACHE_L1D,
	PERF_COUNT_HW_CACHE_L1I,
	PERF_COUNT_HW_CACHE_LL,
	PERF_COUNT_HW_CACHE_DTLB,
	PERF_COUNT_HW_CACHE_ITLB,
	PERF_COUNT_HW_CACHE_BPU,
	PERF_COUNT_HW_CACHE_NODE,
	PERF_COUNT_HW_CACHE_MAX,
};
enum {
	PERF_COUNT_HW_CACHE_OP_READ,
	PERF_COUNT_HW_CACHE_OP_WRITE,
	PERF_COUNT_HW_CACHE_OP_PREFETCH,
	PERF_COUNT_HW_CACHE_OP_MAX,
};
enum {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS,
	PERF_COUNT_HW_CACHE_RESULT_MISS,
	PERF_COUNT_HW_CACHE_RESULT_MAX,
};

enum {
	PERF_COUNT_SW_CPU_CLOCK,
	PERF_COUNT_SW_TASK_CLOCK,
	PERF_COUNT_SW_PAGE_FAULTS,
	PERF_COUNT_SW_CONTEXT_SWITCHES,
	PERF_COUNT_SW_CPU_MIGRATIONS,
	PERF_COUNT_SW_PAGE_FAULTS_MIN,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	PERF_COUNT_SW_ALIGNMENT_FAULTS,
	PERF_COUNT_SW_EMULATION_FAULTS,
	PERF_COUNT_SW_DUMMY,		/* 3.12 */
	PERF_COUNT_SW_BPF_OUTPUT,	/* 4.4 */
	PERF_COUNT_SW_CGROUP_SWITCHES,	/* 5.13 */
	PERF_COUNT_SW_MAX,
};

/* The end of perf_event_attr.flags: a shorter attr has no flags. */
#define PERF_ATTR_FLAGS_END 48u
#define PERF_ATTR_DISABLED (1ULL << 0)
#define PERF_ATTR_INHERIT (1ULL << 1)
#define PERF_ATTR_PINNED (1ULL << 2)
#define PERF_ATTR_EXCLUSIVE (1ULL << 3)
#define PERF_ATTR_EXCLUDE_USER (1ULL << 4)
#define PERF_ATTR_EXCLUDE_KERNEL (1ULL << 5)
#define PERF_ATTR_EXCLUDE_HV (1ULL << 6)
#define PERF_ATTR_EXCLUDE_IDLE (1ULL << 7)
#define PERF_ATTR_MMAP (1ULL << 8)
#define PERF_ATTR_COMM (1ULL << 9)
#define PERF_ATTR_FREQ (1ULL << 10)
#define PERF_ATTR_INHERIT_STAT (1ULL << 11)
#define PERF_ATTR_ENABLE_ON_EXEC (1ULL << 12)
#define PERF_ATTR_TASK (1ULL << 13)
#define PERF_ATTR_WATERMARK (1ULL << 14)
#define PERF_ATTR_PRECISE_SHIFT 15
#define PERF_ATTR_PRECISE_MASK (3ULL << PERF_ATTR_PRECISE_SHIFT)
#define PERF_ATTR_MMAP_DATA (1ULL << 17)
#define PERF_ATTR_SAMPLE_ID_ALL (1ULL << 18)
#define PERF_ATTR_EXCLUDE_HOST (1ULL << 19)
#define PERF_ATTR_EXCLUDE_GUEST (1ULL << 20)
#define PERF_ATTR_EXCLUDE_CALLCHAIN_KERNEL (1ULL << 21)
#define PERF_ATTR_EXCLUDE_CALLCHAIN_USER (1ULL << 22)
#define PERF_ATTR_MMAP2 (1ULL << 23)
#define PERF_ATTR_COMM_EXEC (1ULL << 24)
#define PERF_ATTR_USE_CLOCKID (1ULL << 25)
#define PERF_ATTR_CONTEXT_SWITCH (1ULL << 26)
#define PERF_ATTR_WRITE_BACKWARD (1ULL << 27)
#define PERF_ATTR_NAMESPACES (1ULL << 28)
#define PERF_ATTR_KSYMBOL (1ULL << 29)
#define PERF_ATTR_BPF_EVENT (1ULL << 30)
#define PERF_ATTR_AUX_OUTPUT (1ULL << 31)
#define PERF_ATTR_CGROUP (1ULL << 32)
#define PERF_ATTR_TEXT_POKE (1ULL << 33)
#define PERF_ATTR_BUILD_ID (1ULL << 34)
#define PERF_ATTR_INHERIT_THREAD (1ULL << 35)
#define PERF_ATTR_REMOVE_ON_EXEC (1ULL << 36)
#define PERF_ATTR_SIGTRAP (1ULL << 37)
#define PERF_ATTR_DEFER_CALLCHAIN (1ULL << 38)
#define PERF_ATTR_DEFER_OUTPUT (1ULL << 39)

#define PERF_SAMPLE_IP (1ULL << 0)
#define PERF_SAMPLE_TID (1ULL << 1)
#define PERF_SAMPLE_TIME (1ULL << 2)
#define PERF_SAMPLE_ADDR (1ULL << 3)
#define PERF_SAMPLE_READ (1ULL << 4)
#define PERF_SAMPLE_CALLCHAIN (1ULL << 5)
#define PERF_SAMPLE_ID (1ULL << 6)
#define PERF_SAMPLE_CPU (1ULL << 7)
#define PERF_SAMPLE_PERIOD (1ULL << 8)
#define PERF_SAMPLE_STREAM_ID (1ULL << 9)
#define PERF_SAMPLE_RAW (1ULL << 10)
#define PERF_SAMPLE_BRANCH_STACK (1ULL << 11)
#define PERF_SAMPLE_REGS_USER (1ULL << 12)
#define PERF_SAMPLE_STACK_USER (1ULL << 13)
#define PERF_SAMPLE_WEIGHT (1ULL << 14)
#define PERF_SAMPLE_DATA_SRC (1ULL << 15)
#define PERF_SAMPLE_IDENTIFIER (1ULL << 16)
#define PERF_SAMPLE_TRANSACTION (1ULL << 17)
#define PERF_SAMPLE_REGS_INTR (1ULL << 18)
#define PERF_SAMPLE_PHYS_ADDR (1ULL << 19)
#define PERF_SAMPLE_AUX (1ULL << 20)
#define PERF_SAMPLE_CGROUP (1ULL << 21)
#define PERF_SAMPLE_DATA_PAGE_SIZE (1ULL << 22)
#define PERF_SAMPLE_CODE_PAGE_SIZE (1ULL << 23)
#define PERF_SAMPLE_WEIGHT_STRUCT (1ULL << 24)

#define PERF_BRANCH_ANY (1ULL << 3)	/* in branch_sample_type: all kinds of branches */
/* Bits of branch_sample_type that change the layout of samples. */
#define PERF_BRANCH_HW_INDEX (1ULL << 17)	/* 5.7 */
#define PERF_BRANCH_COUNTERS (1ULL << 19)	/* 6.8 */

#define PERF_FORMAT_TOTAL_TIME_ENABLED (1ULL << 0)
#define PERF_FORMAT_TOTAL_TIME_RUNNING (1ULL << 1)
#define PERF_FORMAT_ID (1ULL << 2)
#define PERF_FORMAT_GROUP (1ULL << 3)
#define PERF_FORMAT_LOST (1ULL << 4)		/* 6.0 */

enum { HW_BREAKPOINT_R = 1, HW_BREAKPOINT_W = 2, HW_BREAKPOINT_RW = 3, HW_BREAKPOINT_X = 4 };

#define PERF_FLAG_FD_NO_GROUP (1UL << 0)
#define PERF_FLAG_FD_OUTPUT (1UL << 1)
#define PERF_FLAG_PID_CGROUP (1UL << 2)
#define PERF_FLAG_FD_CLOEXEC (1UL << 3)		/* 3.14 */

#define PERF_ATTR_SIZE_VER0 64
#define PERF_ATTR_SIZE_VER7 128
#define PERF_ATTR_SIZE_VER8 136			/* config3, 6.3 */
#define PERF_ATTR_SIZE_VER9 144			/* config4, 6.19 */

struct perf_event_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	union {
		uint64_t sample_period;
		uint64_t sample_freq;
	};
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;			/* PERF_ATTR_* */
	union {
		uint32_t wakeup_events;
		uint32_t wakeup_watermark;
	};
	uint32_t bp_type;
	union {
		uint64_t bp_addr;
		uint64_t config1;
		uint64_t probe_name;	/* kprobe_func, uprobe_path: a user pointer */
	};
	union {
		uint64_t bp_len;
		uint64_t config2;
		uint64_t probe_offset;
	};
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t reserved_2;
	uint32_t aux_sample_size;
	uint32_t aux_action;		/* bit 0 start paused, 1 pause, 2 resume: 6.13 */
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};
_Static_assert(sizeof(struct perf_event_attr) == PERF_ATTR_SIZE_VER9, "size of perf_event_attr");

/* ioctl requests: _IO('$', n) and friends, spelled out because they are the ABI. */
#define PERF_IOC_ENABLE 0x2400u
#define PERF_IOC_DISABLE 0x2401u
#define PERF_IOC_REFRESH 0x2402u
#define PERF_IOC_RESET 0x2403u
#define PERF_IOC_PERIOD 0x40082404u
#define PERF_IOC_SET_OUTPUT 0x2405u
#define PERF_IOC_SET_FILTER 0x40082406u
#define PERF_IOC_ID 0x80082407u
#define PERF_IOC_SET_BPF 0x40042408u
#define PERF_IOC_PAUSE_OUTPUT 0x40042409u
#define PERF_IOC_FLAG_GROUP 1u

/* The first page of a mapped event; the bit fields of `capabilities` are one integer here. */
#define PERF_PAGE_USER_RDPMC (1ULL << 2)
#define PERF_PAGE_USER_TIME (1ULL << 3)
#define PERF_PAGE_USER_TIME_ZERO (1ULL << 4)	/* 3.12 */
#define PERF_PAGE_USER_TIME_SHORT (1ULL << 5)	/* 5.9 */

struct perf_event_mmap_page {
	uint32_t version, compat_version;
	uint32_t lock;
	uint32_t index;
	int64_t offset;
	uint64_t time_enabled;
	uint64_t time_running;
	uint64_t capabilities;
	uint16_t pmc_width;
	uint16_t time_shift;
	uint32_t time_mult;
	uint64_t time_offset;
	uint64_t time_zero;
	uint32_t size;
	uint32_t reserved_1;
	uint64_t time_cycles;
	uint64_t time_mask;
	uint8_t reserved[116 * 8];
	uint64_t data_head;
	uint64_t data_tail;
	uint64_t data_offset;
	uint64_t data_size;
	uint64_t aux_head;
	uint64_t aux_tail;
	uint64_t aux_offset;
	uint64_t aux_size;
};
_Static_assert(__builtin_offsetof(struct perf_event_mmap_page, data_head) == 1024, "layout of perf_event_mmap_page");

#endif
