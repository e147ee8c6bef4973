/*
 * A sample's call chain, frame by frame. The kernel's chain has markers between its parts; one
 * that was recorded for DWARF has no user part, only registers and a copy of the stack, of which
 * the innermost frame is shown.
 */
#include "cli/script.h"

enum { CONTEXT_KERNEL = -128, CONTEXT_USER = -512, CONTEXT_USER_DEFERRED = -640,
       CONTEXT_HV = -32, CONTEXT_GUEST = -2048, CONTEXT_GUEST_KERNEL = -2176,
       CONTEXT_GUEST_USER = -2560 };

/* False: a marker that nothing is known of, or that what follows it is no address. */
static bool space_of(uint64_t marker, enum tacho_space *space)
{
	switch ((int64_t)marker) {
	case CONTEXT_KERNEL: *space = TACHO_SPACE_KERNEL; return true;
	case CONTEXT_USER: *space = TACHO_SPACE_USER; return true;
	case CONTEXT_HV: *space = TACHO_SPACE_HYPERVISOR; return true;
	case CONTEXT_GUEST_KERNEL: *space = TACHO_SPACE_GUEST_KERNEL; return true;
	case CONTEXT_GUEST:
	case CONTEXT_GUEST_USER: *space = TACHO_SPACE_GUEST_USER; return true;
	default: return false;
	}
}

/* The user's instruction pointer among the registers, by machine; 0: not there. */
static uint64_t user_ip(const struct tacho_regs *regs, uint16_t machine)
{
	enum { EM_386 = 3, EM_X86_64 = 62, EM_AARCH64 = 183, EM_RISCV = 243 };
	unsigned bit = machine == EM_AARCH64 ? 32 : machine == EM_RISCV ? 0 : 8;
	uint64_t below = regs->mask & ((1ull << bit) - 1);
	size_t at = (size_t)__builtin_popcountll(below);

	if (machine && machine != EM_AARCH64 && machine != EM_RISCV && machine != EM_386 &&
	    machine != EM_X86_64)
		return 0;
	return (regs->mask >> bit & 1) && at < regs->values.n ? regs->values.v[at] : 0;
}

static size_t run_end(const uint64_t *words, size_t i, size_t n)
{
	while (i < n && words[i] < CONTEXT_LEAST)
		i++;
	return i;
}

bool script_walk_words(const uint64_t *words, size_t n, enum tacho_space *space, frames_fn fn, void *arg)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = run_end(words, i, n);
		if (end > i)
			fn(arg, *space, words + i, end - i);
		else if (!space_of(words[end++], space))
			return false;
	}
	return true;
}

/* Whether the kernel says where the user's part begins. */
static bool has_user_part(const struct tacho_words *chain)
{
	enum tacho_space space = TACHO_SPACE_UNKNOWN;

	for (size_t i = 0; i < chain->n && space != TACHO_SPACE_USER; i++)
		if (chain->v[i] >= CONTEXT_LEAST && !space_of(chain->v[i], &space))
			break;
	return space == TACHO_SPACE_USER;
}

struct limited {
	frames_fn fn;
	void *arg;
	size_t left;
};

static void limited_frames(void *arg, enum tacho_space space, const uint64_t *ips, size_t n)
{
	struct limited *l = arg;

	n = min_of(n, l->left);
	l->left -= n;
	if (n)
		l->fn(l->arg, space, ips, n);
}

void script_walk(struct script *s, const struct tacho_sample *sample, const struct script_who *who,
		 frames_fn fn, void *arg)
{
	struct limited l = { fn, arg, s->opts->max_stack ? s->opts->max_stack : SIZE_MAX };
	enum tacho_space space = TACHO_SPACE_USER;
	uint64_t ip;

	script_walk_words(sample->chain.v, sample->chain.n, &space, limited_frames, &l);
	if (!l.left || !(sample->type & PERF_SAMPLE_STACK_USER) || !sample->regs_user.abi ||
	    has_user_part(&sample->chain))
		return;
	ip = (who->misc & 7) == TACHO_SPACE_USER ? sample->ip :
	     user_ip(&sample->regs_user, tacho_perfdata_event(s->pd, 0)->layout.machine);
	if (ip) {
		s->raw_stacks = true;
		fn(arg, TACHO_SPACE_USER, &ip, 1);
	}
}
