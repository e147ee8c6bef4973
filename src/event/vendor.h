/*
 * Vendors' event lists. A list in any format is converted to one block of memory: a header, the events
 * sorted by name, and a pool of strings. The disk cache stores this block unchanged, so loading from
 * the cache is one read and a check. The encoding of an event is stored as terms with numeric values
 * ("event=0xb7,umask=0x1,offcore_rsp=0x1") that do not depend on the machine; vendor_resolve.c checks
 * them against the machine's PMUs.
 *
 *	file --vendor_json, vendor_text--> fields --vendor_intel ...--> vendor_list --vendor_resolve--> terms
 */
#ifndef EVENT_VENDOR_H
#define EVENT_VENDOR_H

#include "event/event.h"

#include <tacho/eventlist.h>

#define VENDOR_FILE_MAX (32u << 20)	/* bytes of a list; the largest known list has 3 MB */
#define VENDOR_EVENTS_MAX 65536u

enum vendor_flags {
	VENDOR_DEPRECATED = 1u << 0,
	VENDOR_PRECISE = 1u << 1,	/* can be sampled precisely */
	VENDOR_MUST_PRECISE = 1u << 2,	/* counts nothing useful unless sampled precisely */
	VENDOR_PER_PKG = 1u << 3,
	VENDOR_DATA_ADDR = 1u << 4,	/* samples can carry the data's address */
};

/* Strings are offsets into the pool; 0 is the empty string. */
struct vendor_event {
	uint32_t name;
	uint32_t desc, more;		/* short and long description */
	uint32_t topic;
	uint32_t pmu;			/* "": the core PMU; "a|b": the first of them that exists */
	uint32_t terms;
	uint32_t refused;		/* why it cannot be counted on any machine, or "" */
	uint32_t errata, counters, unit;
	uint32_t flags;			/* VENDOR_* */
	uint32_t filter;		/* names of registers that can filter the event, or "" */
	uint32_t standard;		/* the architecture's standard event to use, if the list has no
					 * code for it; else "" */
	uint32_t pad;
	uint64_t period;		/* recommended sampling period; 0: none */
	double scale;
};

struct vendor_header {
	char magic[8];
	uint32_t n;			/* number of events */
	uint32_t pool_n;		/* bytes of the pool, which ends with NUL */
	uint32_t midr;			/* Arm: implementer << 12 | part; 0: unknown */
	uint32_t form;			/* version of this layout */
	uint64_t source_size, source_mtime_ns, source_ino;	/* of the list's file */
};

struct vendor_list {
	char *path;
	char *role;			/* the core PMU it is for, e.g. "cpu_core"; NULL: unknown */
	bool role_known;		/* `role` has been looked up */
	bool standards_known;		/* files with standard events have been searched for */
	void *block;
	const struct vendor_header *head;
	const struct vendor_event *v;
	const char *pool;
};

struct vendor_lists {
	struct vendor_list **v;
	size_t n, cap;
};

/* The lists of a context: those added by the caller, and those found for this machine. */
struct vendor_set {
	struct vendor_lists given, found;
	struct vendor_lists standards;	/* files with standard events that other lists refer to */
	bool searched;
};

static inline const char *vendor_str(const struct vendor_list *l, uint32_t at)
{
	return l->pool + at;
}

/* vendor_list.c: a list under construction. Strings are copied. */
struct vendor_builder {
	struct { struct vendor_event *v; size_t n, cap; } events;
	struct buf pool;
	uint32_t midr;
};
uint32_t vendor_put(struct vendor_builder *b, struct str s);	/* adds a string to the pool */
/* Adds an event. Returns NULL if memory is exhausted or VENDOR_EVENTS_MAX is reached. */
struct vendor_event *vendor_add(struct vendor_builder *b, struct str name);
void vendor_builder_done(struct vendor_builder *b);
/* Sorts the events, drops exact duplicates, and creates the block; `b` is empty afterwards. 0 or -ENOMEM. */
int vendor_build(struct vendor_builder *b, struct vendor_list *out);
/* Returns whether the `n` bytes are a valid block of the current layout. */
bool vendor_block_ok(const void *block, size_t n);
void vendor_block_use(struct vendor_list *l, void *block);	/* takes ownership of the block */
void vendor_list_free(struct vendor_list *l);
/* Finds the events of that name, case ignored. Returns the first; *n of them are adjacent. */
const struct vendor_event *vendor_find(const struct vendor_list *l, struct str name, size_t *n);

/* vendor_json.c, vendor_text.c: parse a list. The JSON text is modified. 0, -EINVAL (the error has the
 * position), -EFBIG or -ENOMEM. */
int vendor_read_json(struct vendor_builder *b, char *text, size_t n, struct tacho_error *e);
int vendor_read_text(struct vendor_builder *b, struct str text, struct tacho_error *e);

