/*
 * A perf_event_attr as text: one line per field that is not zero, in the order of the ABI.
 */
#include "event/event.h"

#include <inttypes.h>

static const struct { uint64_t bit; const char *name; } flag_names[] = {
	{ PERF_ATTR_DISABLED, "disabled" },
	{ PERF_ATTR_INHERIT, "inherit" },
	{ PERF_ATTR_PINNED, "pinned" },
	{ PERF_ATTR_EXCLUSIVE, "exclusive" },
	{ PERF_ATTR_EXCLUDE_USER, "exclude_user" },
	{ PERF_ATTR_EXCLUDE_KERNEL, "exclude_kernel" },
	{ PERF_ATTR_EXCLUDE_HV, "exclude_hv" },
	{ PERF_ATTR_EXCLUDE_IDLE, "exclude_idle" },
	{ PERF_ATTR_MMAP, "mmap" },
	{ PERF_ATTR_COMM, "comm" },
	{ PERF_ATTR_FREQ, "freq" },
	{ PERF_ATTR_INHERIT_STAT, "inherit_stat" },
	{ PERF_ATTR_ENABLE_ON_EXEC, "enable_on_exec" },
	{ PERF_ATTR_TASK, "task" },
	{ PERF_ATTR_WATERMARK, "watermark" },
	{ PERF_ATTR_MMAP_DATA, "mmap_data" },
	{ PERF_ATTR_SAMPLE_ID_ALL, "sample_id_all" },
	{ PERF_ATTR_EXCLUDE_HOST, "exclude_host" },
	{ PERF_ATTR_EXCLUDE_GUEST, "exclude_guest" },
	{ PERF_ATTR_EXCLUDE_CALLCHAIN_KERNEL, "exclude_callchain_kernel" },
	{ PERF_ATTR_EXCLUDE_CALLCHAIN_USER, "exclude_callchain_user" },
	{ PERF_ATTR_MMAP2, "mmap2" },
	{ PERF_ATTR_COMM_EXEC, "comm_exec" },
	{ PERF_ATTR_USE_CLOCKID, "use_clockid" },
	{ PERF_ATTR_CONTEXT_SWITCH, "context_switch" },
	{ PERF_ATTR_WRITE_BACKWARD, "write_backward" },
	{ PERF_ATTR_NAMESPACES, "namespaces" },
	{ PERF_ATTR_KSYMBOL, "ksymbol" },
	{ PERF_ATTR_BPF_EVENT, "bpf_event" },
	{ PERF_ATTR_AUX_OUTPUT, "aux_output" },
	{ PERF_ATTR_CGROUP, "cgroup" },
	{ PERF_ATTR_TEXT_POKE, "text_poke" },
	{ PERF_ATTR_BUILD_ID, "build_id" },
	{ PERF_ATTR_INHERIT_THREAD, "inherit_thread" },
	{ PERF_ATTR_REMOVE_ON_EXEC, "remove_on_exec" },
	{ PERF_ATTR_SIGTRAP, "sigtrap" },
	{ PERF_ATTR_DEFER_CALLCHAIN, "defer_callchain" },
	{ PERF_ATTR_DEFER_OUTPUT, "defer_output" },
};

static void put_number(struct buf *b, const char *name, uint64_t v)
{
	if (v)
		buf_printf(b, "%s: %" PRIu64 "\n", name, v);
}

static void put_hex(struct buf *b, const char *name, uint64_t v)
{
	if (v)
		buf_printf(b, "%s: 0x%" PRIx64 "\n", name, v);
}

static void put_flags(struct buf *b, uint64_t flags)
{
	uint64_t known = PERF_ATTR_PRECISE_MASK;

	for (size_t i = 0; i < countof(flag_names); i++) {
		known |= flag_names[i].bit;
		if (flags & flag_names[i].bit)
			buf_printf(b, "%s: 1\n", flag_names[i].name);
		if (flag_names[i].bit == PERF_ATTR_WATERMARK)
			put_number(b, "precise_ip",
				   (flags & PERF_ATTR_PRECISE_MASK) >> PERF_ATTR_PRECISE_SHIFT);
	}
	put_hex(b, "unknown_flags", flags & ~known);
}

char *tacho_attr_text(const void *attr, size_t size)
{
	struct perf_event_attr a = { 0 };
	struct buf b = { 0 };
	bool bp;

	memcpy(&a, attr, min_of(size, sizeof(a)));
	bp = a.type == PERF_TYPE_BREAKPOINT;
	buf_printf(&b, "type: %" PRIu32 "\n", a.type);
	put_number(&b, "size", a.size);
	buf_printf(&b, "config: 0x%" PRIx64 "\n", a.config);
	put_number(&b, a.flags & PERF_ATTR_FREQ ? "sample_freq" : "sample_period", a.sample_period);
	put_hex(&b, "sample_type", a.sample_type);
	put_hex(&b, "read_format", a.read_format);
	put_flags(&b, a.flags);
	put_number(&b, a.flags & PERF_ATTR_WATERMARK ? "wakeup_watermark" : "wakeup_events",
		   a.wakeup_events);
	put_number(&b, "bp_type", a.bp_type);
	put_hex(&b, bp ? "bp_addr" : "config1", a.config1);
	put_hex(&b, bp ? "bp_len" : "config2", a.config2);
	put_hex(&b, "branch_sample_type", a.branch_sample_type);
	put_hex(&b, "sample_regs_user", a.sample_regs_user);
	put_number(&b, "sample_stack_user", a.sample_stack_user);
	if (a.clockid || (a.flags & PERF_ATTR_USE_CLOCKID))
		buf_printf(&b, "clockid: %" PRId32 "\n", a.clockid);
	put_hex(&b, "sample_regs_intr", a.sample_regs_intr);
	put_number(&b, "aux_watermark", a.aux_watermark);
	put_number(&b, "sample_max_stack", a.sample_max_stack);
	put_number(&b, "aux_sample_size", a.aux_sample_size);
	put_hex(&b, "aux_action", a.aux_action);
	put_hex(&b, "sig_data", a.sig_data);
	put_hex(&b, "config3", a.config3);
	put_hex(&b, "config4", a.config4);
	return buf_take(&b);
}
