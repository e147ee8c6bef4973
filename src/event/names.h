/*
 * Names that do not depend on the machine: the kernel's generic hardware, software and cache events, and
 * tool events, including aliases and Alumet's spellings (CPU_CYCLES, LL_READ_MISS).
 */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

#include "event/event.h"
#include "event/nearest_name.h"

/* One row of a table. The config of a tool event is its enum tool_event. */
struct generic_name {
	const char *name, *alias;
	uint64_t config;
	const char *desc;
	const char *unit;		/* NULL: none */
	double scale;
};

struct generic {
	enum tacho_event_kind kind;
	uint32_t type;
	uint64_t config;
	enum tool_event tool;
	const char *unit;		/* "": none */
	double scale;
};

#define TOOL_TYPE 0xfffffffeu		/* not a kernel type, so that perf_event_open() refuses it */

extern const struct generic_name hardware_names[], software_names[], tool_names[];
extern const size_t n_hardware_names, n_software_names, n_tool_names;

/* Find a name, ignoring case. Return false if it is unknown. */
bool generic_find(struct str word, struct generic *out);
bool generic_find_software(struct str word, struct generic *out);
bool generic_find_tool(struct str word, struct generic *out);
bool generic_find_hardware(struct str word, struct generic *out);	/* hardware and cache */
/* CPU_CYCLES, PAGE_FAULTS_MIN, L1D_READ_MISS ... */
bool generic_find_alumet(struct str word, struct generic *out);

void generic_guess(struct name_guess *g);	/* tries every name as a guess */

/* The i-th cache event as perf lists it, e.g. "L1-dcache-load-misses". Returns false past the end. */
bool cache_name_at(size_t i, char out[48], uint64_t *config);

#endif
