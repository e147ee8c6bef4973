/*
 * Looks up event names in vendor event lists. A source may use names that are only in its lists. A
 * name that is neither in a list nor in the event syntax remains in the source with a reason; a
 * listed event that this machine cannot count is left to the collector to report. Both are removed
 * from their group, whose other events are counted.
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

enum name_kind {
	UNKNOWN,
	LISTED,			/* in a list, but not countable here: the collector reports why */
	KNOWN,
};

struct vendor_lookup {
	struct tacho *t;
	struct source_config *s;
	struct tacho_error *e;
	struct tacho_error unread;	/* error of the first unreadable list; code 0: none */
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

static int classify_name(struct vendor_lookup *l, const char *spec, enum name_kind *name_kind)
{
	struct tacho_evset *set;
	int got = tacho_evset_new(&set, l->t);

	if (got < 0)
		return error_nomem(l->e);
	got = tacho_evset_add(set, spec, NULL);
	tacho_evset_free(set);
	*name_kind = got >= 0 ? KNOWN : got == -EOPNOTSUPP ? LISTED : UNKNOWN;
	return got == -ENOMEM ? error_nomem(l->e) : 0;
}

static int refuse(struct vendor_lookup *l, struct event_config *ev)
{
	bool all_events = !strcasecmp(ev->spec, "all");
	struct buf text = { 0 };

	if (l->s->naming == NAMING_ALUMET)
		buf_puts(&text, "neither the event language nor libpfm4 knows this name on this CPU");
	else if (all_events)
		buf_puts(&text, "'All' means every event of a list");
	else
		buf_printf(&text, "the event language does not know %s",
			   ev->spec[0] == '{' ? "these names" : "this name");
	if (l->unread.code)
		buf_printf(&text, "; %s", l->unread.message);
	else if (l->s->event_lists.n)
		buf_printf(&text,
			   all_events ? ", but there is none in the list %s"
				      : ", nor does the list %s",
			   l->s->event_lists.v[0]);
	else if (l->s->naming != NAMING_ALUMET)
		buf_puts(&text, all_events ? ", but there is no list of this CPU"
					   : ", and no list of this CPU has it");
	ev->refused = buf_take(&text);
	return ev->refused ? 0 : error_nomem(l->e);
}

/* Splits "{a,b}:u" into members and modifiers; false: not a group. */
static bool split_group_spec(const char *spec, struct str *split_members, struct str *modifiers)
{
	struct str s = str_of(spec);
	size_t end = s.n;

	if (!s.n || s.s[0] != '{')
		return false;
	while (end && s.s[end - 1] != '}')
		end--;
	if (end < 2)
		return false;
	*split_members = str_n(s.s + 1, end - 2);
	*modifiers = str_n(s.s + end, s.n - end);
	return true;
}

static int add_entry(struct vendor_lookup *l, struct str spec, const struct event_config *like,
		     bool name_kind)
{
	struct event_config *ev = config_add_event(l->s, spec, str_of(like->name), str_of(like->original),
						   (struct toml_at){ like->line, like->column });

	if (!ev)
		return error_nomem(l->e);
	return name_kind ? 0 : refuse(l, ev);
}

/* State of expanding "All": every countable event of the lists, each as a separate entry. */
struct all_events {
	struct vendor_lookup *l;
	const struct event_config *like;
	size_t kept, met;
	char why[256];			/* why the first uncountable event cannot be counted */
};

/* Hybrid CPUs have a list per core type, with many names in both: such a name is added once and selects the
 * events of all lists. */
static bool is_added(const struct source_config *s, const char *name)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (!strcmp(s->events[i].spec, name))
			return true;
	return false;
}

static int add_listed_event(void *arg, const struct tacho_listed *listed)
{
	struct all_events *all_events = arg;
	struct event_config plain = { .line = all_events->like->line,
				      .column = all_events->like->column };
	scoped(freep) char *name = str_dup(str_of(listed->name));

	all_events->met++;
	if (listed->reason && !all_events->why[0])
		snprintf(all_events->why, sizeof(all_events->why), "%s", listed->reason);
	if (listed->reason || listed->deprecated)
		return 0;
	if (!name)
		return -ENOMEM;
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	all_events->kept++;
	if (is_added(all_events->l->s, name))
		return 0;
	return add_entry(all_events->l, str_of(name), &plain, true) ? -ENOMEM : 0;
}

