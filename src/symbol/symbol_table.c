/*
 * Sorting by radix (stable: the order of equal starts decides between aliases), the guessing of
 * sizes, and the search. Which alias wins is decided when somebody asks for it, because the rule
 * looks at demangled names, and most symbols of most objects are never asked for. For the same reason_text
 * a symbol that is there twice stays, unless that changes an answer.
 */
#include "symbol/symbol_table.h"

#include "symbol/demangle.h"
#include "base/num.h"
#include "base/vec.h"

#include <errno.h>

#define PAGE 4096u
#define MOST_SYMBOLS (1u << 28)
#define LONGEST_CHAIN 256	/* how far `up` is followed: nobody nests deeper but on purpose */
#define INDEX_LEAST 64u		/* symbols; fewer are searched as they are */
#define STEP_SYMBOLS 2u		/* per step of the index, at least */
#define DIGIT_BITS 13u		/* at most: 26 bits, as of most large objects' starts, take two passes */
#define INDEX_BITS 28		/* of a key to sort by: below, which symbol; above, a part of its start */
#define INDEX_MASK (MOST_SYMBOLS - 1)
#define PART_BITS (64 - INDEX_BITS)
#define AHEAD 16		/* so long before they are used are symbols fetched */

/* n of `each` bytes that are filled at once; of huge pages there are fewer to be handed out. */
static void *room_for(size_t n, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, each, &bytes))
		return NULL;
	return bytes < HUGE_PAGE_BYTES ? malloc(bytes) : large_alloc_huge(bytes);
}

int symbol_table_reserve(struct symbol_table *t, size_t n, size_t names)
{
	struct symbol *v = t->v;
	size_t cap;

	if (names && !buf_grow(&t->strings, names))
		return -ENOMEM;
	if (t->n >= MOST_SYMBOLS)
		return 0;		/* adding will tell */
	cap = t->n + min_of(n, (size_t)MOST_SYMBOLS);
	if (cap <= t->cap)
		return 0;
	v = v ? reallocarray(v, cap, sizeof(*v)) : room_for(cap, sizeof(*v));
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
	s = vec_next(t);
	if (!s)
		return -ENOMEM;
	*s = (struct symbol){ .start = start, .size = (uint32_t)min_of(size, (uint64_t)UINT32_MAX),
			      .name = name, .up = SYMBOL_NONE, .flags = flags,
			      .order = (uint32_t)(t->n - 1) };
	return 0;
}

void symbol_table_done(struct symbol_table *t)
{
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

/* One pass over one digit. */
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

/* Sorts by those bits of the starts, from `least` on, that fit into a key; returns where the keys are. */
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

/* The order of the symbols, in keys[0 ... n - 1] or behind these. Of an object's symbols only the low
 * bits differ, and one part is enough. */
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

	keys = room_for(t->n, 2 * sizeof(*keys));
	sorted = room_for(t->n, sizeof(*sorted));
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

static bool are_twins(const struct symbol_table *t, const struct symbol *a, const struct symbol *b)
{
	return a->size == b->size && a->flags == b->flags &&
	       strcmp(symbol_table_name(t, a), symbol_table_name(t, b)) == 0;
}

/* .dynsym repeats much of .symtab. Twins lie next to each other but for other aliases between. */
static bool is_twin(const struct symbol_table *t, size_t first, size_t n, const struct symbol *s)
{
	for (size_t j = n; j > first && n - j < 8; j--)
		if (are_twins(t, &t->v[j - 1], s))
			return true;
	return false;
}

/* Behind the last that starts where the first does. */
static size_t group_end(const struct symbol_table *t, size_t first)
{
	size_t end = first + 1;

	while (end < t->n && t->v[end].start == t->v[first].start)
		end++;
	return end;
}

/* Whether a twin among these would change what is found: a size that is guessed is the last one's, the
 * newest wins, and of too many some are not looked at. Elsewhere it loses against the first as any alias
 * that is no better, and to know it takes a look at both names, far apart. */
static bool twins_matter(const struct symbol_table *t, size_t first, size_t end)
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
	/* Between the kernel and its modules lies no code: do not stretch over the gap. */
	if (t->kallsyms && (s->flags & SYMBOL_MODULE) != (next->flags & SYMBOL_MODULE))
		return min_of((s->start + PAGE - 1 + PAGE) & ~(uint64_t)(PAGE - 1), next->start);
	return next->start;
}

/* Of several that have no size the last has the way to the next, the others nothing. */
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

static bool reaches_over(const struct symbol *s, uint64_t address)
{
	return address >= s->start && address - s->start < s->size;
}

/* The nearest before that reaches over the start is on the chain of the one just before. */
static void link_up(struct symbol_table *t, size_t first, size_t end)
{
	uint32_t j = first ? (uint32_t)(first - 1) : SYMBOL_NONE;

	/* Of a group the longest must be tried, so all of its members are. */
	while (j != SYMBOL_NONE && !reaches_over(&t->v[j], t->v[first].start))
		j = j > 0 && t->v[j - 1].start == t->v[j].start ? j - 1 : t->v[j].up;
	for (size_t i = first; i < end; i++)
		t->v[i].up = j;
}

/* Moves the group to where those end that are kept, but for its twins; returns where it ends then. */
static size_t keep_group(struct symbol_table *t, size_t kept, size_t first, size_t end, bool twins)
{
	size_t begin = kept;

	for (size_t i = first; i < end; i++)
		if (!twins || !is_twin(t, begin, kept, &t->v[i]))
			t->v[kept++] = t->v[i];
	return kept;
}

