/*
 * Five megabytes and more, so it is parsed in place: names stay where they are and get a NUL
 * behind them.
 */
#include "symbol/kallsyms.h"

#include <errno.h>

#define LINE_BYTES 40u		/* a little less than most kernels' average */

/* One more than the digit's value; 0 for what is no hexadecimal digit. Nobody guesses right which kind
 * of digit comes next, so it is not asked. */
static const uint8_t digits[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8,
	['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Text, weak, data and zeroed data; the rest (absolute, per-CPU offsets) has no place. */
static bool wanted_type(char type)
{
	switch (type | 0x20) {
	case 't': case 'w': case 'd': case 'b':
		return true;
	default:
		return false;
	}
}

static uint32_t flags_of(char type)
{
	if (type == 'W' || type == 'w')
		return SYMBOL_WEAK;
	return type >= 'a' ? SYMBOL_LOCAL : 0;
}

struct counts {
	size_t all, hidden;
};

static int add_line(struct table *t, char *text, char *at, char *end, struct counts *counts)
{
	uint64_t address = 0;
	unsigned digit;
	uint32_t flags;
	char type, *name, *tab;
	int err;

	for (; at < end && (digit = digits[(unsigned char)*at]); at++)
		address = address << 4 | (digit - 1);
	if (end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return 0;
	type = at[1];
	name = at + 3;
	counts->all++;
	counts->hidden += address == 0;
	if (!wanted_type(type) || *name == '$')
		return 0;
	*end = '\0';
	flags = flags_of(type);
	tab = memchr(name, '\t', (size_t)(end - name));
	if (tab) {
		*tab = '\0';
		if (tab + 1 < end && tab[1] == '[')
			flags |= SYMBOL_MODULE;
	}
	err = table_add(t, address, 0, (uint32_t)(name - text), flags);
	return err;
}

int kallsyms_parse(struct table *t, struct buf *text)
{
	struct counts counts = { 0 };
	char *at = text->bytes, *stop;
	int err;

	t->raw = true;		/* Rust in the kernel stays mangled, as perf shows it */
	t->kallsyms = true;
	if (text->n > KALLSYMS_MAX)
		return -EFBIG;
	err = table_reserve(t, text->n / LINE_BYTES, 0);
	if (err < 0)
		return err;
	for (stop = at ? at + text->n : at; at < stop;) {
		char *end = memchr(at, '\n', (size_t)(stop - at));

		if (!end)
			end = stop;
		err = add_line(t, text->bytes, at, end, &counts);
		if (err < 0)
			return err;
		at = end + 1;
	}
	if (counts.all == 0)
		return -ENODATA;
	/* kernel.kptr_restrict: the addresses are all zero. A few zeros are per-CPU symbols. */
	if (counts.hidden == counts.all)
		return -EACCES;
	buf_done(&t->strings);
	t->strings = *text;
	*text = (struct buf){ 0 };
	return table_finish(t);
}

const char *kallsyms_module(const struct table *t, const struct symbol *s)
{
	const char *name = table_name(t, s);

	return s->flags & SYMBOL_MODULE ? name + strlen(name) + 1 : NULL;
}
