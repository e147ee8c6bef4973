/*
 * .eh_frame covers most code of most programs. .debug_frame, in the file itself or in its debug file, adds the
 * functions that .eh_frame lacks: musl and some assembler code have nothing else.
 */
#include "unwind/build_table.h"

#include "symbol/elf_section_data.h"
#include "unwind/cfi.h"

#include <errno.h>

#define PT_GNU_EH_FRAME 0x6474e550u
#define SECTION_MAX_BYTES (128u << 20)
#define EH_HDR_BYTES 8u
#define EH_PTR_SDATA4_PCREL 0x1bu

/* ---- sections ---- */

static int read_section(const struct elf *e, const struct elf_section *s, bool eh, struct cfi *c, struct buf *bytes)
{
	int err = s && s->type != ELF_SHT_NOBITS && s->size <= SECTION_MAX_BYTES ? elf_read_section_data(e, s, bytes) : -ENODATA;

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	return cfi_add_section(c, &(struct cfi_section){
		.bytes = (const uint8_t *)bytes->bytes, .n = bytes->n, .addr = s->addr, .eh = eh, .swap = e->swap,
		.address_bytes = e->wide ? 8 : 4,
	});
}

/* The segment that contains an address, which must be in the file. */
static const struct elf_segment *segment_at(const struct elf *e, uint64_t addr)
{
	for (size_t i = 0; i < e->n_segments; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == ELF_PT_LOAD && addr >= s->vaddr && addr - s->vaddr < s->filesz)
			return s;
	}
	return NULL;
}

/* Finds .eh_frame in a file without section headers: PT_GNU_EH_FRAME points to .eh_frame_hdr, which points to it. */
static int read_through_header(const struct elf *e, struct cfi *c, struct buf *bytes)
{
	scoped(buf_done) struct buf head = { 0 };
	const struct elf_segment *hdr = NULL, *load;
	const uint8_t *b;
	uint64_t addr;
	int err;

	for (size_t i = 0; i < e->n_segments && !hdr; i++)
		hdr = e->segments[i].type == PT_GNU_EH_FRAME ? &e->segments[i] : NULL;
	if (!hdr || elf_read(e, hdr->offset, EH_HDR_BYTES, &head) < 0)
		return 0;
	b = (const uint8_t *)head.bytes;
	if (b[0] != 1 || b[1] != EH_PTR_SDATA4_PCREL)
		return 0;
	addr = hdr->vaddr + 4 + (uint64_t)(int64_t)(int32_t)elf_uint(e->swap, b + 4, 4);
	load = segment_at(e, addr);
	if (!load || load->filesz > SECTION_MAX_BYTES)
		return 0;
	err = elf_read(e, load->offset + (addr - load->vaddr), load->filesz - (addr - load->vaddr), bytes);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	return cfi_add_section(c, &(struct cfi_section){
		.bytes = (const uint8_t *)bytes->bytes, .n = bytes->n, .addr = addr, .eh = true, .swap = e->swap,
		.address_bytes = e->wide ? 8 : 4,
	});
}

static int read_eh_frame(const struct elf *e, struct cfi *c, struct buf *bytes)
{
	const struct elf_section *s = elf_find_section(e, ".eh_frame");

	return s ? read_section(e, s, true, c, bytes) : read_through_header(e, c, bytes);
}

static int read_sections(struct cfi *c, const struct elf *own, const struct elf *debug, struct buf bytes[2])
{
	const struct elf_section *frame = own ? elf_find_debug(own, ".debug_frame") : NULL;
	const struct elf *of = frame ? own : debug;
	int err = own ? read_eh_frame(own, c, &bytes[0]) : 0;

	if (err == 0 && of)
		err = read_section(of, frame ? frame : elf_find_debug(of, ".debug_frame"), false, c, &bytes[1]);
	return err;
}

/* ---- rows ---- */

struct fde_rows {
	struct unwind_builder *builder;
	const struct cfi_fde *fde;
	int err;
};

static int add_row(void *arg, uint64_t address, const struct unwind_rule *rule)
{
	struct fde_rows *r = arg;

	if (address >= r->fde->end)
		return 0;
	r->err = unwind_builder_add(r->builder, address, rule);
	return r->err;
}

