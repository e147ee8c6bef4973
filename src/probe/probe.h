/*
 * Shared by the files that implement <tacho/probe.h>.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "probe/object.h"
#include "probe/request.h"
#include "probe/site.h"
#include "sys/sys.h"

#include <tacho/probe.h>

struct tacho_probes {
	struct sys sys;
	struct tacho_probe_target target;	/* its strings are in `strings` */
	struct probe_object object;
	struct arena strings;
	struct arena text;		/* strings of `found` */
	struct { struct tacho_probe *v; size_t n, cap; } found;
	struct buf notes;
	bool is_open;			/* `object` */
	const char *module_name;	/* of a module that was given by its file */
};

/* The debug information of the kernel or module that is the target: kernel_object.c. */

/* Opens it on first use. 0, 1 if none is known, or a negative errno with a message. */
int probes_kernel_object(struct tacho_probes *p, struct probe_object **out, struct tacho_error *e);
/* Adds the sites of a request, with symbols as the kernel takes them; without debug information by probe_find_kernel(). */
int probes_find_kernel(struct tacho_probes *p, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e);
/* "uncore_lab" for "/lib/uncore-lab.ko"; NULL: the kernel itself. */
const char *probes_module_name(const struct tacho_probes *p);

/* The object of the target, opened on first use. 0 or a negative errno with a message. */
int probes_object(struct tacho_probes *p, struct probe_object **out, struct tacho_error *e);
/* ... with its debug data, which must exist. */
int probes_debug_object(struct tacho_probes *p, struct probe_object **out, struct probe_dwarf **dwarf, struct tacho_error *e);
bool probes_target_is_kernel(const struct tacho_probes *p);

/* The file of the last event that was a probe (event/probe.c): several events are usually in the same one. */
struct probed_file {
	char *typed;
	struct probe_object object;
};
void probed_file_free(struct probed_file *f);		/* NULL is fine */

/* Opens the debug data of an object, or says why it cannot be used. */
int probe_need_dwarf(struct probe_object *o, struct probe_dwarf **out, struct tacho_error *e);
/* Finds the sites of a request. Used for tracefs and for the uprobe PMU alike. 0 or a negative errno with a message. */
int probe_find_sites(struct probe_object *o, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e);
#endif
