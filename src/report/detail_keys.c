/*
 * Keys that look at what a sample carries besides its thread and stack: weights, accesses to memory,
 * transactions, branches, tracepoints. Each has a value by which rows are told apart, a text, and an
 * order; most of the orders are perf's, where large values stand first.
 */
#include "report/detail_keys.h"

#include <inttypes.h>

#include "report/mem_text.h"

#define LINE_BYTES 64u			/* of a cache */

enum { BRANCH_MISPREDICTED = 1, BRANCH_PREDICTED = 2, BRANCH_IN_TX = 4, BRANCH_ABORT = 8 };

typedef const struct tacho_profile_detail detail;

static uint64_t branch_cycles(detail *d)
{
	return d->branch >> 4 & 0xffff;
}

static const struct tacho_profile_frame *frame_of(const struct hist *h,
						  const struct tacho_profile_place *p)
{
	return p->frame ? tacho_profile_frame(h->profile, p->frame - 1) : NULL;
}

static const struct tacho_profile_place *place_of(detail *d, enum hist_column key)
{
	switch (key) {
	case COL_DSO_FROM:
	case COL_SYMBOL_FROM:
	case COL_SRCLINE_FROM:
	case COL_ADDR_FROM:
		return &d->from;
	case COL_DSO_TO:
	case COL_SYMBOL_TO:
	case COL_SRCLINE_TO:
	case COL_ADDR_TO:
		return &d->to;
	case COL_SYMBOL_DADDR:
	case COL_DSO_DADDR:
	case COL_DCACHELINE:
		return &d->data;
	default:
		return &d->ip;
	}
}

/* ---- values ---- */

/* Equal names of objects are one; a symbol is its frame's, and what has none its address. */
static uint64_t place_value(const struct hist *h, detail *d, enum hist_column key)
{
	const struct tacho_profile_place *p = place_of(d, key);
	const struct tacho_profile_frame *f = frame_of(h, p);

	switch (key) {
	case COL_DSO_FROM:
	case COL_DSO_TO:
	case COL_DSO_DADDR:
		return f ? h->first_object[f->code->object] + 1u : 0;
	case COL_SYMBOL_FROM:
	case COL_SYMBOL_TO:
		return f && f->known ? hist_chain_frame(h, p->frame - 1) : p->address | 1ull << 63;
	case COL_SRCLINE_FROM:
	case COL_SRCLINE_TO:
		return p->frame;
	case COL_DCACHELINE:
		return p->address / LINE_BYTES;
	default:
		return p->address;
	}
}

uint64_t hist_detail_value(const struct hist *h, enum hist_column key, uint32_t id)
{
	detail *d = tacho_profile_detail(h->profile, id);

	if (!d)
		return 0;
	if (key >= COL_FIELD && key < COL_FIELD + TACHO_FIELDS_MAX)
		return d->fields[key - COL_FIELD];
	switch (key) {
	case COL_LOCAL_WEIGHT:
	case COL_WEIGHT:
		return d->weight;
	case COL_LOCAL_INS_LAT:
	case COL_INS_LAT:
		return d->ins_lat;
	case COL_LOCAL_STAGE_CYC:
	case COL_STAGE_CYC:
		return d->stage_cyc;
	case COL_TRANSACTION:
		return d->transaction;
	case COL_CGROUP:
	case COL_CGROUP_ID:
		return d->cgroup;
	case COL_TRACE:
		return d->trace;
	case COL_PARALLELISM:
		return d->parallelism;
	case COL_CODE_PAGE_SIZE:
		return d->code_page_size;
	case COL_DATA_PAGE_SIZE:
		return d->data_page_size;
	case COL_PHYS_DADDR:
		return d->phys_addr;
	case COL_MISPREDICT:
		return d->branch & (BRANCH_MISPREDICTED | BRANCH_PREDICTED);
	case COL_ABORT:
		return d->branch & BRANCH_ABORT;
	case COL_IN_TX:
		return d->branch & BRANCH_IN_TX;
	case COL_CYCLES:
		return branch_cycles(d);
	case COL_LOCKED:
	case COL_TLB:
	case COL_MEM:
	case COL_SNOOP:
	case COL_BLOCKED:
		return mem_part(key, d->data_src);
	default:
		return place_value(h, d, key);
	}
}

