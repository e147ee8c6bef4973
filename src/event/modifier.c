/*
 * Parses and applies modifier letters. If u, k or h is given, the other privilege levels are excluded;
 * the same holds for G and H. A group's modifiers are merged with those of its members: `{a:k,b}:u`
 * counts a in kernel and user space, b in user space. Each letter can be given once, p up to three
 * times.
 */
#include "event/parse.h"

#include <errno.h>
#include <stddef.h>

static const struct { char letter; uint8_t offset; const char *what; } letters[] = {
	{ 'u', offsetof(struct modifiers, user), "user space" },
	{ 'k', offsetof(struct modifiers, kernel), "kernel" },
	{ 'h', offsetof(struct modifiers, hv), "hypervisor" },
	{ 'I', offsetof(struct modifiers, idle), "not when idle" },
	{ 'G', offsetof(struct modifiers, guest), "guest" },
	{ 'H', offsetof(struct modifiers, host), "host" },
	{ 'P', offsetof(struct modifiers, precise_max), "as precise as possible" },
	{ 'S', offsetof(struct modifiers, leader_sampling), "sample the leader" },
	{ 'D', offsetof(struct modifiers, pinned), "pinned" },
	{ 'W', offsetof(struct modifiers, weak), "weak group" },
	{ 'e', offsetof(struct modifiers, exclusive), "exclusive" },
	{ 'b', offsetof(struct modifiers, bpf), "BPF counters" },
	{ 'R', offsetof(struct modifiers, retire_latency), "retire latency" },
	{ 'X', offsetof(struct modifiers, no_regroup), "keep the group as written" },
};

bool modifiers_look_like(struct str word)
{
	if (!word.n || word.n > 17)
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (!strchr(MODIFIER_LETTERS, word.s[i]))
			return false;
	return true;
}

static int parse_modifier_letter(struct event_parser *p, struct str at, struct modifiers *m)
{
	char c = at.s[0];

	if (c == 'p') {
		if (++m->precise <= 3)
			return 0;
		error_set(p->e, -EINVAL, "the highest precise level is 3, that is 'ppp'");
		return parse_refuse(p, -EINVAL, at);
	}
	for (size_t i = 0; i < countof(letters); i++) {
		bool *on = (bool *)((char *)m + letters[i].offset);

		if (letters[i].letter != c)
			continue;
		if (!*on) {
			*on = true;
			return 0;
		}
		error_set(p->e, -EINVAL, "the modifier '%c' (%s) is given twice", c, letters[i].what);
		return parse_refuse(p, -EINVAL, at);
	}
	error_set(p->e, -EINVAL, "'%c' is not a modifier", c);
	error_hint(p->e, "modifiers are u k h (user, kernel, hypervisor), I (not idle), G H (guest, "
		   "host), p pp ppp P (precise), S D W e b R X");
	return parse_refuse(p, -EINVAL, at);
}

int modifiers_parse(struct event_parser *p, struct str word, struct modifiers *out)
{
	for (size_t i = 0; i < word.n; i++) {
		int err = parse_modifier_letter(p, str_n(word.s + i, 1), out);

		if (err < 0)
			return err;
	}
	return 0;
}

/* Excludes the privilege levels (user, kernel, hypervisor) that were not given. */
static void apply_privilege(const struct modifiers *m, struct event *ev)
{
	const uint64_t all = PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;

	if (!m->user && !m->kernel && !m->hv)
		return;
	if (!(ev->flags & EVENT_PRIVILEGE_GIVEN))
		ev->attr.flags |= all;
	if (m->user)
		ev->attr.flags &= ~PERF_ATTR_EXCLUDE_USER;
	if (m->kernel)
		ev->attr.flags &= ~PERF_ATTR_EXCLUDE_KERNEL;
	if (m->hv)
		ev->attr.flags &= ~PERF_ATTR_EXCLUDE_HV;
	ev->flags |= EVENT_PRIVILEGE_GIVEN;
}

static void apply_guest(const struct modifiers *m, struct event *ev)
{
	if (!m->guest && !m->host)
		return;
	if (!(ev->flags & EVENT_GUEST_GIVEN))
		ev->attr.flags |= PERF_ATTR_EXCLUDE_HOST | PERF_ATTR_EXCLUDE_GUEST;
	if (m->guest)
		ev->attr.flags &= ~PERF_ATTR_EXCLUDE_GUEST;
	if (m->host)
		ev->attr.flags &= ~PERF_ATTR_EXCLUDE_HOST;
	ev->flags |= EVENT_GUEST_GIVEN;
}

static int apply_precise(struct event_parser *p, const struct modifiers *m, struct str where,
			 struct event *ev)
{
	uint64_t level = (ev->attr.flags & PERF_ATTR_PRECISE_MASK) >> PERF_ATTR_PRECISE_SHIFT;

	level += m->precise;
	if (level > 3) {
		error_set(p->e, -EINVAL, "the highest precise level is 3; with the group's own it is %d",
			  (int)level);
		return parse_refuse(p, -EINVAL, where);
	}
	ev->attr.flags &= ~PERF_ATTR_PRECISE_MASK;
	ev->attr.flags |= level << PERF_ATTR_PRECISE_SHIFT;
	return 0;
}

int modifiers_apply(struct event_parser *p, const struct modifiers *m, struct str where, bool leads,
		    struct event *ev)
{
	int err = apply_precise(p, m, where, ev);

	if (err < 0)
		return err;
	apply_privilege(m, ev);
	apply_guest(m, ev);
	if (m->idle)
		ev->attr.flags |= PERF_ATTR_EXCLUDE_IDLE;
	/* The kernel accepts pinned and exclusive only for a group's leader. */
	if (m->pinned && leads)
		ev->attr.flags |= PERF_ATTR_PINNED;
	if (m->exclusive && leads)
		ev->attr.flags |= PERF_ATTR_EXCLUSIVE;
	ev->flags |= (m->weak ? EVENT_WEAK : 0) | (m->precise_max ? EVENT_PRECISE_MAX : 0) |
		     (m->leader_sampling ? EVENT_LEADER_SAMPLING : 0) | (m->bpf ? EVENT_BPF : 0) |
		     (m->retire_latency ? EVENT_RETIRE_LATENCY : 0) |
		     (m->no_regroup ? EVENT_NO_REGROUP : 0);
	return 0;
}