static int add_fdes(struct unwind_builder *b, const struct cfi *c)
{
	for (size_t i = 0; i < c->fdes.n; i++) {
		struct fde_rows r = { .builder = b, .fde = &c->fdes.v[i] };
		bool gap = i + 1 == c->fdes.n || c->fdes.v[i + 1].start > r.fde->end;

		cfi_run(c, r.fde, add_row, &r);
		if (r.err == 0 && gap)
			r.err = unwind_builder_add(b, r.fde->end, NULL);
		if (r.err < 0)
			return r.err;
	}
	return 0;
}

static int build(struct unwind_table *t, struct unwind_builder *b, struct cfi *c)
{
	int err;

	if (!c->fdes.n)
		return -ENODATA;
	cfi_sort(c);
	err = unwind_builder_init(b, t, c->fdes.v[0].start);
	t->machine = c->arch->machine;
	if (err == 0)
		err = add_fdes(b, c);
	return err < 0 ? err : unwind_builder_finish(b);
}

int unwind_table_build(struct unwind_table *t, const struct elf *own, const struct elf *debug)
{
	scoped(unwind_builder_done) struct unwind_builder b = { 0 };
	const struct elf *any = own ? own : debug;
	scoped(cfi_done) struct cfi c = { .arch = any ? unwind_arch_of(any->machine) : NULL };
	struct buf bytes[2] = { 0 };
	int err;

	memset(t, 0, sizeof(*t));
	if (!c.arch || !any->wide)
		return -EOPNOTSUPP;
	err = read_sections(&c, own, debug, bytes);
	if (err == 0)
		err = build(t, &b, &c);
	if (err < 0)
		unwind_table_done(t);
	buf_done(&bytes[0]);
	buf_done(&bytes[1]);
	return err;
}

/* ---- JIT compilers ---- */

/* Adds the rows of one function. Its .eh_frame is written for a place behind the code, aligned to 8 bytes. */
static int add_function(struct unwind_builder *b, const struct jit_dump *d, const struct jit_unwinding *u,
			const struct unwind_arch *arch)
{
	scoped(cfi_done) struct cfi c = { .arch = arch };
	scoped(buf_done) struct buf bytes = { 0 };
	uint64_t end = u->code_offset + u->code_size;
	size_t kept = 0;
	int err = jitdump_bytes(&d->reader, u->offset, u->n, &bytes);

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	err = cfi_add_section(&c, &(struct cfi_section){
		.bytes = (const uint8_t *)bytes.bytes, .n = bytes.n, .eh = true, .swap = d->reader.swap,
		.address_bytes = 8, .addr = u->code_offset + ((u->code_size + 7) & ~(uint64_t)7),
	});
	if (err < 0)
		return err;
	cfi_sort(&c);
	for (size_t i = 0; i < c.fdes.n; i++)
		if (c.fdes.v[i].start >= u->code_offset && c.fdes.v[i].end <= end)
			c.fdes.v[kept++] = c.fdes.v[i];
	c.fdes.n = kept;
	return add_fdes(b, &c);
}

int unwind_table_build_jit(struct unwind_table *t, const struct jit_dump *d)
{
	scoped(unwind_builder_done) struct unwind_builder b = { 0 };
	const struct unwind_arch *arch = unwind_arch_of((uint16_t)d->reader.machine);
	uint64_t reached = 0;
	int err;

	memset(t, 0, sizeof(*t));
	if (!arch || !d->unwinding.n)
		return -ENODATA;
	t->machine = arch->machine;
	err = unwind_builder_init(&b, t, d->unwinding.v[0].code_offset);
	for (size_t i = 0; i < d->unwinding.n && err == 0; i++) {
		const struct jit_unwinding *u = &d->unwinding.v[i];

		if (u->code_offset < reached || u->code_offset >= JIT_NO_CODE)
			continue;
		err = add_function(&b, d, u, arch);
		reached = u->code_offset + u->code_size;
	}
	if (err == 0)
		err = unwind_builder_finish(&b);
	if (err < 0)
		unwind_table_done(t);
	return err;
}
