/*
 * Recursive-descent parser of the event language: a list of events and groups.
 *
 *	list   := item (',' item)*
 *	item   := event | [NAME] '{' event (',' event)* '}' [':' MODIFIERS]
 *	event  := body [[':'] MODIFIERS]
 *	body   := NAME | NAME '/' terms '/' | SYSTEM ':' NAME | 'r' HEX | TYPE ':' CONFIG | 'mem:' ... | 'uprobe:' ...
 *
 * A word after ':' that consists of modifier letters only is taken as modifiers, otherwise as the name
 * of a tracepoint. On failure the list of events is unchanged.
 */
#include "event/parse.h"

#include <errno.h>

#include "base/num.h"
#include "base/vec.h"

int parse_add(struct event_parser *p, enum tacho_event_kind kind, const char *pmu, struct event **out)
{
	uint32_t i = (uint32_t)p->list->n;
	struct event *ev;
	char *pmu_name;

	if (p->list->n >= SPEC_EVENTS_MAX)
		return error_set(p->e, -E2BIG, "the event list expands to more than %u events", SPEC_EVENTS_MAX);
	pmu_name = parse_str(p, str_of(pmu));
	ev = pmu_name ? vec_add(p->list) : NULL;
	if (!ev)
		return error_nomem(p->e);
	ev->kind = kind;
	ev->pmu = pmu_name;
	ev->unit = "";
	ev->scale = 1;
	ev->leader = ev->merge = i;
	ev->group_size = 1;
	*out = ev;
	return 0;
}

char *parse_str(struct event_parser *p, struct str s)
{
	char *copy = arena_str(&p->list->arena, s);

	if (!copy)
		error_nomem(p->e);
	return copy;
}

void parse_drop(struct event_list *list, size_t n)
{
	while (list->n > n)
		cpuset_done(&list->v[--list->n].cpus);
}

void event_list_done(struct event_list *list)
{
	parse_drop(list, 0);
	vec_done(list);
	arena_done(&list->arena);
}

static bool is_number(struct str word)
{
	uint64_t n;

	return num_u64(word, &n) != -EINVAL;
}

static bool is_raw(struct str word, uint64_t *config)
{
	return word.n >= 2 && word.n <= 17 && word.s[0] == 'r' &&
	       !memchr(word.s, 'x', word.n) &&
	       num_hex(str_n(word.s + 1, word.n - 1), config) == 0;
}

static int parse_number(struct event_parser *p, struct str type_word)
{
	scoped(term_list_done) struct term_list terms = { 0 };
	struct str word = scan_word(p);
	uint64_t config;
	uint32_t type;
	int err;

	if (num_u32(type_word, &type) < 0) {
		error_set(p->e, -EINVAL, "an event's type is a 32-bit number");
		return parse_refuse(p, -EINVAL, type_word);
	}
	if (num_u64(word, &config) < 0) {
		error_set(p->e, -EINVAL, "TYPE:CONFIG needs two 64-bit numbers, such as 1:0x2");
		return parse_refuse(p, -EINVAL, word.n ? word : scan_here(p, 1));
	}
	err = term_list_scan(p, word, &terms);
	return err < 0 ? err : resolve_number(p, type, config, &terms);
}

static int parse_tracepoint(struct event_parser *p, struct str system, struct str name)
{
	scoped(term_list_done) struct term_list terms = { 0 };
	int err = term_list_scan(p, name, &terms);

	return err < 0 ? err : tracepoint_add(p, system, name, &terms);
}

/* Consumes ":WORD" unless WORD consists of modifiers; then returns an empty word and consumes nothing. */
static struct str scan_second(struct event_parser *p)
{
	size_t before = p->at;
	struct str word = { 0 };

	if (scan_take(p, ':')) {
		word = scan_word(p);
		if (!word.n || modifiers_look_like(word)) {
			p->at = before;
			word.n = 0;
		}
	}
	return word;
}

