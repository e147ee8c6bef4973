/*
 * Details of samples: weights, memory addresses, branches, the text and fields of tracepoints. Only fields
 * selected by the options are filled in, so that samples that differ only in other fields share one row.
 */
#include "profile/detail.h"

#include <tacho/datatype.h>

#include "record/perf_abi.h"

#include <errno.h>

#define FIRST_TEXT_BYTES 1024u
#define DYNAMIC_OFFSET_MASK 0xffffu

struct details_event {			/* an event of the file */
	const struct tacho_trace_event *format;	/* NULL: not a tracepoint, or its format is not in the file */
	uint32_t field[TACHO_FIELDS_MAX];	/* per opts.fields: index + 1; 0: this event has no such field */
};

struct details_data_type {		/* ids of values */
	uint32_t type, member, offset;
};

void details_done(struct details *d)
{
	tacho_trace_free(d->trace);
	d->trace = NULL;
	vec_done(&d->events);
	keymap_done(&d->accesses);
	vec_done(&d->data_types);
	buf_done(&d->text);
}

/* ---- interning ---- */

const struct tacho_profile_detail *tacho_profile_detail(const struct tacho_profile *p, uint32_t id)
{
	return id && id <= p->details.n ? &p->details.v[id - 1] : NULL;
}

const struct tacho_profile_value *tacho_profile_value(const struct tacho_profile *p, uint32_t id)
{
	return id && id <= p->values.n ? &p->values.v[id - 1] : NULL;
}

uint32_t profile_intern_detail(struct tacho_profile *p, const struct tacho_profile_detail *desc)
{
	uint64_t key = str_hash(str_n((const char *)desc, sizeof(*desc)));
	struct tacho_profile_detail *d;
	uint32_t id;

	for (;; key++) {
		id = keymap_get(&p->detail_ids, key);
		if (id == KEYMAP_NONE)
			break;
		if (memcmp(&p->details.v[id - 1], desc, sizeof(*desc)) == 0)
			return id;
	}
	d = vec_add(&p->details);
	if (!d)
		return KEYMAP_NONE;
	memcpy(d, desc, sizeof(*d));
	id = (uint32_t)p->details.n;
	return keymap_put(&p->detail_ids, key, id) < 0 ? KEYMAP_NONE : id;
}

uint32_t profile_intern_value(struct tacho_profile *p, uint32_t kind, const struct tacho_profile_value *desc)
{
	scoped(buf_done) struct buf key = { 0 };
	struct tacho_profile_value *v;
	const uint64_t *hit;
	char *key_copy, *text;

	buf_put(&key, &kind, sizeof(kind));
	if (desc->n_bytes)
		buf_put(&key, desc->bytes, desc->n_bytes);
	else
		buf_puts(&key, desc->text);
	if (buf_failed(&key))
		return KEYMAP_NONE;
	hit = map_get(&p->value_ids, buf_view(&key));
	if (hit)
		return (uint32_t)*hit;
	key_copy = arena_str(&p->arena, buf_view(&key));
	text = key_copy ? arena_str(&p->arena, str_of(desc->text)) : NULL;
	v = text ? vec_add(&p->values) : NULL;
	if (!v)
		return KEYMAP_NONE;
	*v = *desc;
	v->bytes = key_copy + sizeof(kind);
	v->text = text;
	return map_put(&p->value_ids, str_n(key_copy, key.n), p->values.n) < 0 ? KEYMAP_NONE :
									     (uint32_t)p->values.n;
}

/* ---- tracepoints ---- */

static const char *kernel_function(void *arg, uint64_t address, uint64_t *offset)
{
	struct details *d = arg;
	struct tacho_frame frame;

	if (tacho_symbols_resolve(d->stacks->symbols, 0, TACHO_SPACE_KERNEL, address, &frame) <= 0)
		return NULL;
	*offset = frame.symbol_offset;
	return tacho_symbols_name(d->stacks->symbols, frame.symbol);
}

/* Whether opts.fields names this field: "EVENT.FIELD" matches that event only, with or without its system. */
static bool field_matches(const char *asked, const char *event, const char *field)
{
	const char *dot = strrchr(asked, '.');

	if (dot && !str_names_event(str_n(asked, (size_t)(dot - asked)), str_of(event)))
		return false;
	return strcmp(dot ? dot + 1 : asked, field) == 0;
}

