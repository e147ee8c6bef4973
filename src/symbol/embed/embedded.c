/*
 * Reads embedded symbols into arrays sorted by address.
 */
#include "symbol/embed/embedded.h"

#include "symbol/decompress.h"
#include "symbol/dwarf_cursor.h"

#include "base/vec.h"

#include <errno.h>

static void object_done(struct embedded_object *o)
{
	vec_done(&o->segments);
	vec_done(&o->functions);
	vec_done(&o->lines);
	vec_done(&o->inlined);
	vec_done(&o->calls);
}

void embedded_free(struct embedded *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->objects.n; i++)
		object_done(&e->objects.v[i]);
	vec_done(&e->objects);
	buf_done(&e->bytes);
	free(e);
}

static void embedded_freep(struct embedded **e)
{
	embedded_free(*e);
}

/* ---- parsing ---- */

/* The offset of a text; a wrong one marks the data as damaged. */
static uint32_t read_text(const struct embedded *e, struct dwarf_cursor *c)
{
	uint64_t at = dwarf_uleb(c);

	c->bad |= at >= e->n_texts;
	return c->bad ? 0 : (uint32_t)at;
}

static uint32_t read_u32(struct dwarf_cursor *c)
{
	uint64_t v = dwarf_uleb(c);

	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* Numbers of elements are not trusted: each takes at least a byte. */
static uint64_t read_count(struct dwarf_cursor *c)
{
	uint64_t n = dwarf_uleb(c);

	c->bad |= n > dwarf_left(c);
	return c->bad ? 0 : n;
}

static int read_segments(struct embedded_object *o, struct dwarf_cursor *c)
{
	for (uint64_t n = read_count(c); n && !c->bad; n--) {
		struct elf_segment *s = vec_add(&o->segments);

		if (!s)
			return -ENOMEM;
		s->type = ELF_PT_LOAD;
		s->offset = dwarf_uleb(c);
		s->vaddr = dwarf_uleb(c);
		s->filesz = dwarf_uleb(c);
		s->memsz = dwarf_uleb(c);
	}
	return 0;
}

static int read_functions(const struct embedded *e, struct embedded_object *o, struct dwarf_cursor *c)
{
	uint64_t at = 0;

	for (uint64_t n = read_count(c); n && !c->bad; n--) {
		struct embedded_function *f = vec_add(&o->functions);

		if (!f)
			return -ENOMEM;
		f->start = at += dwarf_uleb(c);
		f->size = dwarf_uleb(c);
		f->name = read_text(e, c);
		f->module = read_text(e, c);
	}
	return 0;
}

static int read_lines(const struct embedded *e, struct embedded_object *o, struct dwarf_cursor *c)
{
	uint64_t at = 0;

	for (uint64_t n = read_count(c); n && !c->bad; n--) {
		struct embedded_line *l = vec_add(&o->lines);

		if (!l)
			return -ENOMEM;
		l->address = at += dwarf_uleb(c);
		l->file = read_text(e, c);
		l->line = read_u32(c);
	}
	return 0;
}

static int read_calls(const struct embedded *e, struct embedded_object *o, uint64_t n, struct dwarf_cursor *c)
{
	for (; n && !c->bad; n--) {
		struct embedded_call *call = vec_add(&o->calls);

		if (!call)
			return -ENOMEM;
		call->name = read_text(e, c);
		call->file = read_text(e, c);
		call->line = read_u32(c);
	}
	return 0;
}

static int read_inlined(const struct embedded *e, struct embedded_object *o, struct dwarf_cursor *c)
{
	uint64_t at = 0;
	int err = 0;

	for (uint64_t n = read_count(c); n && !c->bad && err == 0; n--) {
		struct embedded_inline *i = vec_add(&o->inlined);
		uint64_t depth;

		if (!i)
			return -ENOMEM;
		i->address = at += dwarf_uleb(c);
		i->first = (uint32_t)o->calls.n;
		depth = read_count(c);
		c->bad |= depth > INLINE_DEPTH_MAX || o->calls.n + depth > UINT32_MAX;
		i->n = c->bad ? 0 : (uint32_t)depth;
		err = read_calls(e, o, i->n, c);
	}
	return err;
}

static int read_object(struct embedded *e, struct dwarf_cursor *c)
{
	struct embedded_object *o = vec_add(&e->objects);
	const uint8_t *id;
	uint64_t kind, n;
	int err;

	if (!o)
		return -ENOMEM;
	kind = dwarf_uleb(c);
	c->bad |= kind > EMBEDDED_JIT;
	o->kind = (enum embedded_kind)kind;
	o->path = read_text(e, c);
	n = dwarf_uleb(c);
	c->bad |= n > BUILD_ID_MAX;
	id = dwarf_bytes(c, c->bad ? 0 : n);
	o->build_id.n = c->bad ? 0 : (uint8_t)n;
	if (id)
		memcpy(o->build_id.bytes, id, o->build_id.n);
	err = read_segments(o, c);
	if (err == 0)
		err = read_functions(e, o, c);
	if (err == 0)
		err = read_lines(e, o, c);
	return err < 0 ? err : read_inlined(e, o, c);
}

/* Texts end up on terminals. */
static void make_printable(char *texts, size_t n)
{
	for (size_t at = 0; at < n; at += strlen(texts + at) + 1)
		str_make_printable(texts + at, strlen(texts + at));
}

static int parse(struct embedded *e)
{
	const uint8_t *bytes = (const uint8_t *)e->bytes.bytes;
	struct dwarf_cursor c = { .at = bytes, .end = bytes + e->bytes.n };
	uint64_t version = dwarf_uleb(&c), n;
	int err = 0;

	if (version != EMBEDDED_VERSION)
		return c.bad ? -EBADMSG : -EOPNOTSUPP;
	n = dwarf_uleb(&c);
	e->texts = (const char *)dwarf_bytes(&c, n);
	if (c.bad || !n || e->texts[0] || e->texts[n - 1])
		return -EBADMSG;
	e->n_texts = n;
	make_printable(e->bytes.bytes + (e->texts - e->bytes.bytes), n);
	for (n = read_count(&c); n && !c.bad && err == 0; n--)
		err = read_object(e, &c);
	return err < 0 ? err : c.bad ? -EBADMSG : 0;
}

int embedded_parse(struct embedded **out, struct buf *raw)
{
	scoped(embedded_freep) struct embedded *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->bytes = *raw;
	*raw = (struct buf){ 0 };
	err = parse(e);
	if (err == 0)
		*out = take(e);
	return err;
}

int embedded_read(struct embedded **out, const void *bytes, size_t n)
{
	scoped(buf_done) struct buf raw = { 0 };
	size_t magic = strlen(EMBEDDED_MAGIC);
	int err;

	if (n < magic || memcmp(bytes, EMBEDDED_MAGIC, magic) != 0)
		return -EBADMSG;
	err = decompress((const char *)bytes + magic, n - magic, EMBEDDED_BYTES_MAX, &raw);
	if (err < 0)
		return err == -ENOEXEC ? -EBADMSG : err;
	return embedded_parse(out, &raw);
}

/* ---- use ---- */

static const char *text(const struct embedded *e, uint32_t at)
{
	return e->texts + at;
}

static bool kind_of(const struct object *obj, enum embedded_kind *out)
{
	static const enum embedded_kind kinds[] = {
		[OBJECT_FILE] = EMBEDDED_FILE, [OBJECT_KERNEL] = EMBEDDED_KERNEL, [OBJECT_VDSO] = EMBEDDED_VDSO,
		[OBJECT_JIT] = EMBEDDED_JIT,
	};

	*out = obj->kind < countof(kinds) ? kinds[obj->kind] : EMBEDDED_FILE;
	return *out != EMBEDDED_FILE || obj->kind == OBJECT_FILE;
}

static bool same_build(const struct build_id *a, const struct build_id *b)
{
	return !a->n || !b->n || memcmp(a->bytes, b->bytes, min_of(a->n, b->n)) == 0;
}

const struct embedded_object *embedded_find(const struct embedded *e, const struct object *obj)
{
	enum embedded_kind kind;

	if (!e || !kind_of(obj, &kind))
		return NULL;
	for (size_t i = 0; i < e->objects.n; i++) {
		const struct embedded_object *o = &e->objects.v[i];

		if (o->kind == kind && same_build(&o->build_id, &obj->build_id) &&
		    (kind == EMBEDDED_KERNEL || strcmp(text(e, o->path), obj->file ? obj->file : obj->path) == 0))
			return o;
	}
	return NULL;
}

/* The name, followed by that of its module, as in tables of kallsyms. */
static uint32_t add_name(const struct embedded *e, const struct embedded_function *f, struct buf *strings)
{
	uint32_t at = (uint32_t)strings->n;

	buf_put(strings, text(e, f->name), strlen(text(e, f->name)) + 1);
	if (f->module)
		buf_put(strings, text(e, f->module), strlen(text(e, f->module)) + 1);
	return at;
}

int embedded_add_symbols(const struct embedded *e, const struct embedded_object *o, struct symbol_table *t)
{
	int err = 0;

	if (!t->strings.n)
		buf_putc(&t->strings, '\0');
	for (size_t i = 0; i < o->functions.n && err == 0; i++) {
		const struct embedded_function *f = &o->functions.v[i];
		uint32_t name = add_name(e, f, &t->strings);

		if (buf_failed(&t->strings) || t->strings.n > UINT32_MAX)
			return -ENOMEM;
		err = symbol_table_add(t, f->start, f->size, name, f->module ? SYMBOL_MODULE : 0);
	}
	return err;
}

int embedded_add_segments(const struct embedded_object *o, struct object *obj)
{
	if (obj->n_segments || !o->segments.n)
		return 0;
	free(obj->segments);
	obj->segments = calloc(o->segments.n, sizeof(*obj->segments));
	if (!obj->segments)
		return -ENOMEM;
	memcpy(obj->segments, o->segments.v, o->segments.n * sizeof(*obj->segments));
	obj->n_segments = o->segments.n;
	return 0;
}

int embedded_add_lines(const struct embedded *e, const struct embedded_object *o, struct dwarf_lines *out)
{
	for (size_t i = 0; i < o->lines.n; i++) {
		const struct embedded_line *l = &o->lines.v[i];
		struct line_sequence *s = vec_add(&out->sequences);
		struct line_row *row = s ? vec_add(&out->rows) : NULL;
		uint32_t file;

		if (!row || dwarf_lines_file(out, str_of(text(e, l->file)), &file) < 0)
			return -ENOMEM;
		*row = (struct line_row){ l->address, file, l->line };
		*s = (struct line_sequence){ l->address, l->address + 1, (uint32_t)(out->rows.n - 1), 1 };
	}
	return o->lines.n ? 0 : -ENODATA;
}

static const struct embedded_inline *inlined_at(const struct embedded_object *o, uint64_t address)
{
	size_t low = 0, high = o->inlined.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->inlined.v[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < o->inlined.n && o->inlined.v[low].address == address ? &o->inlined.v[low] : NULL;
}

int embedded_find_inlines(const struct embedded *e, const struct embedded_object *o, uint64_t address,
			  const struct inlines_opts *opts, struct inlined_function out[INLINE_DEPTH_MAX])
{
	const struct embedded_inline *i = inlined_at(o, address);
	uint32_t n = i ? i->n : 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct embedded_call *c = &o->calls.v[i->first + k];

		out[k] = (struct inlined_function){ .call_line = c->line };
		if (c->file)
			out[k].call_file = text(e, c->file);
		if (!c->name)
			continue;
		out[k].name = inlines_intern(opts, text(e, c->name));
		if (!out[k].name)
			return -ENOMEM;
	}
	return (int)n;
}
