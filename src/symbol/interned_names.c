/*
 * A hash from text to id, and an array back.
 */
#include "symbol/interned_names.h"

#include "base/vec.h"

/* A thread may call itself anything, and so may a compiler its functions: a line break or an escape
 * sequence in a name would break the lines, and the terminals, of those who print it. */
static uint32_t add_plain(struct names *names, struct str text)
{
	scoped(freep) char *plain = str_dup(text);

	if (!plain)
		return 0;
	str_make_printable(plain, text.n);
	return names_add(names, str_n(plain, text.n));
}

uint32_t names_add(struct names *names, struct str text)
{
	const uint64_t *known = map_get(&names->ids, text);
	const char *copy, **at;

	if (known)
		return (uint32_t)*known;
	if (!str_is_printable(text))
		return add_plain(names, text);
	if (names->n >= UINT32_MAX - 1)
		return 0;
	copy = arena_str(&names->text, text);
	at = copy ? vec_add(names) : NULL;
	if (!at)
		return 0;
	if (map_put(&names->ids, str_n(copy, text.n), names->n) < 0) {
		names->n--;
		return 0;
	}
	*at = copy;
	return (uint32_t)names->n;
}

const char *names_get(const struct names *names, uint32_t id)
{
	return id && id <= names->n ? names->v[id - 1] : NULL;
}

void names_done(struct names *names)
{
	arena_done(&names->text);
	map_done(&names->ids);
	vec_done(names);
}
