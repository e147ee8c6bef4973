/*
 * Sorting (radix sort, stable because the order of equal starts decides between aliases), guessing of
 * missing sizes, and searching. Aliases are chosen during the search, because the rule compares
 * demangled names and most symbols are never looked up. For the same reason duplicates are removed only
 * where they would change a result.
 */
#include "symbol/symbol_table.h"

#include "symbol/demangle.h"
#include "base/num.h"
#include "base/vec.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGE 4096u
#define MOST_SYMBOLS (1u << 28)
#define LONGEST_CHAIN 256	/* `up` links followed; only crafted files nest deeper */
#define INDEX_LEAST 64u		/* symbols; smaller tables have no index */
#define STEP_SYMBOLS 2u		/* minimum symbols per index step */
#define DIGIT_BITS 13u		/* maximum; two passes sort the 26 bits of most large objects */
#define INDEX_BITS 28		/* sort key: index of the symbol (low bits), part of its start (high bits) */
#define INDEX_MASK (MOST_SYMBOLS - 1)
#define PART_BITS (64 - INDEX_BITS)
#define NAMED_MAX 16u			/* names read before the pages of a mapped table's names are released */
#define AHEAD 16		/* symbols are prefetched this many entries ahead */

/* Allocates an array that is filled at once; large ones on huge pages, which need fewer page faults. */
static void *alloc_array(size_t n, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, each, &bytes))
		return NULL;
	return bytes < HUGE_PAGE_BYTES ? malloc(bytes) : large_alloc_huge(bytes);
}

/* Copies the arrays of a mapped table, so that it can grow. 0 or -ENOMEM. */
static int copy_mapped(struct symbol_table *t)
{
	struct symbol *v = alloc_array(max_of(t->n, (size_t)1), sizeof(*v));
	struct buf strings = { 0 };

	buf_put(&strings, t->strings.bytes, t->strings.n);
	if (!v || buf_failed(&strings)) {
		free(v);
		buf_done(&strings);
		return -ENOMEM;
	}
	memcpy(v, t->v, t->n * sizeof(*v));
	munmap(take(t->mapped), t->mapped_bytes);
	t->mapped_bytes = 0;
	t->v = v;
	t->cap = max_of(t->n, (size_t)1);
	t->strings = strings;
	t->index = NULL;		/* symbol_table_finish() makes it again */
	t->n_index = 0;
	return 0;
}

int symbol_table_reserve(struct symbol_table *t, size_t n, size_t names)
{
	struct symbol *v;
	size_t cap;

	if (t->mapped && copy_mapped(t) < 0)
		return -ENOMEM;
	v = t->v;
	if (names && !buf_grow(&t->strings, names))
		return -ENOMEM;
	if (t->n >= MOST_SYMBOLS)
		return 0;		/* symbol_table_add() reports it */
	cap = t->n + min_of(n, (size_t)MOST_SYMBOLS);
	if (cap <= t->cap)
		return 0;
	v = v ? reallocarray(v, cap, sizeof(*v)) : alloc_array(cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	t->v = v;
	t->cap = cap;
	return 0;
}

int symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, uint32_t name, uint32_t flags)
{
	struct symbol *s;

	if (t->n >= MOST_SYMBOLS)
		return -EFBIG;
	if (t->mapped && copy_mapped(t) < 0)
		return -ENOMEM;
	s = vec_next(t);
	if (!s)
		return -ENOMEM;
	*s = (struct symbol){ .start = start, .size = (uint32_t)min_of(size, (uint64_t)UINT32_MAX),
			      .name = name, .up = SYMBOL_NONE, .flags = flags,
			      .order = t->n_added++ };
	return 0;
}

void symbol_table_done(struct symbol_table *t)
{
	if (t->mapped) {
		munmap(take(t->mapped), t->mapped_bytes);
		t->mapped_bytes = 0;
		t->v = NULL;
		t->strings = (struct buf){ 0 };
		t->index = NULL;
	}
	buf_done(&t->strings);
	vec_done(t);
	free(take(t->index));
	t->n_index = 0;
	t->compact = false;
}

