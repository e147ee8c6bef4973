/*
 * The tables of `kmem stat` as text, in perf's layout.
 */
#include "cli/kmem/kmem.h"

#include <inttypes.h>

#define RULE_WIDTH 105
#define LINES_OF(r, table, n) ((r)->o->tables[table].lines ? min_of((size_t)(r)->o->tables[table].lines, n) : (n))

/* The kernel's migrate types since Linux 4.4. */
const char *const kmem_types[TACHO_KMEM_TYPES] = { "UNMOVABL", "MOVABLE", "RECLAIM", "HIGHATOM", "CMA", "ISOLATE" };

static void put_rule(struct buf *out)
{
	buf_pad(out, '-', RULE_WIDTH);
	buf_putc(out, '\n');
}

void kmem_put_caller(struct buf *out, const struct kmem_report *r, uint64_t address)
{
	kernel_put_function(out, r->o->raw_ip ? NULL : r->symbols, address, true);
}

void kmem_put_page_caller(struct buf *out, const struct kmem_report *r, const struct tacho_kmem_pages *p)
{
	if (p->caller && !r->o->raw_ip)
		buf_text(out, str_of(tacho_symbols_name(r->symbols, p->caller)));
	else if (p->caller_address)
		buf_printf(out, "%" PRIx64, p->caller_address);
	else
		buf_puts(out, "[unknown]");
}

static void put_slab_row(const struct kmem_report *r, enum kmem_table table, const struct tacho_kmem_slab *s, struct buf *out)
{
	size_t start;

	buf_putc(out, ' ');
	start = out->n;
	if (table == KMEM_CALLERS)
		kmem_put_caller(out, r, s->address);
	else
		buf_printf(out, "%#" PRIx64, s->address);
	str_make_printable(out->bytes ? out->bytes + start : NULL, out->n - start);
	buf_pad(out, ' ', out->n - start < 34 ? 34 - (out->n - start) : 0);
	buf_printf(out, " | %9" PRIu64 "/%-5" PRIu64 " | %9" PRIu64 "/%-5" PRIu64 " | %8" PRIu64 " | %9" PRIu64 " | %6.3f%%\n",
		   s->bytes_alloc, s->bytes_alloc / s->n_allocs, s->bytes_req, s->bytes_req / s->n_allocs, s->n_allocs, s->ping_pong,
		   kmem_fragmentation(s->bytes_req, s->bytes_alloc));
}

static void put_slab_table(const struct kmem_report *r, enum kmem_table table, struct buf *out)
{
	size_t n = LINES_OF(r, table, r->n_slab[table]);

	put_rule(out);
	buf_printf(out, " %-34s | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n",
		   table == KMEM_CALLERS ? "Callsite" : "Alloc Ptr");
	put_rule(out);
	for (size_t i = 0; i < n; i++)
		put_slab_row(r, table, &r->slab[table][i], out);
	if (n < r->n_slab[table])
		buf_puts(out, " ...                                | ...             | ...             | ...      | ...       | ...   \n");
	put_rule(out);
}

static size_t gfp_width(const struct kmem_report *r, enum kmem_table table)
{
	size_t width = strlen("GFP flags");

	for (size_t i = 0; i < r->n_pages[table]; i++) {
		struct buf text = { 0 };
		uint64_t flags = r->pages[table][i].gfp_flags;

		kmem_put_gfp(&text, tacho_kmem_gfp_name(r->k, flags), flags);
		width = max_of(width, text.n);
		buf_done(&text);
	}
	return width;
}

static void put_page_row(const struct kmem_report *r, enum kmem_table table, const struct tacho_kmem_pages *p, size_t width,
			 struct buf *out)
{
	size_t start;

	if (table == KMEM_OBJECTS)
		buf_printf(out, " %16" PRIu64 " |", p->pfn);
	buf_printf(out, " %16" PRIu64 " | %9" PRIu64 " | %5" PRIu32 " | ", kmem_page_bytes(r->o, p) / 1024, kmem_page_hits(r->o, p),
		   p->order);
	if (p->type < TACHO_KMEM_TYPES)
		buf_printf(out, "%8s | ", kmem_types[p->type]);
	else
		buf_printf(out, "%8" PRIu32 " | ", p->type);
	start = out->n;
	kmem_put_gfp(out, tacho_kmem_gfp_name(r->k, p->gfp_flags), p->gfp_flags);
	buf_pad(out, ' ', out->n - start < width ? width - (out->n - start) : 0);
	buf_puts(out, " | ");
	kmem_put_page_caller(out, r, p);
	buf_putc(out, '\n');
}

static void put_page_table(const struct kmem_report *r, enum kmem_table table, struct buf *out)
{
	size_t n = LINES_OF(r, table, r->n_pages[table]), width = gfp_width(r, table);
	const char *head = table == KMEM_CALLERS ? "" : " PFN              |";

	put_rule(out);
	buf_printf(out, "%s %5s alloc (KB) | Hits      | Order | Mig.type | %-*s | Callsite\n", head, r->o->live ? "Live" : "Total",
		   (int)width, "GFP flags");
	put_rule(out);
	for (size_t i = 0; i < n; i++)
		put_page_row(r, table, &r->pages[table][i], width, out);
	if (n < r->n_pages[table])
		buf_printf(out, "%s ...              | ...       | ...   | ...      | %-*s | ...\n",
			   table == KMEM_CALLERS ? "" : " ...              |", (int)width, "...");
	put_rule(out);
}

