/*
 * Interned names: equal text has the same id; ids are dense and start at 1. Pointers to the text stay
 * valid until names_done().
 */
#ifndef SYMBOL_INTERNED_NAMES_H
#define SYMBOL_INTERNED_NAMES_H

#include "base/arena.h"
#include "base/map.h"

struct interned_names {
	struct arena text;
	struct map ids;
	const char **v;		/* v[id - 1] */
	size_t n, cap;
	bool out_of_memory;	/* some name could not be added */
};

uint32_t names_add(struct interned_names *names, struct str text);	/* 0 without memory, which is noted */
const char *names_get(const struct interned_names *names, uint32_t id);	/* NULL: no such id */
void names_done(struct interned_names *names);

#endif
