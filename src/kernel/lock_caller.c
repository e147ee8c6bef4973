/*
 * Functions that implement locks are known by their names, since the recording does not say in which sections of the kernel
 * they are.
 */
#include "kernel/lock_caller.h"

#include <errno.h>

#include "base/str.h"
#include "record/callchain_markers.h"

static const char *const lock_starts[] = {	/* after leading underscores */
	"raw_spin_", "raw_read_", "raw_write_", "do_raw_spin_", "do_raw_read_", "do_raw_write_", "pv_queued_spin_", "native_queued_spin_",
	"queued_spin_", "queued_read_", "queued_write_", "pv_wait", "pv_kick", "mutex_", "ww_mutex_", "rt_mutex_", "rtlock_", "rt_spin_",
	"rt_read_", "rt_write_", "rwsem_", "rwbase_", "rt_rwbase_", "down", "percpu_down_", "percpu_rwsem_", "schedule", "preempt_schedule",
	"io_schedule", "sched_text", "wait_for_completion", "wait_for_common", "wait_on_bit", "bit_wait", "out_of_line_wait_on_bit",
	"traceiter_contention_", "trace_contention_", "lock_contended", "lock_acquire", "do_nanosleep", "cond_resched",
};

static bool is_lock_name(const char *name)
{
	while (*name == '_')
		name++;
	for (size_t i = 0; i < countof(lock_starts); i++)
		if (str_starts(str_of(name), lock_starts[i]))
			return true;
	return false;
}

void lock_caller_done(struct lock_caller *c)
{
	int_map_done(&c->lock_functions);
}

static int is_lock_function(struct lock_caller *c, uint32_t symbol, bool *result)
{
	uint32_t known;

	if (!int_map_get(&c->lock_functions, symbol, &known)) {
		known = is_lock_name(tacho_symbols_name(c->symbols, symbol));
		if (int_map_put(&c->lock_functions, symbol, known) < 0)
			return -ENOMEM;
	}
	*result = known;
	return 0;
}

static bool has_selected_name(const struct lock_caller *c, uint32_t symbol)
{
	const char *name = tacho_symbols_name(c->symbols, symbol);

	for (size_t i = 0; i < c->n_functions; i++)
		if (strstr(name, c->functions[i]))
			return true;
	return false;
}

/* Frames of user space have no names here: they only tell chains apart if a number of frames to skip was given. */
static int take_frame(struct lock_caller *c, uint64_t ip, enum tacho_space space)
{
	struct tacho_frame frame = { 0 };
	bool is_lock = false;
	int found = 0;

	if (space == TACHO_SPACE_KERNEL) {
		found = tacho_symbols_resolve(c->symbols, 0, space, ip, &frame);
		if (found < 0 || (found && is_lock_function(c, frame.symbol, &is_lock) < 0))
			return -ENOMEM;
	}
	if (found && c->n_functions && has_selected_name(c, frame.symbol))
		c->is_selected = true;
	/* A function in the middle of a chain is not part of a lock because of its name. */
	if (is_lock && (c->skip != TACHO_LOCK_FUNCTIONS || !c->n_frames))
		return 0;
	if (c->n_frames < countof(c->frames))
		c->frames[c->n_frames++] = ip;
	return 0;
}

int lock_caller_find(struct lock_caller *c, const struct tacho_words *chain)
{
	enum tacho_space space = TACHO_SPACE_KERNEL;
	bool only_kernel = c->skip == TACHO_LOCK_FUNCTIONS;
	uint32_t n = 0;

	c->n_frames = 0;
	c->is_selected = !c->n_functions;
	for (size_t i = 0; c->symbols && i < chain->n && n < c->max; i++) {
		uint64_t ip = chain->v[i];

		if (ip >= CONTEXT_FIRST) {
			context_space(ip, &space);
			continue;
		}
		if (only_kernel && space != TACHO_SPACE_KERNEL)
			break;
		n++;
		if (!only_kernel && n <= c->skip)
			continue;
		if (take_frame(c, ip, space) < 0)
			return -ENOMEM;
	}
	return 0;
}
