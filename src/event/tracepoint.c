/*
 * Resolves SYSTEM:NAME to tracepoints. In tracefs, events/SYSTEM/NAME/id holds the id that
 * perf_event_open() takes as config. Both parts may be patterns. Ids are read only for the events that are added.
 */
#include "event/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"

static int refuse_tracefs(struct event_parser *p, int err, struct str where)
{
	const char *root = p->t->sys.tracefs ? p->t->sys.tracefs : "/sys/kernel/tracing";

	if (err == -EACCES || err == -EPERM) {
		error_set(p->e, -EACCES, "tracepoints cannot be looked up: tracefs is not readable");
		error_hint(p->e, "run as root, or let this group in: mount -o remount,gid=GID,mode=750 %s",
			   root);
		return parse_refuse(p, -EACCES, where);
	}
	error_set(p->e, -ENOENT, "tracepoints cannot be looked up: tracefs is not mounted");
	error_hint(p->e, "mount -t tracefs nodev %s", root);
	return parse_refuse(p, -ENOENT, where);
}

/* Opens the events directory of tracefs. If that fails, the error explains how to get access. */
static int open_events(struct event_parser *p, struct str where, int *out)
{
	const char *root = sys_tracefs(&p->t->sys);
	char path[PATH_MAX];
	int fd = -1, err = root ? 0 : -errno;

	if (root) {
		snprintf(path, sizeof(path), "%s/events", root);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = fd < 0 ? -errno : 0;
	}
	if (err == -ENOMEM)
		return error_nomem(p->e);
	if (err < 0)
		return refuse_tracefs(p, err, where);
	*out = fd;
	return 0;
}

/* Reads the id of system/name. Returns 1, 0 if it has no id, or a negative errno. */
static int read_id(int events, const char *system, const char *name, uint64_t *out)
{
	char path[NAME_MAX * 2 + 8], text[32];
	int n = snprintf(path, sizeof(path), "%s/%s/id", system, name);

	if (n < 0 || n >= (int)sizeof(path))
		return 0;
	n = io_read_small(events, path, text, sizeof(text));
	if (n == -ENOENT || n == -ENOTDIR)
		return 0;
	if (n < 0)
		return n;
	return num_u64(str_trim(str_n(text, (size_t)n)), out) < 0 ? 0 : 1;
}

static int add_tracepoint(struct event_parser *p, const char *system, const char *name, uint64_t id,
		   struct term_list *terms)
{
	char full[NAME_MAX * 2 + 2];
	struct event *ev;
	int err;

	err = parse_add(p, TACHO_EVENT_TRACEPOINT, "tracepoint", &ev);
	if (err < 0)
		return err;
	snprintf(full, sizeof(full), "%s:%s", system, name);
	ev->attr.type = PERF_TYPE_TRACEPOINT;
	ev->attr.config = id;
	err = term_apply_fixed(p, terms, ev);
	if (err >= 0)
		err = term_refuse_rest(p, terms, "a tracepoint");
	if (err >= 0 && !ev->name) {
		ev->name = parse_str(p, str_of(full));
		err = ev->name ? 0 : -ENOMEM;
	}
	return err;
}

static int list_system(const char *root, const char *system, struct strlist *out)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/events/%s", root, system);
	return sys_list_dir(path, out);
}

/* Adds the matching tracepoints of one system; files such as enable and filter have no id. */
static int add_matching(struct event_parser *p, int events, const char *system, struct str name,
			struct str where, struct term_list *terms)
{
	scoped(strlist_done) struct strlist names = { 0 };
	int err = list_system(p->t->sys.tracefs, system, &names);

	if (err == -ENOMEM)
		return error_nomem(p->e);
	for (size_t i = 0; i < names.n; i++) {
		uint64_t id;

		if (!str_glob(name, str_of(names.v[i])))
			continue;
		err = read_id(events, system, names.v[i], &id);
		if (err == -EACCES || err == -EPERM)
			return refuse_tracefs(p, err, where);
		if (err > 0)
			err = add_tracepoint(p, system, names.v[i], id, terms);
		if (err == -ENOMEM || err == -E2BIG || err == -EINVAL)
			return err;
	}
	return 0;
}

static int add_patterns(struct event_parser *p, int events, struct str system, struct str name,
			struct str where, struct term_list *terms)
{
	scoped(strlist_done) struct strlist systems = { 0 };
	size_t before = p->list->n;
	int err = list_system(p->t->sys.tracefs, "", &systems);

