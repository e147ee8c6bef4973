/*
 * A sample's call chain, frame by frame. The kernel's chain has markers between its parts; one
 * that was recorded for DWARF has no user part, only registers and a copy of the stack, of which
 * the innermost frame is shown.
 */
#include "cli/script.h"

#define CONTEXT_LEAST ((uint64_t)-4095)

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

/* Where the run of addresses that begins at `i` ends: at a marker, or after `most` of them. */
static size_t run_end(const struct tacho_words *chain, size_t i, size_t most)
{
	size_t end = i + min_of(most, chain->n - i);

	while (i < end && chain->v[i] < CONTEXT_LEAST)
		i++;
	return i;
}

void script_walk(struct script *s, const struct tacho_sample *sample, const struct script_who *who,
		 frames_fn fn, void *arg)
{
	size_t left = s->opts->max_stack ? s->opts->max_stack : SIZE_MAX, end;
	const struct tacho_words *chain = &sample->chain;
	enum tacho_space space = TACHO_SPACE_USER;
	bool user = false;
	uint64_t ip;

	for (size_t i = 0; i < chain->n && left; i = end) {
		end = run_end(chain, i, left);
		if (end > i) {
			fn(arg, space, chain->v + i, end - i);
			left -= end - i;
		} else {
			if (!space_of(chain->v[i], &space))
				break;
			user |= space == TACHO_SPACE_USER;
			end = i + 1;
		}
	}
	if (user || !left || !(sample->type & PERF_SAMPLE_STACK_USER) || !sample->regs_user.abi)
		return;
	ip = (who->misc & 7) == TACHO_SPACE_USER ? sample->ip :
	     user_ip(&sample->regs_user, tacho_perfdata_event(s->pd, 0)->layout.machine);
	if (ip) {
		s->raw_stacks = true;
		fn(arg, TACHO_SPACE_USER, &ip, 1);
	}
}