static int by_flags(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* All flags of the rows, each once, by number. The caller frees them. */
static uint64_t *list_flags(const struct kmem_report *r, size_t *n)
{
	const enum kmem_table table = r->o->tables[KMEM_CALLERS].is_shown ? KMEM_CALLERS : KMEM_OBJECTS;
	uint64_t *flags = calloc(max_of(r->n_pages[table], (size_t)1), sizeof(*flags));
	size_t kept = 0;

	for (size_t i = 0; flags && i < r->n_pages[table]; i++)
		flags[i] = r->pages[table][i].gfp_flags;
	if (flags && r->n_pages[table])
		qsort(flags, r->n_pages[table], sizeof(*flags), by_flags);
	for (size_t i = 0; flags && i < r->n_pages[table]; i++)
		if (!i || flags[i] != flags[i - 1])
			flags[kept++] = flags[i];
	*n = kept;
	return flags;
}

static void put_flags(const struct kmem_report *r, struct buf *out)
{
	size_t n, width = 0;
	uint64_t *flags = list_flags(r, &n);

	if (!flags) {
		out->bad = true;
		return;
	}
	buf_puts(out, "#\n# GFP flags\n# ---------\n");
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			const char *name = tacho_kmem_gfp_name(r->k, flags[i]);
			struct buf text = { 0 };

			kmem_put_gfp(&text, name, flags[i]);
			if (pass) {
				buf_printf(out, "# %08" PRIx64 ": ", flags[i]);
				buf_right(out, buf_view(&text), width);
				buf_printf(out, ": %s\n", name ? name : "");
			}
			width = max_of(width, text.n);
			buf_done(&text);
		}
	buf_putc(out, '\n');
	free(flags);
}

static void put_slab_summary(const struct tacho_kmem_totals *t, struct buf *out)
{
	buf_puts(out, "\nSUMMARY (SLAB allocator)\n========================\n");
	buf_printf(out, "Total bytes requested: %" PRIu64 "\n", t->bytes_req);
	buf_printf(out, "Total bytes allocated: %" PRIu64 "\n", t->bytes_alloc);
	buf_printf(out, "Total bytes freed:     %" PRIu64 "\n", t->bytes_freed);
	buf_printf(out, "Net total bytes allocated: %" PRId64 "\n", (int64_t)(t->bytes_alloc - t->bytes_freed));
	buf_printf(out, "Total bytes wasted on internal fragmentation: %" PRIu64 "\n", t->bytes_alloc - t->bytes_req);
	buf_printf(out, "Internal fragmentation: %f%%\n", kmem_fragmentation(t->bytes_req, t->bytes_alloc));
	buf_printf(out, "Cross CPU allocations: %" PRIu64 "/%" PRIu64 "\n", t->n_cross_allocs, t->n_allocs);
}

static void put_requests(const char *name, uint64_t n, uint64_t bytes, struct buf *out)
{
	buf_printf(out, "%-30s: %16" PRIu64 "   [ %16" PRIu64 " KB ]\n", name, n, bytes / 1024);
}

static void put_orders(const struct tacho_kmem_totals *t, struct buf *out)
{
	buf_puts(out, "Order     Unmovable       Movable   Reclaimable    HighAtomic  CMA/Isolated\n"
		      "-----  ------------  ------------  ------------  ------------  ------------\n");
	for (size_t order = 0; order < TACHO_KMEM_ORDERS; order++) {
		buf_printf(out, "%5zu", order);
		for (size_t type = 0; type < TACHO_KMEM_TYPES - 1; type++) {
			uint64_t n = t->by_order[order][type] + (type == 4 ? t->by_order[order][5] : 0);

			if (n)
				buf_printf(out, "  %12" PRIu64, n);
			else
				buf_printf(out, "  %12c", '.');
		}
		buf_putc(out, '\n');
	}
}

static void put_page_summary(const struct tacho_kmem_totals *t, struct buf *out)
{
	uint64_t n_both = t->n_page_frees - t->n_page_unknown, bytes_both = t->page_bytes_freed - t->page_bytes_unknown;

	buf_puts(out, "\nSUMMARY (page allocator)\n========================\n");
	put_requests("Total allocation requests", t->n_page_allocs, t->page_bytes_alloc, out);
	put_requests("Total free requests", t->n_page_frees, t->page_bytes_freed, out);
	buf_putc(out, '\n');
	put_requests("Total alloc+freed requests", n_both, bytes_both, out);
	put_requests("Total alloc-only requests", t->n_page_allocs - n_both, t->page_bytes_alloc - bytes_both, out);
	put_requests("Total free-only requests", t->n_page_unknown, t->page_bytes_unknown, out);
	buf_putc(out, '\n');
	put_requests("Total allocation failures", t->n_page_fails, t->page_bytes_failed, out);
	buf_putc(out, '\n');
	put_orders(t, out);
}

void kmem_put_text(const struct kmem_report *r, struct buf *out)
{
	const struct kmem_table_opts *t = r->o->tables;

	for (enum kmem_table table = KMEM_CALLERS; r->o->slab && table <= KMEM_OBJECTS; table++)
		if (t[table].is_shown)
			put_slab_table(r, table, out);
	if (r->o->slab)
		put_slab_summary(r->totals, out);
	if (r->o->pages && (t[KMEM_CALLERS].is_shown || t[KMEM_OBJECTS].is_shown))
		put_flags(r, out);
	for (enum kmem_table table = KMEM_CALLERS; r->o->pages && table <= KMEM_OBJECTS; table++)
		if (t[table].is_shown)
			put_page_table(r, table, out);
	if (r->o->pages)
		put_page_summary(r->totals, out);
}
