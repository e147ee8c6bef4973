/*
 * Parses events that are probes of their own, through the uprobe and kprobe PMUs. They exist as long as they are open, so
 * nothing remains of them, however the program ends:
 *
 *	uprobe:FILE:POINT, uretprobe:FILE:FUNC	POINT as for `tacho probe`: a function, pattern, +offset, line or address
 *	usdt:FILE:[PROVIDER:]NAME		a static probe at all its places, with its semaphore
 *	kprobe:FUNC[+OFFSET], kretprobe:FUNC
 *
 * A point that stands for several places is one event per place, which `stat` adds up.
 */
#include "event/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"
#include "probe/probe.h"

struct probe_event {
	const char *word;
	bool is_kernel, is_static, is_return;
};

static const struct probe_event kinds[] = {
	{ "uprobe", .is_return = false },
	{ "uretprobe", .is_return = true },
	{ "usdt", .is_static = true },
	{ "kprobe", .is_kernel = true },
	{ "kretprobe", .is_kernel = true, .is_return = true },
};

static const struct probe_event *kind_of(struct str word)
{
	for (size_t i = 0; i < countof(kinds); i++)
		if (str_is(word, kinds[i].word))
			return &kinds[i];
	return NULL;
}

bool probe_event_is(struct str word)
{
	return kind_of(word) != NULL;
}

static struct str scan_file(struct event_parser *p)
{
	size_t start = p->at;

	while (p->at < p->text.n && !strchr(": \t\n,", p->text.s[p->at]))
		p->at++;
	return str_n(p->text.s + start, p->at - start);
}

/* To the end of the list item: commas and blanks within brackets belong to a C++ name, a '/' starts terms. */
static struct str scan_point(struct event_parser *p)
{
	size_t start = p->at;
	unsigned depth = 0;

	for (; p->at < p->text.n; p->at++) {
		char c = p->text.s[p->at];

		if (c == '(' || c == '<')
			depth++;
		else if ((c == ')' || c == '>') && depth)
			depth--;
		else if (!depth && strchr(" \t\n,}/", c))
			break;
	}
	return str_n(p->text.s + start, p->at - start);
}

/* Leaves modifiers at the end, as in "uprobe:FILE:FUNC:u", to the caller. `least`: colons that the point must keep. */
static void give_back_modifiers(struct event_parser *p, struct str *point, unsigned least)
{
	unsigned colons = 0;

	for (size_t i = 0; i < point->n; i++)
		colons += point->s[i] == ':';
	for (size_t i = point->n; i-- && colons > least;) {
		struct str rest = str_n(point->s + i + 1, point->n - i - 1);

		if (point->s[i] != ':')
			continue;
		if (i && point->s[i - 1] != ':' && modifiers_look_like(rest)) {
			p->at -= rest.n + 1;
			point->n = i;
		}
		return;
	}
}

static int refuse_kind(struct event_parser *p, const struct probe_event *kind, struct str where)
{
	const char *name = kind->is_kernel ? "kprobe" : "uprobe";

	error_set(p->e, -EOPNOTSUPP, "this kernel has no %ss: the PMU %s is missing", name, name);
	error_hint(p->e, "it is there since Linux 4.17, with CONFIG_%s_EVENTS", kind->is_kernel ? "KPROBE" : "UPROBE");
	return parse_refuse(p, -EOPNOTSUPP, where);
}

static int set_term(struct event_parser *p, const struct pmu *pmu, const char *key, uint64_t value, struct event *ev)
{
	struct pmu_format format;
	int err = pmu_format(p->t, pmu, str_of(key), &format);

	if (err < 0)
		return err == -ENOMEM ? error_nomem(p->e) : err;
	if (err == 0)
		return error_set(p->e, -EOPNOTSUPP, "this kernel's probes have no '%s'", key);
	ev->attr.config |= format_spread(&format, value);
	return 0;
}

