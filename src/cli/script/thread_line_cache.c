/*
 * A cache of the last sample of each thread: the thread's comm, and the position of the lines of its
 * frames in the output buffer, which the thread's next sample copies for the frames that both share.
 */
#include "cli/script/script.h"

#include <string.h>

#include "record/callchain_markers.h"

struct thread_lines *thread_lines_find(struct script *s, uint32_t pid, uint32_t tid)
{
	struct thread_lines *r = &s->thread_lines[tid % THREAD_LINES_SLOTS];

	if (r->comm && r->comm_version == s->state_version && r->tid == tid && r->pid == pid)
		return r;
	if (r->tid != tid || r->pid != pid)
		r->n = 0;
	r->pid = pid;
	r->tid = tid;
	r->comm_version = s->state_version;
	r->head_ev = NULL;
	r->comm = tacho_symbols_comm(s->symbols, pid, tid);
	r->n_comm = strlen(r->comm);
	return r;
}

/* Whether the entry is the first of its address space. */
static bool is_innermost(const uint64_t *chain, size_t at)
{
	return at == 0 || chain[at - 1] >= CONTEXT_FIRST;
}

size_t thread_lines_shared(const struct thread_lines *r, const struct script *s, const struct script_event *ev,
			   const struct tacho_words *chain)
{
	const uint64_t *last = r->chain + MAX_CACHED_CHAIN, *now = chain->v + chain->n;
	size_t most = min_of(r->n, chain->n), n = 0;

	if (r->ev != ev || r->lines_version != s->state_version || r->sink_bytes != ev->sink->bytes)
		return 0;
	while (n < most && *--last == *--now)
		n++;
	while (n && r->chain[MAX_CACHED_CHAIN - n] >= CONTEXT_FIRST)	/* a context marker has no line */
		n--;
	/* An address has other inlined functions if it was executing than if it had called another function. */
	if (n && is_innermost(r->chain + MAX_CACHED_CHAIN - r->n, r->n - n) != is_innermost(chain->v, chain->n - n))
		return 0;
	return n;
}

enum tacho_space thread_lines_space(const struct thread_lines *r, size_t shared)
{
	enum tacho_space space = TACHO_SPACE_USER;
	size_t i = MAX_CACHED_CHAIN - shared;

	while (i > MAX_CACHED_CHAIN - r->n && r->chain[i] < CONTEXT_FIRST)
		i--;
	if (r->chain[i] >= CONTEXT_FIRST)
		context_space(r->chain[i], &space);
	return space;
}

void thread_lines_store(struct thread_lines *r, const struct script *s, const struct batch_sample *x)
{
	r->ev = x->ev;
	r->lines_version = s->state_version;
	r->sink_bytes = x->ev->sink->bytes;
	r->n = x->sample.chain.n;
}
