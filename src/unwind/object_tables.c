/*
 * Files are found as for symbols, so a file of another build is never used.
 */
#include "unwind/object_tables.h"

#include "symbol/object_files.h"
#include "unwind/build_table.h"
#include "unwind/table_cache.h"

#include <errno.h>

#define ENTRY_BYTES 64u			/* longer than _start of glibc and musl */

static int copy_loads(struct unwind_object *o, const struct elf *e)
{
	o->segments = calloc(e->n_segments ? e->n_segments : 1, sizeof(*o->segments));
	if (!o->segments)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_segments; i++)
		if (e->segments[i].type == ELF_PT_LOAD)
			o->segments[o->n_segments++] = e->segments[i];
	return 0;
}

/* A debug file is needed only for .debug_frame, which distributions rarely have. */
static int build(struct unwind_table *t, const struct object *obj, const struct elf *own,
		 const struct symbol_search *search)
{
	scoped(elf_close) struct elf debug = { .fd = -1 };
	int err = files_open_debug(&debug, obj, own, search);

	if (err == -ENOMEM)
		return err;
	return unwind_table_build(t, own, err == 0 ? &debug : NULL);
}

/* Replaces a table by its entry in the cache, which needs less memory. */
static void use_written(struct unwind_table *t, const uint8_t *id, size_t n)
{
	struct unwind_table mapped;

	if (!unwind_cache_read(&mapped, id, n))
		return;
	unwind_table_done(t);
	*t = mapped;
}

static int load_table(struct unwind_object *o, const struct object *obj, const struct elf *own,
		      const struct symbol_search *search)
{
	uint8_t id[BUILD_ID_MAX];
	int n = elf_build_id(own, id), err;

	if (n > 0 && unwind_cache_read(&o->table, id, (size_t)n))
		return 0;
	err = build(&o->table, obj, own, search);
	if (err == 0 && n > 0 && unwind_cache_write(&o->table, id, (size_t)n))
		use_written(&o->table, id, (size_t)n);
	return err;
}

/* Fills `o`; it remains empty when the object has no file or no call frame information. */
static int load(struct unwind_object *o, struct object *obj, const struct symbol_search *search)
{
	scoped(elf_close) struct elf own = { .fd = -1 };
	int err = -ENOENT;

	if (obj->jit) {
		o->n_functions = obj->jit->unwinding.n;
		err = unwind_table_build_jit(&o->table, obj->jit);
		return err == -ENOMEM ? err : 0;
	}
	if (obj->kind == OBJECT_FILE)
		err = files_open_object(&own, obj, search);
	else if (obj->kind == OBJECT_VDSO && files_is_host(search->machine))
		err = vdso_open(&own, obj);
	o->entry = err == 0 ? own.entry : 0;
	if (err == 0)
		err = copy_loads(o, &own);
	if (err == 0)
		err = load_table(o, obj, &own, search);
	return err == -ENOMEM ? err : 0;
}

static void object_free(struct unwind_object *o)
{
	if (!o)
		return;
	unwind_table_done(&o->table);
	free(o->segments);
	free(o);
}

const struct unwind_object *unwind_object_get(struct unwind_objects *u, struct tacho_symbols *symbols, uint32_t id)
{
	struct object *obj = symbols_object(symbols, id);
	struct unwind_object *o;

	if (id < u->by_id.n && u->by_id.v[id] && obj && obj->jit && obj->jit->unwinding.n != u->by_id.v[id]->n_functions) {
		object_free(take(u->by_id.v[id]));	/* the compiler has added functions */
		u->generation++;
	}
	if (id < u->by_id.n && u->by_id.v[id]) {
		u->by_id.v[id]->used_at = u->generation;
		return u->by_id.v[id];
	}
	while (u->by_id.n <= id)
		if (!vec_add(&u->by_id))
			return NULL;
	o = calloc(1, sizeof(*o));
	if (o && obj && load(o, obj, symbols_search(symbols)) < 0)
		object_free(take(o));
	u->by_id.v[id] = o;
	if (o)
		o->used_at = u->generation;
	return o;
}

const struct unwind_rule *unwind_object_rule(const struct unwind_object *o, uint64_t offset)
{
	static const struct unwind_rule outermost = { .cfa = UNWIND_CFA_GAP, .ra = UNWIND_UNDEFINED };
	uint64_t address = elf_offset_address(o->segments, o->n_segments, offset);
	const struct unwind_rule *rule = unwind_table_find(&o->table, address);

	/* The entry point of the dynamic linker, and of programs with musl, has no call frame information. */
	if (!rule && o->entry && address - o->entry < ENTRY_BYTES)
		return &outermost;
	return rule;
}

static void objects_free(void *data)
{
	struct unwind_objects *u = data;

	for (size_t i = 0; i < u->by_id.n; i++)
		object_free(u->by_id.v[i]);
	vec_done(&u->by_id);
	free(u);
}

static size_t table_bytes(const struct unwind_object *o)
{
	const struct unwind_table *t = &o->table;

	return t->mapped ? (size_t)t->mapped_bytes
			 : t->rows.cap * sizeof(*t->rows.v) + t->pages.cap * sizeof(*t->pages.v) +
				   t->rules.cap * sizeof(*t->rules.v);
}

/* Frees the tables that were not used since the previous call, if all together exceed `max_bytes`. */
static void objects_prune(void *data, size_t max_bytes)
{
	struct unwind_objects *u = data;
	size_t bytes = 0;

	for (size_t i = 0; i < u->by_id.n; i++)
		bytes += u->by_id.v[i] ? table_bytes(u->by_id.v[i]) : 0;
	for (size_t i = 0; i < u->by_id.n && bytes > max_bytes; i++) {
		struct unwind_object *o = u->by_id.v[i];

		if (!o || o->used_at == u->generation)
			continue;
		bytes -= table_bytes(o);
		object_free(take(u->by_id.v[i]));
	}
	u->generation++;
}

struct unwind_objects *unwind_objects_of(struct tacho_symbols *symbols)
{
	struct unwind_objects *u = symbols_attached(symbols);

	if (!u) {
		u = calloc(1, sizeof(*u));
		if (u)
			symbols_attach(symbols, u, objects_free, objects_prune);
	}
	return u;
}