static int parse_slashed(struct event_parser *p, struct str word)
{
	scoped(term_list_done) struct term_list terms = { 0 };
	uint64_t config;
	int err = term_list_scan(p, word, &terms);

	if (err < 0)
		return err;
	return is_raw(word, &config) ? resolve_number(p, PERF_TYPE_RAW, config, &terms) :
				       resolve_terms(p, word, &terms);
}

/* Consumes terms in the form NAME:config1=0x10:config2=..., which other tools use. Stops before the first ':'
 * that is not followed by a term. */
static int scan_qualifiers(struct event_parser *p, struct term_list *out)
{
	for (;;) {
		struct term term = { .has_value = true }, *slot;
		size_t before = p->at;

		if (!scan_take(p, ':'))
			return 0;
		term.key = scan_word(p);
		if (!str_is(term.key, "config") && !str_is(term.key, "config1") &&
		    !str_is(term.key, "config2"))
			term.key.n = 0;
		if (!term.key.n || !scan_take(p, '=')) {
			p->at = before;
			return 0;
		}
		term.value = scan_word(p);
		term.where = str_n(term.key.s, (size_t)(p->text.s + p->at - term.key.s));
		slot = vec_add(out);
		if (!slot)
			return error_nomem(p->e);
		*slot = term;
		out->text = str_n(out->v[0].key.s, (size_t)(p->text.s + p->at - out->v[0].key.s));
	}
}

/* Consumes the rest of the list item, starting at `from`, including the ':' and '=' of libpfm4's syntax. */
static struct str scan_item(struct event_parser *p, const char *from)
{
	size_t at = (size_t)(from - p->text.s), start = at;

	while (at < p->text.n && p->text.s[at] > ' ' && !strchr(",{}", p->text.s[at]))
		at++;
	return str_n(p->text.s + start, at - start);
}

/* Parses pfm::NAME, or libpfm4's PMU::NAME. Returns 1 if it was one, 0 if not, or a negative errno. */
static int parse_pfm(struct event_parser *p, struct str word)
{
	struct str text = scan_item(p, word.s);
	int err;

	if (!str_starts(str_n(text.s + word.n, text.n - min_of(word.n, text.n)), "::"))
		return 0;
	p->at = (size_t)(text.s + text.n - p->text.s);
	if (str_is(word, "pfm"))
		text = str_n(text.s + 5, text.n - 5);
	err = resolve_pfm(p, text, true);
	return err < 0 ? err : 1;
}

/* Parses libpfm4's EVENT:UMASK, which looks like a tracepoint of an unknown system. Returns 1 if it was
 * one, 0 if not, or a negative errno. */
static int parse_masked(struct event_parser *p, struct str word)
{
	struct str text = scan_item(p, word.s);
	int err = str_has_glob(text) || tracepoint_has_system(p->t, word) ? 0 : resolve_pfm(p, text, false);

	if (err > 0)
		p->at = (size_t)(text.s + text.n - p->text.s);
	return err;
}

static int parse_body(struct event_parser *p, size_t start, struct str word)
{
	scoped(term_list_done) struct term_list qualifiers = { 0 };
	struct term_list none = { 0 };
	struct str second;
	uint64_t config;
	int err;

	if (str_is(word, "mem") && scan_take(p, ':'))
		return breakpoint_parse(p, start);
	if (probe_event_is(word) && scan_take(p, ':'))
		return probe_event_parse(p, word);
	if (scan_peek(p) == '/')
		return parse_slashed(p, word);
	err = parse_pfm(p, word);
	if (err)
		return min_of(err, 0);
	if (is_number(word)) {
		if (scan_take(p, ':'))
			return parse_number(p, word);
		error_set(p->e, -EINVAL, "a number alone is not an event; write TYPE:CONFIG, such as 1:0x2");
		return parse_refuse(p, -EINVAL, word);
	}
	err = scan_qualifiers(p, &qualifiers);
	if (err < 0 || qualifiers.n)
		return err < 0 ? err : resolve_terms(p, word, &qualifiers);
	second = scan_second(p);
	/* cs:z: cs is an event, so z is a mistyped modifier and not a tracepoint of a system "cs". */
	if (second.n && resolve_knows(word) && !tracepoint_has_system(p->t, word))
		return modifiers_parse(p, second, &(struct modifiers){ 0 });
	if (second.n) {
		err = parse_masked(p, word);
		return err ? min_of(err, 0) : parse_tracepoint(p, word, second);
	}
	if (is_raw(word, &config))
		return resolve_number(p, PERF_TYPE_RAW, config, &none);
	return resolve_word(p, word);
}

