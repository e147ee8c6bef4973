/*
 * The list of objects, their identity, and the eviction of unused symbol tables.
 */
#include "symbol/objects.h"

#include "symbol/jit/jit_dump.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>

struct object *objects_at(const struct objects *o, uint32_t id)
{
	return id && id <= o->n ? o->v[id - 1] : NULL;
}

/* The name in perf's columns: the base name, "[JIT] tid 123", or a name in brackets unchanged. */
static const char *short_name(struct objects *o, enum object_kind kind, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str pid;
	char text[48];

	if (path[0] == '[' || !slash || !slash[1])
		return path;
	pid = str_of(slash + 1);
	if (kind == OBJECT_JIT && str_starts(pid, "perf-") && str_ends(pid, ".map")) {
		pid = str_n(pid.s + 5, pid.n - 9);
		snprintf(text, sizeof(text), "[JIT] tid %.*s", STR(pid));
		return arena_str(&o->text, str_of(text));
	}
	return slash + 1;
}

static struct object *object_new(struct objects *o, enum object_kind kind, const char *path)
{
	struct object **slot, *obj = calloc(1, sizeof(*obj));
	char *plain;

	if (!obj)
		return NULL;
	obj->kind = kind;
	plain = arena_str(&o->text, str_of(path));
	if (plain && !str_is_printable(str_of(path))) {
		obj->file = arena_str(&o->text, str_of(path));	/* the unmodified path, for open() */
		str_make_printable(plain, strlen(plain));
	}
	obj->path = plain;
	obj->short_name = obj->path ? short_name(o, kind, obj->path) : NULL;
	obj->table.names = o->names;
	obj->table.raw = o->search->no_demangle;
	obj->table.short_names = o->search->short_names;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the vector holds pointers */
	slot = obj->short_name ? vec_add(o) : NULL;
	if (!slot) {
		free(obj);
		return NULL;
	}
	*slot = obj;
	obj->id = (uint32_t)o->n;
	return obj;
}

/* Hash key: path, kind and, for files, the build ID or else device and inode. */
static void key_of(struct buf *key, enum object_kind kind, const char *path,
		   const struct object_identity *identity)
{
	buf_puts(key, path);
	buf_putc(key, '\0');
	buf_putc(key, (char)kind);
	if (!identity)
		return;
	if (identity->n_build_id) {
		buf_putc(key, 'b');
		buf_put(key, identity->build_id, identity->n_build_id);
	} else if (identity->inode) {
		buf_putc(key, 'i');
		buf_put(key, &identity->device, sizeof(identity->device));
		buf_put(key, &identity->inode, sizeof(identity->inode));
	}
}

static void set_build_id(struct object *obj, const uint8_t *id, size_t n)
{
	obj->build_id.n = (uint8_t)min_of(n, (size_t)BUILD_ID_MAX);
	memcpy(obj->build_id.bytes, id, obj->build_id.n);
}

static bool is_file(const struct object *obj, const char *path, const struct object_identity *identity)
{
	return obj && obj->kind == OBJECT_FILE && obj->inode == identity->inode &&
	       obj->device == identity->device && strcmp(obj->file ? obj->file : obj->path, path) == 0;
}

static struct object *object_find(struct objects *o, enum object_kind kind, const char *path,
				  const struct object_identity *identity)
{
	scoped(buf_done) struct buf key = { 0 };
	const uint64_t *known;
	struct object *obj;
	char *kept;

	key_of(&key, kind, path, identity);
	if (buf_failed(&key))
		return NULL;
	known = map_get(&o->by_key, buf_view(&key));
	if (known)
		return objects_at(o, (uint32_t)*known);
	kept = arena_str(&o->text, buf_view(&key));
	obj = kept ? object_new(o, kind, path) : NULL;
	if (!obj)
		return NULL;
	/* If this fails, a second object is created next time, which is harmless. */
	if (map_put(&o->by_key, str_n(kept, key.n), obj->id) < 0)
		return NULL;
	known = map_get(&o->build_ids, str_of(path));
	if (identity && identity->n_build_id) {
		set_build_id(obj, identity->build_id, identity->n_build_id);
	} else if (known) {
		const struct build_id *id = &o->table_build_ids.v[*known];

		set_build_id(obj, id->bytes, id->n);
	}
	return obj;
}

struct object *objects_get(struct objects *o, enum object_kind kind, const char *path,
			   const struct object_identity *identity)
{
	struct object **recent, *obj;

	if (kind != OBJECT_FILE || !identity || !identity->inode || identity->n_build_id)
		return object_find(o, kind, path, identity);
	recent = &o->recent[identity->inode % RECENT_FILES];
	if (is_file(*recent, path, identity))
		return *recent;
	obj = object_find(o, kind, path, identity);
	if (obj) {
		obj->device = identity->device;
		obj->inode = identity->inode;
		*recent = obj;
	}
	return obj;
}

