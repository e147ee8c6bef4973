/*
 * Finds the files of an object: its own file and its separate debug file.
 */
#ifndef SYMBOL_OBJECT_FILES_H
#define SYMBOL_OBJECT_FILES_H

#include "symbol/objects.h"

/* Opens the object's own file. Returns 0 or the most specific error: -ESTALE when only files of another build
 * were found, -EXDEV when only files for another machine, -ENOENT ... */
int files_open_object(struct elf *out, const struct object *obj, const struct symbol_search *search);
/* Opens a file from the build-id cache: `name` in the directory of the object's build ID. */
int files_open_cached(struct elf *out, const struct object *obj, const char *name,
		      const struct symbol_search *search);
/* Opens the separate debug file, which must have a .symtab. `own` may be NULL when the object's own file is
 * missing. Returns 0, -ENOENT, -ENOMEM. */
int files_open_debug(struct elf *out, const struct object *obj, const struct elf *own,
		     const struct symbol_search *search);
/* Whether an ELF machine number is that of this machine; true for 0. */
bool files_is_host(uint32_t machine);
/* Returns the path DIR/.build-id/xx/rest + `tail`, to be freed; NULL without memory. */
char *files_by_build_id(const char *dir, const struct build_id *id, const char *tail);
/* Returns the default build-id cache, $PERF_BUILDID_DIR or ~/.debug, to be freed; NULL without memory. */
char *files_build_id_dir(void);

#endif