/* Consumes the modifiers of an event: after ':' or directly after a closing slash. */
static int scan_modifiers(struct event_parser *p, struct str *word, struct modifiers *m)
{
	bool slash = p->at && p->text.s[p->at - 1] == '/';
	bool colon = scan_take(p, ':');

	*word = (struct str){ 0 };
	if (!colon && !slash)
		return 0;
	*word = scan_word(p);
	return modifiers_parse(p, *word, m);
}

static int name_event(struct event_parser *p, struct event *ev, struct str typed, struct str letters)
{
	struct buf b = { 0 };

	if (!ev->name) {
		ev->name = parse_str(p, typed);
	} else if (p->open_names && letters.n) {
		buf_puts(&b, ev->name);
		buf_str(&b, letters);
		ev->name = buf_failed(&b) ? NULL : parse_str(p, buf_view(&b));
		buf_done(&b);
	}
	return ev->name ? 0 : error_nomem(p->e);
}

/* Applies the modifiers to the new events and sets their names and positions in the spec. */
static int finish_events(struct event_parser *p, size_t first, size_t start)
{
	struct modifiers m = { 0 };
	struct str letters = { 0 }, typed;
	int err = scope_apply(p, first, scan_since(p, start));

	if (err == 0)
		err = scan_modifiers(p, &letters, &m);
	if (err < 0)
		return err;
	if (m.weak) {
		error_set(p->e, -EINVAL, "the modifier 'W' is for groups: {a,b}:W");
		return parse_refuse(p, -EINVAL, letters);
	}
	typed = scan_since(p, start);
	for (size_t i = first; i < p->list->n; i++) {
		struct event *ev = &p->list->v[i];

		err = modifiers_apply(p, &m, letters, true, ev);
		if (err >= 0)
			err = name_event(p, ev, typed, letters);
		if (err < 0)
			return err;
		ev->column = (uint32_t)(typed.s - p->text.s);
		ev->length = (uint32_t)typed.n;
		/* cpu-clock and task-clock count nanoseconds. */
		if (ev->attr.type == PERF_TYPE_SOFTWARE &&
		    ev->attr.config <= PERF_COUNT_SW_TASK_CLOCK) {
			ev->unit = "msec";
			ev->scale = 1e-6;
		}
	}
	return 0;
}

static int refuse_no_event(struct event_parser *p)
{
	struct str here = scan_here(p, 1);

	if (!here.n)
		error_set(p->e, -EINVAL, p->text.n && str_trim(p->text).n ?
			  "an event was expected at the end" : "no event is given");
	else if (here.s[0] == '{')
		error_set(p->e, -EINVAL, "groups cannot be nested");
	else
		error_set(p->e, -EINVAL, "an event was expected before '%c'", here.s[0]);
	return parse_refuse(p, -EINVAL, here);
}

static int parse_event(struct event_parser *p, struct str word)
{
	size_t first = p->list->n, start = (size_t)(word.s - p->text.s);
	int err;

	if (!word.n)
		return refuse_no_event(p);
	p->open_names = false;
	err = parse_body(p, start, word);
	return err < 0 ? err : finish_events(p, first, start);
}

