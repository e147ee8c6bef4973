/*
 * Finding the files of an object: the file itself, and the one with its symbols.
 */
#ifndef SYMBOL_OBJECT_FILES_H
#define SYMBOL_OBJECT_FILES_H

#include "symbol/objects.h"

/* Opens the object's own file; 0, or the most telling of the errors: -ESTALE when only files of
 * another build were found, -EXDEV of another machine, -ENOENT ... */
int files_open_object(struct elf *out, const struct object *obj, const struct symbol_search *search);
/* Only from the build-id cache, where a file of this name lies by the object's build id. */
int files_open_cached(struct elf *out, const struct object *obj, const char *name,
		      const struct symbol_search *search);
/* Opens a file with a .symtab for it. `own` may be NULL when the file itself is not there.
 * 0, -ENOENT, -ENOMEM. */
int files_open_debug(struct elf *out, const struct object *obj, const struct elf *own,
		     const struct symbol_search *search);
/* Whether an ELF machine number is this machine's; 0 is. */
bool files_is_host(uint32_t machine);
/* DIR/.build-id/xx/rest and then `tail`; heap, NULL without memory. */
char *files_by_build_id(const char *dir, const struct build_id *id, const char *tail);
/* Where nobody names the cache: PERF_BUILDID_DIR, or ~/.debug; heap, NULL without memory. */
char *files_build_id_dir(void);

#endif
