/*
 * A hash map from text to id, and an array from id to text.
 */
#include "symbol/interned_names.h"

#include "base/vec.h"

static uint32_t out_of_memory(struct interned_names *names)
{
	names->out_of_memory = true;
	return 0;
}

/* Names of threads and functions are untrusted. Line breaks and escape sequences are replaced, because
 * they would break the output and the terminal. */
static uint32_t add_plain(struct interned_names *names, struct str text)
{
	scoped(freep) char *plain = str_dup(text);

	if (!plain)
		return out_of_memory(names);
	str_make_printable(plain, text.n);
	return names_add(names, str_n(plain, text.n));
}

uint32_t names_add(struct interned_names *names, struct str text)
{
	const uint64_t *known = map_get(&names->ids, text);
	const char *copy, **at;

	if (known)
		return (uint32_t)*known;
	if (!str_is_printable(text))
		return add_plain(names, text);
	if (names->n >= UINT32_MAX - 1)
		return out_of_memory(names);
	copy = arena_str(&names->text, text);
	at = copy ? vec_add(names) : NULL;
	if (!at)
		return out_of_memory(names);
	if (map_put(&names->ids, str_n(copy, text.n), names->n) < 0) {
		names->n--;
		return out_of_memory(names);
	}
	*at = copy;
	return (uint32_t)names->n;
}

const char *names_get(const struct interned_names *names, uint32_t id)
{
	return id && id <= names->n ? names->v[id - 1] : NULL;
}

void names_done(struct interned_names *names)
{
	arena_done(&names->text);
	map_done(&names->ids);
	vec_done(names);
}