const char *symbol_table_name(const struct symbol_table *t, const struct symbol *s)
{
	return s->name < t->strings.n ? t->strings.bytes + s->name : "";
}

static bool is_sorted(const struct symbol_table *t)
{
	for (size_t i = 1; i < t->n; i++)
		if (t->v[i].start < t->v[i - 1].start)
			return false;
	return true;
}

/* One counting sort pass over one digit. */
static void radix_pass(uint64_t *to, const uint64_t *from, size_t n, unsigned shift, unsigned bits)
{
	uint32_t count[1u << DIGIT_BITS], at = 0;
	size_t digits = (size_t)1 << bits;

	memset(count, 0, digits * sizeof(*count));
	for (size_t i = 0; i < n; i++)
		count[(from[i] >> shift) & (digits - 1)]++;
	for (size_t d = 0; d < digits; d++) {
		uint32_t here = count[d];

		count[d] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[(from[i] >> shift) & (digits - 1)]++] = from[i];
}

/* Sorts by the bits of (start - least) from bit `low` on, as many as fit into a key. Returns the array, one
 * of the two, that holds the result. */
static uint64_t *sort_by_part(const struct symbol_table *t, uint64_t *from, uint64_t *to, uint64_t least,
			      unsigned low)
{
	uint64_t all = 0, *other;
	unsigned bits = 0, passes;

	for (size_t i = 0; i < t->n; i++) {
		uint64_t index = from[i] & INDEX_MASK;

		from[i] = ((t->v[index].start - least) >> low << INDEX_BITS) | index;
		all |= from[i];
	}
	while (bits < PART_BITS && all >> INDEX_BITS >> bits)
		bits++;
	passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
	for (unsigned i = 0; i < passes; i++) {
		unsigned from_bit = bits * i / passes, to_bit = bits * (i + 1) / passes;

		radix_pass(to, from, t->n, INDEX_BITS + from_bit, to_bit - from_bit);
		other = from;
		from = to;
		to = other;
	}
	return from;
}

/* Computes the order of the symbols, in the first or second half of keys[2 * n]. The starts of one object
 * differ in their low bits only, so one call of sort_by_part() is usually enough. */
static uint64_t *sort_order(const struct symbol_table *t, uint64_t *keys)
{
	uint64_t least = UINT64_MAX, most = 0, *order = keys;

	for (size_t i = 0; i < t->n; i++) {
		least = min_of(least, t->v[i].start);
		most = max_of(most, t->v[i].start);
		keys[i] = i;
	}
	for (unsigned low = 0; low < 64 && (most - least) >> low; low += PART_BITS)
		order = sort_by_part(t, order, order == keys ? keys + t->n : keys, least, low);
	return order;
}