static void find_fields(const struct details *d, const char *event, struct details_event *ev)
{
	const struct tacho_profile_opts *o = &d->profile->opts;

	for (size_t i = 0; i < o->n_fields && i < TACHO_FIELDS_MAX; i++)
		for (size_t k = 0; k < tacho_trace_n_fields(ev->format); k++)
			if (!ev->field[i] &&
			    field_matches(o->fields[i], event, tacho_trace_field(ev->format, k)->name))
				ev->field[i] = (uint32_t)k + 1;
}

/* Reads the file's tracepoint formats when they are first needed; in a pipe they come after the events, but before the
 * samples. */
static int open_formats(struct details *d, const struct tacho_perfdata *pd)
{
	int err;

	if (d->trace || d->no_trace)
		return 0;
	err = tacho_perfdata_tracing(pd, &d->trace, NULL);
	d->no_trace = err < 0;
	return err == -ENOMEM ? err : 0;
}

static int event_add(struct details *d, const struct tacho_perfdata *pd)
{
	const struct tacho_file_event *fe = tacho_perfdata_event(pd, d->events.n);
	const struct perf_event_attr *attr = fe->attr;
	struct details_event *ev = vec_add(&d->events);

	if (!ev || open_formats(d, pd) < 0)
		return -ENOMEM;
	if (d->trace && fe->attr_size >= PERF_ATTR_SIZE_VER0 && attr->type == PERF_TYPE_TRACEPOINT)
		ev->format = tacho_trace_find(d->trace, attr->config);
	if (tacho_trace_failed(d->trace) < 0)
		return -ENOMEM;
	if (ev->format)
		find_fields(d, fe->name ? fe->name : "", ev);
	return 0;
}

static const struct details_event *event_at(struct details *d, const struct tacho_perfdata *pd,
					    size_t event)
{
	while (d->events.n <= event)
		if (event_add(d, pd) < 0)
			return NULL;
	return &d->events.v[event];
}

/* Prints the event's text, or with `field` that of field `field` - 1, into d->text. */
static bool print_text(struct details *d, const struct tacho_trace_event *format, uint32_t field,
		       const struct tacho_sample *s)
{
	struct tacho_trace_opts opts = { .size = sizeof(opts), .swapped = d->swapped,
					 .function = kernel_function, .arg = d };
	size_t size = FIRST_TEXT_BYTES;

	for (;;) {
		char *at;
		ptrdiff_t n;

		buf_clear(&d->text);
		at = buf_grow(&d->text, size);
		if (!at)
			return false;
		n = field ? tacho_trace_print_field(format, field - 1, s->raw, s->n_raw, &opts, at, size) :
			    tacho_trace_print(format, s->raw, s->n_raw, &opts, at, size);
		if (n < 0)
			return false;
		if ((size_t)n < size) {
			d->text.n = (size_t)n;
			str_make_printable(at, (size_t)n);
			return true;
		}
		size = (size_t)n + 1;
	}
}

/* The bytes of a field. A field of variable length holds four bytes: offset and length of the data. */
static struct str field_bytes(const struct details *d, const struct tacho_trace_field *f,
			      const struct tacho_sample *s)
{
	uint64_t at = f->offset, n = f->size;
	uint32_t where;

	if (f->is_dynamic && at + 4 <= s->n_raw) {
		memcpy(&where, s->raw + at, sizeof(where));
		where = d->swapped ? __builtin_bswap32(where) : where;
		at = (where & DYNAMIC_OFFSET_MASK) + (f->is_relative ? at + 4 : 0);
		n = where >> 16;
	}
	if (at > s->n_raw || n > s->n_raw - at)
		return str_n("", 0);
	return str_n((const char *)s->raw + at, (size_t)n);
}

/* The event's own print format shows flags and numbers by name: "prev_state=S". */
static bool find_in_text(struct str text, const char *name, struct str *out)
{
	struct str word;
	size_t n = strlen(name);

	while (str_cut(&text, ' ', &word))
		if (word.n > n && str_starts(word, name)) {
			*out = str_n(word.s + n + 1, word.n - n - 1);
			return true;
		}
	return false;
}

