/*
 * The list has more than five megabytes, so it is parsed in place: a NUL is written after each name.
 */
#include "symbol/kallsyms.h"

#include "base/num.h"

#include <errno.h>

#define LINE_BYTES 40u		/* slightly below the average line length of most kernels */

/* Text, weak, data and bss; absolute symbols and per-CPU offsets are not addresses. */
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

struct kallsyms_reader {
	char *text;
	const char *modules;		/* position of the first tab: modules are listed last */
	size_t all, hidden;		/* number of lines; of lines with address 0 */
};

static int add_line(struct symbol_table *t, struct kallsyms_reader *r, char *at, char *end)
{
	uint64_t address = 0;
	unsigned digit;
	uint32_t flags;
	char type, *name, *tab;
	int err;

	for (; at < end && (digit = num_hex_digit_plus_1[(unsigned char)*at]); at++)
		address = address << 4 | (digit - 1);
	if (end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return 0;
	type = at[1];
	name = at + 3;
	r->all++;
	r->hidden += address == 0;
	if (!wanted_type(type) || *name == '$')
		return 0;
	*end = '\0';
	flags = flags_of(type);
	tab = end > r->modules ? memchr(name, '\t', (size_t)(end - name)) : NULL;
	if (tab) {
		*tab = '\0';
		if (tab + 1 < end && tab[1] == '[')
			flags |= SYMBOL_MODULE;
	}
	err = symbol_table_add(t, address, 0, (uint32_t)(name - r->text), flags);
	return err;
}

void kallsyms_rules(struct symbol_table *t)
{
	t->raw = true;		/* perf shows Rust symbols of the kernel mangled */
	t->kallsyms = true;
}

int kallsyms_parse(struct symbol_table *t, struct buf *text)
{
	struct kallsyms_reader r = { .text = text->bytes };
	char *at = text->bytes, *stop = at ? at + text->n : at;
	int err;

	kallsyms_rules(t);
	if (text->n > KALLSYMS_MAX)
		return -EFBIG;
	err = symbol_table_reserve(t, text->n / LINE_BYTES, 0);
	if (err < 0)
		return err;
	r.modules = at ? memchr(at, '\t', text->n) : NULL;
	if (!r.modules)
		r.modules = stop;
	while (at < stop) {
		char *end = memchr(at, '\n', (size_t)(stop - at));

		if (!end)
			end = stop;
		err = add_line(t, &r, at, end);
		if (err < 0)
			return err;
		at = end + 1;
	}
	if (r.all == 0)
		return -ENODATA;
	/* kernel.kptr_restrict: the addresses are all zero. A few zeros are per-CPU symbols. */
	if (r.hidden == r.all)
		return -EACCES;
	buf_done(&t->strings);
	t->strings = *text;
	*text = (struct buf){ 0 };
	return symbol_table_finish(t);
}

const char *kallsyms_module(const struct symbol_table *t, const struct symbol *s)
{
	const char *name = symbol_table_name(t, s);

	/* A table from the cache has no modules. */
	return s->flags & SYMBOL_MODULE && !t->mapped ? name + strlen(name) + 1 : NULL;
}
