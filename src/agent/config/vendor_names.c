/*
 * Names from vendors' lists. A source may use names which only its lists explain. What neither they
 * nor the event language know keeps its place and says so; what a list knows and this machine cannot
 * count is left to the collector. A group loses both, and counts on with the rest.
 */
#include "agent/config/build.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/error.h"
#include "base/vec.h"

#include <tacho/eventlist.h>
#include <tacho/evset.h>

enum known {
	UNKNOWN,
	LISTED,			/* a list has it, and this machine cannot count it: the collector says why */
	KNOWN,
};

struct vendor_lookup {
	struct tacho *t;
	struct source_config *s;
	struct tacho_error *e;
	struct tacho_error unread;	/* of a list that cannot be read; code 0: all were */
};

int config_open_lists(struct tacho **out, const struct source_config *s, const struct tacho_opts *opts,
		      struct tacho_error *unread, struct tacho_error *e)
{
	int err = tacho_open(out, opts, e);

	if (err < 0)
		return err;
	for (size_t i = 0; i < s->event_lists.n; i++) {
		struct tacho_error why = { 0 };

		err = tacho_eventlist_add(*out, s->event_lists.v[i], &why);
		if (err == -ENOMEM) {
			tacho_close(*out);
			*out = NULL;
			return error_nomem(e);
		}
		if (err < 0 && unread && !unread->code)
			*unread = why;
	}
	return 0;
}

static int is_known(struct vendor_lookup *l, const char *spec, enum known *known)
{
	struct tacho_evset *set;
	int got = tacho_evset_new(&set, l->t);

	if (got < 0)
		return error_nomem(l->e);
	got = tacho_evset_add(set, spec, NULL);
	tacho_evset_free(set);
	*known = got >= 0 ? KNOWN : got == -EOPNOTSUPP ? LISTED : UNKNOWN;
	return got == -ENOMEM ? error_nomem(l->e) : 0;
}

static int refuse(struct vendor_lookup *l, struct event_config *ev)
{
	struct buf text = { 0 };

	if (l->s->naming == NAMING_ALUMET)
		buf_puts(&text, "neither the event language nor libpfm4 knows this name on this CPU");
	else if (!strcasecmp(ev->spec, "all"))
		buf_puts(&text, "all events of a list are meant");
	else
		buf_printf(&text, "the event language does not know %s",
			   ev->spec[0] == '{' ? "these names" : "this name");
	if (l->unread.code)
		buf_printf(&text, "; %s", l->unread.message);
	else if (l->s->event_lists.n)
		buf_printf(&text, ", nor does the list %s", l->s->event_lists.v[0]);
	else if (l->s->naming != NAMING_ALUMET)
		buf_puts(&text, ", and no list of this CPU has it");
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

static int keep(struct vendor_lookup *l, struct str spec, const struct event_config *like, bool known)
{
	struct event_config *ev = config_add_event(l->s, spec, str_of(like->name), str_of(like->original),
						   (struct toml_at){ like->line, like->column });

	if (!ev)
		return error_nomem(l->e);
	return known ? 0 : refuse(l, ev);
}

/* "All": every event that the lists have and this machine can count, each by itself. */
struct all {
	struct vendor_lookup *l;
	const struct event_config *like;
	size_t kept, met;
	char why[256];			/* of the first that cannot be counted */
};

/* Cores of two kinds have a list each, with many names in both; a name means all of them. */
static bool is_kept(const struct source_config *s, const char *name)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (!strcmp(s->events[i].spec, name))
			return true;
	return false;
}

static int take_all(void *arg, const struct tacho_listed *listed)
{
	struct all *all = arg;
	struct event_config plain = { .line = all->like->line, .column = all->like->column };
	scoped(freep) char *name = str_dup(str_of(listed->name));

	all->met++;
	if (listed->reason && !all->why[0])
		snprintf(all->why, sizeof(all->why), "%s", listed->reason);
	if (listed->reason || listed->deprecated)
		return 0;
	if (!name)
		return -ENOMEM;
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	all->kept++;
	if (is_kept(all->l->s, name))
		return 0;
	return keep(all->l, str_of(name), &plain, true) ? -ENOMEM : 0;
}

