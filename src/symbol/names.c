/*
 * A hash from text to id, and an array back.
 */
#include "symbol/names.h"

#include "base/vec.h"

uint32_t names_add(struct names *names, struct str text)
{
	const uint64_t *known = map_get(&names->ids, text);
	const char *copy, **at;

	if (known)
		return (uint32_t)*known;
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