/* ---- texts ---- */

static void put_level(const struct tacho_profile_frame *f, struct buf *out)
{
	static const char letters[] = { '.', 'k', '.', 'H', 'g', 'u' };

	buf_printf(out, "[%c] ", f && (size_t)f->space < sizeof(letters) ? letters[f->space] : '.');
}

static void put_address(uint64_t address, struct buf *out)
{
	buf_printf(out, "%#018" PRIx64, address);
}

static void symbol_text(const struct hist *h, const struct tacho_profile_place *p, struct buf *out)
{
	const struct tacho_profile_frame *f = frame_of(h, p);

	put_level(f, out);
	if (f && f->known)
		buf_puts(out, f->code->name);
	else
		put_address(p->address, out);
}

/* A place in data, or of a branch, tells how far behind its symbol it is. */
static void address_text(const struct hist *h, enum hist_column key,
			 const struct tacho_profile_place *p, struct buf *out)
{
	const struct tacho_profile_frame *f = frame_of(h, p);

	symbol_text(h, p, out);
	if (f && f->known && (p->symbol_offset || key == COL_SYMBOL_DADDR))
		buf_printf(out, "+0x%" PRIx64, p->symbol_offset);
}

static void line_text(const struct hist *h, const struct tacho_profile_place *p, struct buf *out)
{
	const struct tacho_profile_frame *f = frame_of(h, p);
	int64_t offset = (int64_t)(p->symbol_offset - p->address % LINE_BYTES);

	buf_printf(out, "[%c] ", f && f->code->object ? '.' : 'X');
	if (!f || !f->known) {
		put_address(p->address / LINE_BYTES * LINE_BYTES, out);
		return;
	}
	buf_puts(out, f->code->name);
	buf_printf(out, "%c0x%" PRIx64, offset < 0 ? '-' : '+', (uint64_t)(offset < 0 ? -offset : offset));
}

static void transaction_text(uint64_t t, struct buf *out)
{
	static const struct { uint64_t bit; const char *word; } words[] = {
		{ 1, "EL " }, { 2, "TX " }, { 4, "SYNC " }, { 8, "ASYNC " }, { 16, "RETRY " },
		{ 32, "CON " }, { 64, "CAP-WRITE " }, { 128, "CAP-READ " },
	};

	for (size_t i = 0; i < countof(words); i++)
		if (t & words[i].bit)
			buf_puts(out, words[i].word);
	if (t && !(t & (4 | 8)))
		buf_puts(out, "NEITHER ");
	if (t >> 32)
		buf_printf(out, ":%" PRIx64, t >> 32);
}

static void size_text(uint64_t size, struct buf *out)
{
	static const char units[] = "BKMGT";
	size_t unit = 0;

	while (size >= 1024 && size % 1024 == 0 && unit + 2 < sizeof(units)) {
		size /= 1024;
		unit++;
	}
	if (size)
		buf_printf(out, "%" PRIu64 "%c", size, units[unit]);
	else
		buf_puts(out, "N/A");
}

static void value_text(const struct hist *h, uint32_t id, struct buf *out)
{
	const struct tacho_profile_value *v = tacho_profile_value(h->profile, id);

	buf_puts(out, v ? v->text : "");
}

static void place_text(const struct hist *h, enum hist_column key, detail *d, struct buf *out)
{
	const struct tacho_profile_place *p = place_of(d, key);
	const struct tacho_profile_frame *f = frame_of(h, p);

	switch (key) {
	case COL_DSO_FROM:
	case COL_DSO_TO:
	case COL_DSO_DADDR:
		buf_puts(out, f ? f->code->object_name : "[unknown]");
		return;
	case COL_SYMBOL_FROM:
	case COL_SYMBOL_TO:
	case COL_SYMBOL_IADDR:
		symbol_text(h, p, out);
		return;
	case COL_SRCLINE_FROM:
	case COL_SRCLINE_TO:
		hist_srcline_text(h, f, out);
		return;
	case COL_DCACHELINE:
		line_text(h, p, out);
		return;
	case COL_ADDR:
		buf_printf(out, "%#" PRIx64, p->address);
		return;
	default:
		address_text(h, key, p, out);
	}
}

