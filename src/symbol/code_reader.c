#include "symbol/code_reader.h"

#include "symbol/jit/jit_dump.h"
#include "symbol/object_files.h"

#include <errno.h>

void code_reader_done(struct code_reader *r)
{
	if (r->object && !r->err)
		elf_close(&r->file);
	buf_done(&r->bytes);
	*r = (struct code_reader){ 0 };
}

static int open_object(struct code_reader *r, const struct kernel *k, struct object *obj, const struct symbol_search *search)
{
	switch (obj->kind) {
	case OBJECT_FILE:
		return files_open_object(&r->file, obj, search);
	case OBJECT_VDSO:
		return vdso_open(&r->file, obj);
	case OBJECT_KERNEL:
	case OBJECT_MODULE:
		return kernel_open_code(k, obj, search, &r->file);
	default:
		return -ENOENT;
	}
}

/* Reads the part of [address, address + n) that lies in one segment. */
static int read_segment(struct code_reader *r, uint64_t address, uint64_t n)
{
	for (size_t i = 0; i < r->file.n_segments; i++) {
		const struct elf_segment *s = &r->file.segments[i];
		uint64_t in = address - s->vaddr;

		if (s->type == ELF_PT_LOAD && address >= s->vaddr && in < s->filesz)
			return elf_read(&r->file, s->offset + in, min_of(n, s->filesz - in), &r->bytes);
	}
	return -ENOENT;
}

static int read_elf(struct code_reader *r, uint64_t address, size_t n, struct tacho_code_view *out)
{
	int err = read_segment(r, address, n);

	if (err == 0)
		*out = (struct tacho_code_view){ .machine = r->file.machine, .wide = r->file.wide,
						 .big_endian = elf_is_big_endian(r->file.swap) };
	return err;
}

/* The address of a function is the offset of its code in the dump. */
static int read_dump(struct code_reader *r, struct object *obj, uint64_t offset, uint64_t n, struct tacho_code_view *out)
{
	const struct jitdump_reader *dump = obj->jit ? &obj->jit->reader : NULL;
	const struct symbol *function = symbol_table_find(&obj->table, offset);
	int err;

	if (!dump || dump->fd < 0 || !function || offset >= JIT_NO_CODE || offset - function->start >= function->size)
		return -ENOENT;
	err = jitdump_bytes(dump, offset, min_of(n, function->size - (offset - function->start)), &r->bytes);
	if (err == 0)
		*out = (struct tacho_code_view){ .machine = dump->machine, .wide = true,
						 .big_endian = elf_is_big_endian(dump->swap) };
	return err;
}

int code_reader_read(struct code_reader *r, const struct kernel *k, struct object *obj, const struct symbol_search *search,
		     const struct code_range *range, struct tacho_code_view *out)
{
	int err;

	buf_clear(&r->bytes);
	if (obj->kind == OBJECT_JITDUMP) {
		err = read_dump(r, obj, range->start, range->n, out);
	} else {
		if (r->object != obj) {
			code_reader_done(r);
			r->err = open_object(r, k, obj, search);
			r->object = r->err == -ENOMEM ? NULL : obj;
		}
		err = r->err < 0 ? r->err : read_elf(r, range->start, range->n, out);
	}
	if (err < 0)
		return err;
	out->size = sizeof(*out);
	out->bytes = (const uint8_t *)r->bytes.bytes;
	out->n_bytes = r->bytes.n;
	out->start = range->start;
	out->path = obj->path;
	return 0;
}