/* Drops twins, guesses sizes and links, group by group of those that start together. */
static void settle(struct symbol_table *t, bool all_twins)
{
	size_t kept = 0;

	for (size_t first = 0, end; first < t->n; first = end) {
		size_t begin = kept;
		bool twins;

		end = group_end(t, first);
		twins = end - first > 1 && (all_twins || twins_matter(t, first, end));
		if (kept < first || twins)
			kept = keep_group(t, kept, first, end, twins);
		else
			kept = end;
		if (!t->newest)
			guess_sizes(t, begin, kept, end < t->n ? &t->v[end] : NULL);
		link_up(t, begin, kept);
	}
	t->n = kept;
}

/* Steps of equal length, one per few symbols; index[i] is the last symbol that starts at or before
 * the step's start. Without memory for it the search is longer. */
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
	int err = is_sorted(t) ? 0 : sort_symbols(t);

	if (err < 0)
		return err;
	settle(t, false);
	make_index(t);
	return 0;
}

/* With its NUL; kallsyms has the module's name behind it. */
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
	settle(t, true);
	make_index(t);
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

/* "*ABS*+0x9be70" is how disassemblers call the function at 0x9be70; most have a name. */
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

/* Sets the interned id of the shown name. */
static const char *shown_name(struct symbol_table *t, struct symbol *s)
{
	if (!s->id) {
		scoped(buf_done) struct buf text = { 0 };
		const char *raw = symbol_table_name(t, s);

		if (s->flags & SYMBOL_RESOLVER)
			raw = resolver_name(t, s, raw);
		if (t->raw || !demangle(raw, t->params, &text))
			buf_puts(&text, raw);
		if (s->flags & SYMBOL_PLT)
			buf_puts(&text, "@plt");
		if (!buf_failed(&text))
			s->id = names_add(t->names, buf_view(&text));
	}
	return s->id ? names_get(t->names, s->id) : "";
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* Which of two symbols with one start perf shows: one with a size, a strong one, a global one,
 * the one with fewer underscores in front, the longer name, the first. */
static struct symbol *better(struct symbol_table *t, struct symbol *a, struct symbol *b)
{
	const char *an, *bn;
	size_t na, nb;

	if (!a->size != !b->size)
		return a->size ? a : b;
	if ((a->flags ^ b->flags) & SYMBOL_WEAK)
		return a->flags & SYMBOL_WEAK ? b : a;
	if ((a->flags ^ b->flags) & SYMBOL_LOCAL)
		return a->flags & SYMBOL_LOCAL ? b : a;
	if (are_twins(t, a, b))
		return a;
	an = shown_name(t, a);
	bn = shown_name(t, b);
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

/* Of the group of equal starts that ends at index `last`, the one to show. */
static struct symbol *best_of_group(struct symbol_table *t, size_t last, uint64_t address)
{
	struct symbol *best = NULL;
	size_t first = last;

	while (first > 0 && t->v[first - 1].start == t->v[last].start && last - first < LONGEST_CHAIN)
		first--;
	for (size_t i = first; i <= last; i++) {
		struct symbol *s = &t->v[i];

		if (t->newest && !reaches_over(s, address))
			continue;
		if (!best)
			best = s;
		else if (t->newest)
			best = s->order > best->order ? s : best;
		else
			best = better(t, best, s);
	}
	return best && reaches_over(best, address) ? best : NULL;
}

/* Where the index leads on from for an address that is not before the first symbol. */
static size_t index_step(const struct symbol_table *t, uint64_t address)
{
	return (size_t)min_of((address - t->v[0].start) >> t->index_shift, (uint64_t)t->n_index - 1);
}

void symbol_table_prefetch(const struct symbol_table *t, uint64_t address)
{
	size_t i, first, n;

	if (!t->index || address < t->v[0].start)
		return;
	i = index_step(t, address);
	first = t->index[i];
	n = t->index[i + 1] - first + 1;
	__builtin_prefetch(&t->v[first]);
	__builtin_prefetch(&t->v[first + n / 2]);	/* where the search begins */
}

/* The last symbol that starts at or before the address, which is not before the first. */
static size_t floor_index(const struct symbol_table *t, uint64_t address)
{
	size_t base = 0, n = t->n;

	if (t->index) {
		size_t i = index_step(t, address);

		base = t->index[i];
		n = t->index[i + 1] - base + 1;
	}

	while (n > 1) {
		size_t half = n / 2;

		base = t->v[base + half].start <= address ? base + half : base;
		n -= half;
	}
	return base;
}

/* Of two symbols at an address, met from the inside out. A label inside a function, whose size
 * is guessed, is not where the code belongs to. */
static bool is_better_at(const struct symbol_table *t, const struct symbol *s, const struct symbol *found)
{
	if (!found)
		return true;
	if (t->newest)
		return s->order > found->order;
	return (found->flags & SYMBOL_GUESSED) && !(s->flags & SYMBOL_GUESSED);
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
		if (t->v[at].up == SYMBOL_NONE)
			break;
		if (found && !t->newest && !(found->flags & SYMBOL_GUESSED))
			break;
		at = t->v[at].up;
		for (unsigned i = 0; i < LONGEST_CHAIN && at + 1 < t->n; i++, at++)
			if (t->v[at + 1].start != t->v[at].start)
				break;
	}
	if (found && !found->id)
		shown_name(t, found);
	return found;
}

const struct symbol *symbol_table_find_name(const struct symbol_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(symbol_table_name(t, &t->v[i]), name) == 0)
			return &t->v[i];
	return NULL;
}
