/*
 * Sort keys of the tables. The larger one comes first, as in perf; equal rows are in the order of addresses.
 */
#include "cli/kmem/kmem.h"

#include <errno.h>

#include "base/error.h"

#define KEYS_MAX 8
#define SLAB_DEFAULT "frag,hit,bytes"
#define PAGE_DEFAULT "bytes,hit"

double kmem_fragmentation(uint64_t bytes_req, uint64_t bytes_alloc)
{
	return bytes_alloc ? 100 - 100 * ((double)bytes_req / (double)bytes_alloc) : 0;
}

uint64_t kmem_page_bytes(const struct kmem_opts *o, const struct tacho_kmem_pages *p)
{
	return p->bytes_alloc - (o->live ? min_of(p->bytes_free, p->bytes_alloc) : 0);
}

uint64_t kmem_page_hits(const struct kmem_opts *o, const struct tacho_kmem_pages *p)
{
	return p->n_allocs - (o->live ? min_of(p->n_frees, p->n_allocs) : 0);
}

static int larger_first(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

struct slab_key {
	const char *name;
	int (*compare)(const struct tacho_kmem_slab *a, const struct tacho_kmem_slab *b);
};

static int by_address(const struct tacho_kmem_slab *a, const struct tacho_kmem_slab *b)
{
	return larger_first(a->address, b->address);
}

static int by_slab_bytes(const struct tacho_kmem_slab *a, const struct tacho_kmem_slab *b)
{
	return larger_first(a->bytes_alloc, b->bytes_alloc);
}

static int by_slab_hits(const struct tacho_kmem_slab *a, const struct tacho_kmem_slab *b)
{
	return larger_first(a->n_allocs, b->n_allocs);
}

static int by_ping_pong(const struct tacho_kmem_slab *a, const struct tacho_kmem_slab *b)
{
	return larger_first(a->ping_pong, b->ping_pong);
}

static int by_fragmentation(const struct tacho_kmem_slab *a, const struct tacho_kmem_slab *b)
{
	double x = kmem_fragmentation(a->bytes_req, a->bytes_alloc), y = kmem_fragmentation(b->bytes_req, b->bytes_alloc);

	return x > y ? -1 : x < y;
}

static const struct slab_key slab_keys[] = {
	{ "ptr", by_address }, { "callsite", by_address }, { "bytes", by_slab_bytes }, { "hit", by_slab_hits },
	{ "pingpong", by_ping_pong }, { "frag", by_fragmentation },
};

struct page_sort_key {
	const char *name;
	uint64_t (*value)(const struct kmem_opts *o, const struct tacho_kmem_pages *p);
};

static uint64_t page_block(const struct kmem_opts *o, const struct tacho_kmem_pages *p)
{
	(void)o;
	return p->pfn;
}

static uint64_t page_caller(const struct kmem_opts *o, const struct tacho_kmem_pages *p)
{
	(void)o;
	return p->caller_address;
}

static uint64_t page_order(const struct kmem_opts *o, const struct tacho_kmem_pages *p)
{
	(void)o;
	return p->order;
}

static uint64_t page_type(const struct kmem_opts *o, const struct tacho_kmem_pages *p)
{
	(void)o;
	return p->type;
}

static uint64_t page_gfp(const struct kmem_opts *o, const struct tacho_kmem_pages *p)
{
	(void)o;
	return p->gfp_flags;
}

static const struct page_sort_key page_keys[] = {
	{ "page", page_block }, { "callsite", page_caller }, { "bytes", kmem_page_bytes }, { "hit", kmem_page_hits },
	{ "order", page_order }, { "migtype", page_type }, { "gfp", page_gfp },
};

static const struct slab_key *find_slab_key(struct str name)
{
	for (size_t i = 0; i < countof(slab_keys); i++)
		if (str_is(name, slab_keys[i].name))
			return &slab_keys[i];
	return NULL;
}

static const struct page_sort_key *find_page_key(struct str name)
{
	for (size_t i = 0; i < countof(page_keys); i++)
		if (str_is(name, page_keys[i].name))
			return &page_keys[i];
	return NULL;
}

int kmem_check_keys(const char *keys, bool of_pages, struct tacho_error *e)
{
	struct str rest = str_of(keys), one;
	size_t n = 0;

	while (str_cut(&rest, ',', &one)) {
		if (++n <= KEYS_MAX && (of_pages ? (const void *)find_page_key(one) : (const void *)find_slab_key(one)))
			continue;
		error_set(e, -EINVAL, "'%.*s' is not a sort key of %s", STR(one), of_pages ? "pages" : "the slab allocator");
		error_at(e, (size_t)(one.s - keys), one.n);
		error_hint(e, "use %s", of_pages ? "page, callsite, bytes, hit, order, migtype, gfp; for slab give --slab before -s" :
			   "ptr, callsite, bytes, hit, pingpong, frag; for pages give --page before -s");
		return -EINVAL;
	}
	return 0;
}

struct kmem_sorting {
	const struct kmem_opts *o;
	const struct slab_key *slab[KEYS_MAX];
	const struct page_sort_key *page[KEYS_MAX];
	size_t n;
};

static int compare_slab(const void *a, const void *b, void *arg)
{
	const struct tacho_kmem_slab *x = a, *y = b;
	const struct kmem_sorting *sorting = arg;
	int order = 0;

	for (size_t i = 0; order == 0 && i < sorting->n; i++)
		order = sorting->slab[i]->compare(x, y);
	return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

static int compare_pages(const void *a, const void *b, void *arg)
{
	const struct tacho_kmem_pages *x = a, *y = b;
	const struct kmem_sorting *sorting = arg;
	int order = 0;

	for (size_t i = 0; order == 0 && i < sorting->n; i++)
		order = larger_first(sorting->page[i]->value(sorting->o, x), sorting->page[i]->value(sorting->o, y));
	for (size_t i = 0; order == 0 && i < countof(page_keys); i++)
		order = larger_first(page_keys[i].value(sorting->o, y), page_keys[i].value(sorting->o, x));
	return order;
}

static struct kmem_sorting keys_of(const struct kmem_opts *o, const char *keys, bool of_pages)
{
	struct kmem_sorting sorting = { .o = o };
	struct str rest = str_of(keys), one;

	for (; sorting.n < KEYS_MAX && str_cut(&rest, ',', &one); sorting.n++) {
		sorting.slab[sorting.n] = of_pages ? NULL : find_slab_key(one);
		sorting.page[sorting.n] = of_pages ? find_page_key(one) : NULL;
	}
	return sorting;
}

static void *copy_rows(const void *rows, size_t n, size_t size)
{
	void *copy = malloc(max_of(n * size, (size_t)1));

	if (copy && n)
		memcpy(copy, rows, n * size);
	return copy;
}

static int sort_slab(struct kmem_report *r, enum kmem_table table)
{
	const struct kmem_table_opts *t = &r->o->tables[table];
	struct kmem_sorting sorting;
	size_t n;
	const struct tacho_kmem_slab *rows = table == KMEM_CALLERS ? tacho_kmem_slab_callers(r->k, &n) : tacho_kmem_slab_objects(r->k, &n);

	r->slab[table] = copy_rows(rows, n, sizeof(*rows));
	if (!r->slab[table])
		return -ENOMEM;
	r->n_slab[table] = n;
	sorting = keys_of(r->o, t->slab_sort ? t->slab_sort : SLAB_DEFAULT, false);
	qsort_r(r->slab[table], n, sizeof(*rows), compare_slab, &sorting);
	return 0;
}

static int sort_pages(struct kmem_report *r, enum kmem_table table)
{
	const struct kmem_table_opts *t = &r->o->tables[table];
	struct kmem_sorting sorting;
	size_t n, kept = 0;
	const struct tacho_kmem_pages *rows = table == KMEM_CALLERS ? tacho_kmem_page_callers(r->k, &n) : tacho_kmem_page_blocks(r->k, &n);

	r->pages[table] = copy_rows(rows, n, sizeof(*rows));
	if (!r->pages[table])
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (kmem_page_hits(r->o, &r->pages[table][i]))
			r->pages[table][kept++] = r->pages[table][i];
	r->n_pages[table] = kept;
	sorting = keys_of(r->o, t->page_sort ? t->page_sort : PAGE_DEFAULT, true);
	qsort_r(r->pages[table], kept, sizeof(*rows), compare_pages, &sorting);
	return 0;
}

int kmem_sort(struct kmem_report *r)
{
	int err = 0;

	for (enum kmem_table table = KMEM_CALLERS; err == 0 && table <= KMEM_OBJECTS; table++) {
		if (!r->o->tables[table].is_shown)
			continue;
		if (r->o->slab)
			err = sort_slab(r, table);
		if (err == 0 && r->o->pages)
			err = sort_pages(r, table);
	}
	return err;
}

void kmem_sort_done(struct kmem_report *r)
{
	for (size_t i = 0; i < countof(r->slab); i++) {
		free(r->slab[i]);
		free(r->pages[i]);
	}
}
