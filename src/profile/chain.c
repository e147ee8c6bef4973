/*
 * Splits call chains into runs of one space and cuts them to opts.max_stack.
 */
#include "profile/chain.h"

#include "record/perf_abi.h"

#include <string.h>

static void run_add(struct chain *c, const uint64_t *v, size_t n, enum tacho_space space)
{
	if (n && c->n_runs < MAX_CHAIN_RUNS)
		c->runs[c->n_runs++] = (struct chain_run){ v, n, space };
}

static void runs_add(struct chain *c, struct tacho_words w, enum tacho_space space)
{
	size_t n = min_of(w.n, (size_t)MAX_CHAIN_ENTRIES), from = 0;

	for (size_t i = 0; i < n; i++) {
		if (w.v[i] < CONTEXT_FIRST)
			continue;
		run_add(c, w.v + from, i - from, space);
		context_space(w.v[i], &space);
		if (w.v[i] == CONTEXT_USER_DEFERRED)
			i++;
		from = i + 1;
	}
	if (from < n)
		run_add(c, w.v + from, n - from, space);
}

void chain_split(struct chain *c, struct tacho_words w, enum tacho_space space)
{
	c->n_runs = 0;
	runs_add(c, w, space);
}

static size_t chain_length(const struct chain *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_runs; i++)
		n += c->runs[i].n;
	return n;
}

/* Cuts the chain to `max` addresses: those next to the leaf, or the outermost ones. */
static void chain_cut(struct chain *c, size_t max, bool keep_outermost)
{
	size_t over = chain_length(c);

	for (over = over > max ? over - max : 0; over && c->n_runs;) {
		struct chain_run *r = keep_outermost ? &c->runs[0] : &c->runs[c->n_runs - 1];
		size_t cut = min_of(over, r->n);

		over -= cut;
		r->n -= cut;
		if (keep_outermost)
			r->v += cut;
		if (r->n)
			continue;
		c->n_runs--;
		if (keep_outermost)
			memmove(c->runs, c->runs + 1, c->n_runs * sizeof(*c->runs));
	}
}

static void chain_prepend_leaf(struct chain *c, const uint64_t *ip, enum tacho_space space)
{
	if (c->n_runs == MAX_CHAIN_RUNS)
		c->n_runs--;
	memmove(c->runs + 1, c->runs, c->n_runs * sizeof(*c->runs));
	c->runs[0] = (struct chain_run){ ip, 1, space };
	c->n_runs++;
}

void chain_make(struct chain *c, const struct tacho_profile_opts *o, const struct tacho_sample *sample,
		enum tacho_space space)
{
	struct tacho_words w = sample->chain;
	size_t first = 0;

	c->n_runs = 0;
	if (o->no_chains)
		w.n = 0;
	/* The chain begins with the sampled address unless that address is in a space whose chains are not
	 * recorded, usually the kernel (exclude_callchain_kernel). */
	while (first < w.n && w.v[first] >= CONTEXT_FIRST)
		first++;
	if ((sample->type & PERF_SAMPLE_IP) && (first == w.n || w.v[first] != sample->ip))
		run_add(c, &sample->ip, 1, space);
	runs_add(c, w, space);
	if (o->max_stack)
		chain_cut(c, o->max_stack, o->caller_first);
	if (o->max_stack && o->caller_first && c->n_runs && c->runs[0].v[0] != sample->ip)
		chain_prepend_leaf(c, &sample->ip, space);	/* cutting removed the leaf */
}
