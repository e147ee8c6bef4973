/*
 * The image has the class and byte order of the file, because libdw reads it as it would read the file.
 */
#include "symbol/dwarf_image.h"

#include "symbol/debug/elf_image.h"
#include "symbol/elf_relocate.h"
#include "symbol/elf_section_data.h"

#include <errno.h>
#include <stdio.h>

#define SECTIONS_MAX 256u

static bool is_for_functions(const char *name)
{
	static const char *const others[] = { ".debug_loc", ".debug_macro", ".debug_macinfo", ".debug_pub", ".debug_gnu_pub",
					      ".debug_aranges", ".debug_frame", ".eh_frame", ".debug_names" };

	for (size_t i = 0; i < countof(others); i++)
		if (str_starts(str_of(name), others[i]))
			return false;
	return true;
}

static bool is_wanted(enum dwarf_image_use use, const struct elf *e, const struct elf_section *s)
{
	const char *name = elf_section_name(e, s);

	if (s->type == ELF_SHT_NOBITS || !s->size || (use == DWARF_IMAGE_FUNCTIONS && !is_for_functions(name)))
		return false;
	return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0 ||
	       strncmp(name, ".eh_frame", 9) == 0;
}

static int add_section(struct elf_image *m, const struct elf_section *s)
{
	const char *name = elf_section_name(m->like, s);
	char plain[64];			/* ".debug_info" for ".zdebug_info" */
	int err;

	err = name[1] == 'z' ? snprintf(plain, sizeof(plain), ".%s", name + 2) : snprintf(plain, sizeof(plain), "%s", name);
	if (err < 0 || (size_t)err >= sizeof(plain))
		return 0;
	elf_image_start_section(m);
	err = elf_read_section_data(m->like, s, m->out);
	if (err == -ENOMEM)
		return err;
	if (err < 0)
		m->out->n = m->section_start;	/* a damaged section is left out */
	if (err == 0 && m->like->type == ELF_ET_REL)
		err = elf_relocate_section(m->like, s, (uint8_t *)m->out->bytes + m->section_start,
					   m->out->n - m->section_start);
	if (err == -ENOMEM || err == -EOPNOTSUPP)
		return err;
	if (m->out->n > DWARF_IMAGE_MAX)
		return -EFBIG;
	if (err == 0)
		elf_image_end_section(m, plain, s->addr, s->flags & ELF_SHF_ALLOC);
	return buf_failed(m->out) ? -ENOMEM : 0;
}

int dwarf_image_make(const struct elf *e, enum dwarf_image_use use, struct buf *out)
{
	scoped(elf_image_done) struct elf_image m = { .like = e };
	int err = 0;

	if (!elf_find_debug(e, ".debug_info") && !elf_find_debug(e, ".debug_info.dwo"))
		return -ENODATA;
	elf_image_begin(&m, e, out);
	for (size_t i = 0; i < e->n_sections && m.n_sections < SECTIONS_MAX && err == 0; i++)
		if (is_wanted(use, e, &e->sections[i]))
			err = add_section(&m, &e->sections[i]);
	return err < 0 ? err : elf_image_finish(&m);
}

uint64_t dwarf_image_size(const struct elf *e, enum dwarf_image_use use)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < e->n_sections; i++)
		if (is_wanted(use, e, &e->sections[i]))
			sum += min_of(elf_section_data_size(e, &e->sections[i]), DWARF_IMAGE_MAX);
	return sum;
}
