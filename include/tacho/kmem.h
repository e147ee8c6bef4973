#ifndef TACHO_KMEM_H
#define TACHO_KMEM_H

#include <tacho/kernel.h>
#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * The kernel's memory allocators, as a recording of their tracepoints shows them: kmem:kmalloc, kmem_cache_alloc, kfree and
 * kmem_cache_free for the slab allocator, mm_page_alloc and mm_page_free for pages.
 *
 *	new -> slab rows, page rows -> free
 *
 * A recording is read once, in the order of time. It must have been opened with `ordered`.
 */
struct tacho_kmem;

struct tacho_kmem_opts {
	size_t size;
	bool slab, pages;		/* which allocators; none: slab */
	bool live;			/* counts by order and type: only pages that are not freed */
	struct tacho_symbols *symbols;	/* is fed with the recording; finds the callers of page allocations. NULL: none */
	uint64_t from_ns, to_ns;	/* only what happens in this time; to_ns 0: no limit */
};

struct tacho_kmem_slab {		/* objects at one address, or allocated by one call */
	uint64_t address;
	uint64_t n_allocs, bytes_req, bytes_alloc;
	uint64_t ping_pong;		/* objects that were freed by another CPU than the one that allocated them */
};

struct tacho_kmem_pages {		/* allocations of one block of pages, or by one function */
	uint64_t pfn;			/* of a block */
	uint64_t caller_address;	/* the function that called the allocator; 0: not recorded */
	uint32_t caller;		/* its name, for tacho_symbols_name(); 0: unknown */
	uint32_t order, type;		/* 2^order pages; the kernel's migrate type */
	uint64_t gfp_flags;
	uint64_t n_allocs, n_frees, bytes_alloc, bytes_free;
};

#define TACHO_KMEM_ORDERS 11
#define TACHO_KMEM_TYPES 6
struct tacho_kmem_totals {
	size_t size;
	struct tacho_kernel_totals pass;
	uint64_t n_allocs, n_cross_allocs;	/* slab; from memory of another node */
	uint64_t bytes_req, bytes_alloc, bytes_freed;
	uint64_t page_size;
	uint64_t n_page_allocs, n_page_frees, n_page_fails;
	uint64_t n_page_unknown;		/* frees of pages whose allocation was not recorded */
	uint64_t page_bytes_alloc, page_bytes_freed, page_bytes_failed, page_bytes_unknown;
	uint64_t by_order[TACHO_KMEM_ORDERS][TACHO_KMEM_TYPES];
};

/* Reads the recording. Returns 0; -ENOENT if it has no such events; -ENOMEM; or the errno of the damage of a file, in which
 * case *out has what comes before it. */
TACHO_API int tacho_kmem_new(struct tacho_kmem **out, struct tacho_perfdata *pd, const struct tacho_kmem_opts *opts,
			     struct tacho_error *e);
TACHO_API void tacho_kmem_free(struct tacho_kmem *k);	/* NULL is fine */
TACHO_API const struct tacho_kmem_totals *tacho_kmem_totals(const struct tacho_kmem *k);
/* Rows in the order of their first appearance; valid until tacho_kmem_free(). */
TACHO_API const struct tacho_kmem_slab *tacho_kmem_slab_callers(const struct tacho_kmem *k, size_t *n);
TACHO_API const struct tacho_kmem_slab *tacho_kmem_slab_objects(const struct tacho_kmem *k, size_t *n);
/* Each by its order, type and flags, and the calling function or the block. */
TACHO_API const struct tacho_kmem_pages *tacho_kmem_page_callers(const struct tacho_kmem *k, size_t *n);
TACHO_API const struct tacho_kmem_pages *tacho_kmem_page_blocks(const struct tacho_kmem *k, size_t *n);
/* The names of allocation flags, "GFP_KERNEL|__GFP_ZERO", as the recording has them. NULL: unknown. */
TACHO_API const char *tacho_kmem_gfp_name(const struct tacho_kmem *k, uint64_t gfp_flags);

TACHO_END_DECLS
#endif
