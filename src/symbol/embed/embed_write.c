/*
 * Collects the addresses of samples as places: object and offset, independent of processes. At the end they are resolved and
 * written object by object, in the order of their addresses.
 *
 * Most addresses occur again and again, so a small cache drops repetitions, and the list is sorted and cleaned whenever it has
 * doubled. Source lines and inlined functions are looked up at the address and before it, because the address of a caller is
 * that after its call.
 */
#include <tacho/symbol.h>

#include "symbol/embed/embedded.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <zstd.h>

#define RECENT 4096u			/* a power of two */
#define CLEAN_MIN 65536u
#define ZSTD_LEVEL 9

struct place {
	uint64_t offset, ip;		/* `ip`: of a JIT compiler's code; else 0 */
	uint32_t object;		/* 0: the kernel, and `offset` is the address */
	uint32_t pid;			/* of a JIT compiler's code; else 0 */
};

struct embedded_place {			/* resolved */
	uint32_t object, pid;
	uint64_t address;		/* as the reader has it */
	struct tacho_frame frame;
};

struct tacho_embedding {
	struct tacho_symbols *symbols;
	struct { struct place *v; size_t n, cap; } places;
	size_t clean_at;
	struct place recent[RECENT];
	struct { struct embedded_place *v; size_t n, cap; } resolved;
	struct map text_at;
	struct arena keys;
	struct buf texts, objects;
};

int tacho_embedding_new(struct tacho_embedding **out, struct tacho_symbols *s)
{
	struct tacho_embedding *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->symbols = s;
	b->clean_at = CLEAN_MIN;
	*out = b;
	return 0;
}

void tacho_embedding_free(struct tacho_embedding *b)
{
	if (!b)
		return;
	vec_done(&b->places);
	vec_done(&b->resolved);
	map_done(&b->text_at);
	arena_done(&b->keys);
	buf_done(&b->texts);
	buf_done(&b->objects);
	free(b);
}

/* ---- collecting ---- */

static int compare_places(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->ip < b->ip ? -1 : a->ip > b->ip;
}

static void clean(struct tacho_embedding *b)
{
	size_t n = 0;

	if (b->places.n)
		qsort(b->places.v, b->places.n, sizeof(*b->places.v), compare_places);
	for (size_t i = 0; i < b->places.n; i++)
		if (!n || compare_places(&b->places.v[n - 1], &b->places.v[i]) != 0)
			b->places.v[n++] = b->places.v[i];
	b->places.n = n;
	b->clean_at = max_of(2 * n, (size_t)CLEAN_MIN);
}

static int add_place(struct tacho_embedding *b, const struct place *p)
{
	uint64_t hash = (p->offset ^ (uint64_t)p->object << 40 ^ p->ip ^ p->pid) * 0x9e3779b97f4a7c15ull;
	struct place *recent = &b->recent[hash >> 40 & (RECENT - 1)], *slot;

	if (compare_places(recent, p) == 0)
		return 0;
	*recent = *p;
	if (b->places.n >= b->clean_at)
		clean(b);
	slot = vec_next(&b->places);
	if (!slot)
		return -ENOMEM;
	*slot = *p;
	return 0;
}

static bool is_kernel(enum tacho_space space, uint64_t ip)
{
	return space == TACHO_SPACE_KERNEL || (space == TACHO_SPACE_UNKNOWN && ip >> 63);
}

int tacho_embedding_add(struct tacho_embedding *b, uint32_t pid, enum tacho_space space, const uint64_t *ips, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i++) {
		struct tacho_spot spot = { 0, 0 };
		struct place p = { .offset = ips[i] };
		const struct object *obj;

		if (is_kernel(space, ips[i])) {
			err = add_place(b, &p);
			continue;
		}
		err = tacho_symbols_spots(b->symbols, pid, space, &ips[i], 1, &spot);
		obj = err == 0 ? symbols_object(b->symbols, spot.object) : NULL;
		if (!obj)
			continue;
		p = (struct place){ .object = spot.object, .offset = spot.offset };
		if (obj->kind == OBJECT_JITDUMP) {
			p.ip = ips[i];
			p.pid = pid;
		}
		err = add_place(b, &p);
	}
	return err;
}

/* ---- resolving ---- */

