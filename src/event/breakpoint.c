/*
 * Parses hardware breakpoints: mem:ADDR[/LEN][:ACCESS][/terms/]. None of the letters of ACCESS (r w x) is a
 * modifier, so `mem:0:u` and `mem:0:rw:u` are both unambiguous.
 */
#include "event/parse.h"

#include <errno.h>

#include "base/num.h"

static int scan_number(struct event_parser *p, const char *what, uint64_t *out)
{
	struct str word = scan_word(p);
	int err = num_u64(word, out);

	if (!err)
		return 0;
	error_set(p->e, -EINVAL, "mem: needs %s here, decimal or hex after 0x", what);
	error_hint(p->e, "for example mem:0x1000/8:rw");
	return parse_refuse(p, -EINVAL, word.n ? word : scan_here(p, 1));
}

static int scan_length(struct event_parser *p, uint64_t *len)
{
	size_t start = p->at;
	int err = scan_number(p, "a length", len);

	if (err < 0)
		return err;
	if (*len >= 1 && *len <= 8)
		return 0;
	error_set(p->e, -EINVAL, "a breakpoint watches 1 to 8 bytes, not %llu",
		  (unsigned long long)*len);
	error_hint(p->e, "most CPUs support 1, 2, 4 and 8");
	return parse_refuse(p, -EINVAL, scan_since(p, start));
}

static bool looks_like_access(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!strchr("rwx", word.s[i]))
			return false;
	return word.n > 0;
}

static int parse_access(struct event_parser *p, struct str word, uint32_t *out)
{
	for (size_t i = 0; i < word.n; i++) {
		uint32_t bit = word.s[i] == 'r' ? HW_BREAKPOINT_R :
			       word.s[i] == 'w' ? HW_BREAKPOINT_W : HW_BREAKPOINT_X;

		if (*out & bit) {
			error_set(p->e, -EINVAL, "the access '%c' is given twice", word.s[i]);
			return parse_refuse(p, -EINVAL, str_n(word.s + i, 1));
		}
		*out |= bit;
	}
	return 0;
}

/* Parses an access such as ":rw" if there is one. Modifiers are left to the caller. */
static int scan_access(struct event_parser *p, uint32_t *out)
{
	size_t before = p->at;
	struct str word;

	if (!scan_take(p, ':'))
		return 0;
	word = scan_word(p);
	if (looks_like_access(word))
		return parse_access(p, word, out);
	if (word.n && !modifiers_look_like(word)) {
		error_set(p->e, -EINVAL, "'%.*s' is neither an access nor modifiers", SHOW(word));
		error_hint(p->e, "the access consists of r, w and x; modifiers follow it after ':'");
		return parse_refuse(p, -EINVAL, word);
	}
	p->at = before;
	return 0;
}

static bool digit_follows(const struct event_parser *p)
{
	return p->at + 1 < p->text.n && p->text.s[p->at] == '/' && p->text.s[p->at + 1] >= '0' &&
	       p->text.s[p->at + 1] <= '9';
}

int breakpoint_parse(struct event_parser *p, size_t start)
{
	scoped(term_list_done) struct term_list terms = { 0 };
	uint64_t addr, len = 0;
	uint32_t access = 0;
	struct event *ev;
	int err = scan_number(p, "an address", &addr);

	if (err >= 0 && digit_follows(p)) {
		p->at++;
		err = scan_length(p, &len);
	}
	if (err >= 0)
		err = scan_access(p, &access);
	if (err >= 0 && scan_peek(p) == '/')
		err = term_list_scan(p, scan_since(p, start), &terms);
	if (err >= 0)
		err = parse_add(p, TACHO_EVENT_BREAKPOINT, "breakpoint", &ev);
	if (err < 0)
		return err;
	ev->attr.type = PERF_TYPE_BREAKPOINT;
	ev->attr.bp_type = access ? access : HW_BREAKPOINT_RW;
	ev->attr.bp_addr = addr;
	/* For execution breakpoints the kernel requires the length sizeof(long). */
	ev->attr.bp_len = len ? len : access == HW_BREAKPOINT_X ? sizeof(long) : 4;
	err = term_apply_fixed(p, &terms, ev);
	return err < 0 ? err : term_refuse_rest(p, &terms, "a breakpoint");
}
