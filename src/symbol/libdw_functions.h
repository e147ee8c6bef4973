/*
 * The functions of libdw and libelf (elfutils) that are used. Include it only from files that the build leaves out where
 * the headers of elfutils are missing; others include symbol/libdw.h.
 */
#ifndef SYMBOL_LIBDW_FUNCTIONS_H
#define SYMBOL_LIBDW_FUNCTIONS_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "symbol/dwarf_image.h"

#define LIBDW_FUNCTIONS(X) \
	/* files */ \
	X(dwarf_begin_elf) X(dwarf_end) X(dwarf_errno) X(dwarf_errmsg) X(dwarf_getalt) X(dwarf_setalt) \
	X(dwelf_dwarf_gnu_debugaltlink) \
	/* units */ \
	X(dwarf_next_unit) X(dwarf_get_units) X(dwarf_cu_die) X(dwarf_cu_info) X(dwarf_diecu) X(dwarf_offdie) \
	X(dwarf_addrdie) X(dwarf_getaranges) X(dwarf_getarange_addr) X(dwarf_getarangeinfo) \
	/* entries */ \
	X(dwarf_child) X(dwarf_siblingof) X(dwarf_tag) X(dwarf_dieoffset) X(dwarf_cuoffset) X(dwarf_haschildren) \
	X(dwarf_diename) X(dwarf_getscopes) X(dwarf_getscopes_die) X(dwarf_getfuncs) X(dwarf_func_inline) \
	X(dwarf_entry_breakpoints) X(dwarf_srclang) \
	/* attributes */ \
	X(dwarf_attr) X(dwarf_attr_integrate) X(dwarf_hasattr) X(dwarf_hasattr_integrate) X(dwarf_getattrs) \
	X(dwarf_whatattr) X(dwarf_whatform) X(dwarf_formstring) X(dwarf_formudata) X(dwarf_formsdata) X(dwarf_formaddr) \
	X(dwarf_formflag) X(dwarf_formblock) X(dwarf_formref_die) \
	/* addresses */ \
	X(dwarf_lowpc) X(dwarf_highpc) X(dwarf_entrypc) X(dwarf_haspc) X(dwarf_ranges) \
	/* lines */ \
	X(dwarf_getsrcfiles) X(dwarf_filesrc) X(dwarf_getsrcdirs) X(dwarf_getsrclines) X(dwarf_getsrc_die) \
	X(dwarf_getsrc_file) X(dwarf_onesrcline) X(dwarf_lineaddr) X(dwarf_lineno) X(dwarf_linesrc) \
	X(dwarf_linebeginstatement) X(dwarf_lineendsequence) X(dwarf_lineprologueend) X(dwarf_linecol) \
	X(dwarf_decl_file) X(dwarf_decl_line) X(dwarf_decl_column) \
	/* types and locations */ \
	X(dwarf_peel_type) X(dwarf_bytesize) X(dwarf_bitsize) X(dwarf_bitoffset) X(dwarf_aggregate_size) \
	X(dwarf_default_lower_bound) X(dwarf_getlocation) X(dwarf_getlocation_addr) X(dwarf_getlocations) \
	X(dwarf_getlocation_attr) X(dwarf_getlocation_die) X(dwarf_getlocation_implicit_value) \
	X(dwarf_getcfi) X(dwarf_getcfi_elf) X(dwarf_cfi_addrframe) X(dwarf_cfi_end) X(dwarf_frame_cfa) X(dwarf_frame_register) \
	/* libelf */ \
	X(elf_version) X(elf_memory) X(elf_end) X(elf_errno) X(elf_errmsg) X(elf_nextscn) X(elf_getdata) \
	X(elf_getshdrstrndx) X(elf_strptr) X(gelf_getehdr) X(gelf_getshdr)

/* Each member has the name and the type of its function. */
#define LIBDW_MEMBER(name) __typeof__(&name) name;
struct libdw {
	LIBDW_FUNCTIONS(LIBDW_MEMBER)
};
#undef LIBDW_MEMBER

struct elf;

struct libdw_image {			/* the debug data of one file, open in libdw */
	Dwarf *dwarf;
	Elf *elf;
	char *bytes;
	size_t n;
};

/* The debug data of an object. */
struct libdw_debug {
	const struct libdw *lib;
	Dwarf *dwarf;			/* valid until libdw_debug_close() */
	struct libdw_image own;
	struct libdw_image alt;		/* what it shares with other files (dwz) */
	size_t n_image;			/* bytes of both */
	bool lacks_alt;			/* there is shared data, but it cannot be read */
};

/* Opens an ELF file in memory, and takes the bytes from the caller, also on failure. 0, -EBADMSG, -ENOMEM. */
int libdw_image_open(const struct libdw *lib, struct libdw_image *m, struct buf *bytes);
void libdw_image_close(const struct libdw *lib, struct libdw_image *m);

/* Opens the DWARF sections of `file`, as a copy in memory (see dwarf_image.h): the file may be truncated or closed
 * meanwhile, and its sections may be compressed with zlib or zstd. Returns 0, -EOPNOTSUPP when libdw is not installed,
 * -ENODATA without debug data, -EBADMSG, -EFBIG, -ENOMEM. */
int libdw_debug_open(struct libdw_debug *d, const struct elf *file, enum dwarf_image_use use);
void libdw_debug_close(struct libdw_debug *d);

#endif
