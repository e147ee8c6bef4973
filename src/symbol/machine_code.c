/*
 * Reads the machine code of one function from its object's file. The file is found as for symbols, and
 * used only if its build ID matches.
 */
#include <tacho/symbol.h>

#include "symbol/dwarf_line.h"
#include "symbol/inlines.h"
#include "symbol/object_files.h"
#include "symbol/objects.h"

#include "base/error.h"
#include "base/sized_opts.h"

#include <errno.h>
#include <stdio.h>

#define CODE_MAX (16u << 20)		/* bytes of one function */
#define CODE_WITHOUT_SYMBOL 4096u	/* bytes read when no symbol gives the size */

struct tacho_code {
	struct interned_names names;
	struct objects objects;
	struct symbol_search search;
	struct object *object;
	char *build_id_dir;
	char path[4096];
	struct buf bytes;
	uint64_t start;
	uint32_t machine;
	bool wide, big_endian;
};

void tacho_code_free(struct tacho_code *c)
{
	if (!c)
		return;
	objects_done(&c->objects);
	names_done(&c->names);
	buf_done(&c->bytes);
	free(c->build_id_dir);
	free(c);
}

static int set_places(struct tacho_code *c, const struct tacho_symbols_opts *o)
{
	c->build_id_dir = o->build_id_dir ? str_dup(str_of(o->build_id_dir)) : files_build_id_dir();
	c->search = (struct symbol_search){ .symfs = o->symfs, .build_id_dir = c->build_id_dir,
				     .procfs = o->procfs ? o->procfs : "/proc",
				     .no_demangle = o->no_demangle, .short_names = o->short_names };
	c->objects.names = &c->names;
	c->objects.search = &c->search;
	return c->build_id_dir ? 0 : -ENOMEM;
}

static int set_object(struct tacho_code *c, const struct tacho_object_id *id)
{
	struct object_identity identity = { .build_id = id->build_id, .n_build_id = id->n_build_id };

	c->object = objects_get(&c->objects, OBJECT_FILE, id->path, &identity);
	return c->object ? object_load(c->object, &c->search) : -ENOMEM;
}

static void note_file(struct tacho_code *c, const struct elf *e)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", e->fd);
	n = readlink(link, c->path, sizeof(c->path) - 1);
	c->path[n > 0 ? n : 0] = '\0';
	c->machine = e->machine;
	c->wide = e->wide;
	c->big_endian = elf_is_big_endian(e->swap);
}

/* Reads the part of [start, start + n) that lies in one segment. */
static int read_code(struct tacho_code *c, const struct elf *e, uint64_t n)
{
	for (size_t i = 0; i < e->n_segments; i++) {
		const struct elf_segment *s = &e->segments[i];
		uint64_t in = c->start - s->vaddr;

		if (s->type == ELF_PT_LOAD && c->start >= s->vaddr && in < s->filesz)
			return elf_read(e, s->offset + in, min_of(n, s->filesz - in), &c->bytes);
	}
	return -ENOENT;
}

static int find_code(struct tacho_code *c, uint64_t address)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	int err = files_open_object(&e, c->object, &c->search);
	const struct symbol *sym;
	uint64_t n;

	if (err < 0)
		return err;
	buf_clear(&c->bytes);
	note_file(c, &e);
	sym = symbol_table_find(&c->object->table, address);
	c->start = sym ? sym->start : address;
	n = sym && sym->size ? sym->size : CODE_WITHOUT_SYMBOL;
	return read_code(c, &e, min_of(n, (uint64_t)CODE_MAX));
}

static int refuse(const struct tacho_object_id *id, int err, struct tacho_error *e)
{
	switch (err) {
	case -ENOMEM:
		return error_nomem(e);
	case -ESTALE:
		error_set(e, err, "%s is of another build than the recorded one", id->path);
		error_hint(e, "provide the recorded file below --symfs, or add it to the build-id cache");
		return err;
	case -ENOENT:
	case -ENOTDIR:
		error_set(e, err, "%s does not exist, or has no code at that address", id->path);
		error_hint(e, "provide it below --symfs, or add it to the build-id cache");
		return err;
	default:
		return error_set(e, err, "cannot read the code of %s: %s", id->path, strerror(-err));
	}
}

int tacho_code_new(struct tacho_code **out, const struct tacho_symbols_opts *opts,
		   const struct tacho_object_id *id, uint64_t address, struct tacho_error *e)
{
	struct tacho_symbols_opts own;
	struct tacho_code *c;
	int err = opts_copy(&own, sizeof(own), opts, e);

	if (err < 0)
		return err;
	c = calloc(1, sizeof(*c));
	if (!c)
		return error_nomem(e);
	err = set_places(c, &own);
	if (err == 0)
		err = set_object(c, id);
	if (err == 0)
		err = find_code(c, address);
	if (err < 0) {
		tacho_code_free(c);
		return refuse(id, err, e);
	}
	*out = c;
	return 0;
}

int tacho_code_move(struct tacho_code *c, uint64_t address)
{
	return find_code(c, address);
}

int tacho_code_line(struct tacho_code *c, uint64_t address, const char **file, uint32_t *line)
{
	if (!c->object->lines_read && object_read_lines(c->object, &c->search, NULL) < 0)
		return -ENOMEM;
	return c->object->lines && dwarf_lines_find(c->object->lines, address, file, line);
}

int tacho_code_inlines(struct tacho_code *c, uint64_t address, struct tacho_code_inline *out, size_t max)
{
	const struct inlines_search in = { .search = &c->search, .names = &c->names };
	struct inlined_function found[INLINE_DEPTH_MAX];
	int n = object_find_inlines(c->object, &in, address, true, found);

	n = n < 0 ? n : (int)min_of((size_t)n, max);
	for (int i = 0; i < n; i++)
		out[i] = (struct tacho_code_inline){ names_get(&c->names, found[i].name), found[i].call_file,
						     found[i].call_line };
	return n;
}

void tacho_code_get(const struct tacho_code *c, struct tacho_code_view *out)
{
	struct tacho_code_view view = {
		.bytes = (const uint8_t *)c->bytes.bytes, .n_bytes = c->bytes.n, .start = c->start,
		.machine = c->machine, .wide = c->wide, .big_endian = c->big_endian, .path = c->path,
	};
	size_t size = out->size && out->size < sizeof(view) ? out->size : sizeof(view);

	view.size = size;
	memcpy(out, &view, size);
}

const char *tacho_code_name(const struct tacho_code *c, uint64_t address, uint64_t *offset)
{
	struct symbol_table *table = (struct symbol_table *)&c->object->table;	/* searching only assigns ids */
	const struct symbol *sym = symbol_table_find(table, address);

	if (!sym || !sym->id)
		return NULL;
	*offset = address - sym->start;
	return names_get(&c->names, sym->id);
}
