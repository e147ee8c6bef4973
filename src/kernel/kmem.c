/*
 * The kernel's memory allocators. Objects are known by their address while they live, so that a free is attributed to the call
 * that allocated the object.
 */
#include <tacho/kmem.h>

#include <errno.h>

#include "base/cpuset.h"
#include "base/num.h"
#include "base/sized_opts.h"
#include "kernel/pass.h"
#include "record/callchain_markers.h"

#define CPUS_MAX 8192u
#define GFP_TEXT_MAX 4096
#define CALLERS_DEPTH 16		/* frames in which the caller of the allocator is searched */

struct slab_object {			/* what is known about an address */
	uint64_t caller, last_bytes;
	uint32_t cpu;			/* that allocated it; UINT32_MAX: it is free */
};

struct slab_rows {
	struct int_map by_address;
	struct { struct tacho_kmem_slab *v; size_t n, cap; } list;
};

struct page_key {			/* without padding, for the hash map */
	uint64_t who, gfp_flags;	/* a block, or the caller's name */
	uint32_t order, type;
};

struct page_rows {
	struct map by_key;		/* the keys are in tacho_kmem.arena */
	struct { struct tacho_kmem_pages *v; size_t n, cap; } list;
};

struct live_pages {			/* an allocation that is not freed yet */
	uint32_t block, caller;		/* positions of its rows */
	uint32_t order, type;
	bool is_live;
};

struct tacho_kmem {
	struct tacho_kmem_opts opts;
	struct kernel_pass pass;
	struct tacho_kmem_totals totals;
	struct arena arena;
	struct slab_rows objects, callers;
	struct { struct slab_object *v; size_t n, cap; } states;	/* by position in objects */
	struct page_rows blocks, page_callers;
	struct int_map pages;		/* block -> position in live */
	struct { struct live_pages *v; size_t n, cap; } live;
	struct int_map gfp_index;	/* flags -> position in gfp; a damaged recording may have many */
	struct { const char **v; size_t n, cap; } gfp;	/* names of flags; NULL: unknown */
	uint16_t *node_of_cpu;		/* UINT16_MAX: unknown; NULL: the recording does not say */
	struct int_map allocators;	/* symbol -> 1: a function of the allocator, 2: another one */
};

static bool is_in_time(const struct tacho_kmem *k, const struct kernel_sample *s)
{
	return s->time >= k->opts.from_ns && (!k->opts.to_ns || s->time <= k->opts.to_ns);
}

/* ---- slab ---- */

static struct tacho_kmem_slab *slab_row(struct slab_rows *rows, uint64_t address, uint32_t *index)
{
	struct tacho_kmem_slab *row;

	if (int_map_get(&rows->by_address, address, index))
		return &rows->list.v[*index];
	*index = (uint32_t)rows->list.n;
	row = vec_add(&rows->list);
	if (!row || int_map_put(&rows->by_address, address, *index) < 0)
		return NULL;
	row->address = address;
	return row;
}

static int add_slab(struct slab_rows *rows, uint64_t address, uint64_t req, uint64_t alloc, uint32_t *index)
{
	struct tacho_kmem_slab *row = slab_row(rows, address, index);

	if (!row)
		return -ENOMEM;
	row->n_allocs++;
	row->bytes_req += req;
	row->bytes_alloc += alloc;
	return 0;
}

enum { ALLOC_CALL_SITE, ALLOC_PTR, ALLOC_REQ, ALLOC_BYTES, ALLOC_NODE };

static bool is_cross_node(const struct tacho_kmem *k, const struct kernel_sample *s)
{
	int64_t node = (int64_t)kernel_number(s, ALLOC_NODE);

	return kernel_has(s, ALLOC_NODE) && node >= 0 && k->node_of_cpu && s->cpu < CPUS_MAX &&
	       k->node_of_cpu[s->cpu] != UINT16_MAX && k->node_of_cpu[s->cpu] != (uint64_t)node;
}

