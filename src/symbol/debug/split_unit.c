/*
 * Entries of a split unit refer to addresses by an index into the program's .debug_addr, and in DWARF 4 to ranges by an offset
 * into its .debug_ranges. The image has the unit's part of both, so that the parts begin at 0, which is where they are searched
 * when an entry does not say otherwise.
 *
 * Ranges may be relative to the address of the unit, which only its skeleton has. All addresses in the image are made relative
 * to that address; the reader of the entries adds it again.
 */
#include "symbol/debug/split_unit.h"

#include "symbol/debug/elf_image.h"
#include "symbol/dwarf_image.h"
#include "symbol/elf_section_data.h"

#include "base/vec.h"

#include <errno.h>

#define ADDR_HEADER 8u			/* of the unit's part of .debug_addr in DWARF 5 */

static int read_section(const struct elf *file, const char *name, struct buf *out)
{
	const struct elf_section *s = elf_find_debug(file, name);
	int err = s ? elf_read_section_data(file, s, out) : 0;

	return err == -ENOMEM ? err : 0;
}

int split_units_init(struct split_units *u, const struct elf *file, const char *symfs)
{
	int err;

	*u = (struct split_units){ 0 };
	err = split_files_init(&u->files, file, symfs);
	u->like = (struct elf){ .wide = file->wide, .swap = file->swap, .type = file->type, .machine = file->machine };
	if (err == 0)
		err = read_section(file, ".debug_addr", &u->addr);
	if (err == 0)
		err = read_section(file, ".debug_ranges", &u->ranges);
	return err;
}

void split_units_done(struct split_units *u)
{
	for (size_t i = 0; i < u->images.n; i++) {
		debug_data_close(u->images.v[i]);
		free(u->images.v[i]);
	}
	/* NOLINTNEXTLINE(bugprone-multi-level-implicit-pointer-conversion) */
	vec_done(&u->images);
	buf_done(&u->addr);
	buf_done(&u->ranges);
	split_files_done(&u->files);
}

void split_units_forget(struct split_units *u)
{
	buf_done(&u->addr);
	buf_done(&u->ranges);
}

/* ---- skeletons ---- */

bool split_skeleton_read(struct debug_unit *unit, struct split_skeleton *out)
{
	struct debug_entry root;
	uint64_t next, number;
	const char *name;

	if (debug_entry_start(unit, unit->first, &root) < 0 || debug_entry_attributes(&root, &next) < 0)
		return false;
	name = debug_text(unit, root.v[SLOT_SPLIT_NAME]);
	if (!name || !*name)
		return false;
	*out = (struct split_skeleton){ .unit = unit, .addr_end = UINT64_MAX, .ranges_end = UINT64_MAX };
	out->ref = (struct split_ref){ .name = name, .dir = debug_text(unit, unit->dir), .version = unit->version };
	out->ref.id = unit->id;
	if (unit->version < 5 && debug_number(root.v[SLOT_GNU_SPLIT_ID], &number))
		out->ref.id = number;
	out->addr_base = unit->addr_base;
	if (debug_number(root.v[SLOT_GNU_RANGES_BASE], &number))
		out->ranges_base = number;
	out->low_pc = unit->low_pc;
	return true;
}

/* ---- images ---- */

static unsigned address_bytes(const struct split_units *u)
{
	return u->like.wide ? 8 : 4;
}

static uint64_t address_at(const struct split_units *u, const uint8_t *at)
{
	return elf_uint(u->like.swap, at, address_bytes(u));
}

/* Appends the unit's part of a section. */
static size_t put_part(const struct buf *section, uint64_t from, uint64_t to, struct buf *out)
{
	size_t start = out->n;

	if (from < section->n)
		buf_put(out, section->bytes + from, min_of(to, (uint64_t)section->n) - from);
	return start;
}

static void put_addresses(const struct split_units *u, const struct split_skeleton *s, struct buf *out)
{
	uint64_t header = s->ref.version >= 5 && s->addr_end != UINT64_MAX ? ADDR_HEADER : 0;	/* of the next part */
	size_t at = put_part(&u->addr, s->addr_base, s->addr_end - header, out);
	unsigned n = address_bytes(u);

	for (; !buf_failed(out) && at + n <= out->n; at += n) {
		uint8_t *slot = (uint8_t *)out->bytes + at;

		elf_put_uint(slot, u->like.swap, address_at(u, slot) - s->low_pc, n);
	}
}

