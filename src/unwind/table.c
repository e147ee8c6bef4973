/*
 * Builds unwind tables. Consecutive rows with the same rule are merged, and equal rules are stored once: the
 * programs of a whole distribution need fewer than ten thousand distinct rules.
 */
#include "unwind/table.h"

#include <errno.h>
#include <sys/mman.h>

#define FIRST_INDEX 256u

void unwind_table_done(struct unwind_table *t)
{
	if (t->mapped) {
		munmap(t->mapped, t->mapped_bytes);
	} else {
		vec_done(&t->rows);
		vec_done(&t->pages);
		vec_done(&t->rules);
	}
	memset(t, 0, sizeof(*t));
}

/* ---- rules ---- */

static size_t rule_home(const struct unwind_rule *rule, size_t cap)
{
	uint64_t words[3];
	_Static_assert(sizeof(words) == sizeof(*rule), "a rule is hashed as three words");

	memcpy(words, rule, sizeof(words));
	return (size_t)(((words[0] * 0x9e3779b97f4a7c15ull ^ words[1]) * 0xbf58476d1ce4e5b9ull ^ words[2]) *
			0x94d049bb133111ebull >> 32) & (cap - 1);
}

static uint32_t *rule_slot(const struct unwind_builder *b, const struct unwind_rule *rule)
{
	size_t i = rule_home(rule, b->index.cap);

	while (b->index.slots[i] && !unwind_rule_equal(&b->table->rules.v[b->index.slots[i]], rule))
		i = (i + 1) & (b->index.cap - 1);
	return &b->index.slots[i];
}

static int index_grow(struct unwind_builder *b, size_t cap)
{
	uint32_t *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(b->index.slots);
	b->index.slots = slots;
	b->index.cap = cap;
	for (uint32_t i = 1; i < b->table->rules.n; i++)
		*rule_slot(b, &b->table->rules.v[i]) = i;
	return 0;
}

/* The number of a rule that is not among the recent ones, 0 if there are too many, or -ENOMEM. */
static int find_rule(struct unwind_builder *b, const struct unwind_rule *rule)
{
	struct unwind_table *t = b->table;
	struct unwind_rule *added;
	uint32_t *slot = rule_slot(b, rule);

	if (*slot)
		return (int)*slot;
	if (t->rules.n >= UNWIND_MAX_RULES) {
		b->full = true;
		return 0;
	}
	*slot = (uint32_t)t->rules.n;
	added = vec_next(&t->rules);
	if (!added)
		return -ENOMEM;
	*added = *rule;
	if (t->rules.n * 2 > b->index.cap && index_grow(b, b->index.cap * 2) < 0)
		return -ENOMEM;
	return (int)t->rules.n - 1;
}

/* The number of the rule, 0 for a gap, or -ENOMEM. Most rules of a function are those of the functions before it. */
static int rule_number(struct unwind_builder *b, const struct unwind_rule *rule)
{
	uint32_t key = rule ? (uint32_t)rule->cfa_offset >> 3 ^ (uint32_t)rule->fp_offset >> 2 ^ rule->fp : 0;
	uint16_t *recent = &b->recent[key % countof(b->recent)];
	int number;

	if (!rule)
		return 0;
	if (*recent && unwind_rule_equal(&b->table->rules.v[*recent], rule))
		return *recent;
	number = find_rule(b, rule);
	if (number > 0 && number <= UINT16_MAX)
		*recent = (uint16_t)number;
	return number;
}

/* ---- rows ---- */

/* Makes entries for all pages up to `page`. */
static int reach_page(struct unwind_table *t, uint64_t page)
{
	while (t->pages.n <= page) {
		uint32_t *first = vec_next(&t->pages);

		if (!first)
			return -ENOMEM;
		*first = (uint32_t)t->rows.n;
	}
	return 0;
}

int unwind_builder_init(struct unwind_builder *b, struct unwind_table *t, uint64_t base)
{
	memset(b, 0, sizeof(*b));
	b->table = t;
	t->base = base >> UNWIND_PAGE_BITS << UNWIND_PAGE_BITS;
	b->last_address = t->base;
	if (!vec_add(&t->rules) || index_grow(b, FIRST_INDEX) < 0)
		return -ENOMEM;
	return 0;
}

static int add_row(struct unwind_builder *b, uint64_t address, uint32_t number)
{
	struct unwind_table *t = b->table;
	uint64_t page = (address - t->base) >> UNWIND_PAGE_BITS;
	uint16_t low = (uint16_t)(address - t->base);
	struct unwind_row *row;

	if (reach_page(t, page) < 0)
		return -ENOMEM;
	b->last_address = address;
	if (t->rows.n > t->pages.v[page] && t->rows.v[t->rows.n - 1].low == low) {
		t->rows.v[t->rows.n - 1].rule = (uint16_t)number;	/* replaces an empty row */
		b->last_rule = number;
		return 0;
	}
	if (number == b->last_rule && (t->rows.n || !number))
		return 0;
	row = vec_next(&t->rows);
	if (!row)
		return -ENOMEM;
	*row = (struct unwind_row){ low, (uint16_t)number };
	b->last_rule = number;
	return 0;
}

int unwind_builder_add(struct unwind_builder *b, uint64_t address, const struct unwind_rule *rule)
{
	const uint64_t most = ((uint64_t)(UNWIND_MAX_PAGES - 1) << UNWIND_PAGE_BITS) - 1;
	uint64_t offset = address - b->table->base;
	int number;

	if (b->full || address < b->last_address)
		return 0;
	b->full = offset > most || b->table->rows.n >= UNWIND_MAX_ROWS - 1;
	number = b->full ? 0 : rule_number(b, rule);
	return number < 0 ? number : add_row(b, b->table->base + min_of(offset, most), (uint32_t)number);
}

int unwind_builder_finish(struct unwind_builder *b)
{
	return reach_page(b->table, b->table->pages.n);
}

void unwind_builder_done(struct unwind_builder *b)
{
	free(b->index.slots);
	memset(b, 0, sizeof(*b));
}
