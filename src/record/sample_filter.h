/*
 * Filters of samples in the form that the BPF program of bpf/ evaluates for each sample: groups of comparisons; a sample
 * passes if at least one comparison of each group is true. The program includes this file, too.
 */
#ifndef RECORD_SAMPLE_FILTER_H
#define RECORD_SAMPLE_FILTER_H

#include <linux/types.h>

#define SAMPLE_FILTER_TERMS 64

enum sample_filter_field {
	FILTERED_IP = 1, FILTERED_ID, FILTERED_TID, FILTERED_PID, FILTERED_CPU, FILTERED_TIME, FILTERED_ADDR, FILTERED_PERIOD,
	FILTERED_TXN, FILTERED_WEIGHT, FILTERED_PHYS_ADDR, FILTERED_CODE_PAGE_SIZE, FILTERED_DATA_PAGE_SIZE,
	FILTERED_DATA_SRC,
	FILTERED_SNOOP,			/* of the data source: mem_snoop, and mem_snoopx in the bits above it */
	FILTERED_UID, FILTERED_GID, FILTERED_CGROUP,
};

enum sample_filter_op { FILTER_EQ = 1, FILTER_NE, FILTER_GT, FILTER_GE, FILTER_LT, FILTER_LE, FILTER_AND };

struct sample_filter_term {
	__u8 field, op;
	__u8 shift;			/* the value is field >> shift & mask */
	__u8 ends_group;
	__u32 mask;			/* 0: the whole field */
	__u64 value;
};

struct sample_filter {
	__u32 n;
	__u32 owner;			/* process that uses it, in the map of pinned filters; else 0 */
	struct sample_filter_term terms[SAMPLE_FILTER_TERMS];
};

#endif
