/*
 * See functions.h. The events are those of names like `uprobe:FILE:FUNCTION` (event/probe.c), which exist as long as they are
 * open.
 */
#include "view/functions.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"

static int first_match(const char *pattern, char **out)
{
	glob_t g = { 0 };
	int err = -ENOENT;

	if (glob(pattern, 0, NULL, &g) == 0 && g.gl_pathc > 0) {
		*out = str_dup(str_of(g.gl_pathv[0]));
		err = *out ? 0 : -ENOMEM;
	}
	globfree(&g);
	return err;
}

static int find_program(struct str name, char **out)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "/usr/bin:/bin"), dir;

	while (str_cut(&rest, ':', &dir)) {
		scoped(buf_done) struct buf file = { 0 };

		buf_printf(&file, "%.*s/%.*s", STR(dir), STR(name));
		if (buf_failed(&file))
			return -ENOMEM;
		if (access(file.bytes, X_OK) == 0) {
			*out = str_dup(buf_view(&file));
			return *out ? 0 : -ENOMEM;
		}
	}
	return -ENOENT;
}

int view_find_library(struct str name, char **out)
{
	static const char *const places[] = { "/lib/*-linux-gnu*/", "/lib64/", "/lib/", "/usr/lib/*-linux-gnu*/", "/usr/lib64/",
					      "/usr/lib/", "/usr/local/lib/" };
	static const char *const shapes[] = { "lib%.*s.so.[0-9]", "lib%.*s.so", "lib%.*s.so.*", "%.*s" };

	if (memchr(name.s, '/', name.n)) {
		*out = str_dup(name);
		return *out ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < countof(places) * countof(shapes); i++) {
		scoped(buf_done) struct buf pattern = { 0 };
		int err;

		buf_puts(&pattern, places[i / countof(shapes)]);
		buf_printf(&pattern, shapes[i % countof(shapes)], STR(name));
		err = buf_failed(&pattern) ? -ENOMEM : first_match(pattern.bytes, out);
		if (err != -ENOENT)
			return err;
	}
	return find_program(name, out);
}

enum probed_kind { PROBED_USER, PROBED_STATIC, PROBED_TRACEPOINT, PROBED_KERNEL };

struct probed_spec {
	enum probed_kind kind;
	struct str where, what;		/* library or category; function, probe or event */
};

/* "p:c:malloc", "c:malloc", "p::vfs_read", "vfs_read" */
static int parse_spec(const char *text, struct probed_spec *out, struct tacho_error *e)
{
	struct str rest = str_of(text), head;
	char kind = rest.n > 2 && rest.s[1] == ':' && strchr("prtu", rest.s[0]) && strchr(rest.s + 2, ':') ? rest.s[0] : '\0';

	*out = (struct probed_spec){ .kind = kind == 'u' ? PROBED_STATIC : kind == 't' ? PROBED_TRACEPOINT : PROBED_USER };
	if (kind)
		str_cut(&rest, ':', &head);
	if (memchr(rest.s, ':', rest.n))
		str_cut(&rest, ':', &out->where);
	out->what = rest;
	if (!out->where.n && out->kind == PROBED_USER)
		out->kind = PROBED_KERNEL;
	if (rest.n && (out->where.n || out->kind == PROBED_KERNEL))
		return 0;
	error_set(e, -EINVAL, "'%s' names no function", text);
	error_hint(e, "a function is LIBRARY:FUNCTION, such as c:malloc or /usr/bin/bash:readline; a tracepoint is t:sched:sched_switch");
	return -EINVAL;
}

static void put_event_spec(const struct probed_spec *s, const char *path, bool is_return, struct buf *out)
{
	switch (s->kind) {
	case PROBED_USER:
		buf_printf(out, "%s:%s:%.*s", is_return ? "uretprobe" : "uprobe", path, STR(s->what));
		break;
	case PROBED_STATIC:
		buf_printf(out, "usdt:%s:%.*s", path, STR(s->what));
		break;
	case PROBED_TRACEPOINT:
		buf_printf(out, "%.*s:%.*s", STR(s->where), STR(s->what));
		break;
	case PROBED_KERNEL:
		buf_printf(out, "%s:%.*s", is_return ? "kretprobe" : "kprobe", STR(s->what));
		break;
	}
}

