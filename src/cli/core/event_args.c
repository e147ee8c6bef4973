/*
 * Collecting -e, -M, -G and --filter, and applying them to an event set or sampler.
 */
#include "cli/core/event_args.h"

#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/core/command.h"

static int add_arg(struct event_args *w, enum event_arg_kind kind, const char *text)
{
	struct event_arg *one = vec_add(w);

	if (!one)
		return -ENOMEM;
	*one = (struct event_arg){ .kind = kind, .text = text };
	return 0;
}

int event_args_add_events(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_arg(opts, EVENT_ARG_EVENTS, arg);
}

int event_args_add_pfm(void *opts, const char *arg, struct tacho_error *e)
{
	struct event_args *w = opts;
	int err = event_args_add_events(opts, arg, e);

	if (!err)
		w->v[w->n - 1].pfm = true;
	return err;
}

int event_args_add_metrics(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_arg(opts, EVENT_ARG_METRICS, arg);
}

int event_args_add_cgroups(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_arg(opts, EVENT_ARG_CGROUPS, arg);
}

int event_args_add_filter(void *opts, const char *arg, struct tacho_error *e)
{
	(void)e;
	return add_arg(opts, EVENT_ARG_FILTER, arg);
}

bool event_args_have(const struct event_args *w, enum event_arg_kind kind)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].kind == kind)
			return true;
	return false;
}

/* -G a,b,,c: each name applies to the next event without a cgroup; an empty name skips an event. If the
 * first -G has a single name, it applies to all events so far. */
static int apply_cgroups(const struct event_args_target *t, const char *list, size_t *given,
			 struct tacho_error *e)
{
	struct str rest = str_of(list), one;
	size_t first = *given;
	int err = 0;

	while (err == 0 && str_cut(&rest, ',', &one)) {
		scoped(freep) char *path = str_dup(str_trim(one));
		bool for_all = first == 0 && *given == 0 && !rest.s;
		size_t at = (*given)++, n = t->size(t->set);

		if (!path)
			return error_nomem(e);
		if (at >= n) {
			error_set(e, -EINVAL, "there is no event for cgroup '%s'", path);
			error_hint(e, "-G applies to the events before it: put -e first");
			return -EINVAL;
		}
		if (path[0])
			err = t->cgroup(t->set, at, for_all ? n : 1, path, e);
	}
	return err;
}

/* "{a,b},c" becomes "{pfm::a,pfm::b},pfm::c". */
static void put_pfm_names(const char *text, struct buf *out)
{
	bool begins = true;

	for (const char *c = text; *c; c++) {
		if (begins && !strchr(" \t{", *c)) {
			buf_puts(out, "pfm::");
			begins = false;
		}
		buf_putc(out, *c);
		begins |= *c == ',';
	}
}

struct event_arg_state {
	size_t last;			/* the first event of the last -e */
	size_t cgroups;			/* number of events that -G has been applied to */
};

static int apply_arg(const struct event_args_target *t, const struct event_arg *w, struct event_arg_state *p,
		     struct tacho_error *e)
{
	size_t n = t->size(t->set);

	switch (w->kind) {
	case EVENT_ARG_EVENTS:
		p->last = n;
		return t->add(t->set, w->text, e);
	case EVENT_ARG_METRICS:
		return t->metrics ? t->metrics(t->set, w->text, e) : -EINVAL;
	case EVENT_ARG_CGROUPS:
		return apply_cgroups(t, w->text, &p->cgroups, e);
	case EVENT_ARG_FILTER:
		if (n == p->last)
			return error_set(e, -EINVAL, "--filter needs a tracepoint event before it");
		return t->filter(t->set, p->last, n - p->last, w->text, e);
	}
	return -EINVAL;
}

int event_args_apply(const struct event_args *w, const char *command, const struct event_args_target *t)
{
	static const char *const options[] = { "-e", "-M", "-G", "--filter" };
	struct event_arg_state p = { 0 };

	for (size_t i = 0; i < w->n; i++) {
		scoped(buf_done) struct buf text = { 0 };
		struct tacho_error e = { .column = -1 };
		struct event_arg word = w->v[i];
		int err;

		if (word.pfm) {
			put_pfm_names(word.text, &text);
			word.text = text.bytes ? text.bytes : "";
		}
		err = buf_failed(&text) ? error_nomem(&e) : apply_arg(t, &word, &p, &e);
		if (err < 0) {
			message_error(command, options[word.kind], word.text, &e);
			return err;
		}
	}
	return 0;
}