struct probe_place {
	const char *name;		/* path of the file, or kernel function */
	const char *shown;		/* the name of the event, NULL: as typed */
	uint64_t offset, semaphore;
	bool is_return;
};

static int add_place(struct event_parser *p, const struct pmu *pmu, const struct probe_place *place, struct term_list *terms,
		     size_t first)
{
	struct event *ev;
	int err = parse_add(p, TACHO_EVENT_PMU, pmu->name, &ev);

	if (err < 0)
		return err;
	ev->attr.type = pmu->type;
	/* The kernel reads the name through this pointer when the event is opened; the list owns it. */
	ev->attr.config1 = (uintptr_t)place->name;
	ev->attr.config2 = place->offset;
	ev->name = place->shown;
	if (place->is_return)
		err = set_term(p, pmu, "retprobe", 1, ev);
	if (err >= 0 && place->semaphore)
		err = set_term(p, pmu, "ref_ctr_offset", place->semaphore, ev);
	if (err >= 0)
		err = term_apply_fixed(p, terms, ev);
	if (err >= 0)
		err = term_refuse_rest(p, terms, "a probe");
	/* The places of one name count as one event. */
	for (size_t i = first; err >= 0 && i + 1 < p->list->n; i++) {
		struct event *other = &p->list->v[i];

		ev = &p->list->v[p->list->n - 1];
		if ((!other->name && !ev->name) || (other->name && ev->name && strcmp(other->name, ev->name) == 0)) {
			ev->merge = other->merge;
			break;
		}
	}
	return err;
}

/* A pattern stands for several functions, each an event with a name of its own. */
static const char *name_of(struct event_parser *p, const struct probe_event *kind, struct str file, const char *function)
{
	scoped(buf_done) struct buf text = { 0 };

	buf_printf(&text, "%s:%.*s%s%s", kind->word, STR(file), file.n ? ":" : "", function);
	return buf_failed(&text) ? NULL : parse_str(p, buf_view(&text));
}

/* What the events of all sites of a point have in common. */
struct probed_point {
	const struct probe_event *kind;
	const struct pmu *pmu;
	struct probe_object *object;
	struct str file;
	bool is_pattern;
	struct term_list *terms;
	size_t first;			/* index of the first event */
};

static int add_site(struct event_parser *p, const struct probed_point *of, const struct probe_site *site)
{
	struct probe_object *o = of->object;
	struct probe_place place = { .is_return = site->is_return };

	if (!probe_object_offset(o, site->address, &place.offset) ||
	    (site->semaphore && !probe_object_offset(o, site->semaphore, &place.semaphore)))
		return error_set(p->e, -EINVAL, "the address %#llx is not in the file '%s'",
				 (unsigned long long)site->address, o->path);
	place.name = parse_str(p, str_of(o->path));
	if (of->is_pattern)
		place.shown = name_of(p, of->kind, of->file, site->function);
	if (!place.name || (of->is_pattern && !place.shown))
		return error_nomem(p->e);
	return add_place(p, of->pmu, &place, of->terms, of->first);
}

/* The object that was probed last is kept: several events are usually in the same file. */
static int open_object(struct event_parser *p, struct str file, struct probe_object **out)
{
	struct probed_file *kept = p->t->probed;
	struct probe_object_place place = { 0 };
	int err;

	if (kept && str_is(file, kept->typed)) {
		*out = &kept->object;
		return 0;
	}
	probed_file_free(kept);
	p->t->probed = kept = calloc(1, sizeof(*kept));
	if (kept)
		kept->typed = str_dup(file);
	if (!kept || !kept->typed) {
		probed_file_free(kept);
		p->t->probed = NULL;
		return error_nomem(p->e);
	}
	place.path = kept->typed;
	err = probe_object_open(&kept->object, &place, p->e);
	if (err < 0) {
		probed_file_free(kept);
		p->t->probed = NULL;
		return err;
	}
	*out = &kept->object;
	return 0;
}

