/*
 * What the last sample of a thread left behind for its next one: its name, and the lines of the
 * frames that both share.
 */
#include "cli/script/script.h"

#include <string.h>

#include "record/callchain_markers.h"

struct recent *recent_thread(struct script *s, uint32_t pid, uint32_t tid)
{
	struct recent *r = &s->recent[tid % RECENT_THREADS];

	if (r->comm && r->named == s->fed && r->tid == tid && r->pid == pid)
		return r;
	if (r->tid != tid || r->pid != pid)
		r->n = 0;
	r->pid = pid;
	r->tid = tid;
	r->named = s->fed;
	r->who_ev = NULL;
	r->comm = tacho_symbols_comm(s->symbols, pid, tid);
	r->n_comm = strlen(r->comm);
	return r;
}

size_t recent_shared(const struct recent *r, const struct script *s, const struct script_event *ev,
		     const struct tacho_words *chain)
{
	const uint64_t *was = r->words + RECENT_WORDS, *is = chain->v + chain->n;
	size_t most = min_of(r->n, chain->n), n = 0;

	if (r->ev != ev || r->fed != s->fed || r->written != ev->sink->bytes)
		return 0;
	while (n < most && *--was == *--is)
		n++;
	while (n && r->words[RECENT_WORDS - n] >= CONTEXT_FIRST)	/* it has no line */
		n--;
	return n;
}

enum tacho_space recent_space(const struct recent *r, size_t shared)
{
	enum tacho_space space = TACHO_SPACE_USER;
	size_t i = RECENT_WORDS - shared;

	while (i > RECENT_WORDS - r->n && r->words[i] < CONTEXT_FIRST)
		i--;
	if (r->words[i] >= CONTEXT_FIRST)
		context_space(r->words[i], &space);
	return space;
}

void recent_keep(struct recent *r, const struct script *s, const struct shown *x)
{
	r->ev = x->ev;
	r->fed = s->fed;
	r->written = x->ev->sink->bytes;
	r->n = x->sample.chain.n;
}
