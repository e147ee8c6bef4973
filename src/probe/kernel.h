/*
 * The running kernel as a target: its functions are in /proc/kallsyms.
 */
#ifndef PROBE_KERNEL_H
#define PROBE_KERNEL_H

#include "probe/site.h"
#include "sys/sys.h"

struct kernel_function {
	uint64_t address;
	const char *name, *module;	/* module: NULL: the kernel itself */
};
struct kernel_functions {
	struct kernel_function *v;	/* in the order of kallsyms */
	size_t n, cap;
	struct arena text;
	uint64_t start;			/* of _text; 0: hidden */
};
/* `module`: only functions of this module; NULL: of the kernel. 0 or a negative errno with a message. */
int kernel_functions_read(struct kernel_functions *f, const struct sys *sys, const char *module, struct tacho_error *e);
void kernel_functions_done(struct kernel_functions *f);

struct kernel_target {
	const struct sys *sys;
	const char *module;		/* NULL: the kernel */
};
/* Adds the sites of a request by symbol. 0, or a negative errno with a message. */
int probe_find_kernel(const struct kernel_target *k, const struct probe_request *r, struct probe_sites *out,
		      struct tacho_error *e);

#endif
