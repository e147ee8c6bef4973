/*
 * Collects -e, -M, -G and --filter, and applies them to an event set.
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

/* Applies -G a,b,,c: each name is assigned to the next event without a cgroup; an empty name skips an
 * event. If the first -G is a single name, it is assigned to all preceding events. */
static int apply_cgroups(struct tacho_evset *set, const char *list, size_t *given, struct tacho_error *e)
{
	struct str rest = str_of(list), one;
	size_t first = *given;
	int err = 0;

	while (err == 0 && str_cut(&rest, ',', &one)) {
		scoped(freep) char *path = str_dup(str_trim(one));
		bool for_all = first == 0 && *given == 0 && !rest.s;
		size_t at = (*given)++, n = tacho_evset_size(set);

		if (!path)
			return error_nomem(e);
		if (at >= n) {
			error_set(e, -EINVAL, "there is no event for cgroup '%s'", path);
			error_hint(e, "-G gives the cgroups of the events before it: put -e first");
			return -EINVAL;
		}
		if (path[0])
			err = tacho_evset_set_cgroup(set, at, for_all ? n : 1, path, e);
	}
	return err;
}

/* Adds the prefix of libpfm4 events: "{a,b},c" becomes "{pfm::a,pfm::b},pfm::c". */
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

struct event_args_state {
	struct tacho_evset *set;
	event_args_metrics_fn *metrics;
	void *arg;			/* passed to metrics() */
	size_t last;			/* index of the first event of the last -e */
	size_t cgroups;			/* number of events that a -G has named or skipped */
};

static int apply_arg(struct event_args_state *s, const struct event_arg *w, struct tacho_error *e)
{
	size_t n = tacho_evset_size(s->set);

	switch (w->kind) {
	case EVENT_ARG_EVENTS:
		s->last = n;
		return tacho_evset_add(s->set, w->text, e);
	case EVENT_ARG_METRICS:
		return s->metrics ? s->metrics(s->arg, w->text, e) : -EINVAL;
	case EVENT_ARG_CGROUPS:
		return apply_cgroups(s->set, w->text, &s->cgroups, e);
	case EVENT_ARG_FILTER:
		if (n == s->last)
			return error_set(e, -EINVAL, "--filter needs an event before it");
		return tacho_evset_set_filter(s->set, s->last, n - s->last, w->text, e);
	}
	return -EINVAL;
}

int event_args_apply(const struct event_args *w, const char *command, struct tacho_evset *set,
		     event_args_metrics_fn *metrics, void *arg)
{
	static const char *const options[] = { "-e", "-M", "-G", "--filter" };
	struct event_args_state state = { .set = set, .metrics = metrics, .arg = arg };

	for (size_t i = 0; i < w->n; i++) {
		scoped(buf_done) struct buf text = { 0 };
		struct tacho_error e = { .column = -1 };
		struct event_arg word = w->v[i];
		int err;

		if (word.pfm) {
			put_pfm_names(word.text, &text);
			word.text = text.bytes ? text.bytes : "";
		}
		err = buf_failed(&text) ? error_nomem(&e) : apply_arg(&state, &word, &e);
		if (err < 0) {
			message_error(command, options[word.kind], word.text, &e);
			return err;
		}
	}
	return 0;
}