	if (err < 0)
		return err == -ENOMEM ? error_nomem(p->e) : refuse_tracefs(p, err, where);
	for (size_t i = 0; err >= 0 && i < systems.n; i++)
		if (str_glob(system, str_of(systems.v[i])))
			err = add_matching(p, events, systems.v[i], name, where, terms);
	if (err < 0 || p->list->n > before)
		return err;
	error_set(p->e, -ENOENT, "no tracepoint matches '%.*s:%.*s'", SHOW(system), SHOW(name));
	error_hint(p->e, "`tacho list tracepoint` shows every one");
	return parse_refuse(p, -ENOENT, where);
}

static int refuse_unknown(struct event_parser *p, struct str system, struct str name)
{
	scoped(strlist_done) struct strlist names = { 0 };
	char text[NAME_MAX + 1];
	struct name_guess g = { 0 };
	bool known;

	snprintf(text, sizeof(text), "%.*s", SHOW(system));
	known = system.n <= 100 && list_system(p->t->sys.tracefs, text, &names) >= 0;
	g.near.word = known ? name : system;
	if (!known)
		list_system(p->t->sys.tracefs, "", &names);
	for (size_t i = 0; i < names.n; i++)
		guess_try(&g, str_of(names.v[i]));
	if (known) {
		error_set(p->e, -ENOENT, "%.*s has no tracepoint '%.*s'", SHOW(system), SHOW(name));
		if (g.best[0])
			error_hint(p->e, "did you mean '%.*s:%s'?", SHOW(system), g.best);
		return parse_refuse(p, -ENOENT, name);
	}
	error_set(p->e, -ENOENT, "no group of tracepoints is called '%.*s'", SHOW(system));
	if (g.best[0])
		error_hint(p->e, "did you mean '%s:%.*s'?", g.best, SHOW(name));
	return parse_refuse(p, -ENOENT, system);
}

bool tracepoint_has_system(struct tacho *t, struct str system)
{
	const char *root = sys_tracefs(&t->sys);
	char path[PATH_MAX];
	int n = root && system.n <= NAME_MAX ?
			snprintf(path, sizeof(path), "%s/events/%.*s", root, STR(system)) : -1;

	return n > 0 && n < (int)sizeof(path) && io_is_accessible(path, F_OK);
}

int tracepoint_add(struct event_parser *p, struct str system, struct str name, struct term_list *terms)
{
	char sys_text[NAME_MAX + 1], name_text[NAME_MAX + 1];
	struct str where = str_n(system.s, (size_t)(name.s + name.n - system.s));
	scoped(closep) int events = -1;
	uint64_t id;
	int err = open_events(p, where, &events);

	if (err < 0)
		return err;
	if (str_has_glob(system) || str_has_glob(name))
		return add_patterns(p, events, system, name, where, terms);
	if (system.n > NAME_MAX || name.n > NAME_MAX)
		return refuse_unknown(p, system, name);
	snprintf(sys_text, sizeof(sys_text), "%.*s", STR(system));
	snprintf(name_text, sizeof(name_text), "%.*s", STR(name));
	err = read_id(events, sys_text, name_text, &id);
	if (err > 0)
		return add_tracepoint(p, sys_text, name_text, id, terms);
	return err < 0 ? refuse_tracefs(p, err, where) : refuse_unknown(p, system, name);
}

/* Tries each tracepoint as a guess, comparing only the name after the system. */
void tracepoint_guess(struct tacho *t, struct name_guess *g)
{
	scoped(strlist_done) struct strlist systems = { 0 };
	const char *root = sys_tracefs(&t->sys);
	struct name_guess inner = { .near = g->near };

	if (!root || list_system(root, "", &systems) < 0)
		return;
	for (size_t i = 0; i < systems.n; i++) {
		scoped(strlist_done) struct strlist names = { 0 };

		list_system(root, systems.v[i], &names);
		for (size_t k = 0; k < names.n; k++) {
			unsigned before = inner.near.best.n ? inner.near.distance : UINT_MAX;

			guess_try(&inner, str_of(names.v[k]));
			if (!inner.near.best.n || inner.near.distance >= before)
				continue;
			snprintf(g->best, sizeof(g->best), "%s:%s", systems.v[i], names.v[k]);
			g->near.distance = inner.near.distance;
		}
	}
}
