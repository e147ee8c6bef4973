/*
 * The smallest program that needs everything the others need: a raw tracepoint, a map, and a field of a kernel type.
 * It is loaded to find out whether they can be loaded, and never attached.
 */
#include "bpf/kernel.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} probe_map SEC(".maps");

SEC("raw_tp/sched_switch")
int probe(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *prev = (const void *)ctx->args[1];
	__u32 key = task_state(prev);
	__u64 *value = bpf_map_lookup_elem(&probe_map, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
	return 0;
}
