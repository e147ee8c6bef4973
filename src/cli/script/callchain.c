/*
 * Walks a sample's call chain. Context markers (PERF_CONTEXT_*) separate its kernel and user parts. With
 * --call-graph dwarf, the chain has no user part; the sample has user registers and a copy of the stack
 * instead, which is unwound here. Where that is not possible, the innermost user frame is printed.
 */
#include "cli/script/script.h"

#include "record/callchain_markers.h"

/* Returns the user instruction pointer from the sampled registers; 0 if it was not sampled. */
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
	while (i < n && words[i] < CONTEXT_FIRST)
		i++;
	return i;
}

static void walk_chain(const uint64_t *words, size_t n, frames_fn fn, void *arg)
{
	enum tacho_space space = TACHO_SPACE_USER;

	for (size_t i = 0, end; i < n; i = end) {
		end = run_end(words, i, n);
		if (end > i)
			fn(arg, space, words + i, end - i);
		else if (!context_space(words[end++], &space))
			return;
	}
}

/* Whether the chain has a PERF_CONTEXT_USER marker. */
static bool has_user_part(const struct tacho_words *chain)
{
	enum tacho_space space = TACHO_SPACE_UNKNOWN;

	for (size_t i = 0; i < chain->n && space != TACHO_SPACE_USER; i++)
		if (chain->v[i] >= CONTEXT_FIRST && !context_space(chain->v[i], &space))
			break;
	return space == TACHO_SPACE_USER;
}

/* Passes on the frames that --max-stack and --stop-bt allow. */
struct chain_limit {
	frames_fn fn;
	void *arg;
	size_t left;
	struct script *script;
	uint32_t pid;
};

/* Number of frames up to and including the first --stop-bt function; SIZE_MAX if there is none. */
static size_t frames_to_stop(const struct chain_limit *l, enum tacho_space space, const uint64_t *ips, size_t n)
{
	const struct strlist *stop = &l->script->opts->stop_bt;

	for (size_t i = 0; i < n && stop->n; i++)
		if (filter_matches_function(stop, l->script->symbols, l->pid, space, ips[i]))
			return i + 1;
	return SIZE_MAX;
}

static void limited_frames(void *arg, enum tacho_space space, const uint64_t *ips, size_t n)
{
	struct chain_limit *l = arg;

	n = min_of(n, l->left);
	l->left = min_of(l->left, frames_to_stop(l, space, ips, n));
	n = min_of(n, l->left);
	l->left -= n;
	if (n)
		l->fn(l->arg, space, ips, n);
}

/* Unwinds the sample's stack dump. 1: *chain is set; 0: it cannot be unwound; -ENOMEM. */
static int unwind(struct script *s, const struct tacho_sample *sample, struct tacho_words *chain)
{
	uint16_t machine = tacho_perfdata_event(s->pd, 0)->layout.machine;
	int err = s->unwinder || !s->symbols ? 0 : tacho_unwinder_new(&s->unwinder, s->symbols, machine, NULL);

	if (err < 0 || !s->unwinder)
		return err;
	return tacho_unwinder_unwind(s->unwinder, sample, chain);
}

void script_walk_callchain(struct script *s, const struct tacho_sample *sample, const struct line_head *head,
			   frames_fn fn, void *arg)
{
	struct chain_limit l = { fn, arg, s->opts->max_stack ? s->opts->max_stack : SIZE_MAX, s, head->pid };
	bool dump = (sample->type & PERF_SAMPLE_STACK_USER) && sample->regs_user.abi && !has_user_part(&sample->chain);
	struct tacho_words chain = sample->chain;
	uint64_t ip;
	int unwound = dump ? unwind(s, sample, &chain) : 1;

	if (unwound < 0 && !s->write_error)
		s->write_error = unwound;
	walk_chain(chain.v, chain.n, limited_frames, &l);
	if (!l.left || unwound)
		return;
	ip = (head->misc & 7) == TACHO_SPACE_USER ? sample->ip :
	     user_ip(&sample->regs_user, tacho_perfdata_event(s->pd, 0)->layout.machine);
	if (ip) {
		s->raw_stacks = true;
		fn(arg, TACHO_SPACE_USER, &ip, 1);
	}
}