static bool keep_field(struct details *d, const struct details_event *ev, uint32_t i,
		       const struct tacho_sample *s, struct tacho_profile_detail *out)
{
	const struct tacho_trace_field *f = tacho_trace_field(ev->format, ev->field[i] - 1);
	struct str text = { 0 }, bytes = field_bytes(d, f, s);
	struct tacho_profile_value value = { .bytes = bytes.s, .n_bytes = bytes.n, .size = f->size,
					     .is_string = f->is_string };

	if (d->profile->opts.raw_fields || !print_text(d, ev->format, 0, s) ||
	    !find_in_text(buf_view(&d->text), f->name, &text)) {
		if (!print_text(d, ev->format, ev->field[i], s))
			return false;
		text = buf_view(&d->text);
	}
	d->text.bytes[text.s - d->text.bytes + (ptrdiff_t)text.n] = '\0';
	value.text = text.s;
	out->fields[i] = profile_intern_value(d->profile, i, &value);
	return out->fields[i] != KEYMAP_NONE;
}

/* Appends " name=value" of all fields but the common ones. */
static bool print_raw(struct details *d, const struct tacho_trace_event *format,
		      const struct tacho_sample *s, struct buf *out)
{
	for (uint32_t i = 0; i < tacho_trace_n_fields(format); i++) {
		const char *name = tacho_trace_field(format, i)->name;

		if (strncmp(name, "common_", 7) == 0)
			continue;
		if (!print_text(d, format, i + 1, s))
			return false;
		buf_printf(out, " %s=", name);
		buf_str(out, buf_view(&d->text));
	}
	return !buf_failed(out);
}

static bool keep_text(struct details *d, const struct details_event *ev, const struct tacho_sample *s,
		      struct tacho_profile_detail *out)
{
	scoped(buf_done) struct buf raw = { 0 };
	struct tacho_profile_value value = { 0 };

	if (d->profile->opts.raw_fields) {
		if (!print_raw(d, ev->format, s, &raw))
			return false;
		value.text = raw.bytes ? raw.bytes : "";
	} else {
		if (!print_text(d, ev->format, 0, s))
			return false;
		value.text = d->text.bytes;
	}
	out->trace = profile_intern_value(d->profile, VALUE_TRACE, &value);
	return out->trace != KEYMAP_NONE;
}

static bool keep_trace(struct details *d, const struct details_event *ev, const struct tacho_sample *s,
		       struct tacho_profile_detail *out)
{
	const struct tacho_profile_opts *o = &d->profile->opts;

	if (!ev->format || !s->raw)
		return true;
	if ((o->keep & TACHO_KEEP_TRACE) && !keep_text(d, ev, s, out))
		return false;
	for (uint32_t i = 0; i < o->n_fields && i < TACHO_FIELDS_MAX; i++)
		if (ev->field[i] && !keep_field(d, ev, i, s, out))
			return false;
	return true;
}

/* ---- data types ---- */

/* Asks for the type that an instruction accesses, and stores the names in the profile. Returns 0 or -ENOMEM. */
static int find_data_type(struct details *d, const struct tacho_frame *frame, struct details_data_type *out)
{
	const struct tacho_profile_opts *o = &d->profile->opts;
	struct tacho_data_type found = { .size = sizeof(found) };
	struct tacho_profile_value name = { 0 }, member = { 0 };
	int known = o->data_type ? o->data_type(o->data_type_arg, d->stacks->symbols, frame, &found) : 0;

	*out = (struct details_data_type){ 0 };
	if (known <= 0)
		return min_of(known, 0);
	name.text = found.name;
	member.text = found.member;
	out->offset = (uint32_t)min_of(found.offset, (uint64_t)UINT32_MAX);
	out->type = profile_intern_value(d->profile, VALUE_DATA_TYPE, &name);
	if (member.text && out->type != KEYMAP_NONE)
		out->member = profile_intern_value(d->profile, VALUE_DATA_MEMBER, &member);
	return out->type == KEYMAP_NONE || out->member == KEYMAP_NONE ? -ENOMEM : 0;
}

static bool keep_data_type(struct details *d, const struct tacho_sample *s, enum tacho_space space,
			   struct tacho_profile_detail *out)
{
	struct details_data_type *t;
	struct tacho_frame frame;
	uint32_t *slot;

