/*
 * From an access to a type: the object's debug data, the variable, the name of the type and of the member.
 */
#include "datatype/datatype.h"

#include <errno.h>

#include "symbol/object_files.h"

#define MEMBER_DEPTH_MAX 32u

int tacho_data_types_new(struct tacho_data_types **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void object_free(struct typed_object *o)
{
	probe_dwarf_close(o->dwarf);
	elf_close(&o->files.own);
	elf_close(&o->files.debug);
	vec_done(&o->globals);
	free(o);
}

void tacho_data_types_free(struct tacho_data_types *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->objects.n; i++)
		object_free(t->objects.v[i]);
	vec_done(&t->objects);
	arena_done(&t->arena);
	free(t);
}

/* ---- objects ---- */

static int open_files(struct typed_object *o, const struct object *obj, const struct symbol_search *search)
{
	int err = files_open_object(&o->files.own, obj, search);

	if (err < 0)
		return err;
	if (elf_find_section(&o->files.own, ".debug_info") || elf_find_section(&o->files.own, ".zdebug_info"))
		return 0;
	return files_open_debug(&o->files.debug, obj, &o->files.own, search);
}

static bool is_same_object(const struct typed_object *o, const struct object *obj)
{
	return strcmp(o->id.path, obj->path) == 0 && o->id.n_build_id == obj->build_id.n &&
	       (!obj->build_id.n || memcmp(o->id.build_id, obj->build_id.bytes, obj->build_id.n) == 0);
}

static struct typed_object *object_add(struct tacho_data_types *t, const struct object *obj)
{
	struct typed_object *o = calloc(1, sizeof(*o)), **slot = o ? vec_add(&t->objects) : NULL;
	uint8_t *id = slot ? arena_alloc(&t->arena, BUILD_ID_MAX) : NULL;

	if (!id || !(o->id.path = arena_str(&t->arena, str_of(obj->path)))) {
		t->objects.n -= slot != NULL;
		free(o);
		return NULL;
	}
	memcpy(id, obj->build_id.bytes, obj->build_id.n);
	o->id.build_id = id;
	o->id.n_build_id = obj->build_id.n;
	o->files.own.fd = o->files.debug.fd = -1;
	*slot = o;
	return o;
}

/* Opens the debug data of a file when the first type in it is looked up. *out is NULL for other objects. */
static int find_object(struct tacho_data_types *t, struct tacho_symbols *s, uint32_t id, struct typed_object **out)
{
	const struct object *obj = symbols_object(s, id);
	struct typed_object *o;
	int err;

	*out = NULL;
	if (!obj || obj->kind != OBJECT_FILE)
		return 0;
	for (size_t i = 0; i < t->objects.n; i++)
		if (is_same_object(t->objects.v[i], obj)) {
			*out = t->objects.v[i];
			return 0;
		}
	o = object_add(t, obj);
	if (!o)
		return -ENOMEM;
	*out = o;
	err = open_files(o, obj, symbols_search(s));
	if (err == 0)
		err = probe_dwarf_get(&o->files, &o->dwarf);
	t->no_library |= err == -EOPNOTSUPP;
	return err == -ENOMEM ? err : 0;
}

/* ---- types ---- */

void match_variable(struct probe_dwarf *d, Dwarf_Die *variable, bool points, int64_t offset, struct data_match *out)
{
	Dwarf_Die typed = *variable, type;
	uint64_t size;

	if (!dwarf_plain_type(d, &typed, &type))
		return;
	if (points) {
		if (!dwarf_is_pointer(d, &type))
			return;
		typed = type;
		if (!dwarf_plain_type(d, &typed, &type))
			return;
	}
	size = dwarf_type_size(d, &type);
	if (offset >= 0 && (uint64_t)offset < size && size > out->type_size)
		*out = (struct data_match){ typed, type, size, (uint64_t)offset };
}

/* Appends the path of the member that has the offset: "p.x". Anonymous structs and unions have no part in it. */
static void put_member(struct probe_dwarf *d, Dwarf_Die *type, uint64_t offset, unsigned depth, struct buf *out)
{
	const struct libdw *l = d->lib;
	Dwarf_Die child;

	if (depth > MEMBER_DEPTH_MAX || l->dwarf_child(type, &child) != 0)
		return;
	do {
		const char *name = l->dwarf_diename(&child);
		int tag = l->dwarf_tag(&child);
		uint64_t at = 0, bits;
		Dwarf_Die inner;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !dwarf_plain_type(d, &child, &inner))
			continue;
		if (!dwarf_number(d, &child, DW_AT_data_member_location, &at) && dwarf_number(d, &child, DW_AT_data_bit_offset, &bits))
			at = bits / 8;
		if (offset < at || offset - at >= dwarf_type_size(d, &inner))
			continue;
		if (tag == DW_TAG_member && name) {
			if (out->n)
				buf_putc(out, '.');
			buf_text(out, str_of(name));
		}
		tag = l->dwarf_tag(&inner);
		if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type)
			put_member(d, &inner, offset - at, depth + 1, out);
		return;
	} while (l->dwarf_siblingof(&child, &child) == 0);
}

static const char *store_text(struct tacho_data_types *t, struct buf *text)
{
	const char *stored = buf_failed(text) ? NULL : arena_str(&t->arena, buf_view(text));

	buf_done(text);
	return stored;
}

static int describe(struct tacho_data_types *t, struct probe_dwarf *d, struct data_match *m, struct tacho_data_type *out)
{
	struct tacho_data_type found = { .offset = m->offset };
	size_t size = out->size && out->size < sizeof(found) ? out->size : sizeof(found);
	struct buf name = { 0 }, member = { 0 };
	bool has_member;

	dwarf_put_type_name(d, &m->typed, &name);
	put_member(d, &m->type, m->offset, 0, &member);
	has_member = member.n || buf_failed(&member);
	found.name = store_text(t, &name);
	found.member = has_member ? store_text(t, &member) : NULL;
	if (!found.name || (has_member && !found.member))
		return -ENOMEM;
	found.size = size;
	memcpy(out, &found, size);
	return 1;
}

int tacho_data_types_find(struct tacho_data_types *t, struct tacho_symbols *s, const struct tacho_frame *f,
			  const struct tacho_memory_operand *operand, struct tacho_data_type *out)
{
	struct data_match match = { .type_size = 0 };
	struct typed_object *o;
	int err = find_object(t, s, f->object, &o);

	if (err < 0 || !o || !o->dwarf)
		return err < 0 ? err : t->no_library ? -EOPNOTSUPP : 0;
	if (operand->is_static)
		err = globals_find(o, f->object_address, operand->address, &match);
	else if (operand->base)
		locals_find(o, f->object_address, operand->base, operand->offset, &match);
	if (err == 0 && !match.type_size && !operand->is_static && operand->index)
		locals_find(o, f->object_address, operand->index, operand->offset, &match);
	if (err < 0)
		return err;
	return match.type_size ? describe(t, o->dwarf, &match, out) : 0;
}