/* vendor_fields.c: the fields of one event, as in its file. */
enum vendor_field {
	F_NAME, F_CODE, F_UMASK, F_UMASK_EXT, F_PORT_MASK, F_FC_MASK, F_EXT_SEL, F_FILTER, F_FILTER_VALUE,
	F_CMASK, F_INVERT, F_EDGE, F_ANY, F_EQUAL, F_MSR_INDEX, F_MSR_VALUE, F_COUNTER, F_COUNTER_TYPE,
	F_UNIT, F_PEBS, F_PRECISE, F_COLLECT_PEBS, F_DATA_LA, F_ERRATA, F_DEPRECATED, F_PERIOD,
	F_BRIEF, F_PUBLIC, F_TOPIC, F_PER_PKG, F_SCALE_UNIT, F_CONFIG, F_EVENT_ID, F_NODE_TYPE,
	F_ALL_CORES, F_ALL_SLICES, F_SLICE, F_THREAD_MASK, F_RDWR_MASK, F_ARCH_STD, F_METRIC,
	F_METRIC_EXPR, F_REQUEST, F_RESPONSE, F_MATRIX_VALUE, F_BIT_NAME, F_BIT_INDEX,
	F_ARM_CODE, F_ARM_NAME, F_ARM_DESC, F_ARM_TYPE, F_MAX
};
struct vendor_fields {
	struct str v[F_MAX];
	struct str unknown;		/* name of an unknown field with a value other than 0; empty: none */
};
/* Stores one member of an event's object. */
void vendor_field_set(struct vendor_fields *f, struct str key, struct str value);
/* Parses the first or only number in a field. Absent, empty, "na" and "null" are 0. Returns false if the
 * field is not a number. */
bool vendor_field_num(const struct vendor_fields *f, enum vendor_field which, uint64_t *out);
/* Returns true unless the field is absent, empty, "na", "null", "None" or zero. */
bool vendor_field_given(const struct vendor_fields *f, enum vendor_field which);

/* vendor_intel.c: adds an event of Intel's or the kernel's schema. 0 or -ENOMEM. */
int vendor_intel_event(struct vendor_builder *b, const struct vendor_fields *f);
/* vendor_unit.c: converts a Unit field to PMU names, in the form of vendor_event.pmu. */
void vendor_unit_pmu(struct str unit, struct buf *out);

/* vendor_resolve.c */
struct vendor_found {
	char pmu[64];			/* name that selects all instances of the PMU */
	struct buf terms;		/* "event=0xc0,umask=0x1"; empty if it cannot be counted here */
	char why[256];			/* why it cannot be counted here, or "" */
	char notice[256];		/* notice about a term or filter that was left out, or "" */
	/* borrowed from the event's list or from the list of standard events */
	const char *asked, *refused;	/* terms in the list; why it cannot be counted on any machine */
	const char *desc, *more;
};
void vendor_found_done(struct vendor_found *f);
/* Returns 0 even if it cannot be counted here (out->why is set then), or -ENOMEM. */
int vendor_resolve(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		   struct vendor_found *out);

/* vendor_load.c */
int vendor_load(struct vendor_list **out, const char *path, struct tacho_error *e);
void vendor_set_free(struct vendor_set *s);
/* Adds a file unless it was already added. Returns the number of its events, or a negative errno. */
int vendor_add_file(struct vendor_lists *to, const char *path, const char *role, struct tacho_error *e);
/* vendor_standard.c: finds the standard event that an event without a code refers to; *out is NULL if no list
 * has it. 0 or -ENOMEM. */
int vendor_standard(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		    struct vendor_list **in, const struct vendor_event **out);
/* The context's lists. With `search`, this machine's lists are searched for and added. 0 or -ENOMEM. */
int vendor_get(struct tacho *t, bool search, struct vendor_set **out);

/* vendor_cache.c: returns 1 if the list was read from the cache, 0 if there is no valid entry. */
int vendor_cache_read(struct vendor_list *l, const struct vendor_header *source);
void vendor_cache_write(const struct vendor_list *l);

/* vendor_map.c: the files that a mapfile.csv lists for this CPU, and the role of each ("" if the mapfile has
 * none): two lists of equal length. 0, -ENOENT, -EINVAL, -ENOMEM. */
struct vendor_files {
	struct strlist paths, roles;
};
void vendor_files_done(struct vendor_files *f);
int vendor_map_read(struct tacho *t, const char *path, struct vendor_files *out, struct tacho_error *e);
/* Returns whether the value of EVENTMAP is a CPU ID rather than a file name. */
bool vendor_map_is_cpu(const char *text);
/* "GenuineIntel-6-55-4" or "0x00000000410fd0c0"; 0 or -ENOENT. */
int vendor_cpu_id(struct tacho *t, char *out, size_t size);
bool vendor_cpu_matches(struct str pattern, const char *id);
/* The core PMU that a list is for, from a mapfile.csv in its directory or above. The caller frees *out; NULL:
 * unknown. 0 or -ENOMEM. */
int vendor_map_role(const char *list_path, char **out);

#endif