static void branch_text(enum hist_column key, detail *d, struct buf *out)
{
	switch (key) {
	case COL_MISPREDICT:
		buf_puts(out, d->branch & BRANCH_PREDICTED ? "N" :
			      d->branch & BRANCH_MISPREDICTED ? "Y" : "N/A");
		return;
	case COL_ABORT:
		buf_puts(out, d->branch & BRANCH_ABORT ? "A" : ".");
		return;
	case COL_IN_TX:
		buf_puts(out, d->branch & BRANCH_IN_TX ? "T" : ".");
		return;
	default:
		if (branch_cycles(d))
			buf_printf(out, "%" PRIu64, branch_cycles(d));
		else
			buf_puts(out, "-");
	}
}

void hist_detail_text(const struct hist *h, enum hist_column key, uint32_t id, uint64_t samples,
		      struct buf *out)
{
	static const struct tacho_profile_detail none;
	detail *d = tacho_profile_detail(h->profile, id);

	d = d ? d : &none;
	if (key >= COL_FIELD && key < COL_FIELD + TACHO_FIELDS_MAX) {
		value_text(h, d->fields[key - COL_FIELD], out);
		return;
	}
	switch (key) {
	case COL_WEIGHT:
	case COL_INS_LAT:
	case COL_STAGE_CYC:		/* of all its samples */
		buf_printf(out, "%" PRIu64, hist_detail_value(h, key, id) * samples);
		return;
	case COL_PARALLELISM:
	case COL_LOCAL_WEIGHT:
	case COL_LOCAL_INS_LAT:
	case COL_LOCAL_STAGE_CYC:
		buf_printf(out, "%" PRIu64, hist_detail_value(h, key, id));
		return;
	case COL_TRANSACTION:
		transaction_text(d->transaction, out);
		return;
	case COL_TRACE:
		if (d->trace)
			value_text(h, d->trace, out);
		else			/* no tracepoint */
			buf_puts(out, "N/A");
		return;
	case COL_CODE_PAGE_SIZE:
	case COL_DATA_PAGE_SIZE:
		size_text(hist_detail_value(h, key, id), out);
		return;
	case COL_PHYS_DADDR:
		put_level(frame_of(h, &d->data), out);
		put_address(d->phys_addr, out);
		return;
	case COL_MISPREDICT:
	case COL_ABORT:
	case COL_IN_TX:
	case COL_CYCLES:
		branch_text(key, d, out);
		return;
	case COL_LOCKED:
	case COL_TLB:
	case COL_MEM:
	case COL_SNOOP:
	case COL_BLOCKED:
		mem_text(key, d->data_src, out);
		return;
	default:
		place_text(h, key, d, out);
	}
}

/* ---- widths ---- */

/* Symbols of data leave room for an offset; what has no symbol for an address. */
static size_t place_width(const struct hist *h, enum hist_column key, detail *d)
{
	const struct tacho_profile_frame *f = d ? frame_of(h, place_of(d, key)) : NULL;
	bool known = f && f->known;

	switch (key) {
	case COL_SYMBOL_DADDR:
	case COL_SYMBOL_IADDR:
		return known ? strlen(f->code->name) + 22 : 22;
	case COL_DCACHELINE:
		return known ? strlen(f->code->name) + 23 : 22;
	case COL_DSO_FROM:
	case COL_DSO_TO:
	case COL_DSO_DADDR:
		return known || (key == COL_DSO_DADDR && f && f->code->object) ? 0 : 16;
	default:
		return 0;
	}
}

/* A string's bytes, or the digits of a number in hex. */
static size_t field_width(const struct hist *h, uint32_t id)
{
	const struct tacho_profile_value *v = tacho_profile_value(h->profile, id);

	return !v ? 0 : v->is_string ? v->size : v->size * 2 + 2;
}

