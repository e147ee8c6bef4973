/*
 * Sites: the places of code that a request stands for, each with the arguments as the kernel reads them there.
 */
#ifndef PROBE_SITE_H
#define PROBE_SITE_H

#include "probe/object.h"
#include "probe/request.h"

#define SITES_MAX 65536u

struct probe_site {
	uint64_t address;		/* as in the object's symbol table */
	uint64_t semaphore;		/* address of the counter that the kernel increments while it is probed; 0: none */
	const char *function;		/* for the name of the event */
	const char *symbol;		/* kernel: the symbol that `offset` is relative to; else NULL */
	uint64_t offset;
	const char *args;		/* "n=%di:x64 k=%si:s32"; "": none */
	const char *provider;		/* of a static probe; else NULL */
	bool is_return;
};

struct probe_sites {
	struct probe_site *v;
	size_t n, cap;
	struct arena text;
	struct buf notes;		/* lines for the user, such as that a prologue is skipped */
	uint32_t max_sites;		/* a request may stand for this many; 0: SITES_MAX */
	const char *source;		/* where source files are searched first; or NULL */
	bool no_inlines;
};

void probe_sites_done(struct probe_sites *s);
/* Appends a site with copies of its strings, unless one with the same address, arguments and function is there. Returns 0,
 * -E2BIG with a message, or -ENOMEM. */
int probe_sites_add(struct probe_sites *s, const struct probe_site *site, struct tacho_error *e);

/* Each adds the sites of a request. 0, -ENOENT if there is none, or another negative errno with a message. */
int probe_find_symbols(struct probe_object *o, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e);
int probe_find_static(struct probe_object *o, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e);

/* Formats the arguments that are passed on to the kernel as they are. */
void probe_raw_argument(const struct probe_argument *a, struct buf *out);
int probe_raw_arguments(const struct probe_request *r, struct buf *out, struct tacho_error *e);

/* One static probe (SDT, USDT) of a file. */
struct probe_static {
	const char *provider, *name, *args;	/* args: "8@%rdx -4@-80(%rbx)" */
	uint64_t address, semaphore;
};
struct probe_statics {
	struct probe_static *v;
	size_t n, cap;
	struct arena text;
};
/* Reads .note.stapsdt. Returns 0 (also without that section), -EBADMSG after the intact notes of a damaged section, or
 * -ENOMEM ... */
int probe_statics_read(struct probe_statics *s, const struct elf *e);
void probe_statics_done(struct probe_statics *s);
/* Converts the operands of a static probe to the kernel's form: "arg1=%dx:u64 arg2=-80(%bx):u64". Operands that the kernel
 * cannot read are left out, but keep their number. Returns 0 or -ENOMEM. */
int probe_static_arguments(uint16_t machine, const char *args, struct buf *out);

/* The kernel's name of a register, without %, by the number that DWARF gives it; NULL if it cannot be read by probes. */
const char *probe_register_name(uint16_t machine, unsigned number);
/* ... and by its name in assembler, such as "%rdi", "edi" or "x0"; its width in bits is *bits. */
const char *probe_register_alias(uint16_t machine, struct str name, unsigned *bits);

#endif