	if (tacho_symbols_resolve(d->stacks->symbols, s->pid, space, s->ip, &frame) < 0)
		return false;
	slot = keymap_at(&d->accesses, key_add(key_mix(frame.object), frame.object_address));
	if (!slot)
		return false;
	if (!*slot) {
		t = vec_add(&d->data_types);
		if (!t || find_data_type(d, &frame, t) < 0)
			return false;
		*slot = (uint32_t)d->data_types.n;
	}
	t = &d->data_types.v[*slot - 1];
	out->data_type = t->type;
	out->data_member = t->member;
	out->data_offset = t->offset;
	return true;
}

/* ---- samples ---- */

static bool keep_addresses(struct details *d, const struct tacho_sample *s, enum tacho_space space,
			const struct tacho_branch *b, struct tacho_profile_detail *out)
{
	uint32_t keep = d->profile->opts.keep;

	if ((keep & TACHO_KEEP_IP) &&
	    stacks_resolve_address(d->stacks, s->pid, b ? TACHO_SPACE_UNKNOWN : space, b ? b->to : s->ip, &out->ip) < 0)
		return false;
	if ((keep & TACHO_KEEP_DATA) && stacks_resolve_address(d->stacks, s->pid, space, s->addr, &out->data) < 0)
		return false;
	if (b && (keep & TACHO_KEEP_FROM) &&
	    stacks_resolve_address(d->stacks, s->pid, TACHO_SPACE_UNKNOWN, b->from, &out->from) < 0)
		return false;
	if (b && (keep & TACHO_KEEP_TO) &&
	    stacks_resolve_address(d->stacks, s->pid, TACHO_SPACE_UNKNOWN, b->to, &out->to) < 0)
		return false;
	return true;
}

static void keep_numbers(uint32_t keep, const struct tacho_sample *s, enum tacho_space space,
			 const struct tacho_branch *b, uint32_t parallelism,
			 struct tacho_profile_detail *out)
{
	if (keep & TACHO_KEEP_WEIGHT) {
		out->weight = b ? max_of(b->flags >> 4 & 0xffff, (uint64_t)1) : s->weight;
		out->ins_lat = s->weight2;
		out->stage_cyc = s->weight3;
	}
	if (keep & TACHO_KEEP_DATA_SRC)
		out->data_src = s->data_src;
	if (keep & TACHO_KEEP_TRANSACTION)
		out->transaction = s->transaction;
	if (keep & TACHO_KEEP_PHYS_ADDR)
		out->phys_addr = s->phys_addr;
	if (keep & TACHO_KEEP_PAGE_SIZE) {
		out->code_page_size = s->code_page_size;
		out->data_page_size = s->data_page_size;
	}
	if (keep & TACHO_KEEP_CGROUP)
		out->cgroup = s->cgroup;
	if (keep & TACHO_KEEP_SPACE)
		out->space = space;
	if (keep & TACHO_KEEP_PARALLELISM)
		out->parallelism = parallelism;
	if (b && (keep & TACHO_KEEP_BRANCH))
		out->branch = b->flags;
}

uint32_t details_sample(struct details *d, const struct tacho_perfdata *pd, size_t event,
			const struct tacho_sample *s, enum tacho_space space,
			const struct tacho_branch *branch)
{
	const struct tacho_profile_opts *o = &d->profile->opts;
	struct tacho_profile_detail detail;
	const struct details_event *ev;

	if (!o->keep && !o->n_fields)
		return 0;
	memset(&detail, 0, sizeof(detail));
	keep_numbers(o->keep, s, space, branch, d->parallelism, &detail);
	if (!keep_addresses(d, s, space, branch, &detail))
		return KEYMAP_NONE;
	if ((o->keep & TACHO_KEEP_DATA_TYPE) && !keep_data_type(d, s, space, &detail))
		return KEYMAP_NONE;
	if ((o->keep & TACHO_KEEP_TRACE) || o->n_fields) {
		ev = event_at(d, pd, event);
		if (!ev || !keep_trace(d, ev, s, &detail))
			return KEYMAP_NONE;
	}
	return profile_intern_detail(d->profile, &detail);
}
