/*
 * `kmem stat --json`.
 */
#include "cli/kmem/kmem.h"

#include "base/json.h"

#include <inttypes.h>

static void put_text(struct json *j, const char *key, struct buf *text)
{
	json_key(j, key);
	if (buf_failed(text))
		j->out->bad = true;
	json_strn(j, buf_view(text));
	buf_done(text);
}

static void put_address(struct json *j, const char *key, uint64_t address)
{
	struct buf text = { 0 };

	buf_printf(&text, "%#" PRIx64, address);
	put_text(j, key, &text);
}

static void put_slab_row(struct json *j, const struct kmem_report *r, enum kmem_table table, const struct tacho_kmem_slab *s)
{
	struct buf text = { 0 };

	json_begin(j, '{');
	if (table == KMEM_CALLERS) {
		kmem_put_caller(&text, r, s->address);
		put_text(j, "callsite", &text);
	}
	put_address(j, "address", s->address);
	json_member(j, "count", u64, s->n_allocs);
	json_member(j, "bytes_requested", u64, s->bytes_req);
	json_member(j, "bytes_allocated", u64, s->bytes_alloc);
	json_member(j, "ping_pong", u64, s->ping_pong);
	json_end(j);
}

static void put_type(struct json *j, uint32_t type)
{
	json_key(j, "migrate_type");
	if (type < TACHO_KMEM_TYPES)
		json_str(j, kmem_types[type]);
	else
		json_u64(j, type);
}

static void put_page_row(struct json *j, const struct kmem_report *r, enum kmem_table table, const struct tacho_kmem_pages *p)
{
	struct buf text = { 0 };

	json_begin(j, '{');
	if (table == KMEM_OBJECTS)
		json_member(j, "pfn", u64, p->pfn);
	json_key(j, "callsite");
	if (p->caller_address) {
		kmem_put_page_caller(&text, r, p);
		json_strn(j, buf_view(&text));
		buf_done(&text);
	} else {
		json_null(j);
	}
	json_member(j, "order", u64, p->order);
	put_type(j, p->type);
	json_member(j, "gfp_flags", str, tacho_kmem_gfp_name(r->k, p->gfp_flags));
	json_member(j, "allocated", u64, p->n_allocs);
	json_member(j, "freed", u64, p->n_frees);
	json_member(j, "bytes_allocated", u64, p->bytes_alloc);
	json_member(j, "bytes_freed", u64, p->bytes_free);
	json_end(j);
}

static void put_slab(struct json *j, const struct kmem_report *r)
{
	static const char *const names[] = { "callsites", "objects" };
	const struct tacho_kmem_totals *t = r->totals;

	json_key(j, "slab");
	json_begin(j, '{');
	json_member(j, "count", u64, t->n_allocs);
	json_member(j, "cross_node", u64, t->n_cross_allocs);
	json_member(j, "bytes_requested", u64, t->bytes_req);
	json_member(j, "bytes_allocated", u64, t->bytes_alloc);
	json_member(j, "bytes_freed", u64, t->bytes_freed);
	for (enum kmem_table table = KMEM_CALLERS; table <= KMEM_OBJECTS; table++) {
		uint32_t lines = r->o->tables[table].lines;

		if (!r->o->tables[table].is_shown)
			continue;
		json_key(j, names[table]);
		json_begin(j, '[');
		for (size_t i = 0; i < r->n_slab[table] && (!lines || i < lines); i++)
			put_slab_row(j, r, table, &r->slab[table][i]);
		json_end(j);
	}
	json_end(j);
}

static void put_orders(struct json *j, const struct tacho_kmem_totals *t)
{
	json_key(j, "by_order");
	json_begin(j, '[');
	for (size_t order = 0; order < TACHO_KMEM_ORDERS; order++) {
		json_begin(j, '{');
		json_member(j, "order", u64, order);
		for (size_t type = 0; type < TACHO_KMEM_TYPES; type++)
			json_member(j, kmem_types[type], u64, t->by_order[order][type]);
		json_end(j);
	}
	json_end(j);
}

static void put_pages(struct json *j, const struct kmem_report *r)
{
	static const char *const names[] = { "callsites", "blocks" };
	const struct tacho_kmem_totals *t = r->totals;

	json_key(j, "pages");
	json_begin(j, '{');
	json_member(j, "allocated", u64, t->n_page_allocs);
	json_member(j, "bytes_allocated", u64, t->page_bytes_alloc);
	json_member(j, "freed", u64, t->n_page_frees);
	json_member(j, "bytes_freed", u64, t->page_bytes_freed);
	json_member(j, "freed_unknown", u64, t->n_page_unknown);
	json_member(j, "bytes_freed_unknown", u64, t->page_bytes_unknown);
	json_member(j, "failed", u64, t->n_page_fails);
	json_member(j, "bytes_failed", u64, t->page_bytes_failed);
	put_orders(j, t);
	for (enum kmem_table table = KMEM_CALLERS; table <= KMEM_OBJECTS; table++) {
		uint32_t lines = r->o->tables[table].lines;

		if (!r->o->tables[table].is_shown)
			continue;
		json_key(j, names[table]);
		json_begin(j, '[');
		for (size_t i = 0; i < r->n_pages[table] && (!lines || i < lines); i++)
			put_page_row(j, r, table, &r->pages[table][i]);
		json_end(j);
	}
	json_end(j);
}

void kmem_put_json(const struct kmem_report *r, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.kmem/1");
	json_member(&j, "lost", u64, r->totals->pass.lost);
	json_member(&j, "live", bool, r->o->live);
	if (r->o->slab)
		put_slab(&j, r);
	if (r->o->pages)
		put_pages(&j, r);
	json_end(&j);
	buf_putc(out, '\n');
}
