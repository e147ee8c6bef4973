/*
 * Decides which samples of a perf event are recorded: it runs for each sample, after the kernel has collected the
 * sample's data, and a sample is dropped if it returns 0 (Linux 6.2 collects the data before; older kernels after).
 *
 * A program that one recorder has loaded has one filter. The program that root has pinned for all users has a filter
 * per event, by the event's ID.
 */
#include "bpf/kernel.bpf.h"

#include "record/sample_filter.h"

union perf_sample_weight {
	__u64 full;
} KERNEL_TYPE;

union perf_mem_data_src {
	__u64 val;
} KERNEL_TYPE;

struct perf_sample_data {
	__u64 sample_flags, period, addr, txn, ip, time, id, phys_addr, cgroup, data_page_size, code_page_size;
	union perf_sample_weight weight;
	union perf_mem_data_src data_src;
	struct {
		__u32 pid, tid;
	} tid_entry;
	struct {
		__u32 cpu;
	} cpu_entry;
} KERNEL_TYPE;

struct perf_event {
	__u64 id;
	struct perf_event *parent;
} KERNEL_TYPE;

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
	struct perf_event *event;
} KERNEL_TYPE;

const volatile __u32 is_pinned = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_filter);
} one_filter SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct sample_filter);
} filters_by_event SEC(".maps");

static __always_inline __u64 value_of(const struct perf_sample_data *data, __u8 field)
{
	__u64 source;

	switch (field) {
	case FILTERED_IP: return BPF_CORE_READ(data, ip);
	case FILTERED_ID: return BPF_CORE_READ(data, id);
	case FILTERED_TID: return BPF_CORE_READ(data, tid_entry.tid);
	case FILTERED_PID: return BPF_CORE_READ(data, tid_entry.pid);
	case FILTERED_CPU: return BPF_CORE_READ(data, cpu_entry.cpu);
	case FILTERED_TIME: return BPF_CORE_READ(data, time);
	case FILTERED_ADDR: return BPF_CORE_READ(data, addr);
	case FILTERED_PERIOD: return BPF_CORE_READ(data, period);
	case FILTERED_TXN: return BPF_CORE_READ(data, txn);
	case FILTERED_WEIGHT: return BPF_CORE_READ(data, weight.full);
	case FILTERED_PHYS_ADDR: return BPF_CORE_READ(data, phys_addr);
	case FILTERED_CODE_PAGE_SIZE: return BPF_CORE_READ(data, code_page_size);
	case FILTERED_DATA_PAGE_SIZE: return BPF_CORE_READ(data, data_page_size);
	case FILTERED_DATA_SRC: return BPF_CORE_READ(data, data_src.val);
	case FILTERED_SNOOP:
		source = BPF_CORE_READ(data, data_src.val);
		return (source >> 19 & 0x1f) | (source >> 38 & 3) << 5;
	case FILTERED_UID: return (__u32)bpf_get_current_uid_gid();
	case FILTERED_GID: return bpf_get_current_uid_gid() >> 32;
	case FILTERED_CGROUP: return BPF_CORE_READ(data, cgroup);
	default: return 0;
	}
}

static __always_inline int compare(__u64 a, __u8 op, __u64 b)
{
	switch (op) {
	case FILTER_EQ: return a == b;
	case FILTER_NE: return a != b;
	case FILTER_GT: return a > b;
	case FILTER_GE: return a >= b;
	case FILTER_LT: return a < b;
	case FILTER_LE: return a <= b;
	case FILTER_AND: return (a & b) != 0;
	default: return 0;
	}
}

static __always_inline struct sample_filter *find_filter(const struct perf_event *event)
{
	const struct perf_event *parent = BPF_CORE_READ(event, parent);	/* an inherited event's original */
	__u64 id = parent ? BPF_CORE_READ(parent, id) : BPF_CORE_READ(event, id);
	__u32 zero = 0;

	return is_pinned ? bpf_map_lookup_elem(&filters_by_event, &id) : bpf_map_lookup_elem(&one_filter, &zero);
}

SEC("perf_event")
int sample_filter(void *ctx)
{
	const struct perf_sample_data *data = NULL;
	const struct perf_event *event = NULL;
	const struct sample_filter *filter;
	int passes = 0;

	bpf_probe_read_kernel(&data, sizeof(data), ctx + bpf_core_field_offset(struct bpf_perf_event_data_kern, data));
	bpf_probe_read_kernel(&event, sizeof(event), ctx + bpf_core_field_offset(struct bpf_perf_event_data_kern, event));
	filter = find_filter(event);
	if (!filter)
		return 1;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < SAMPLE_FILTER_TERMS; i++) {
		const struct sample_filter_term *t = &filter->terms[i];
		__u64 value;

		if (i >= filter->n)
			break;
		value = value_of(data, t->field) >> (t->shift & 63);
		if (t->mask)
			value &= t->mask;
		passes |= compare(value, t->op, t->value);
		if (!t->ends_group)
			continue;
		if (!passes)
			return 0;
		passes = 0;
	}
	return 1;
}