static int resolve_place(struct tacho_embedding *b, const struct place *p)
{
	enum tacho_space space = p->object ? TACHO_SPACE_USER : TACHO_SPACE_KERNEL;
	const struct tacho_spot spot = { p->offset, p->object };
	struct embedded_place *r;
	struct tacho_frame f;
	int err;

	/* A kernel address needs no spot: the current maps are used. */
	err = p->object ? tacho_symbols_resolve_spot(b->symbols, space, &spot, &f) :
			  tacho_symbols_resolve(b->symbols, 0, space, p->offset, &f);
	if (err < 0 || !f.object)
		return err < 0 ? err : 0;
	r = vec_add(&b->resolved);
	if (!r)
		return -ENOMEM;
	*r = (struct embedded_place){ .object = p->object, .pid = p->pid, .frame = f };
	r->address = !p->object ? p->offset : p->ip ? p->ip : f.object_address;
	return 0;
}

static int compare_resolved(const void *pa, const void *pb)
{
	const struct embedded_place *a = pa, *b = pb;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int resolve_all(struct tacho_embedding *b)
{
	int err = 0;

	clean(b);
	for (size_t i = 0; i < b->places.n && err == 0; i++)
		err = resolve_place(b, &b->places.v[i]);
	if (b->resolved.n)
		qsort(b->resolved.v, b->resolved.n, sizeof(*b->resolved.v), compare_resolved);
	return err;
}

/* ---- writing ---- */

static void put_number(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(out, (char)(v | 0x80));
	buf_putc(out, (char)v);
}

static void put_text(struct tacho_embedding *b, struct buf *out, const char *text)
{
	struct str key = str_of(text ? text : "");
	const uint64_t *known = map_get(&b->text_at, key);
	uint64_t at = b->texts.n;
	char *copy;

	if (known) {
		put_number(out, *known);
		return;
	}
	copy = arena_str(&b->keys, key);
	if (!copy || map_put(&b->text_at, str_n(copy, key.n), at) < 0)
		b->texts.bad = true;
	buf_put(&b->texts, copy ? copy : "", copy ? key.n + 1 : 0);
	put_number(out, at);
}

struct places {				/* those of one object */
	const struct embedded_place *v;
	size_t n;
};

/* A list: what each() appends is counted. */
struct list {
	struct buf items;
	uint64_t n, address;		/* elements; address of the last one */
};

static void list_end(struct list *l, struct buf *out)
{
	put_number(out, l->n);
	buf_put(out, l->items.bytes, l->items.n);
	out->bad |= buf_failed(&l->items);
	buf_done(&l->items);
}

static void list_next(struct list *l, uint64_t address)
{
	put_number(&l->items, address - l->address);
	l->address = address;
	l->n++;
}

/* The module of a kernel function, as "[ext4]"; NULL: none. */
static const char *module_of(const struct tacho_embedding *b, const struct embedded_place *p)
{
	const struct object *obj = p->object ? NULL : symbols_object(b->symbols, p->frame.object);

	return obj && obj->kind == OBJECT_MODULE ? obj->path : NULL;
}

static void put_functions(struct tacho_embedding *b, const struct places *in, struct buf *out)
{
	struct list l = { .n = 0 };

	for (size_t i = 0; i < in->n; i++) {
		const struct embedded_place *p = &in->v[i];
		uint64_t start = p->address - p->frame.symbol_offset, unused, size = 0;

		if (!p->frame.symbol || (l.n && start == l.address))
			continue;
		if (tacho_symbols_range(b->symbols, &p->frame, &unused, &size) < 0)
			size = 0;
		list_next(&l, start);
		put_number(&l.items, max_of(size, p->frame.symbol_offset + 1));
		put_text(b, &l.items, tacho_symbols_name(b->symbols, p->frame.symbol));
		put_text(b, &l.items, module_of(b, p));
	}
	list_end(&l, out);
}

/* Calls `put` for each address and the one before it, in ascending order. */
static int each_address(struct tacho_embedding *b, const struct places *in, struct list *l,
			int (*put)(struct tacho_embedding *b, const struct tacho_frame *f, uint64_t address, struct list *l))
{
	uint64_t next = 0;
	int err = 0;

	for (size_t i = 0; i < in->n; i++)
		for (unsigned before = 2; before-- > 0 && err == 0;) {
			struct tacho_frame f = in->v[i].frame;
			uint64_t address = in->v[i].address - before;

			f.object_address -= before;
			if (address < next)
				continue;
			next = address + 1;
			err = put(b, &f, address, l);
		}
	return err;
}

static int put_line(struct tacho_embedding *b, const struct tacho_frame *f, uint64_t address, struct list *l)
{
	const char *file;
	uint32_t line;
	int got = tacho_symbols_srcline(b->symbols, f, &file, &line);

	if (got <= 0)
		return got;
	list_next(l, address);
	put_text(b, &l->items, file);
	put_number(&l->items, line);
	return 0;
}

static int put_inlined(struct tacho_embedding *b, const struct tacho_frame *f, uint64_t address, struct list *l)
{
	struct tacho_inline found[TACHO_INLINES_MAX];
	int n = tacho_symbols_inlines(b->symbols, f, false, true, found, countof(found));

	if (n <= 0)
		return n;
	list_next(l, address);
	put_number(&l->items, (uint64_t)n);
	for (int i = 0; i < n; i++) {
		put_text(b, &l->items, found[i].symbol ? tacho_symbols_name(b->symbols, found[i].symbol) : "");
		put_text(b, &l->items, found[i].call_file);
		put_number(&l->items, found[i].call_line);
	}
	return 0;
}

static void put_segments(const struct object *obj, struct buf *out)
{
	put_number(out, obj->n_segments);
	for (size_t i = 0; i < obj->n_segments; i++) {
		put_number(out, obj->segments[i].offset);
		put_number(out, obj->segments[i].vaddr);
		put_number(out, obj->segments[i].filesz);
		put_number(out, obj->segments[i].memsz);
	}
}

static void put_identity(struct tacho_embedding *b, const struct places *in, const struct object *obj)
{
	static const enum embedded_kind kinds[] = { [OBJECT_VDSO] = EMBEDDED_VDSO, [OBJECT_JIT] = EMBEDDED_JIT,
						    [OBJECT_JITDUMP] = EMBEDDED_JIT };
	enum embedded_kind kind = obj->kind < countof(kinds) ? kinds[obj->kind] : EMBEDDED_FILE;
	const char *path = obj->file ? obj->file : obj->path;
	char map[48];

	snprintf(map, sizeof(map), "/tmp/perf-%u.map", in->v->pid);
	put_number(&b->objects, in->v->object ? kind : EMBEDDED_KERNEL);
	put_text(b, &b->objects, in->v->pid ? map : path);
	put_number(&b->objects, obj->build_id.n);
	buf_put(&b->objects, obj->build_id.bytes, obj->build_id.n);
}

static int put_object(struct tacho_embedding *b, const struct places *in)
{
	const struct object *obj = symbols_object(b->symbols, in->v->frame.object), none = { .path = "" };
	struct list lines = { .n = 0 }, inlined = { .n = 0 };
	int err = 0;

	put_identity(b, in, obj ? obj : &none);
	put_segments(in->v->object && !in->v->pid && obj ? obj : &none, &b->objects);
	put_functions(b, in, &b->objects);
	if (in->v->object)		/* lines of the kernel come from its vmlinux */
		err = each_address(b, in, &lines, put_line);
	list_end(&lines, &b->objects);
	if (err == 0 && in->v->object)
		err = each_address(b, in, &inlined, put_inlined);
	list_end(&inlined, &b->objects);
	return err;
}

static int put_objects(struct tacho_embedding *b)
{
	uint64_t n = 0;
	size_t end;
	int err = 0;
	struct buf all = { 0 };

	for (size_t i = 0; i < b->resolved.n && err == 0; i = end, n++) {
		struct places in = { &b->resolved.v[i], 0 };

		for (end = i; end < b->resolved.n && b->resolved.v[end].object == in.v->object &&
			      b->resolved.v[end].pid == in.v->pid; end++)
			in.n++;
		err = put_object(b, &in);
	}
	put_number(&all, n);
	buf_put(&all, b->objects.bytes, b->objects.n);
	all.bad |= buf_failed(&b->objects);
	buf_done(&b->objects);
	b->objects = all;
	return err;
}

static int compress(const struct buf *raw, struct buf *out)
{
	size_t room = ZSTD_compressBound(raw->n), n;
	void *at;

	buf_puts(out, EMBEDDED_MAGIC);
	at = buf_grow(out, room);
	if (!at)
		return -ENOMEM;
	n = ZSTD_compress(at, room, raw->bytes, raw->n, ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	out->n += n;
	return 0;
}

int tacho_embedding_write(struct tacho_embedding *b, int (*fn)(void *arg, const void *bytes, size_t n), void *arg)
{
	scoped(buf_done) struct buf raw = { 0 }, out = { 0 }, first = { 0 };
	int err = resolve_all(b);

	put_text(b, &first, "");	/* the first text is empty */
	if (err == 0)
		err = put_objects(b);
	put_number(&raw, EMBEDDED_VERSION);
	put_number(&raw, b->texts.n);
	buf_put(&raw, b->texts.bytes, b->texts.n);
	buf_put(&raw, b->objects.bytes, b->objects.n);
	if (err == 0 && (buf_failed(&raw) || buf_failed(&b->texts) || buf_failed(&b->objects)))
		err = -ENOMEM;
	if (err == 0)
		err = compress(&raw, &out);
	return err < 0 ? err : fn(arg, out.bytes, out.n);
}
