/*
 * Entries of a split unit refer to addresses by an index into the program's .debug_addr, and in DWARF 4 to ranges by an offset
 * into its .debug_ranges. The image has the unit's part of both, so that the parts begin at 0, which is where libdw searches
 * them when an entry does not say otherwise.
 *
 * Ranges may be relative to the address of the unit, which only its skeleton has. For libdw, who then takes 0 for it, all
 * addresses in the image are made relative to that address; the reader of the entries adds it again.
 */
#include "symbol/debug/split_unit.h"

#include "symbol/debug/elf_image.h"
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

int split_units_init(struct split_units *u, const struct libdw *lib, const struct elf *file, const char *symfs)
{
	int err;

	*u = (struct split_units){ .lib = lib };
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
	for (size_t i = 0; i < u->images.n; i++)
		libdw_image_close(u->lib, &u->images.v[i]);
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

/* The attribute of DWARF 5 or of GNU's extension of DWARF 4. */
static uint64_t number(const struct libdw *lib, Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	if (!lib->dwarf_attr(die, name, &a) && !lib->dwarf_attr(die, gnu_name, &a))
		return 0;
	return lib->dwarf_formudata(&a, &value) == 0 ? value : 0;
}

static const char *text(const struct libdw *lib, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;

	return lib->dwarf_attr(die, name, &a) ? lib->dwarf_formstring(&a) : NULL;
}

/* DWARF 4 has the id in an attribute. */
static uint64_t unit_id(const struct libdw *lib, Dwarf_Die *die, unsigned *version, uint8_t *type)
{
	uint64_t id = 0;
	Dwarf_Half got = 0;

	lib->dwarf_cu_info(die->cu, &got, type, NULL, NULL, &id, NULL, NULL);
	*version = got;
	return got >= 5 ? id : number(lib, die, DW_AT_GNU_dwo_id, DW_AT_GNU_dwo_id);
}

bool split_skeleton_read(const struct split_units *u, Dwarf_Die *die, struct split_skeleton *out)
{
	const struct libdw *lib = u->lib;
	const char *name = text(lib, die, DW_AT_dwo_name);
	uint8_t type;

	if (!name)
		name = text(lib, die, DW_AT_GNU_dwo_name);
	if (!name || !*name)
		return false;
	*out = (struct split_skeleton){ .die = *die, .addr_end = UINT64_MAX, .ranges_end = UINT64_MAX };
	out->ref = (struct split_ref){ .name = name, .dir = text(lib, die, DW_AT_comp_dir) };
	out->ref.id = unit_id(lib, die, &out->ref.version, &type);
	out->addr_base = number(lib, die, DW_AT_addr_base, DW_AT_GNU_addr_base);
	out->ranges_base = number(lib, die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
	if (lib->dwarf_lowpc(die, &out->low_pc) != 0)
		out->low_pc = 0;
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

/* The entry of the unit with the skeleton's id, in a .dwo file that may have several. */
static int find_unit(const struct libdw *lib, Dwarf *dwarf, const struct split_ref *ref, Dwarf_Die *out)
{
	Dwarf_CU *cu = NULL;
	unsigned version;
	uint8_t type;

	while (lib->dwarf_get_units(dwarf, cu, &cu, NULL, NULL, out, NULL) == 0)
		if (lib->dwarf_tag(out) == DW_TAG_compile_unit && unit_id(lib, out, &version, &type) == ref->id &&
		    version == ref->version)
			return 0;
	return -ENOENT;
}

static int open_image(struct split_units *u, const struct split_skeleton *s, const struct split_sections *sections,
		      struct libdw_image *out)
{
	scoped(buf_done) struct buf bytes = { 0 };
	int err = make_image(u, s, sections, &bytes);

	if (err == 0 && u->n_images + bytes.n > DWARF_IMAGE_MAX)
		err = -EFBIG;
	return err < 0 ? err : libdw_image_open(u->lib, out, &bytes);
}

int split_unit_open(struct split_units *u, const struct split_skeleton *s, Dwarf_Die *out)
{
	scoped(split_sections_done) struct split_sections sections = { 0 };
	int err = split_files_read(&u->files, &s->ref, &sections);
	struct libdw_image *m;

	if (err < 0)
		return err;
	m = vec_add(&u->images);
	if (!m)
		return -ENOMEM;
	err = open_image(u, s, &sections, m);
	if (err == 0)
		err = find_unit(u->lib, m->dwarf, &s->ref, out);
	if (err < 0) {
		libdw_image_close(u->lib, m);
		u->images.n--;
		return err;
	}
	u->n_images += m->n;
	return 0;
}
