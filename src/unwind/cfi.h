/*
 * Call frame information: the FDEs of .eh_frame and .debug_frame, and the rules that their programs give for
 * each address. The sections may come from hostile files; damaged entries are skipped.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/int_map.h"
#include "base/vec.h"
#include "unwind/arch.h"
#include "unwind/rule.h"

struct cfi_section {
	const uint8_t *bytes;
	size_t n;
	uint64_t addr;			/* of the section, as in the ELF file */
	bool eh;			/* .eh_frame, not .debug_frame */
	bool swap;
	uint8_t address_bytes;		/* 4 or 8 */
};

#define CFI_NO_CIE UINT32_MAX

struct cfi_cie {
	const uint8_t *program;
	size_t n_program;
	struct unwind_rule initial;	/* the rule after its program */
	int64_t initial_offset;		/* of its CFA */
	uint64_t code_align;
	int64_t data_align;
	uint32_t ra_column;
	uint8_t section;		/* index of its section */
	uint8_t encoding;		/* of the addresses in FDEs */
	uint8_t address_bytes;
	bool has_augmentation, signal_frame;
};

struct cfi_fde {
	uint64_t start, end;		/* addresses as in the ELF file; `end` is exclusive */
	const uint8_t *program;
	uint32_t n_program, cie;
};

struct cfi {
	const struct unwind_arch *arch;
	struct cfi_section sections[2];
	uint8_t n_sections;
	struct { struct cfi_cie *v; size_t n, cap; } cies;
	struct int_map cie_at;		/* offset and section -> index; CFI_NO_CIE: it is damaged */
	struct { struct cfi_fde *v; size_t n, cap; } fdes;
};

/* Adds the FDEs of one section, whose bytes must outlive `c`. 0 or -ENOMEM. */
int cfi_add_section(struct cfi *c, const struct cfi_section *section);
/* Sorts the FDEs and removes those that overlap an earlier one; of equal ones that of the first section stays. */
void cfi_sort(struct cfi *c);
/* Calls `fn` for each row of the FDE, in ascending order of addresses, the first at its start; `rule` is NULL for the
 * rest of a function whose program is damaged. Stops when `fn` does not return 0, and returns that. */
typedef int (*cfi_row_fn)(void *arg, uint64_t address, const struct unwind_rule *rule);
int cfi_run(const struct cfi *c, const struct cfi_fde *fde, cfi_row_fn fn, void *arg);
void cfi_done(struct cfi *c);

/* cfi_program.c: runs the program of a CIE and sets cie->initial. 0 or -EBADMSG. */
int cfi_run_initial(const struct cfi *c, struct cfi_cie *cie);

#endif