static int look_up_all(struct vendor_lookup *l, const struct event_config *ev)
{
	struct all all = { .l = l, .like = ev };
	struct event_config *kept;
	struct buf text = { 0 };
	int err = tacho_eventlist_walk(l->t, NULL, take_all, &all, l->e);

	if (err < 0)
		return error_nomem(l->e);
	if (all.kept || !all.met)
		return all.kept ? 0 : keep(l, str_of(ev->spec), ev, false);
	buf_printf(&text, "all events of a list are meant, and none of the %zu can be counted here: %s",
		   all.met, all.why);
	kept = config_add_event(l->s, str_of(ev->spec), str_of(ev->name), str_of(ev->original),
				(struct toml_at){ ev->line, ev->column });
	if (kept)
		kept->refused = buf_take(&text);
	buf_done(&text);
	return kept && kept->refused ? 0 : error_nomem(l->e);
}

struct members {
	struct buf group;		/* those that can be counted */
	struct strlist alone;		/* the others, and what is known of each */
	struct { enum known *v; size_t n, cap; } known;
	bool any_unknown;
};

static int sort_member(struct vendor_lookup *l, struct members *m, struct str word)
{
	scoped(freep) char *name = str_dup(str_trim(word));
	enum known known = UNKNOWN, *slot;
	int err;

	if (!name)
		return error_nomem(l->e);
	err = is_known(l, name, &known);
	if (err || !*name)
		return err;
	if (known == KNOWN) {
		buf_printf(&m->group, "%s%s", m->group.n ? "," : "{", name);
		return 0;
	}
	m->any_unknown |= known == UNKNOWN;
	slot = vec_add(&m->known);
	if (!slot || strlist_add(&m->alone, str_of(name)))
		return error_nomem(l->e);
	*slot = known;
	return 0;
}

/* The members that can be counted stay a group, each of the others becomes an event of its own. Where
 * there is none the group stays as it is written. */
static int split_group(struct vendor_lookup *l, const struct event_config *like, struct str members,
		       struct str letters)
{
	const struct event_config plain = { .line = like->line, .column = like->column };
	struct members m = { 0 };
	struct str word;
	int err = 0;

	while (!err && str_cut(&members, ',', &word))
		err = sort_member(l, &m, word);
	if (!err && m.group.n) {
		buf_printf(&m.group, "}%.*s", STR(letters));
		err = buf_failed(&m.group) ? error_nomem(l->e) : keep(l, buf_view(&m.group), &plain, true);
		for (size_t i = 0; i < m.alone.n && !err; i++)
			err = keep(l, str_of(m.alone.v[i]), &plain, m.known.v[i] != UNKNOWN);
	} else if (!err) {
		err = keep(l, str_of(like->spec), like, !m.any_unknown);
	}
	strlist_done(&m.alone);
	vec_done(&m.known);
	buf_done(&m.group);
	return err;
}

static int look_up_event(struct vendor_lookup *l, const struct event_config *ev)
{
	struct str members, letters;
	enum known known = UNKNOWN;
	int err;

	if (!strcasecmp(ev->spec, "all"))
		return look_up_all(l, ev);
	err = is_known(l, ev->spec, &known);
	if (err)
		return err;
	if (known != KNOWN && members_of(ev->spec, &members, &letters))
		return split_group(l, ev, members, letters);
	/* Of pmu/terms/ the collector says best what is wrong. */
	return keep(l, str_of(ev->spec), ev, known != UNKNOWN || strchr(ev->spec, '/'));
}

/* Builds the list anew. */
static int look_up_source(struct vendor_lookup *l)
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
	int err = 0;

	for (size_t i = 0; i < cfg->n_sources && !err; i++) {
		struct vendor_lookup l = { .e = e, .s = &cfg->sources[i] };

		if (!l.s->event_lists.n && l.s->naming == NAMING_TACHO)
			continue;
		err = config_open_lists(&l.t, l.s, NULL, &l.unread, e);
		if (!err)
			err = look_up_source(&l);
		tacho_close(l.t);
	}
	return err;
}
