/*
 * Sets of CPU numbers, stored as bitmaps that grow with the highest member, up to CPUSET_MAX bits.
 */
#include "base/cpuset.h"

#include "base/num.h"

#include <errno.h>

void cpuset_done(struct cpuset *set)
{
	free(set->words);
	*set = (struct cpuset){ 0 };
}

int cpuset_add(struct cpuset *set, int cpu)
{
	size_t word = (size_t)cpu / 64;

	if (cpu < 0 || cpu >= CPUSET_MAX)
		return -ERANGE;
	if (word >= set->n_words) {
		uint64_t *words = reallocarray(set->words, word + 1, sizeof(*words));

		if (!words)
			return -ENOMEM;
		memset(words + set->n_words, 0, (word + 1 - set->n_words) * sizeof(*words));
		set->words = words;
		set->n_words = word + 1;
	}
	set->words[word] |= 1ULL << (cpu % 64);
	return 0;
}

int cpuset_copy(struct cpuset *to, const struct cpuset *from)
{
	uint64_t *words = NULL;

	if (from->n_words) {
		words = malloc(from->n_words * sizeof(*words));
		if (!words)
			return -ENOMEM;
		memcpy(words, from->words, from->n_words * sizeof(*words));
	}
	cpuset_done(to);
	*to = (struct cpuset){ words, from->n_words };
	return 0;
}

static int add_range(struct cpuset *set, struct str part)
{
	ptrdiff_t dash = str_find(part, '-');
	struct str low = dash < 0 ? part : str_n(part.s, (size_t)dash);
	uint32_t from, to;
	int err = num_u32(low, &from);

	if (err)
		return err;
	to = from;
	if (dash >= 0)
		err = num_u32(str_n(part.s + dash + 1, part.n - (size_t)dash - 1), &to);
	if (err)
		return err;
	if (to < from)
		return -EINVAL;
	if (to >= CPUSET_MAX)
		return -ERANGE;
	for (uint32_t cpu = from; !err && cpu <= to; cpu++)
		err = cpuset_add(set, (int)cpu);
	return err;
}

int cpuset_parse(struct cpuset *set, struct str text)
{
	struct str rest = str_trim(text), part;
	int err = 0;

	if (!rest.n)
		return 0;
	while (!err && str_cut(&rest, ',', &part))
		err = add_range(set, str_trim(part));
	return err;
}

bool cpuset_has(const struct cpuset *set, int cpu)
{
	size_t word = (size_t)cpu / 64;

	return cpu >= 0 && word < set->n_words && (set->words[word] >> (cpu % 64) & 1);
}

int cpuset_next(const struct cpuset *set, int after)
{
	size_t at = (size_t)(after + 1);

	for (size_t word = at / 64; word < set->n_words; word++, at = word * 64) {
		uint64_t bits = set->words[word] >> (at % 64);

		if (bits)
			return (int)(at + (size_t)__builtin_ctzll(bits));
	}
	return -1;
}

unsigned cpuset_count(const struct cpuset *set)
{
	unsigned n = 0;

	for (size_t i = 0; i < set->n_words; i++)
		n += (unsigned)__builtin_popcountll(set->words[i]);
	return n;
}

void cpuset_print(const struct cpuset *set, struct buf *out)
{
	const char *comma = "";
	int last;

	for (int cpu = cpuset_next(set, -1); cpu >= 0; cpu = cpuset_next(set, last)) {
		last = cpu;
		while (cpuset_has(set, last + 1))
			last++;
		buf_puts(out, comma);
		buf_u64(out, (uint64_t)cpu);
		if (last > cpu) {
			buf_putc(out, '-');
			buf_u64(out, (uint64_t)last);
		}
		comma = ",";
	}
}