/* Pairs of addresses relative to the unit's; a pair that begins with the largest address sets another, absolute base. */
static void put_ranges(const struct split_units *u, const struct split_skeleton *s, struct buf *out)
{
	size_t at = put_part(&u->ranges, s->ranges_base, s->ranges_end, out);
	unsigned n = address_bytes(u);
	uint64_t largest = n == 8 ? UINT64_MAX : UINT32_MAX;

	for (; !buf_failed(out) && at + 2 * n <= out->n; at += 2 * n) {
		uint8_t *slot = (uint8_t *)out->bytes + at;

		if (address_at(u, slot) == largest)
			elf_put_uint(slot + n, u->like.swap, address_at(u, slot + n) - s->low_pc, n);
	}
}

static int make_image(const struct split_units *u, const struct split_skeleton *s, const struct split_sections *sections,
		      struct buf *out)
{
	static const char *const names[SPLIT_SECTIONS] = {
		".debug_info", ".debug_abbrev", ".debug_line", ".debug_str_offsets", ".debug_rnglists", ".debug_str",
	};
	scoped(elf_image_done) struct elf_image m;

	elf_image_begin(&m, &u->like, out);
	for (size_t i = 0; i < SPLIT_SECTIONS; i++) {
		if (!sections->v[i].n)
			continue;
		elf_image_start_section(&m);
		buf_put(out, sections->v[i].bytes, sections->v[i].n);
		elf_image_end_section(&m, names[i], 0, 0);
	}
	elf_image_start_section(&m);
	put_addresses(u, s, out);
	elf_image_end_section(&m, ".debug_addr", 0, 0);
	if (s->ref.version < 5) {
		elf_image_start_section(&m);
		put_ranges(u, s, out);
		elf_image_end_section(&m, ".debug_ranges", 0, 0);
	}
	return elf_image_finish(&m);
}

static uint64_t unit_id(struct debug_unit *u)
{
	struct debug_entry root;
	uint64_t next, id;

	if (u->version >= 5)
		return u->id;
	return debug_entry_start(u, u->first, &root) == 0 && debug_entry_attributes(&root, &next) == 0 &&
	       debug_number(root.v[SLOT_GNU_SPLIT_ID], &id) ? id : 0;
}

/* The unit with the skeleton's id, in a .dwo file that may have several. */
static int find_unit(struct debug_data *d, const struct split_ref *ref, struct debug_unit **out)
{
	for (size_t i = 0; i < d->units.n; i++) {
		struct debug_unit *u = &d->units.v[i];

		if (u->tag == TAG_COMPILE_UNIT && u->version == ref->version && unit_id(u) == ref->id) {
			*out = u;
			return 0;
		}
	}
	return -ENOENT;
}

static int open_image(struct split_units *u, const struct split_skeleton *s, const struct split_sections *sections,
		      struct debug_data *out)
{
	struct elf file = { .fd = -1 };
	struct buf bytes = { 0 };
	int err = make_image(u, s, sections, &bytes);

	if (err == 0 && u->n_images + bytes.n > DWARF_IMAGE_MAX)
		err = -EFBIG;
	if (err < 0) {
		buf_done(&bytes);
		return err;
	}
	err = elf_open_owned(&file, &bytes);
	if (err == 0)
		err = debug_data_open(out, &file, false);
	return err < 0 ? err : debug_data_list_units(out);
}

int split_unit_open(struct split_units *u, const struct split_skeleton *s, struct debug_unit **out)
{
	scoped(split_sections_done) struct split_sections sections = { 0 };
	int err = split_files_read(&u->files, &s->ref, &sections);
	struct debug_data **slot, *m;

	if (err < 0)
		return err;
	m = calloc(1, sizeof(*m));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the vector holds pointers */
	slot = m ? vec_add(&u->images) : NULL;
	if (!slot) {
		free(m);
		return -ENOMEM;
	}
	*slot = m;
	m->file.fd = -1;
	err = open_image(u, s, &sections, m);
	if (err == 0)
		err = find_unit(m, &s->ref, out);
	if (err < 0) {
		debug_data_close(m);
		free(m);
		u->images.n--;
		return err;
	}
	u->n_images += debug_data_bytes(m);
	return 0;
}
