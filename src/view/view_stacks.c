/*
 * Reads the stacks of a row.
 */
#include "view/view_internal.h"

#include <errno.h>
#include <string.h>

static uint32_t read_stack(const struct tacho_view *v, int64_t id, uint64_t ips[VIEW_STACK])
{
	int n;

	if (id < 0)
		return 0;
	if (!v->bpf)
		return (uint32_t)stack_table_get(sampled_view_stacks(v->sampled), (int)id, ips, VIEW_STACK);
	n = bpf_view_stack(v->bpf, id, ips);
	return (uint32_t)max_of(n, 0);
}

/* The process that the user stack is of: the number of the first column with a process, which such views always have. */
static uint32_t process_of(const struct tacho_view *v, const struct view_key *key)
{
	size_t number = 0;

	for (size_t i = 0; i < v->plan.n_columns; i++) {
		uint8_t source = v->plan.program.row[i].source;

		if (source == VIEW_PID)
			return number < VIEW_KEY_NUMBERS ? (uint32_t)key->numbers[number] : 0;
		number += !view_is_text(source) && !view_is_stack(source);
	}
	return 0;
}

/* Whether a function of the kernel is in the stack only because the stack was taken. */
static bool is_of_bpf(const char *name)
{
	static const char *const prefixes[] = { "bpf_prog_", "bpf_trace_run", "__bpf_trace_", "__traceiter_", "trace_call_bpf",
		"perf_trace_", "perf_call_bpf_", "bpf_get_stack", "perf_syscall_", "uprobe_dispatcher", "uretprobe_dispatcher" };

	for (size_t i = 0; i < countof(prefixes); i++)
		if (str_starts(str_of(name), prefixes[i]))
			return true;
	return false;
}

static int drop_frames_of_bpf(struct tacho_view *v, uint64_t *ips, uint32_t *n)
{
	uint32_t skip = 0;

	for (uint32_t i = 0; i < *n && i < skip + 4; i++) {
		const char *name = stack_names_get(&v->names, 0, true, ips[i], i > 0);

		if (!name)
			return -ENOMEM;
		if (is_of_bpf(name))
			skip = i + 1;
	}
	*n -= skip;
	memmove(ips, ips + skip, *n * sizeof(*ips));
	return 0;
}

int view_stacks_read(struct tacho_view *v, const struct view_key *key, struct view_stacks *out)
{
	int err = 0;

	out->pid = process_of(v, key);
	for (size_t k = 0; err == 0 && k < VIEW_STACKS; k++) {
		out->n[k] = read_stack(v, key->stacks[k], out->ips[k]);
		if (k != 1 && v->bpf && !v->sampled_name[0])	/* samples are taken outside of the kernel's calls of BPF */
			err = drop_frames_of_bpf(v, out->ips[k], &out->n[k]);
	}
	return err;
}
