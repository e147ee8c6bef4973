/*
 * Reads an object's line tables from its own file or its debug file, when the first source line of the
 * object is needed: most reports need none.
 */
#include "symbol/dwarf_line.h"
#include "symbol/elf_section_data.h"
#include "symbol/embed/embedded.h"
#include "symbol/object_files.h"
#include "symbol/objects.h"

#include <errno.h>

void object_drop_lines(struct object *obj)
{
	if (obj->lines)
		dwarf_lines_done(obj->lines);
	free(take(obj->lines));
}

static int take_lines(struct object *obj, const struct elf *e)
{
	int err;

	obj->lines = calloc(1, sizeof(*obj->lines));
	err = obj->lines ? dwarf_lines_read(obj->lines, e) : -ENOMEM;
	if (err < 0)
		object_drop_lines(obj);
	return err;
}

static int lines_of_file(struct object *obj, const struct symbol_search *search)
{
	scoped(elf_close) struct elf own = { .fd = -1 }, debug = { .fd = -1 };
	int have_own = files_open_object(&own, obj, search), err = -ENODATA;

	if (have_own == -ENOMEM)
		return have_own;
	if (have_own == 0 && elf_find_debug(&own, ".debug_line"))
		err = take_lines(obj, &own);
	if (err == 0 || err == -ENOMEM)
		return err;
	err = files_open_debug(&debug, obj, have_own == 0 ? &own : NULL, search);
	return err < 0 ? err : take_lines(obj, &debug);
}

static int lines_of_kernel(struct object *obj, const char *vmlinux)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	int err = vmlinux ? elf_open(&e, vmlinux) : -ENOENT;

	return err < 0 ? err : take_lines(obj, &e);
}

static int take_embedded(struct object *obj, const struct symbol_search *search)
{
	int err;

	obj->lines = calloc(1, sizeof(*obj->lines));
	err = obj->lines ? embedded_add_lines(search->embedded, obj->embedded, obj->lines) : -ENOMEM;
	if (err < 0)
		object_drop_lines(obj);
	return err;
}

int object_read_lines(struct object *obj, const struct symbol_search *search, const char *vmlinux)
{
	int err = 0;

	if (obj->kind == OBJECT_FILE || obj->kind == OBJECT_MODULE)
		err = lines_of_file(obj, search);
	else if (obj->kind == OBJECT_KERNEL)
		err = lines_of_kernel(obj, vmlinux);
	if (err != -ENOMEM && !obj->lines && obj->embedded)
		err = take_embedded(obj, search);
	obj->lines_read = err != -ENOMEM;
	return err == -ENOMEM ? err : 0;
}