/* "uprobe:/lib/libc.so.6:malloc" is shown as "malloc", a tracepoint as it is. */
static const char *shown_name(const char *event, enum probed_kind kind)
{
	const char *colon = strchr(event, ':');

	if (kind == PROBED_TRACEPOINT || !colon)
		return event;
	if (kind != PROBED_KERNEL && strchr(colon + 1, ':'))
		colon = strchr(colon + 1, ':');
	return colon + 1;
}

/* Events that stand for places of one function are one entry of the list. */
static int add_events(struct view_functions *f, size_t first, enum probed_kind kind, const char *path, struct tacho_error *e)
{
	if (strlist_add(&f->paths, str_of(path)) < 0)
		return error_nomem(e);
	for (size_t i = first; i < tacho_evset_size(f->calls); i++) {
		const struct tacho_event *ev = tacho_evset_event(f->calls, i);
		struct probed_place *place = vec_add(&f->places);

		if (!place)
			return error_nomem(e);
		place->path = (uint32_t)(f->paths.n - 1);
		if (ev->merge < i) {
			place->function = f->places.v[ev->merge].function;
		} else {
			struct probed_function *one = vec_add(&f->list);

			if (!one)
				return error_nomem(e);
			*one = (struct probed_function){ shown_name(ev->name, kind), kind == PROBED_TRACEPOINT };
			place->function = (uint32_t)(f->list.n - 1);
		}
	}
	return 0;
}

static int add_spec(struct tacho_evset *set, struct strlist *specs, struct str spec, struct tacho_error *e)
{
	int n = strlist_add(specs, spec) < 0 ? error_nomem(e) : tacho_evset_add(set, specs->v[specs->n - 1], e);

	if (n < 0 && e)
		e->column = -1;		/* of a text that the user has not typed */
	return n;
}

int view_functions_add(struct view_functions *f, struct tacho *t, const char *spec, bool with_returns, struct tacho_error *e)
{
	scoped(buf_done) struct buf call = { 0 }, back = { 0 };
	scoped(freep) char *path = NULL;
	struct probed_spec s;
	size_t first;
	int err = parse_spec(spec, &s, e);

	if (err == 0 && !f->calls)
		err = tacho_evset_new(&f->calls, t) < 0 || tacho_evset_new(&f->returns, t) < 0 ? error_nomem(e) : 0;
	if (err == 0 && (s.kind == PROBED_USER || s.kind == PROBED_STATIC)) {
		err = view_find_library(s.where, &path);
		if (err < 0)
			return error_set(e, err, "no library or program is called '%.*s'", STR(s.where));
	}
	if (err == 0 && with_returns && s.kind != PROBED_USER && s.kind != PROBED_KERNEL)
		return error_set(e, -EINVAL, "'%s' does not return: only functions do", spec);
	if (err < 0)
		return err;
	put_event_spec(&s, path, false, &call);
	put_event_spec(&s, path, true, &back);
	if (buf_failed(&call) || buf_failed(&back))
		return error_nomem(e);
	first = tacho_evset_size(f->calls);
	err = add_spec(f->calls, &f->call_specs, buf_view(&call), e);
	if (err >= 0 && with_returns)
		err = add_spec(f->returns, &f->return_specs, buf_view(&back), e);
	if (err >= 0)
		err = add_events(f, first, s.kind, path ? path : call.bytes + strcspn(call.bytes, ":") + 1, e);
	f->has_tracepoints |= s.kind == PROBED_TRACEPOINT;
	f->has_probes |= s.kind != PROBED_TRACEPOINT;
	return err < 0 ? err : 0;
}

void view_functions_done(struct view_functions *f)
{
	tacho_evset_free(f->calls);
	tacho_evset_free(f->returns);
	strlist_done(&f->call_specs);
	strlist_done(&f->return_specs);
	vec_done(&f->list);
	strlist_done(&f->paths);
	vec_done(&f->places);
}
