/*
 * Call chains in `tacho sched timehist`: on one line, innermost function first. A switch happens in the scheduler, so its
 * own functions are left out.
 */
#include "cli/sched/timehist.h"

#include <errno.h>
#include <inttypes.h>

#include "record/callchain_markers.h"

#define MAX_INLINED 32

static bool is_scheduler(const char *name)
{
	return !strcmp(name, "schedule") || !strcmp(name, "__schedule") || !strcmp(name, "preempt_schedule");
}

struct chain_text {
	struct buf *out;
	size_t from;
	const char *separator;
};

static void put_function(struct chain_text *text, const char *name, bool inlined)
{
	if (text->out->n > text->from)
		buf_puts(text->out, text->separator);
	buf_puts(text->out, name);
	if (inlined)
		buf_puts(text->out, " (inlined)");
}

static void put_frame(struct chain_text *text, struct tacho_symbols *symbols, const struct tacho_frame *f, bool is_caller)
{
	struct tacho_inline inlined[MAX_INLINED];
	const char *name = tacho_symbols_name(symbols, f->symbol);
	int n = f->symbol ? tacho_symbols_inlines(symbols, f, is_caller, false, inlined, MAX_INLINED) : 0;

	if (is_scheduler(name))
		return;
	for (int i = 0; i < n; i++)
		put_function(text, tacho_symbols_name(symbols, inlined[i].symbol), true);
	put_function(text, name, false);
}

void timehist_put_chain(struct timehist *t, const struct tacho_sched_event *ev, const char *separator, struct buf *out)
{
	struct chain_text text = { out, out->n, separator };
	struct tacho_symbols *symbols = tacho_sched_symbols(t->sched);
	/* perf reads two more, for those of the scheduler. */
	size_t left = (size_t)t->o->max_stack + 2;
	enum tacho_space space = TACHO_SPACE_UNKNOWN;
	struct tacho_frame frame;
	bool is_caller = false;

	for (size_t i = 0; i < ev->chain.n && left; i++) {
		uint64_t ip = ev->chain.v[i];

		if (ip >= CONTEXT_FIRST) {
			if (!context_space(ip, &space))
				return;
			continue;
		}
		tacho_symbols_resolve(symbols, ev->chain_pid, space, ip - is_caller, &frame);
		put_frame(&text, symbols, &frame, is_caller);
		is_caller = true;
		left--;
	}
}

/* ---- idle time ---- */

static struct idle_chain *find_idle_chain(struct timehist *t, uint32_t cpu, struct str text)
{
	scoped(buf_done) struct buf key = { 0 };
	const uint64_t *known;
	struct idle_chain *c;

	buf_printf(&key, "%" PRIu32 " ", cpu);
	buf_str(&key, text);
	if (buf_failed(&key))
		return NULL;
	known = map_get(&t->idle_chain_index, buf_view(&key));
	if (known)
		return &t->idle_chains.v[*known];
	c = vec_add(&t->idle_chains);
	if (!c)
		return NULL;
	c->cpu = cpu;
	c->text = buf_take(&key);
	return c->text && map_put(&t->idle_chain_index, str_of(c->text), t->idle_chains.n - 1) == 0 ? c : NULL;
}

int timehist_add_idle_chain(struct timehist *t, const struct tacho_sched_event *ev)
{
	scoped(buf_done) struct buf text = { 0 };
	struct idle_chain *c;

	timehist_put_chain(t, ev, " <- ", &text);
	c = buf_failed(&text) ? NULL : find_idle_chain(t, ev->cpu, buf_view(&text));
	if (!c)
		return -ENOMEM;
	c->ns += ev->run_ns;
	c->n++;
	return 0;
}

void timehist_chains_done(struct timehist *t)
{
	for (size_t i = 0; i < t->idle_chains.n; i++)
		free(t->idle_chains.v[i].text);
	vec_done(&t->idle_chains);
	map_done(&t->idle_chain_index);
}
