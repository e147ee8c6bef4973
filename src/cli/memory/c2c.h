/*
 * `tacho c2c`: cache lines that several CPUs use. What its files share: the counts of accesses, and the model of lines and
 * of the places in the code that access them.
 */
#ifndef CLI_MEMORY_C2C_H
#define CLI_MEMORY_C2C_H

#include "base/json.h"
#include "base/vec.h"
#include "cli/memory/memory.h"

#include <tacho/profile.h>

#define C2C_CPUS_MAX 4096
#define C2C_NODES_MAX 64

enum c2c_display { C2C_TOTAL, C2C_LOCAL, C2C_REMOTE };
enum c2c_key { C2C_PID, C2C_TID, C2C_CODE, C2C_OBJECT };

struct c2c_opts {
	struct memory_recording recording;
	const char *input, *vmlinux, *coalesce, *display_text;
	bool force, show_all, stats_only, no_source, double_lines, full_symbols, stdio, json;
	unsigned node_info;		/* -N: 1, shares of the CPUs of a node; 2, their list */
	enum c2c_display display;
	enum c2c_key keys[4];		/* of -c, in this order */
	size_t n_keys;
};

struct c2c_counts {			/* accesses, as perf counts them */
	uint64_t records, locks, stores, store_uncached, store_no_address, store_l1_hit, store_l1_miss, store_unknown;
	uint64_t loads, load_uncached, load_io, load_miss, load_no_address;
	uint64_t fill_buffer, l1_hit, l2_hit, llc_hit, local_hitm, remote_hitm, remote_hit, local_peer, remote_peer;
	uint64_t local_dram, remote_dram, exclusive, shared, blocked_data, blocked_address;
	uint64_t no_map, not_parsed;
};

/* Counts n equal accesses. */
void c2c_count(struct c2c_counts *c, uint64_t data_src, uint64_t address, bool mapped, uint64_t n);
void c2c_add(struct c2c_counts *to, const struct c2c_counts *c);
uint64_t c2c_hitm(const struct c2c_counts *c);
/* The HITMs that lines are sorted by. */
uint64_t c2c_display_count(const struct c2c_opts *o, const struct c2c_counts *c);
uint64_t c2c_llc_misses(const struct c2c_counts *c);
uint64_t c2c_line_loads(const struct c2c_counts *c);	/* of the line table: loads of a known level */
uint64_t c2c_line_records(const struct c2c_counts *c);

struct c2c_mean {
	uint64_t n, sum;
};

struct c2c_place {			/* accesses of one line by equal keys: offset, pid, code ... */
	uint64_t offset, code;
	uint32_t pid, tid, thread, ip_frame, object;	/* ip_frame: + 1; 0: unknown */
	struct c2c_counts counts;
	struct c2c_mean remote_hitm, local_hitm, load;	/* costs */
	uint32_t *cpus;			/* bitmap of n_cpus, on the heap, followed by: */
	uint32_t *node_hitm, *node_stores;	/* per node */
};

struct c2c_line {
	uint64_t address;		/* of the first access */
	uint64_t key[2];		/* object and, of anonymous memory, process; address in the object */
	struct c2c_counts counts;
	struct { struct c2c_place *v; size_t n, cap; } places;
};

struct c2c_model {
	const struct c2c_opts *opts;
	const struct tacho_profile *profile;
	struct c2c_counts total, shared;	/* all accesses; those of lines with HITMs */
	size_t n_shared;		/* lines with HITMs */
	struct { struct c2c_line *v; size_t n, cap; } lines;
	size_t n_shown;			/* the first ones, after sorting */
	uint8_t node_of_cpu[C2C_CPUS_MAX];
	size_t n_nodes, n_cpus;
};

int c2c_model_init(struct c2c_model *m, const struct c2c_opts *o, const struct tacho_profile *p,
		   const struct tacho_perfdata *pd);	/* 0 or -ENOMEM */
void c2c_model_done(struct c2c_model *m);
/* Whether the place has a row: HITMs of the kind that lines are sorted by, or stores. */
bool c2c_is_listed(const struct c2c_model *m, const struct c2c_place *p);
static inline uint64_t c2c_line_bytes(const struct c2c_opts *o)
{
	return o->double_lines ? 128 : 64;
}
static inline bool c2c_has_key(const struct c2c_opts *o, enum c2c_key key)
{
	for (size_t i = 0; i < o->n_keys; i++)
		if (o->keys[i] == key)
			return true;
	return false;
}
static inline bool c2c_has_cpu(const struct c2c_place *p, size_t cpu)
{
	return p->cpus[cpu / 32] >> cpu % 32 & 1;
}

void c2c_text(const struct c2c_model *m, struct buf *out);
void c2c_json(const struct c2c_model *m, const char *input, struct json *j);
/* "m.c:4", or the function and offset. */
void c2c_srcline(const struct c2c_model *m, const struct c2c_place *p, struct buf *out);

#endif