static int sort_symbols(struct symbol_table *t)
{
	scoped(freep) uint64_t *keys = NULL;
	struct symbol *sorted;
	uint64_t *order;

	keys = alloc_array(t->n, 2 * sizeof(*keys));
	sorted = alloc_array(t->n, sizeof(*sorted));
	if (!keys || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	order = sort_order(t, keys);
	for (size_t i = 0; i < t->n; i++) {
		if (i + AHEAD < t->n)
			__builtin_prefetch(&t->v[order[i + AHEAD] & INDEX_MASK]);
		sorted[i] = t->v[order[i] & INDEX_MASK];
	}
	free(t->v);
	t->v = sorted;
	t->cap = t->n;
	return 0;
}

static bool are_duplicates(const struct symbol_table *t, const struct symbol *a, const struct symbol *b)
{
	return a->size == b->size && a->flags == b->flags &&
	       strcmp(symbol_table_name(t, a), symbol_table_name(t, b)) == 0;
}

/* Whether a symbol is a duplicate: .dynsym repeats much of .symtab. Duplicates are adjacent except for other
 * aliases. */
static bool is_duplicate(const struct symbol_table *t, size_t first, size_t n, const struct symbol *s)
{
	for (size_t j = n; j > first && n - j < 8; j--)
		if (are_duplicates(t, &t->v[j - 1], s))
			return true;
	return false;
}

/* The end of the group of symbols that start where `first` does. */
static size_t group_end(const struct symbol_table *t, size_t first)
{
	size_t end = first + 1;

	while (end < t->n && t->v[end].start == t->v[first].start)
		end++;
	return end;
}

/* Whether duplicates in this group would change a result: when sizes are guessed, when the newest symbol
 * wins, or when the group is longer than the search. Otherwise they lose to the first like any other alias,
 * and comparing the names would cost cache misses. */
static bool duplicates_matter(const struct symbol_table *t, size_t first, size_t end)
{
	bool matter = t->newest || end - first > LONGEST_CHAIN;

	for (size_t i = first; i < end && !matter; i++)
		matter = t->v[i].size == 0;
	return matter;
}

static uint64_t guessed_end(const struct symbol_table *t, const struct symbol *s, const struct symbol *next)
{
	if (!next)
		return (s->start | (PAGE - 1)) + 1 + PAGE;
	/* There is no code between the kernel and its modules: do not extend a symbol over the gap. */
	if (t->kallsyms && (s->flags & SYMBOL_MODULE) != (next->flags & SYMBOL_MODULE))
		return min_of((s->start + PAGE - 1 + PAGE) & ~(uint64_t)(PAGE - 1), next->start);
	return next->start;
}

/* Of several symbols without size, the last one extends to the next symbol; the others stay empty. */
static void guess_sizes(struct symbol_table *t, size_t first, size_t end, const struct symbol *next)
{
	for (size_t i = first; i < end; i++) {
		struct symbol *s = &t->v[i];

		if (s->size)
			continue;
		s->flags |= SYMBOL_GUESSED;
		if (i + 1 == end)
			s->size = (uint32_t)min_of(guessed_end(t, s, next) - s->start, (uint64_t)UINT32_MAX);
	}
}

static bool covers(const struct symbol *s, uint64_t address)
{
	return address >= s->start && address - s->start < s->size;
}

/* The nearest earlier symbol that covers the start of a group is on the `up` chain of its predecessor. */
static void link_up(struct symbol_table *t, size_t first, size_t end)
{
	uint32_t j = first ? (uint32_t)(first - 1) : SYMBOL_NONE;

	/* Any member of a group may be the longest, so all are tried. */
	while (j != SYMBOL_NONE && !covers(&t->v[j], t->v[first].start))
		j = j > 0 && t->v[j - 1].start == t->v[j].start ? j - 1 : t->v[j].up;
	for (size_t i = first; i < end; i++)
		t->v[i].up = j;
}

/* Moves a group to index `kept`, optionally without duplicates. Returns its new end. */
static size_t move_group(struct symbol_table *t, size_t kept, size_t first, size_t end, bool check)
{
	size_t begin = kept;

	for (size_t i = first; i < end; i++)
		if (!check || !is_duplicate(t, begin, kept, &t->v[i]))
			t->v[kept++] = t->v[i];
	return kept;
}

/* Removes duplicates, guesses sizes and sets `up`, for each group of symbols with the same start. */
static void link_symbols(struct symbol_table *t, bool all_duplicates)
{
	size_t kept = 0;

	for (size_t first = 0, end; first < t->n; first = end) {
		size_t begin = kept;
		bool check;

		end = group_end(t, first);
		check = end - first > 1 && (all_duplicates || duplicates_matter(t, first, end));
		if (kept < first || check)
			kept = move_group(t, kept, first, end, check);
		else
			kept = end;
		if (!t->newest)
			guess_sizes(t, begin, kept, end < t->n ? &t->v[end] : NULL);
		link_up(t, begin, kept);
	}
	t->n = kept;
}

/* Divides the address range into steps of equal length, one per few symbols; index[i] is the last symbol that
 * starts at or before step i. Without memory for the index, searches take longer. */
static void make_index(struct symbol_table *t)
{
	uint64_t span = t->n ? t->v[t->n - 1].start - t->v[0].start : 0;
	size_t at = 0;

	free(take(t->index));
	t->n_index = 0;
	if (t->n < INDEX_LEAST)
		return;
	for (t->index_shift = 0; span >> t->index_shift >= t->n / STEP_SYMBOLS; t->index_shift++)
		;
	t->n_index = (size_t)(span >> t->index_shift) + 1;
	t->index = reallocarray(NULL, t->n_index + 1, sizeof(*t->index));
	if (!t->index)
		return;
	for (size_t i = 0; i < t->n_index; i++) {
		uint64_t start = t->v[0].start + ((uint64_t)i << t->index_shift);

		while (at + 1 < t->n && t->v[at + 1].start <= start)
			at++;
		t->index[i] = (uint32_t)at;
	}
	t->index[t->n_index] = (uint32_t)(t->n - 1);
}

int symbol_table_finish(struct symbol_table *t)
{
	int err = t->mapped ? copy_mapped(t) : 0;

	if (err == 0 && !is_sorted(t))
		err = sort_symbols(t);
	if (err < 0)
		return err;
	link_symbols(t, t->to_compact);
	make_index(t);
	return 0;
}

/* Length of a name with its NUL; in kallsyms the module's name follows. */
static size_t name_bytes(const struct symbol_table *t, const struct symbol *s)
{
	size_t n = strlen(symbol_table_name(t, s)) + 1, next = s->name + n;

	return (s->flags & SYMBOL_MODULE) && next < t->strings.n ? n + strlen(t->strings.bytes + next) + 1 : n;
}

static void shrink(struct symbol_table *t)
{
	struct symbol *v = t->n < t->cap ? reallocarray(t->v, max_of(t->n, (size_t)1), sizeof(*v)) : NULL;

	if (!v)
		return;
	t->v = v;
	t->cap = max_of(t->n, (size_t)1);
}

void symbol_table_compact(struct symbol_table *t)
{
	struct buf kept = { 0 };
	size_t total = 0;

	if (t->compact || !t->n)
		return;
	t->compact = true;
	if (!t->to_compact) {
		link_symbols(t, true);
		make_index(t);
	}
	shrink(t);
	for (size_t i = 0; i < t->n; i++)
		total += name_bytes(t, &t->v[i]);
	if (total >= t->strings.cap - t->strings.cap / 8 || total > UINT32_MAX || !buf_grow(&kept, total))
		return;
	for (size_t i = 0; i < t->n; i++) {
		const char *name = symbol_table_name(t, &t->v[i]);
		size_t n = name_bytes(t, &t->v[i]);

		t->v[i].name = (uint32_t)kept.n;
		buf_put(&kept, name, n);
	}
	buf_done(&t->strings);
	t->strings = kept;
}

/* Disassemblers show an IFUNC slot as "*ABS*+0x9be70"; if a function is at that address, its
 * name is used. */
static const char *resolver_name(struct symbol_table *t, const struct symbol *s, const char *raw)
{
	const char *hex = strchr(raw, '+');
	uint64_t address;
	struct symbol *function;

	if (t->resolving || !hex || num_hex(str_of(hex + 1), &address) < 0)
		return raw;
	t->resolving = true;
	function = symbol_table_find(t, address);
	t->resolving = false;
	if (!function || function == s || (function->flags & SYMBOL_RESOLVER) ||
	    function->start != address)
		return raw;
	return symbol_table_name(t, function);
}

/* Names that are shown are interned, so the pages of a mapped table's names are not needed again. Reading one makes sixteen pages
 * resident. */
static void release_names(struct symbol_table *t)
{
	uintptr_t page = PAGE - 1, from = (uintptr_t)t->strings.bytes, to = (uintptr_t)t->mapped + t->mapped_bytes;

	if (!t->mapped || ++t->n_named < NAMED_MAX)
		return;
	t->n_named = 0;
	from = (from + page) & ~page;	/* the page before has symbols, whose ids were assigned */
	if (from < to)
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): a part of the mapping */
		madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Returns the name to display, and assigns its interned id. */
static const char *display_name(struct symbol_table *t, struct symbol *s)
{
	const char *known;

	if (!s->id) {
		scoped(buf_done) struct buf text = { 0 };
		const char *raw = symbol_table_name(t, s);

		if (s->flags & SYMBOL_RESOLVER)
			raw = resolver_name(t, s, raw);
		if (t->raw || !demangle(raw, !t->short_names, &text))
			buf_puts(&text, raw);
		if (s->flags & SYMBOL_PLT)
			buf_puts(&text, "@plt");
		if (buf_failed(&text))
			t->names->out_of_memory = true;
		else
			s->id = names_add(t->names, buf_view(&text));
		release_names(t);
	}
	known = s->id ? names_get(t->names, s->id) : NULL;
	return known ? known : "";
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* perf's choice between two aliases: the one with a size, the strong one, the global one, the one with fewer
 * leading underscores, the longer name, the first. */
static struct symbol *preferred_alias(struct symbol_table *t, struct symbol *a, struct symbol *b)
{
	const char *an, *bn;
	size_t na, nb;

	if (!a->size != !b->size)
		return a->size ? a : b;
	if ((a->flags ^ b->flags) & SYMBOL_WEAK)
		return a->flags & SYMBOL_WEAK ? b : a;
	if ((a->flags ^ b->flags) & SYMBOL_LOCAL)
		return a->flags & SYMBOL_LOCAL ? b : a;
	if (are_duplicates(t, a, b))
		return a;
	an = display_name(t, a);
	bn = display_name(t, b);
	na = underscores(an);
	nb = underscores(bn);
	if (na != nb)
		return na < nb ? a : b;
	na = strlen(an);
	nb = strlen(bn);
	if (na != nb)
		return na > nb ? a : b;
	return a;
}

/* The symbol to show from the group with equal starts that ends at index `last`. */
static struct symbol *best_of_group(struct symbol_table *t, size_t last, uint64_t address)
{
	struct symbol *best = NULL;
	size_t first = last;

	while (first > 0 && t->v[first - 1].start == t->v[last].start && last - first < LONGEST_CHAIN)
		first--;
	for (size_t i = first; i <= last; i++) {
		struct symbol *s = &t->v[i];

		if (t->newest && !covers(s, address))
			continue;
		if (!best)
			best = s;
		else if (t->newest)
			best = s->order > best->order ? s : best;
		else
			best = preferred_alias(t, best, s);
	}
	return best && covers(best, address) ? best : NULL;
}

/* The index step of an address, which must not be before the first symbol. */
static size_t index_step(const struct symbol_table *t, uint64_t address)
{
	return (size_t)min_of((address - t->v[0].start) >> t->index_shift, (uint64_t)t->n_index - 1);
}

/* The entries to search for an address, which must not be before the first symbol. The index of a mapped table may be damaged. */
static size_t index_range(const struct symbol_table *t, uint64_t address, size_t *n)
{
	size_t i = index_step(t, address), first = min_of((size_t)t->index[i], t->n - 1);
	size_t last = min_of((size_t)t->index[i + 1], t->n - 1);

	*n = last > first ? last - first + 1 : 1;
	return first;
}

void symbol_table_prefetch(const struct symbol_table *t, uint64_t address)
{
	size_t first, n;

	if (!t->index || address < t->v[0].start)
		return;
	first = index_range(t, address, &n);
	__builtin_prefetch(&t->v[first]);
	__builtin_prefetch(&t->v[first + n / 2]);	/* the first probe of the binary search */
}

/* The last symbol that starts at or before the address, which must not be before the first symbol. */
static size_t floor_index(const struct symbol_table *t, uint64_t address)
{
	size_t base = 0, n = t->n;

	if (t->index)
		base = index_range(t, address, &n);
	while (n > 1) {
		size_t half = n / 2;

		base = t->v[base + half].start <= address ? base + half : base;
		n -= half;
	}
	return base;
}

/* Decides between nested symbols, visited from the innermost outwards. A label with a guessed size inside a
 * function loses to the function. */
static bool is_better_at(const struct symbol_table *t, const struct symbol *s, const struct symbol *found)
{
	if (!found)
		return true;
	if (t->newest)
		return s->order > found->order;
	return (found->flags & SYMBOL_GUESSED) && !(s->flags & SYMBOL_GUESSED);
}

/* Cuts the span at the edges of all symbols that start where v[last] does. */
static size_t cut_at_group(const struct symbol_table *t, size_t last, uint64_t address, struct span *out)
{
	size_t first = last;

	for (; t->v[first].start == t->v[last].start; first--) {
		span_cut_at_edges(out, address, t->v[first].start, t->v[first].size);
		if (!first)
			break;
	}
	span_cut(out, address, t->v[last].start, UINT64_MAX);
	return last - first;
}

/* The last symbol with the same start. */
static size_t group_last(const struct symbol_table *t, size_t at)
{
	while (at + 1 < t->n && t->v[at + 1].start == t->v[at].start)
		at++;
	return at;
}

/* Symbols that are not on the chain of `up` end before the nearest start, so only those on it matter. */
void symbol_table_span(const struct symbol_table *t, uint64_t address, struct span *out)
{
	size_t at, steps = 0;

	if (t->n && t->v[0].start > address)
		span_cut(out, address, 0, t->v[0].start - 1);
	if (t->n == 0 || t->v[0].start > address)
		return;
	at = floor_index(t, address);
	if (at + 1 < t->n)
		span_cut(out, address, 0, t->v[at + 1].start - 1);
	for (;;) {
		steps += 1 + cut_at_group(t, at, address, out);
		if (t->v[at].up == SYMBOL_NONE)
			return;
		if (steps > LONGEST_CHAIN)
			break;
		at = group_last(t, t->v[at].up);
	}
	*out = (struct span){ 0, 0 };
}

struct symbol *symbol_table_find(struct symbol_table *t, uint64_t address)
{
	struct symbol *found = NULL;
	size_t at;

	if (t->n == 0 || t->v[0].start > address)
		return NULL;
	at = floor_index(t, address);
	for (unsigned steps = 0; steps < LONGEST_CHAIN; steps++) {
		struct symbol *s = best_of_group(t, at, address);

		if (s && is_better_at(t, s, found))
			found = s;
		if (t->v[at].up >= at)		/* SYMBOL_NONE, or damaged */
			break;
		if (found && !t->newest && !(found->flags & SYMBOL_GUESSED))
			break;
		at = t->v[at].up;
		for (unsigned i = 0; i < LONGEST_CHAIN && at + 1 < t->n; i++, at++)
			if (t->v[at + 1].start != t->v[at].start)
				break;
	}
	if (found && !found->id)
		display_name(t, found);
	return found;
}

const struct symbol *symbol_table_find_name(const struct symbol_table *t, const char *name)
{
	const struct symbol *found = NULL;

	for (size_t i = 0; i < t->n && !found; i++)
		if (strcmp(symbol_table_name(t, &t->v[i]), name) == 0)
			found = &t->v[i];
	if (t->mapped)			/* all that was passed is resident; IDs are assigned again when they are needed */
		madvise(t->mapped, t->mapped_bytes, MADV_DONTNEED);
	return found;
}
