/*
 * Vendors' event lists. A list of any form becomes one block of memory: a header, the events sorted
 * by name, and a pool of strings. The same block is what the cache holds, so loading is a read and a
 * check. What an event needs is kept as terms with numbers ("event=0xb7,umask=0x1,offcore_rsp=0x1"),
 * free of any machine; vendor_resolve.c holds them against the PMUs that are there.
 *
 *	file --vendor_json, vendor_text--> fields --vendor_intel ...--> vendor_list --vendor_resolve--> terms
 */
#ifndef EVENT_VENDOR_H
#define EVENT_VENDOR_H

#include "event/event.h"

#include <tacho/eventlist.h>

#define VENDOR_FILE_MAX (32u << 20)	/* bytes of a list; the largest known has 3 million */
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
	uint32_t desc, more;		/* a sentence; all that the list says */
	uint32_t topic;
	uint32_t pmu;			/* "": the core PMU; "a|b": the first of them that is there */
	uint32_t terms;
	uint32_t refused;		/* why no machine can count it alone, or "" */
	uint32_t errata, counters, unit;
	uint32_t flags;			/* VENDOR_* */
	uint32_t filter;		/* registers that may narrow it, as the list names them, or "" */
	uint32_t standard;		/* the event of the architecture that it is, where the list gives no
					 * code; "": it gives one */
	uint32_t pad;
	uint64_t period;		/* what the list recommends for sampling; 0: nothing */
	double scale;
};

struct vendor_header {
	char magic[8];
	uint32_t n;			/* events */
	uint32_t pool_n;		/* bytes of the pool, which ends with NUL */
	uint32_t midr;			/* Arm: implementer << 12 | part; 0: not told */
	uint32_t form;			/* the version of this layout */
	uint64_t source_size, source_mtime_ns, source_ino;	/* of the file it was made of */
};

struct vendor_list {
	char *path;
	char *role;			/* the core PMU it is about: "cpu_core"; NULL: not told */
	bool role_known;		/* `role` was looked for */
	bool standards_known;		/* and so were files with the architecture's events */
	void *block;
	const struct vendor_header *head;
	const struct vendor_event *v;
	const char *pool;
};

struct vendor_lists {
	struct vendor_list **v;
	size_t n, cap;
};

/* What hangs off the context: the lists that were given, and those of this machine. */
struct vendor_set {
	struct vendor_lists given, found;
	struct vendor_lists standards;	/* files that the lists borrow codes from */
	bool searched;
};

static inline const char *vendor_str(const struct vendor_list *l, uint32_t at)
{
	return l->pool + at;
}

/* vendor_list.c: a list in the making. Strings are copied. */
struct vendor_builder {
	struct { struct vendor_event *v; size_t n, cap; } events;
	struct buf pool;
	uint32_t midr;
};
uint32_t vendor_put(struct vendor_builder *b, struct str s);	/* into the pool */
/* A new event; NULL without memory, or beyond VENDOR_EVENTS_MAX. */
struct vendor_event *vendor_add(struct vendor_builder *b, struct str name);
void vendor_builder_done(struct vendor_builder *b);
/* Sorts, drops exact repetitions, and makes the block; `b` is emptied. 0 or -ENOMEM. */
int vendor_build(struct vendor_builder *b, struct vendor_list *out);
/* True when the block's `n` bytes are a list this code can use. */
bool vendor_block_ok(const void *block, size_t n);
void vendor_block_use(struct vendor_list *l, void *block);	/* takes it */
void vendor_list_free(struct vendor_list *l);
/* The events of that name, case ignored: the first, and how many stand together. */
const struct vendor_event *vendor_find(const struct vendor_list *l, struct str name, size_t *n);

/* vendor_json.c, vendor_text.c: what a file holds. `text` is changed by the reading. 0, -EINVAL
 * (the error says where), -EFBIG or -ENOMEM. */
int vendor_read_json(struct vendor_builder *b, char *text, size_t n, struct tacho_error *e);
int vendor_read_text(struct vendor_builder *b, struct str text, struct tacho_error *e);

/* vendor_fields.c: one event's fields as its file has them. */
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
	struct str unknown;		/* a field nobody knows that asks for something; empty: none */
};
/* Notes one member of an event's object. */
void vendor_field_set(struct vendor_fields *f, struct str key, struct str value);
/* The number in a field, the first of several; absent, empty, "na" and "null" are 0. False: it is
 * no number. */
bool vendor_field_num(const struct vendor_fields *f, enum vendor_field which, uint64_t *out);
/* True unless the field is absent, empty, "na", "null", "None" or zero. */
bool vendor_field_given(const struct vendor_fields *f, enum vendor_field which);

/* vendor_intel.c: the rules of Intel's and the kernel's schemas. 0 or -ENOMEM. */
int vendor_intel_event(struct vendor_builder *b, const struct vendor_fields *f);
/* vendor_unit.c: the PMUs that a Unit means, as `pmu` above. */
void vendor_unit_pmu(struct str unit, struct buf *out);

/* vendor_resolve.c */
struct vendor_found {
	char pmu[64];			/* by the name that stands for all instances */
	struct buf terms;		/* "event=0xc0,umask=0x1"; empty when refused */
	char why[256];			/* why it cannot be counted here, or "" */
	char notice[256];		/* what was left out, or "" */
	/* Borrowed from its list, or from that of the architecture: */
	const char *asked, *refused;	/* terms, and why no machine can count it alone */
	const char *desc, *more;
};
void vendor_found_done(struct vendor_found *f);
/* 0 (found or refused: `why` tells) or -ENOMEM. */
int vendor_resolve(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		   struct vendor_found *out);

/* vendor_load.c */
int vendor_load(struct vendor_list **out, const char *path, struct tacho_error *e);
void vendor_set_free(struct vendor_set *s);
/* Adds a file that is not there yet; the number of its events, or a negative errno. */
int vendor_add_file(struct vendor_lists *to, const char *path, const char *role, struct tacho_error *e);
/* vendor_standard.c: the event that one without a code stands for; NULL: nobody describes it. 0 or
 * -ENOMEM. */
int vendor_standard(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		    struct vendor_list **in, const struct vendor_event **out);
/* The context's lists; those of this machine are looked for when `search` asks for it. 0, -ENOMEM. */
int vendor_get(struct tacho *t, bool search, struct vendor_set **out);

/* vendor_cache.c: 1 a list came out of it, 0 there is none that fits. */
int vendor_cache_read(struct vendor_list *l, const struct vendor_header *source);
void vendor_cache_write(const struct vendor_list *l);

/* vendor_map.c: the files that a mapfile.csv names for this CPU, "path\0role" pairs in two lists of
 * equal length; a role is "" where the mapfile tells none. 0, -ENOENT, -EINVAL, -ENOMEM. */
struct vendor_files {
	struct strlist paths, roles;
};
void vendor_files_done(struct vendor_files *f);
int vendor_map_read(struct tacho *t, const char *path, struct vendor_files *out, struct tacho_error *e);
/* True when EVENTMAP's text names a CPU rather than a file. */
bool vendor_map_is_cpu(const char *text);
/* "GenuineIntel-6-55-4" or "0x00000000410fd0c0"; 0 or -ENOENT. */
int vendor_cpu_id(struct tacho *t, char *out, size_t size);
bool vendor_cpu_matches(struct str pattern, const char *id);
/* The core PMU that a mapfile near the list says it is about, the caller's to free; NULL: none says.
 * 0 or -ENOMEM. */
int vendor_map_role(const char *list_path, char **out);

#endif