static int refuse_open_group(struct event_parser *p, size_t brace)
{
	struct str here = scan_here(p, 1);

	if (here.n) {
		error_set(p->e, -EINVAL, "unexpected '%c'; ',' or '}' was expected", here.s[0]);
		return parse_refuse(p, -EINVAL, here);
	}
	error_set(p->e, -EINVAL, "the group is never closed");
	error_hint(p->e, "add the '}'");
	return parse_refuse(p, -EINVAL, str_n(p->text.s + brace, 1));
}

static int finish_group(struct event_parser *p, size_t first, struct str name)
{
	struct modifiers m = { 0 };
	struct str letters = { 0 };
	int err = 0;

	if (scan_take(p, ':')) {
		letters = scan_word(p);
		err = modifiers_parse(p, letters, &m);
	}
	if (err >= 0)
		err = group_close(p, first, name, m.no_regroup);
	for (size_t i = first; err >= 0 && i < p->list->n; i++)
		err = modifiers_apply(p, &m, letters, p->list->v[i].leader == i, &p->list->v[i]);
	return err;
}

/* Refuses pinned and exclusive members: the kernel accepts these flags only on the leader. */
static int check_member(struct event_parser *p, size_t first, size_t member)
{
	const struct event *ev = &p->list->v[member];

	if (member == first || !(ev->attr.flags & (PERF_ATTR_PINNED | PERF_ATTR_EXCLUSIVE)))
		return 0;
	error_set(p->e, -EINVAL, "'D' and 'e' are for a group's first event or the group itself");
	return parse_refuse(p, -EINVAL, str_n(p->text.s + ev->column, ev->length));
}

static int parse_group(struct event_parser *p, struct str name)
{
	size_t first = p->list->n, brace = p->at;
	int err;

	scan_take(p, '{');
	do {
		size_t member = p->list->n;

		if (!scan_peek(p))
			return refuse_open_group(p, brace);
		err = parse_event(p, scan_word(p));
		if (err >= 0)
			err = check_member(p, first, member);
		if (err < 0)
			return err;
	} while (scan_take(p, ','));
	return scan_take(p, '}') ? finish_group(p, first, name) : refuse_open_group(p, brace);
}

static int parse_list(struct event_parser *p)
{
	do {
		struct str word = scan_word(p);
		int err;

		if (scan_peek(p) == '{')
			err = parse_group(p, word);
		else
			err = parse_event(p, word);
		if (err < 0)
			return err;
	} while (scan_take(p, ','));
	if (!scan_peek(p))
		return 0;
	error_set(p->e, -EINVAL, "unexpected '%c'", p->text.s[p->at]);
	if (p->text.s[p->at] == '}')
		error_hint(p->e, "no group was opened with '{'");
	else
		error_hint(p->e, "events are separated by ','");
	return parse_refuse(p, -EINVAL, scan_here(p, 1));
}

/* Refuses control and non-ASCII characters, which are not valid in names and would garble messages. */
static int check_text(struct event_parser *p)
{
	if (p->text.n > SPEC_MAX)
		return error_set(p->e, -E2BIG, "the event list is longer than %u bytes", SPEC_MAX);
	for (size_t i = 0; i < p->text.n; i++) {
		unsigned char c = (unsigned char)p->text.s[i];

		if ((c >= ' ' && c < 0x7f) || c == '\t' || c == '\n' || c == '\r')
			continue;
		error_set(p->e, -EINVAL, "the byte 0x%02x is not allowed in an event list", c);
		return parse_refuse(p, -EINVAL, str_n(p->text.s + i, 1));
	}
	return 0;
}

int event_parse(struct tacho *t, const char *spec, unsigned flags, struct event_list *list,
		struct tacho_error *e)
{
	struct event_parser p = { .t = t, .text = str_of(spec), .flags = flags, .list = list, .e = e };
	size_t before = list->n;
	int err = check_text(&p);

	if (err >= 0)
		err = parse_list(&p);
	if (err >= 0)
		err = ratios_apply(&p, before);
	if (err < 0) {
		parse_drop(list, before);
		return err;
	}
	return (int)(list->n - before);
}
