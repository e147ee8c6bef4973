/*
 * `tacho kmem`: the tables of the memory allocators. <tacho/kmem.h> reads the recording; here rows are sorted and drawn.
 */
#ifndef CLI_KMEM_KMEM_H
#define CLI_KMEM_KMEM_H

#include "cli/kernel/source.h"

#include <tacho/kmem.h>

enum kmem_table { KMEM_CALLERS, KMEM_OBJECTS };	/* by call, by address or block */

struct kmem_table_opts {
	bool is_shown;
	uint32_t lines;			/* 0: all */
	const char *slab_sort, *page_sort;	/* NULL: the default */
};

struct kmem_opts {
	struct kernel_source_opts source;
	struct kmem_table_opts tables[2];	/* by enum kmem_table */
	bool has_table, has_allocator;	/* --caller or --alloc, --slab or --page was given: -s and -l belong to the last one */
	enum kmem_table last_table;
	bool last_is_pages;
	bool slab, pages, live, raw_ip, json;
};

struct kmem_report {
	const struct kmem_opts *o;
	const struct tacho_kmem *k;
	const struct tacho_kmem_totals *totals;
	struct tacho_symbols *symbols;
	struct tacho_kmem_slab *slab[2];	/* sorted copies of the rows */
	struct tacho_kmem_pages *pages[2];
	size_t n_slab[2], n_pages[2];
};

/* ---- sort.c ---- */
/* Checks a list of keys: 0 or -EINVAL with a message in *e. */
int kmem_check_keys(const char *keys, bool of_pages, struct tacho_error *e);
/* Copies and sorts the rows that are shown. 0 or -ENOMEM. */
int kmem_sort(struct kmem_report *r);
void kmem_sort_done(struct kmem_report *r);
double kmem_fragmentation(uint64_t bytes_req, uint64_t bytes_alloc);	/* percent */
/* What is shown of a row of pages: all, or with --live what is not freed. */
uint64_t kmem_page_bytes(const struct kmem_opts *o, const struct tacho_kmem_pages *p);
uint64_t kmem_page_hits(const struct kmem_opts *o, const struct tacho_kmem_pages *p);

/* ---- text.c, gfp.c, json.c ---- */
extern const char *const kmem_types[TACHO_KMEM_TYPES];
void kmem_put_text(const struct kmem_report *r, struct buf *out);
void kmem_put_json(const struct kmem_report *r, struct buf *out);
/* "K|Z" for "GFP_KERNEL|__GFP_ZERO". `name` may be NULL: the number. */
void kmem_put_gfp(struct buf *out, const char *name, uint64_t gfp_flags);
/* "alloc_bprm+45" or, with --raw-ip, an address. */
void kmem_put_caller(struct buf *out, const struct kmem_report *r, uint64_t address);
void kmem_put_page_caller(struct buf *out, const struct kmem_report *r, const struct tacho_kmem_pages *p);

#endif
