/*
 * A sample's call chain, frame by frame. The kernel's chain has markers between its parts; one
 * that was recorded for DWARF has no user part, only registers and a copy of the stack, of which
 * the innermost frame is shown.
 */
#include "cli/script.h"

#include "cli/chain.h"

enum { AHEAD = 6 };
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

/* Which recent text it will be, and where that is, is known long before it is needed. */
static inline void look_ahead(const struct script *s, uint32_t pid, enum tacho_space space,
			      const struct tacho_sample *sample, size_t i)
{
	const struct tacho_words *chain = &sample->chain;
	const struct frame_recent *near;

	if (i + AHEAD < chain->n)
		__builtin_prefetch(frame_place(&s->frames, pid, space, chain->v[i + AHEAD]));
	if (i + AHEAD / 2 < chain->n) {
		near = frame_place(&s->frames, pid, space, chain->v[i + AHEAD / 2]);
		__builtin_prefetch(near->text);
		__builtin_prefetch((const char *)((uintptr_t)near->text + 64));
	}
}

void script_walk(struct script *s, const struct tacho_sample *sample, const struct script_who *who,
		 frame_fn fn, void *arg)
{
	uint32_t left = s->opts->max_stack ? s->opts->max_stack : UINT32_MAX;
	enum tacho_space space = TACHO_SPACE_USER;
	bool user = false;
	uint64_t ip;

	for (size_t i = 0; i < sample->chain.n && left; i++) {
		uint64_t word = sample->chain.v[i];

		look_ahead(s, who->pid, space, sample, i);

		if (word >= CONTEXT_LEAST) {
			if (!chain_space(word, &space))
				break;
			user |= space == TACHO_SPACE_USER;
			continue;
		}
		fn(arg, space, word);
		left--;
	}
	if (user || !left || !(sample->type & PERF_SAMPLE_STACK_USER) || !sample->regs_user.abi)
		return;
	ip = (who->misc & 7) == TACHO_SPACE_USER ? sample->ip :
	     user_ip(&sample->regs_user, tacho_perfdata_event(s->pd, 0)->layout.machine);
	if (ip) {
		s->raw_stacks = true;
		fn(arg, TACHO_SPACE_USER, ip);
	}
}
