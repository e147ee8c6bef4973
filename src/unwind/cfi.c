/*
 * Reads CIEs and FDEs. FDEs are found by walking the section rather than by the table in .eh_frame_hdr, which may
 * be missing and does not exist for .debug_frame.
 */
#include "unwind/cfi.h"

#include "symbol/dwarf_cursor.h"

#include <errno.h>

#define MAX_FDES (1u << 26)
#define MAX_CIES (1u << 20)

/* Pointer encodings (DW_EH_PE_...). */
enum { PE_ABSPTR = 0, PE_ULEB128 = 1, PE_UDATA2 = 2, PE_UDATA4 = 3, PE_UDATA8 = 4, PE_SLEB128 = 9, PE_SDATA2 = 10,
       PE_SDATA4 = 11, PE_SDATA8 = 12, PE_FORMAT = 0x0f, PE_PCREL = 0x10, PE_APPLICATION = 0x70, PE_INDIRECT = 0x80,
       PE_OMIT = 0xff };

static uint64_t sign_extend(uint64_t v, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static uint64_t read_format(struct dwarf_cursor *c, uint8_t encoding, unsigned address_bytes)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
		return dwarf_uint(c, address_bytes);
	case PE_ULEB128:
		return dwarf_uleb(c);
	case PE_SLEB128:
		return (uint64_t)dwarf_sleb(c);
	case PE_UDATA2:
		return dwarf_uint(c, 2);
	case PE_SDATA2:
		return sign_extend(dwarf_uint(c, 2), 2);
	case PE_UDATA4:
		return dwarf_uint(c, 4);
	case PE_SDATA4:
		return sign_extend(dwarf_uint(c, 4), 4);
	case PE_UDATA8:
	case PE_SDATA8:
		return dwarf_uint(c, 8);
	default:
		c->bad = true;
		return 0;
	}
}

/* A pointer that may be relative to its own address; other bases do not occur in FDEs. */
static uint64_t read_pointer(struct dwarf_cursor *c, uint8_t encoding, const struct cfi_section *s,
			     unsigned address_bytes)
{
	uint64_t at = s->addr + (uint64_t)(c->at - s->bytes), v = read_format(c, encoding, address_bytes);

	if ((encoding & PE_APPLICATION) == PE_PCREL)
		v += at;
	else if (encoding & PE_APPLICATION)
		c->bad = true;
	if (encoding & PE_INDIRECT)
		c->bad = true;
	return address_bytes == 4 ? (uint32_t)v : v;
}

/* ---- CIEs ---- */

/* Reads the data of an augmentation string that starts with 'z'. */
static void read_augmentation(struct dwarf_cursor *c, struct str letters, struct cfi_cie *cie,
			      const struct cfi_section *s)
{
	uint64_t n = dwarf_uleb(c);
	const uint8_t *end = n <= dwarf_left(c) ? c->at + n : NULL;

	for (size_t i = 1; i < letters.n && !c->bad; i++) {
		switch (letters.s[i]) {
		case 'R':
			cie->encoding = (uint8_t)dwarf_uint(c, 1);
			break;
		case 'P':
			read_format(c, (uint8_t)dwarf_uint(c, 1), s->address_bytes);
			break;
		case 'L':
			dwarf_uint(c, 1);
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		default:		/* B and G of arm64 have no data; the data of unknown ones is skipped */
			break;
		}
	}
	cie->has_augmentation = true;
	if (!end || c->at > end)
		c->bad = true;
	else
		c->at = end;
}

static bool parse_cie(struct dwarf_cursor *c, const struct cfi_section *s, struct cfi_cie *cie)
{
	uint8_t version = (uint8_t)dwarf_uint(c, 1);
	struct str letters = dwarf_text(c);

	cie->address_bytes = s->address_bytes;
	if (version >= 4) {
		cie->address_bytes = (uint8_t)dwarf_uint(c, 1);
		if (dwarf_uint(c, 1) != 0)	/* segment selectors */
			return false;
	}
	cie->code_align = dwarf_uleb(c);
	cie->data_align = dwarf_sleb(c);
	cie->ra_column = (uint32_t)(version == 1 ? dwarf_uint(c, 1) : dwarf_uleb(c));
	if (letters.n && letters.s[0] == 'z')
		read_augmentation(c, letters, cie, s);
	else if (letters.n)
		return false;
	cie->program = c->at;
	cie->n_program = dwarf_left(c);
	return !c->bad && version >= 1 && version <= 4 && (cie->address_bytes == 4 || cie->address_bytes == 8);
}