/* The request's text, in the form of `tacho probe`. */
static int parse_point(struct event_parser *p, const struct probe_event *kind, struct str point, struct probe_request *r)
{
	scoped(buf_done) struct buf text = { 0 };
	int err;

	buf_printf(&text, "%s%.*s%s", kind->is_static ? "%" : "", STR(point), kind->is_return ? "%return" : "");
	if (buf_failed(&text))
		return error_nomem(p->e);
	err = probe_point_parse(r, buf_view(&text), p->e);
	return err < 0 ? parse_refuse(p, err, point) : 0;
}

static int add_sites(struct event_parser *p, const struct probe_event *kind, const struct pmu *pmu, struct str file,
		     struct str point, struct term_list *terms)
{
	struct probe_request r = { 0 };
	struct probe_sites sites = { 0 };
	struct probed_point of = { .kind = kind, .pmu = pmu, .file = file, .is_pattern = str_has_glob(point), .terms = terms,
				   .first = p->list->n };
	int err = parse_point(p, kind, point, &r);

	if (err == 0)
		err = open_object(p, file, &of.object);
	if (err == 0)
		err = probe_find_sites(of.object, &r, &sites, p->e);
	for (size_t i = 0; err == 0 && of.object && i < sites.n; i++)
		err = add_site(p, &of, &sites.v[i]);
	probe_sites_done(&sites);
	probe_request_done(&r);
	return err < 0 ? parse_refuse(p, err, point) : 0;
}

static int add_kernel(struct event_parser *p, const struct probe_event *kind, const struct pmu *pmu, struct str point,
		      struct term_list *terms)
{
	struct probe_request r = { 0 };
	struct probe_place place = { .is_return = kind->is_return };
	int err = probe_point_parse(&r, point, p->e);

	if (err >= 0 && (!r.point.function || r.point.has_line || r.point.pattern || r.point.file || r.point.is_return ||
			 str_has_glob(point)))
		err = error_set(p->e, -EINVAL, "%s: takes the name of a function, or FUNC+OFFSET", kind->word);
	if (err >= 0) {
		place.name = parse_str(p, str_of(r.point.function));
		place.offset = r.point.offset;
		err = place.name ? add_place(p, pmu, &place, terms, p->list->n) : -ENOMEM;
	}
	probe_request_done(&r);
	return err < 0 ? parse_refuse(p, err, point) : 0;
}

int probe_event_parse(struct event_parser *p, struct str word)
{
	scoped(term_list_done) struct term_list terms = { 0 };
	const struct probe_event *kind = kind_of(word);
	struct str file = { 0 }, point;
	struct pmu *pmu;
	int err;

	if (!kind->is_kernel) {
		file = scan_file(p);
		if (!file.n || !scan_take(p, ':')) {
			error_set(p->e, -EINVAL, "%s: needs a file and a place in it", kind->word);
			error_hint(p->e, "%s:FILE:%s", kind->word, kind->is_static ? "PROVIDER:NAME" : "FUNCTION");
			return parse_refuse(p, -EINVAL, file.n ? file : word);
		}
	}
	point = scan_point(p);
	give_back_modifiers(p, &point, kind->is_static ? 1 : 0);
	if (!point.n) {
		error_set(p->e, -EINVAL, "%s: needs the name of %s", kind->word, kind->is_static ? "a static probe" : "a function");
		return parse_refuse(p, -EINVAL, word);
	}
	err = term_list_scan(p, point, &terms);
	if (err < 0)
		return err;
	err = pmu_find(p->t, str_of(kind->is_kernel ? "kprobe" : "uprobe"), &pmu);
	if (err > 0)
		err = pmu_load(p->t, pmu);
	else if (err == 0)
		err = -ENOENT;
	if (err < 0)
		return err == -ENOMEM ? error_nomem(p->e) : refuse_kind(p, kind, word);
	return kind->is_kernel ? add_kernel(p, kind, pmu, point, &terms) : add_sites(p, kind, pmu, file, point, &terms);
}