static int handle_alloc(void *view, const struct kernel_sample *s)
{
	struct tacho_kmem *k = view;
	uint64_t caller = kernel_number(s, ALLOC_CALL_SITE), ptr = kernel_number(s, ALLOC_PTR);
	uint64_t req = kernel_number(s, ALLOC_REQ), bytes = kernel_number(s, ALLOC_BYTES);
	uint32_t i, unused;

	if (!k->opts.slab || !is_in_time(k, s))
		return 0;
	if (add_slab(&k->callers, caller, req, bytes, &unused) < 0 || add_slab(&k->objects, ptr, req, bytes, &i) < 0)
		return -ENOMEM;
	if (i == k->states.n && !vec_add(&k->states))
		return -ENOMEM;
	k->states.v[i] = (struct slab_object){ .caller = caller, .last_bytes = bytes, .cpu = s->cpu };
	k->totals.n_allocs++;
	k->totals.bytes_req += req;
	k->totals.bytes_alloc += bytes;
	k->totals.n_cross_allocs += is_cross_node(k, s);
	return 0;
}

enum { FREE_PTR };

/* An object is freed once: what is freed again has been allocated by a call that was not recorded. */
static int handle_free(void *view, const struct kernel_sample *s)
{
	struct tacho_kmem *k = view;
	struct slab_object *object;
	uint32_t i, caller;

	if (!k->opts.slab || !is_in_time(k, s) || !int_map_get(&k->objects.by_address, kernel_number(s, FREE_PTR), &i))
		return 0;
	object = &k->states.v[i];
	if (object->cpu == UINT32_MAX)
		return 0;
	k->totals.bytes_freed += object->last_bytes;
	if (object->cpu != s->cpu) {
		k->objects.list.v[i].ping_pong++;
		if (int_map_get(&k->callers.by_address, object->caller, &caller))
			k->callers.list.v[caller].ping_pong++;
	}
	object->cpu = UINT32_MAX;
	return 0;
}

/* ---- pages ---- */

/* Functions that allocate pages for others: alloc_pages_noprof(), __folio_alloc(), get_zeroed_page() ... */
static bool is_allocator_name(const char *name)
{
	static const char *const starts[] = { "alloc_page", "alloc_frozen_page", "get_free_page", "get_zeroed_page", "folio_alloc",
					      "vma_alloc_folio", "vma_alloc_zeroed", "folio_prealloc", "alloc_zeroed_user",
					      "alloc_anon_folio", "alloc_migrate" };

	while (*name == '_')
		name++;
	for (size_t i = 0; i < countof(starts); i++)
		if (str_starts(str_of(name), starts[i]))
			return true;
	return false;
}

static int is_allocator(struct tacho_kmem *k, uint32_t symbol, bool *result)
{
	uint32_t kind;

	if (!int_map_get(&k->allocators, symbol, &kind)) {
		kind = is_allocator_name(tacho_symbols_name(k->opts.symbols, symbol)) ? 1 : 2;
		if (int_map_put(&k->allocators, symbol, kind) < 0)
			return -ENOMEM;
	}
	*result = kind == 1;
	return 0;
}

/* The function that called the allocator: the first frame of the kernel with another name. */
static int find_caller(struct tacho_kmem *k, const struct kernel_sample *s, struct tacho_kmem_pages *out)
{
	unsigned depth = 0;

	for (size_t i = 0; k->opts.symbols && i < s->chain.n && depth < CALLERS_DEPTH; i++) {
		uint64_t ip = s->chain.v[i];
		struct tacho_frame frame;
		bool skip = false;
		int found;

		if (ip >= CONTEXT_FIRST) {
			if (ip == CONTEXT_USER)
				break;
			continue;
		}
		found = tacho_symbols_resolve(k->opts.symbols, 0, TACHO_SPACE_KERNEL, ip, &frame);
		if (found < 0 || (found && is_allocator(k, frame.symbol, &skip) < 0))
			return -ENOMEM;
		if (!skip) {
			out->caller_address = ip;
			out->caller = found ? frame.symbol : 0;
			return 0;
		}
		depth++;
	}
	return 0;
}

static struct tacho_kmem_pages *page_row(struct tacho_kmem *k, struct page_rows *rows, const struct page_key *key, uint32_t *index)
{
	const struct str bytes = str_n((const char *)key, sizeof(*key));
	const uint64_t *found = map_get(&rows->by_key, bytes);
	struct tacho_kmem_pages *row;
	const char *copy;