size_t hist_detail_width(const struct hist *h, enum hist_column key, uint32_t id)
{
	detail *d = tacho_profile_detail(h->profile, id);

	if (key >= COL_FIELD && key < COL_FIELD + TACHO_FIELDS_MAX)
		return d ? field_width(h, d->fields[key - COL_FIELD]) : 0;
	switch (key) {
	case COL_LOCAL_WEIGHT:
	case COL_WEIGHT:
	case COL_SNOOP:
		return 12;
	case COL_LOCAL_INS_LAT:
	case COL_INS_LAT:
	case COL_LOCAL_STAGE_CYC:
	case COL_STAGE_CYC:
		return 13;
	case COL_TRANSACTION:
		return d && d->transaction ? 32 : 0;
	case COL_TLB:
	case COL_PHYS_DADDR:
	case COL_DATA_PAGE_SIZE:
		return 22;
	case COL_MEM:
		return 24;
	case COL_BLOCKED:
		return 10;
	case COL_ADDR:
		return 18;
	default:
		return place_width(h, key, d);
	}
}

/* ---- order ---- */

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* As perf has it: the kernel's addresses first. */
static int cmp_address(uint64_t a, uint64_t b)
{
	return cmp_u64(a ^ 1ULL << 63, b ^ 1ULL << 63);
}

static int cmp_bytes(const struct hist *h, uint64_t a, uint64_t b)
{
	const struct tacho_profile_value *va = tacho_profile_value(h->profile, (uint32_t)a);
	const struct tacho_profile_value *vb = tacho_profile_value(h->profile, (uint32_t)b);
	int c;

	if (!va || !vb)
		return !va - !vb;
	c = memcmp(vb->bytes, va->bytes, min_of(va->n_bytes, vb->n_bytes));
	return c ? c : cmp_u64(vb->n_bytes, va->n_bytes);
}

static int cmp_texts(const struct hist *h, uint64_t a, uint64_t b)
{
	const struct tacho_profile_value *va = tacho_profile_value(h->profile, (uint32_t)a);
	const struct tacho_profile_value *vb = tacho_profile_value(h->profile, (uint32_t)b);

	return strcmp(va ? va->text : "", vb ? vb->text : "");
}

static int cmp_symbols(const struct hist *h, const struct tacho_profile_place *a,
		       const struct tacho_profile_place *b)
{
	const struct tacho_profile_frame *fa = frame_of(h, a), *fb = frame_of(h, b);
	bool known_a = fa && fa->known, known_b = fb && fb->known;

	if (known_a != known_b)
		return known_a ? -1 : 1;
	if (!known_a)
		return cmp_u64(a->address, b->address);
	return cmp_u64(fa->address, fb->address);
}

static int cmp_srclines(const struct hist *h, const struct tacho_profile_place *a,
			const struct tacho_profile_place *b)
{
	struct buf ta = { 0 }, tb = { 0 };
	int c;

	hist_srcline_text(h, frame_of(h, a), &ta);
	hist_srcline_text(h, frame_of(h, b), &tb);
	c = strcmp(ta.bytes ? ta.bytes : "", tb.bytes ? tb.bytes : "");
	buf_done(&ta);
	buf_done(&tb);
	return c;
}

static int cmp_places(const struct hist *h, enum hist_column key, detail *a, detail *b)
{
	const struct tacho_profile_place *pa = place_of(a, key), *pb = place_of(b, key);
	const struct tacho_profile_frame *fa = frame_of(h, pa), *fb = frame_of(h, pb);

	switch (key) {
	case COL_DSO_FROM:
	case COL_DSO_TO:
	case COL_DSO_DADDR:
		return strcmp(fb ? fb->code->object_name : "", fa ? fa->code->object_name : "");
	case COL_SYMBOL_FROM:
	case COL_SYMBOL_TO:
		return cmp_symbols(h, pa, pb);
	case COL_SRCLINE_FROM:
	case COL_SRCLINE_TO:
		return cmp_srclines(h, pa, pb);
	default:
		return cmp_address(pa->address, pb->address);
	}
}