/* ---- entries of a section ---- */

struct cfi_entry {
	size_t offset, id_offset;	/* of the entry, and of its id field */
	uint64_t id;
	bool wide;			/* 64-bit DWARF */
	struct dwarf_cursor body;	/* after the id */
};

/* Reads the next entry and moves the cursor behind it. False at the end or if the section is damaged. */
static bool next_entry(struct dwarf_cursor *c, const struct cfi_section *s, struct cfi_entry *e)
{
	uint64_t n;

	e->offset = (size_t)(c->at - s->bytes);
	n = dwarf_length(c, &e->wide);
	if (c->bad || n == 0 || n > dwarf_left(c))
		return false;
	e->body = (struct dwarf_cursor){ .at = c->at, .end = c->at + n, .swap = s->swap };
	c->at += n;
	e->id_offset = (size_t)(e->body.at - s->bytes);
	e->id = dwarf_uint(&e->body, e->wide && !s->eh ? 8 : 4);
	return true;
}

static bool is_cie(const struct cfi_section *s, const struct cfi_entry *e)
{
	if (s->eh)
		return e->id == 0;
	return e->id == (e->wide ? UINT64_MAX : UINT32_MAX);
}

static size_t cie_offset(const struct cfi_section *s, const struct cfi_entry *e)
{
	return s->eh ? e->id_offset - (size_t)e->id : (size_t)e->id;
}

/* The index of the CIE at `offset`, which is parsed when it is first needed. CFI_NO_CIE: it is damaged. 0 or
 * -ENOMEM. */
static int find_cie(struct cfi *c, uint8_t section, size_t offset, uint32_t *out)
{
	const struct cfi_section *s = &c->sections[section];
	struct cfi_cie cie = { .section = section }, *added;
	uint64_t key = (uint64_t)offset << 1 | section;
	struct dwarf_cursor at;
	struct cfi_entry e;

	if (int_map_get(&c->cie_at, key, out))
		return 0;
	*out = CFI_NO_CIE;
	if (offset >= s->n || c->cies.n >= MAX_CIES)
		return 0;
	at = (struct dwarf_cursor){ .at = s->bytes + offset, .end = s->bytes + s->n, .swap = s->swap };
	if (next_entry(&at, s, &e) && is_cie(s, &e) && parse_cie(&e.body, s, &cie) && cfi_run_initial(c, &cie) == 0) {
		added = vec_next(&c->cies);
		if (!added)
			return -ENOMEM;
		*added = cie;
		*out = (uint32_t)c->cies.n - 1;
	}
	return int_map_put(&c->cie_at, key, *out);
}

struct cfi_last_cie {			/* most FDEs have the same CIE as the one before */
	size_t offset;
	uint32_t index;
};

static int add_fde(struct cfi *c, uint8_t section, struct cfi_entry *e, struct cfi_last_cie *last)
{
	const struct cfi_section *s = &c->sections[section];
	size_t at = cie_offset(s, e);
	const struct cfi_cie *cie;
	struct cfi_fde fde, *added;
	uint64_t n;

	if (last->offset != at && find_cie(c, section, at, &last->index) < 0)
		return -ENOMEM;
	last->offset = at;
	if (last->index == CFI_NO_CIE)
		return 0;
	cie = &c->cies.v[last->index];
	fde.cie = last->index;
	fde.start = read_pointer(&e->body, cie->encoding, s, cie->address_bytes);
	n = read_format(&e->body, cie->encoding & PE_FORMAT, cie->address_bytes);
	fde.end = fde.start + (cie->address_bytes == 4 ? (uint32_t)n : n);
	if (cie->has_augmentation)
		dwarf_bytes(&e->body, dwarf_uleb(&e->body));
	fde.program = e->body.at;
	fde.n_program = (uint32_t)min_of(dwarf_left(&e->body), (size_t)UINT32_MAX);
	/* The linker sets the start of discarded functions to 0. */
	if (e->body.bad || fde.end <= fde.start || !fde.start || c->fdes.n >= MAX_FDES)
		return 0;
	added = vec_next(&c->fdes);
	if (!added)
		return -ENOMEM;
	*added = fde;
	return 0;
}