	if (found) {
		*index = (uint32_t)*found;
		return &rows->list.v[*found];
	}
	copy = arena_str(&k->arena, bytes);
	*index = (uint32_t)rows->list.n;
	row = copy ? vec_add(&rows->list) : NULL;
	if (!row || map_put(&rows->by_key, str_n(copy, sizeof(*key)), *index) < 0)
		return NULL;
	row->order = key->order;
	row->type = key->type;
	row->gfp_flags = key->gfp_flags;
	return row;
}

/* Flags are named once, by the print format of the event. */
static int name_gfp(struct tacho_kmem *k, const struct kernel_sample *s, uint64_t gfp_flags)
{
	char text[GFP_TEXT_MAX];
	const char *at, *end;
	const char **name;
	ptrdiff_t n;

	if (int_map_find(&k->gfp_index, gfp_flags))
		return 0;
	n = tacho_trace_print(s->event->format, s->raw, s->n_raw, TACHO_OPTS(tacho_trace_opts, .swapped = s->swapped), text, sizeof(text));
	if (n == -ENOMEM)
		return -ENOMEM;
	name = vec_add(&k->gfp);
	if (!name || int_map_put(&k->gfp_index, gfp_flags, (uint32_t)(k->gfp.n - 1)) < 0)
		return -ENOMEM;
	at = n > 0 ? strstr(text, "gfp_flags=") : NULL;
	if (!at)
		return 0;
	at += strlen("gfp_flags=");
	end = at + strcspn(at, " ");
	*name = arena_text(&k->arena, str_n(at, (size_t)(end - at)));
	return *name ? 0 : -ENOMEM;
}

enum { PAGE_PFN, PAGE_PAGE, PAGE_ORDER, PAGE_GFP, PAGE_TYPE };

static uint64_t page_bytes(const struct tacho_kmem *k, uint64_t order)
{
	return order < 32 ? k->totals.page_size << order : 0;
}

static void count_by_order(struct tacho_kmem *k, uint32_t order, uint32_t type, int64_t change)
{
	if (order < TACHO_KMEM_ORDERS && type < TACHO_KMEM_TYPES)
		k->totals.by_order[order][type] += (uint64_t)change;
}

/* A block that is allocated again without having been freed lost the event of its free. */
static int remember_pages(struct tacho_kmem *k, uint64_t block, const struct live_pages *pages)
{
	struct live_pages *slot;
	uint32_t i;

	if (int_map_get(&k->pages, block, &i)) {
		slot = &k->live.v[i];
		if (slot->is_live && k->opts.live)
			count_by_order(k, slot->order, slot->type, -1);
	} else {
		slot = vec_next(&k->live);
		if (!slot || int_map_put(&k->pages, block, (uint32_t)(k->live.n - 1)) < 0)
			return -ENOMEM;
	}
	*slot = *pages;
	return 0;
}

static int add_pages(struct tacho_kmem *k, uint64_t block, const struct tacho_kmem_pages *caller, uint64_t bytes)
{
	struct page_key key = { .who = block, .gfp_flags = caller->gfp_flags, .order = caller->order, .type = caller->type };
	struct live_pages live = { .order = caller->order, .type = caller->type, .is_live = true };
	struct tacho_kmem_pages *row = page_row(k, &k->blocks, &key, &live.block);

	if (!row)
		return -ENOMEM;
	row->pfn = block;
	row->caller = caller->caller;
	row->caller_address = caller->caller_address;
	row->n_allocs++;
	row->bytes_alloc += bytes;
	key.who = caller->caller ? caller->caller : caller->caller_address;
	row = page_row(k, &k->page_callers, &key, &live.caller);
	if (!row)
		return -ENOMEM;
	row->caller = caller->caller;
	row->caller_address = caller->caller_address;
	row->n_allocs++;
	row->bytes_alloc += bytes;
	return remember_pages(k, block, &live);
}

/* Older kernels have the address of the page's structure in place of its number. */
static uint64_t block_of(const struct kernel_sample *s)
{
	return kernel_number(s, kernel_has(s, PAGE_PFN) ? PAGE_PFN : PAGE_PAGE);
}