int objects_set_build_id(struct objects *o, const char *path, const uint8_t *id, size_t n)
{
	struct build_id *entry = vec_add(&o->table_build_ids);
	char *key = arena_str(&o->text, str_of(path));

	if (!entry || !key)
		return -ENOMEM;
	entry->n = (uint8_t)min_of(n, (size_t)BUILD_ID_MAX);
	memcpy(entry->bytes, id, entry->n);
	for (size_t i = 0; i < o->n; i++) {
		struct object *obj = o->v[i];
		bool meant = strcmp(obj->path, path) == 0 ||
			     (obj->file && strcmp(obj->file, path) == 0);

		if (meant && !obj->loaded && !obj->build_id.n)
			set_build_id(obj, id, n);
	}
	return map_put(&o->build_ids, str_of(key), o->table_build_ids.n - 1);
}

static size_t table_bytes(const struct symbol_table *t)
{
	return t->mapped ? t->mapped_bytes :
			   t->cap * sizeof(*t->v) + t->strings.cap + t->n_index * sizeof(*t->index);
}

static size_t object_bytes(const struct object *obj)
{
	return table_bytes(&obj->table) + object_inlines_bytes(obj);
}

/* Drops the symbols, so that they are read again when needed. */
static void unload(struct object *obj)
{
	object_drop_inlines(obj);
	symbol_table_done(&obj->table);
	free(take(obj->segments));
	obj->n_segments = 0;
	obj->read_ms = 0;
	obj->map_position = (struct perfmap_position){ 0 };
	obj->loaded = false;
}

static struct object *longest_unused(const struct objects *o)
{
	struct object *found = NULL;

	for (size_t i = 0; i < o->n; i++) {
		struct object *obj = o->v[i];
		bool can_go = obj->kind == OBJECT_FILE || obj->kind == OBJECT_JIT;

		if (can_go && object_bytes(obj) && obj->used_at + 1 < o->generation &&
		    (!found || obj->used_at < found->used_at))
			found = obj;
	}
	return found;
}

static struct object *largest_debug_data(const struct objects *o)
{
	struct object *found = NULL;

	for (size_t i = 0; i < o->n; i++)
		if (object_inlines_bytes(o->v[i]) > (found ? object_inlines_bytes(found) : 0))
			found = o->v[i];
	return found;
}

/* Closes the largest debug data for good: opened and closed again and again, they would cost more time than the rest. */
static void drop_debug_data(struct objects *o, size_t total, size_t max_bytes)
{
	struct object *obj;

	while (total > max_bytes && (obj = largest_debug_data(o))) {
		total -= object_inlines_bytes(obj);
		object_drop_inlines(obj);
		obj->inlines_read = true;
	}
}

void objects_evict(struct objects *o, size_t max_bytes)
{
	struct object *obj;
	size_t total = 0;

	o->generation++;
	for (size_t i = 0; i < o->n; i++) {
		symbol_table_compact(&o->v[i]->table);
		total += object_bytes(o->v[i]);
	}
	while (total > max_bytes && (obj = longest_unused(o))) {
		total -= object_bytes(obj);
		unload(obj);
	}
	drop_debug_data(o, total, max_bytes);
}

void objects_done(struct objects *o)
{
	for (size_t i = 0; i < o->n; i++) {
		symbol_table_done(&o->v[i]->table);
		free(o->v[i]->segments);
		if (o->v[i]->jit)
			jit_dump_done(o->v[i]->jit);
		else
			object_drop_lines(o->v[i]);
		object_drop_inlines(o->v[i]);
		free(o->v[i]->jit);
		free(o->v[i]);
	}
	vec_done(o);
	vec_done(&o->table_build_ids);
	map_done(&o->by_key);
	map_done(&o->build_ids);
	arena_done(&o->text);
}

uint64_t object_address(const struct object *obj, uint64_t offset)
{
	return elf_offset_address(obj->segments, obj->n_segments, offset);
}

bool object_span(const struct object *obj, uint64_t offset, struct span *out)
{
	if (!obj->loaded || obj->kind == OBJECT_JIT || obj->kind == OBJECT_JITDUMP)
		return false;
	if (!elf_offset_span(obj->segments, obj->n_segments, offset, out))
		return false;
	symbol_table_span(&obj->table, object_address(obj, offset), out);
	return true;
}

bool object_module_name(const char *path, char *out, size_t size)
{
	static const char *const ends[] = { ".ko", ".ko.gz", ".ko.xz", ".ko.zst" };
	const char *slash = strrchr(path, '/');
	struct str base = str_of(slash ? slash + 1 : path);

	for (size_t i = 0; i < countof(ends); i++) {
		if (!str_ends(base, ends[i]))
			continue;
		base.n -= strlen(ends[i]);
		if (base.n == 0 || base.n + 3 > size)
			return false;
		snprintf(out, size, "[%.*s]", STR(base));
		for (char *c = out; *c; c++)
			if (*c == '-')
				*c = '_';
		return true;
	}
	return false;
}
