/*
 * Names from vendors' lists. A source of another tool's file may use names which only such a list
 * explains; a name that the event language knows anyway is an event, the others keep their place and
 * say why they cannot be counted. A group loses such members, and counts on with the rest.
 */
#include "agent/config_build.h"

#include <errno.h>
#include <strings.h>

#include "base/error.h"

#include <tacho/evset.h>

struct lookup {
	struct tacho *t;
	struct source_config *s;
	struct tacho_error *e;
};

static int is_known(struct lookup *l, const char *spec, bool *known)
{
	struct tacho_evset *set;
	int got = tacho_evset_new(&set, l->t);

	if (got < 0)
		return error_nomem(l->e);
	got = tacho_evset_add(set, spec, NULL);
	tacho_evset_free(set);
	*known = got >= 0;
	return got == -ENOMEM ? error_nomem(l->e) : 0;
}

static int refuse(struct lookup *l, struct event_config *ev)
{
	struct buf text = { 0 };

	if (l->s->naming == NAMING_ALUMET)
		buf_puts(&text, "the event language does not know this name, and libpfm's names");
	else if (!strcasecmp(ev->spec, "all"))
		buf_puts(&text, "all events of a list are meant, and vendors' lists");
	else
		buf_printf(&text, "the event language does not know %s, and vendors' lists",
			   ev->spec[0] == '{' ? "these names" : "this name");
	if (l->s->event_lists.n)
		buf_printf(&text, " (%s)", l->s->event_lists.v[0]);
	buf_puts(&text, " are not read yet");
	ev->refused = buf_take(&text);
	return ev->refused ? 0 : error_nomem(l->e);
}

/* "{a,b}:u" without its braces; false: no group. */
static bool members_of(const char *spec, struct str *members, struct str *letters)
{
	struct str s = str_of(spec);
	size_t end = s.n;

	if (!s.n || s.s[0] != '{')
		return false;
	while (end && s.s[end - 1] != '}')
		end--;
	if (end < 2)
		return false;
	*members = str_n(s.s + 1, end - 2);
	*letters = str_n(s.s + end, s.n - end);
	return true;
}

static int keep(struct lookup *l, struct str spec, const struct event_config *like, bool known)
{
	struct event_config *ev = config_add_event(l->s, spec, str_of(like->name), str_of(like->original),
						   (struct toml_at){ like->line, like->column });

	if (!ev)
		return error_nomem(l->e);
	return known ? 0 : refuse(l, ev);
}

/* The members that are known stay a group, each of the others becomes an event of its own. Where
 * none is known the group stays as it is written, for the day that the list is read. */
static int split_group(struct lookup *l, const struct event_config *like, struct str members,
		       struct str letters)
{
	const struct event_config plain = { .line = like->line, .column = like->column };
	struct strlist refused = { 0 };
	struct buf group = { 0 };
	struct str word;
	int err = 0;

	while (!err && str_cut(&members, ',', &word)) {
		scoped(freep) char *name = str_dup(str_trim(word));
		bool known = false;

		if (!name) {
			err = error_nomem(l->e);
			break;
		}
		err = is_known(l, name, &known);
		if (!err && known)
			buf_printf(&group, "%s%s", group.n ? "," : "{", name);
		else if (!err && *name && strlist_add(&refused, str_of(name)))
			err = error_nomem(l->e);
	}
	if (!err && group.n) {
		buf_printf(&group, "}%.*s", STR(letters));
		err = buf_failed(&group) ? error_nomem(l->e) : keep(l, buf_view(&group), &plain, true);
	}
	for (size_t i = 0; i < refused.n && group.n && !err; i++)
		err = keep(l, str_of(refused.v[i]), &plain, false);
	if (!err && !group.n)
		err = keep(l, str_of(like->spec), like, false);
	strlist_done(&refused);
	buf_done(&group);
	return err;
}

static int look_up_event(struct lookup *l, const struct event_config *ev)
{
	struct str members, letters;
	bool known = false;
	int err = is_known(l, ev->spec, &known);

	if (err)
		return err;
	if (!known && members_of(ev->spec, &members, &letters))
		return split_group(l, ev, members, letters);
	/* Of pmu/terms/ the collector says best what is wrong. */
	return keep(l, str_of(ev->spec), ev, known || strchr(ev->spec, '/'));
}

/* Builds the list anew. */
static int look_up_source(struct lookup *l)
{
	struct source_config old = { .events = l->s->events, .n_events = l->s->n_events };
	int err = 0;

	l->s->events = NULL;
	l->s->n_events = 0;
	for (size_t i = 0; i < old.n_events && !err; i++)
		err = look_up_event(l, &old.events[i]);
	keys_find(source_keys, STR_LIT("events"))->done(&old);
	return err;
}

int config_look_up(struct agent_config *cfg, struct tacho_error *e)
{
	struct lookup l = { .e = e };
	int err = 0;

	for (size_t i = 0; i < cfg->n_sources && !err; i++) {
		l.s = &cfg->sources[i];
		if (!l.s->event_lists.n && l.s->naming == NAMING_TACHO)
			continue;
		if (!l.t)
			err = tacho_open(&l.t, NULL, e);
		if (!err)
			err = look_up_source(&l);
	}
	tacho_close(l.t);
	return err;
}