static int handle_page_alloc(void *view, const struct kernel_sample *s)
{
	struct tacho_kmem *k = view;
	uint64_t block = block_of(s), bytes = page_bytes(k, kernel_number(s, PAGE_ORDER));
	struct tacho_kmem_pages caller = { .order = (uint32_t)kernel_number(s, PAGE_ORDER), .gfp_flags = kernel_number(s, PAGE_GFP),
					   .type = (uint32_t)kernel_number(s, PAGE_TYPE) };

	if (!k->opts.pages || !is_in_time(k, s))
		return 0;
	k->totals.n_page_allocs++;
	k->totals.page_bytes_alloc += bytes;
	if (kernel_has(s, PAGE_PFN) ? block == UINT64_MAX : !block) {
		k->totals.n_page_fails++;
		k->totals.page_bytes_failed += bytes;
		return 0;
	}
	count_by_order(k, caller.order, caller.type, 1);
	if (name_gfp(k, s, caller.gfp_flags) < 0 || find_caller(k, s, &caller) < 0)
		return -ENOMEM;
	return add_pages(k, block, &caller, bytes);
}

static int handle_page_free(void *view, const struct kernel_sample *s)
{
	struct tacho_kmem *k = view;
	uint64_t bytes = page_bytes(k, kernel_number(s, PAGE_ORDER));
	struct live_pages *pages;
	uint32_t i;

	if (!k->opts.pages || !is_in_time(k, s))
		return 0;
	k->totals.n_page_frees++;
	k->totals.page_bytes_freed += bytes;
	if (!int_map_get(&k->pages, block_of(s), &i) || !k->live.v[i].is_live) {
		k->totals.n_page_unknown++;
		k->totals.page_bytes_unknown += bytes;
		return 0;
	}
	pages = &k->live.v[i];
	pages->is_live = false;
	k->blocks.list.v[pages->block].n_frees++;
	k->blocks.list.v[pages->block].bytes_free += bytes;
	k->page_callers.list.v[pages->caller].n_frees++;
	k->page_callers.list.v[pages->caller].bytes_free += bytes;
	if (k->opts.live)
		count_by_order(k, pages->order, pages->type, -1);
	return 0;
}

/* ---- the recording ---- */

#define ALLOC_FIELDS { "call_site", "ptr", "bytes_req", "bytes_alloc", "?node" }
static const struct kernel_handler handlers[] = {
	{ "kmem:kmalloc", handle_alloc, ALLOC_FIELDS },
	{ "kmem:kmalloc_node", handle_alloc, ALLOC_FIELDS },
	{ "kmem:kmem_cache_alloc", handle_alloc, ALLOC_FIELDS },
	{ "kmem:kmem_cache_alloc_node", handle_alloc, ALLOC_FIELDS },
	{ "kmem:kfree", handle_free, { "ptr" } },
	{ "kmem:kmem_cache_free", handle_free, { "ptr" } },
	{ "kmem:mm_page_alloc", handle_page_alloc, { "?pfn", "?page", "order", "gfp_flags", "migratetype" } },
	{ "kmem:mm_page_free", handle_page_free, { "?pfn", "?page", "order" } },
};
static const struct kernel_view view = { .handlers = handlers, .n_handlers = countof(handlers) };

/* Which node a CPU belongs to, by the recording's header. */
static int read_nodes(struct tacho_kmem *k)
{
	struct tacho_feature_list list;
	struct tacho_numa_node node;

	if (tacho_perfdata_list(k->pass.pd, TACHO_FEATURE_NUMA_TOPOLOGY, &list) < 0)
		return 0;
	k->node_of_cpu = malloc(CPUS_MAX * sizeof(*k->node_of_cpu));
	if (!k->node_of_cpu)
		return -ENOMEM;
	memset(k->node_of_cpu, 0xff, CPUS_MAX * sizeof(*k->node_of_cpu));
	while (tacho_numa_node_next(&list, &node) > 0) {
		scoped(cpuset_done) struct cpuset cpus = { 0 };

		if (node.node >= UINT16_MAX || cpuset_parse(&cpus, str_n(node.cpus.s, node.cpus.n)) < 0)
			continue;
		for (int cpu = cpuset_next(&cpus, -1); cpu >= 0 && cpu < (int)CPUS_MAX; cpu = cpuset_next(&cpus, cpu))
			k->node_of_cpu[cpu] = (uint16_t)node.node;
	}
	return 0;
}