static int expand_all(struct vendor_lookup *l, const struct event_config *ev)
{
	struct all_events all_events = { .l = l, .like = ev };
	struct event_config *kept;
	struct buf text = { 0 };
	int err = tacho_eventlist_walk(l->t, NULL, add_listed_event, &all_events, l->e);

	if (err < 0)
		return error_nomem(l->e);
	if (all_events.kept || !all_events.met)
		return all_events.kept ? 0 : add_entry(l, str_of(ev->spec), ev, false);
	buf_printf(&text,
		   "'All' means every event of a list, but none of the %zu can be counted here: %s",
		   all_events.met, all_events.why);
	kept = config_add_event(l->s, str_of(ev->spec), str_of(ev->name), str_of(ev->original),
				(struct toml_at){ ev->line, ev->column });
	if (kept)
		kept->refused = buf_take(&text);
	buf_done(&text);
	return kept && kept->refused ? 0 : error_nomem(l->e);
}

struct split_members {
	struct buf group;		/* members that can be counted */
	struct strlist alone;		/* the others, with their kind in `known` */
	struct { enum name_kind *v; size_t n, cap; } name_kind;
	bool any_unknown;
};

static int classify_member(struct vendor_lookup *l, struct split_members *m, struct str word)
{
	scoped(freep) char *name = str_dup(str_trim(word));
	enum name_kind name_kind = UNKNOWN, *kind;
	int err;

	if (!name)
		return error_nomem(l->e);
	err = classify_name(l, name, &name_kind);
	if (err || !*name)
		return err;
	if (name_kind == KNOWN) {
		buf_printf(&m->group, "%s%s", m->group.n ? "," : "{", name);
		return 0;
	}
	m->any_unknown |= name_kind == UNKNOWN;
	kind = vec_add(&m->name_kind);
	if (!kind || strlist_add(&m->alone, str_of(name)))
		return error_nomem(l->e);
	*kind = name_kind;
	return 0;
}

/* Members that can be counted remain a group; each of the others becomes a separate entry. A
 * group with no countable member is kept as written. */
static int split_group(struct vendor_lookup *l, const struct event_config *like,
		       struct str split_members, struct str modifiers)
{
	const struct event_config plain = { .line = like->line, .column = like->column };
	struct split_members m = { 0 };
	struct str word;
	int err = 0;

	while (!err && str_cut(&split_members, ',', &word))
		err = classify_member(l, &m, word);
	if (!err && m.group.n) {
		buf_printf(&m.group, "}%.*s", STR(modifiers));
		err = buf_failed(&m.group) ? error_nomem(l->e)
					   : add_entry(l, buf_view(&m.group), &plain, true);
		for (size_t i = 0; i < m.alone.n && !err; i++)
			err = add_entry(l, str_of(m.alone.v[i]), &plain, m.name_kind.v[i] != UNKNOWN);
	} else if (!err) {
		err = add_entry(l, str_of(like->spec), like, !m.any_unknown);
	}
	strlist_done(&m.alone);
	vec_done(&m.name_kind);
	buf_done(&m.group);
	return err;
}

static int look_up_event(struct vendor_lookup *l, const struct event_config *ev)
{
	struct str split_members, modifiers;
	enum name_kind name_kind = UNKNOWN;
	int err;

	if (!strcasecmp(ev->spec, "all"))
		return expand_all(l, ev);
	err = classify_name(l, ev->spec, &name_kind);
	if (err)
		return err;
	if (name_kind != KNOWN && split_group_spec(ev->spec, &split_members, &modifiers))
		return split_group(l, ev, split_members, modifiers);
	/* for pmu/terms/ the collector has the better error message */
	return add_entry(l, str_of(ev->spec), ev, name_kind != UNKNOWN || strchr(ev->spec, '/'));
}

/* Rebuilds the source's list of events. */
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