int cfi_add_section(struct cfi *c, const struct cfi_section *section)
{
	struct dwarf_cursor at = { .at = section->bytes, .end = section->bytes + section->n, .swap = section->swap };
	uint8_t number = c->n_sections;
	struct cfi_last_cie last = { SIZE_MAX, CFI_NO_CIE };
	struct cfi_entry e;
	int err = 0;

	if (number >= countof(c->sections))
		return 0;
	c->sections[c->n_sections++] = *section;
	while (err == 0 && next_entry(&at, section, &e))
		if (!is_cie(section, &e))
			err = add_fde(c, number, &e, &last);
	return err;
}

/* ---- order ---- */

static int compare_fdes(const void *pa, const void *pb)
{
	const struct cfi_fde *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->cie != b->cie)		/* CIEs of the first section have lower numbers */
		return a->cie < b->cie ? -1 : 1;
	return a->program < b->program ? -1 : a->program > b->program;
}

#define DIGIT_BITS 11u
#define START_BITS 33u			/* of a key: three digits */
#define INDEX_BITS (64 - START_BITS)

static void radix_pass(uint64_t *to, const uint64_t *from, size_t n, unsigned shift)
{
	uint32_t count[1u << DIGIT_BITS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		count[from[i] >> shift & (countof(count) - 1)]++;
	for (size_t d = 0; d < countof(count); d++) {
		uint32_t here = count[d];

		count[d] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[from[i] >> shift & (countof(count) - 1)]++] = from[i];
}

/* Fills keys[0..n) with the start of each FDE, relative to the first, and its index. False if they do not fit. */
static bool make_keys(const struct cfi *c, uint64_t *keys)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < c->fdes.n; i++) {
		least = min_of(least, c->fdes.v[i].start);
		most = max_of(most, c->fdes.v[i].start);
	}
	if ((most - least) >> START_BITS || c->fdes.n >> INDEX_BITS)
		return false;
	for (size_t i = 0; i < c->fdes.n; i++)
		keys[i] = (c->fdes.v[i].start - least) << INDEX_BITS | i;
	return true;
}

/* Sorts the FDEs by their start: a third of the time of a table was qsort()'s. Returns false, and leaves them, if addresses
 * are too far apart or without memory. */
static bool sort_by_start(struct cfi *c)
{
	size_t n = c->fdes.n;
	scoped(freep) uint64_t *keys = reallocarray(NULL, n, 2 * sizeof(*keys));
	struct cfi_fde *sorted = reallocarray(NULL, n, sizeof(*sorted));

	if (!keys || !sorted || !make_keys(c, keys)) {
		free(sorted);
		return false;
	}
	radix_pass(keys + n, keys, n, INDEX_BITS);
	radix_pass(keys, keys + n, n, INDEX_BITS + DIGIT_BITS);
	radix_pass(keys + n, keys, n, INDEX_BITS + 2 * DIGIT_BITS);
	for (size_t i = 0; i < n; i++)
		sorted[i] = c->fdes.v[keys[n + i] & ((1ull << INDEX_BITS) - 1)];
	free(c->fdes.v);
	c->fdes.v = sorted;
	c->fdes.cap = n;
	return true;
}

/* Orders FDEs with the same start, of which there are few, in a sorted array. */
static void sort_equal_starts(struct cfi *c)
{
	for (size_t i = 0, end; i < c->fdes.n; i = end) {
		for (end = i + 1; end < c->fdes.n && c->fdes.v[end].start == c->fdes.v[i].start; end++)
			;
		if (end - i > 1)
			qsort(c->fdes.v + i, end - i, sizeof(*c->fdes.v), compare_fdes);
	}
}

void cfi_sort(struct cfi *c)
{
	bool sorted = true;
	size_t n = 0;

	for (size_t i = 1; i < c->fdes.n && sorted; i++)
		sorted = compare_fdes(&c->fdes.v[i - 1], &c->fdes.v[i]) <= 0;
	if (!sorted && sort_by_start(c))
		sort_equal_starts(c);
	else if (!sorted)
		qsort(c->fdes.v, c->fdes.n, sizeof(*c->fdes.v), compare_fdes);
	for (size_t i = 0; i < c->fdes.n; i++)
		if (!n || c->fdes.v[i].start >= c->fdes.v[n - 1].end)
			c->fdes.v[n++] = c->fdes.v[i];
	c->fdes.n = n;
}

void cfi_done(struct cfi *c)
{
	vec_done(&c->cies);
	vec_done(&c->fdes);
	int_map_done(&c->cie_at);
}