/* In the header of the formats: magic (3), "tracing" (7), version (4), byte order, size of a long, u32 page size. */
static uint64_t read_page_size(struct tacho_perfdata *pd)
{
	enum { BYTE_ORDER_AT = 14, PAGE_SIZE_AT = 16, HEADER_BYTES = 20 };
	size_t n = 0;
	const uint8_t *at = tacho_perfdata_feature(pd, TACHO_FEATURE_TRACING_DATA, &n);
	uint32_t size = 0;

	if (at && n >= HEADER_BYTES)
		size = load_u32(at + PAGE_SIZE_AT, at[BYTE_ORDER_AT] != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	return size >= 4096 && size <= 1u << 20 ? size : 4096;
}

int tacho_kmem_new(struct tacho_kmem **out, struct tacho_perfdata *pd, const struct tacho_kmem_opts *opts,
		   struct tacho_error *e)
{
	struct tacho_kmem *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return error_nomem(e);
	err = opts_copy(&k->opts, sizeof(k->opts), opts, e);
	if (err < 0) {
		free(k);
		return err;
	}
	k->opts.slab |= !k->opts.pages;
	k->totals.size = sizeof(k->totals);
	k->totals.page_size = read_page_size(pd);
	if (kernel_pass_init(&k->pass, pd, &view, k) < 0 || read_nodes(k) < 0) {
		tacho_kmem_free(k);
		return error_nomem(e);
	}
	k->pass.symbols = k->opts.symbols;
	err = kernel_pass_run(&k->pass, e);
	k->totals.pass = k->pass.totals;
	if (err == -ENOMEM || err == -ENOENT) {
		tacho_kmem_free(k);
		return err;
	}
	*out = k;
	return err;
}

static void free_slab_rows(struct slab_rows *rows)
{
	int_map_done(&rows->by_address);
	vec_done(&rows->list);
}

static void free_page_rows(struct page_rows *rows)
{
	map_done(&rows->by_key);
	vec_done(&rows->list);
}

void tacho_kmem_free(struct tacho_kmem *k)
{
	if (!k)
		return;
	free_slab_rows(&k->objects);
	free_slab_rows(&k->callers);
	vec_done(&k->states);
	free_page_rows(&k->blocks);
	free_page_rows(&k->page_callers);
	int_map_done(&k->pages);
	int_map_done(&k->allocators);
	vec_done(&k->live);
	vec_done(&k->gfp);
	int_map_done(&k->gfp_index);
	free(k->node_of_cpu);
	arena_done(&k->arena);
	kernel_pass_done(&k->pass);
	free(k);
}

const struct tacho_kmem_totals *tacho_kmem_totals(const struct tacho_kmem *k)
{
	return &k->totals;
}

const struct tacho_kmem_slab *tacho_kmem_slab_callers(const struct tacho_kmem *k, size_t *n)
{
	*n = k->callers.list.n;
	return k->callers.list.v;
}

const struct tacho_kmem_slab *tacho_kmem_slab_objects(const struct tacho_kmem *k, size_t *n)
{
	*n = k->objects.list.n;
	return k->objects.list.v;
}

const struct tacho_kmem_pages *tacho_kmem_page_callers(const struct tacho_kmem *k, size_t *n)
{
	*n = k->page_callers.list.n;
	return k->page_callers.list.v;
}

const struct tacho_kmem_pages *tacho_kmem_page_blocks(const struct tacho_kmem *k, size_t *n)
{
	*n = k->blocks.list.n;
	return k->blocks.list.v;
}

const char *tacho_kmem_gfp_name(const struct tacho_kmem *k, uint64_t gfp_flags)
{
	uint32_t i;

	return int_map_get(&k->gfp_index, gfp_flags, &i) ? k->gfp.v[i] : NULL;
}