int hist_detail_cmp(const struct hist *h, enum hist_column key, uint32_t a, uint32_t b)
{
	static const struct tacho_profile_detail none;
	uint64_t va = hist_detail_value(h, key, a), vb = hist_detail_value(h, key, b);
	detail *da = tacho_profile_detail(h->profile, a), *db = tacho_profile_detail(h->profile, b);

	if (va == vb)
		return 0;
	if (key >= COL_FIELD && key < COL_FIELD + TACHO_FIELDS_MAX)
		return cmp_bytes(h, va, vb);
	switch (key) {
	case COL_TRACE:
		return cmp_texts(h, va, vb);
	case COL_LOCAL_WEIGHT:
	case COL_WEIGHT:
	case COL_LOCAL_INS_LAT:
	case COL_INS_LAT:
	case COL_LOCAL_STAGE_CYC:
	case COL_STAGE_CYC:
	case COL_TRANSACTION:
	case COL_CYCLES:
	case COL_MISPREDICT:
	case COL_ABORT:
	case COL_IN_TX:
	case COL_PARALLELISM:
		return cmp_u64(vb, va);
	case COL_CODE_PAGE_SIZE:
	case COL_DATA_PAGE_SIZE:
	case COL_PHYS_DADDR:
	case COL_LOCKED:
	case COL_TLB:
	case COL_MEM:
	case COL_SNOOP:
	case COL_BLOCKED:
		return cmp_u64(va, vb);
	default:
		return cmp_places(h, key, da ? da : &none, db ? db : &none);
	}
}

/* ---- what to ask the profile for ---- */

uint32_t hist_detail_keep(enum hist_column key)
{
	switch (key) {
	case COL_SYS:
	case COL_US:
	case COL_GUEST_SYS:
	case COL_GUEST_US:
		return TACHO_KEEP_SPACE;
	case COL_LATENCY:
	case COL_LATENCY_CHILDREN:
	case COL_PARALLELISM:
		return TACHO_KEEP_PARALLELISM;
	case COL_LOCAL_WEIGHT:
	case COL_WEIGHT:
	case COL_LOCAL_INS_LAT:
	case COL_INS_LAT:
	case COL_LOCAL_STAGE_CYC:
	case COL_STAGE_CYC:
		return TACHO_KEEP_WEIGHT;
	case COL_TRANSACTION:
		return TACHO_KEEP_TRANSACTION;
	case COL_CGROUP:
	case COL_CGROUP_ID:
		return TACHO_KEEP_CGROUP;
	case COL_TRACE:
		return TACHO_KEEP_TRACE;
	case COL_CODE_PAGE_SIZE:
	case COL_DATA_PAGE_SIZE:
		return TACHO_KEEP_PAGE_SIZE;
	case COL_PHYS_DADDR:
		return TACHO_KEEP_PHYS_ADDR;
	case COL_MISPREDICT:
	case COL_ABORT:
	case COL_IN_TX:
	case COL_CYCLES:
		return TACHO_KEEP_BRANCH;
	case COL_LOCKED:
	case COL_TLB:
	case COL_MEM:
	case COL_SNOOP:
	case COL_BLOCKED:
		return TACHO_KEEP_DATA_SRC;
	case COL_ADDR:
	case COL_SYMBOL_IADDR:
		return TACHO_KEEP_IP;
	case COL_SYMBOL_DADDR:
	case COL_DSO_DADDR:
	case COL_DCACHELINE:
		return TACHO_KEEP_DATA;
	case COL_DSO_FROM:
	case COL_SYMBOL_FROM:
	case COL_SRCLINE_FROM:
	case COL_ADDR_FROM:
		return TACHO_KEEP_FROM;
	case COL_DSO_TO:
	case COL_SYMBOL_TO:
	case COL_SRCLINE_TO:
	case COL_ADDR_TO:
		return TACHO_KEEP_TO;
	default:
		return 0;
	}
}
