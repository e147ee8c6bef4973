/*
 * What the last sample of a thread left behind for its next one: its name, and the lines of the
 * frames that both share.
 */
#include "cli/script.h"

#include <string.h>

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
	size_t most = min_of(r->n, chain->n), n = 0;

	if (r->ev != ev || r->fed != s->fed || r->written != ev->sink->bytes)
		return 0;
	while (n < most && r->words[n] == chain->v[chain->n - 1 - n])
		n++;
	while (n && r->words[n - 1] >= CONTEXT_LEAST)	/* it has no line */
		n--;
	return n;
}

void recent_keep(struct recent *r, const struct script *s, const struct shown *x)
{
	const struct tacho_words *chain = &x->sample.chain;

	r->ev = x->ev;
	r->fed = s->fed;
	r->written = x->ev->sink->bytes;
	r->n = min_of(chain->n, (size_t)RECENT_WORDS);
	for (size_t i = x->shared; i < r->n; i++)
		r->words[i] = chain->v[chain->n - 1 - i];
	for (size_t i = 0; i < x->n_runs; i++)
		for (const uint64_t *at = x->runs[i].ips; at < x->runs[i].ips + x->runs[i].n; at++)
			if (recent_index(chain, at) < RECENT_WORDS)
				r->spaces[recent_index(chain, at)] = (uint8_t)x->runs[i].space;
}
