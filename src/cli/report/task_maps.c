/*
 * The ends of all maps divide the address space into ranges. Maps take their ranges, the newest map first, and a range
 * that is taken keeps its owner. `next` leads from each range to the next one that is free, as in a union-find,
 * so each range is visited once.
 */
#include "cli/report/task_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct map_ranges {
	size_t n;			/* of ends; range i is between ends i and i + 1 */
	uint64_t *ends;
	size_t *next;
	const struct task_map **owner;
};

static void map_ranges_done(struct map_ranges *c)
{
	free(c->ends);
	free(c->next);
	free(c->owner);
}

int task_maps_add(struct arena *arena, const struct task_map **head, const struct task_map *map)
{
	struct task_map *m = arena_alloc(arena, sizeof(*m));

	if (!m)
		return -ENOMEM;
	*m = *map;
	m->path = arena_text(arena, str_of(map->path));
	m->older = *head;
	*head = m;
	return m->path ? 0 : -ENOMEM;
}

static int cmp_ends(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static int map_ranges_init(struct map_ranges *c, const struct task_map *head)
{
	size_t n = 0, k = 0;

	for (const struct task_map *m = head; m; m = m->older)
		n += 2;
	c->ends = calloc(n + 1, sizeof(*c->ends));
	c->next = calloc(n + 1, sizeof(*c->next));
	c->owner = calloc(n + 1, sizeof(*c->owner));
	if (!c->ends || !c->next || !c->owner)
		return -ENOMEM;
	for (const struct task_map *m = head; m; m = m->older) {
		c->ends[k++] = m->start;
		c->ends[k++] = m->end;
	}
	if (n)
		qsort(c->ends, n, sizeof(*c->ends), cmp_ends);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || c->ends[i] != c->ends[c->n - 1])
			c->ends[c->n++] = c->ends[i];
	for (size_t i = 0; i <= c->n; i++)
		c->next[i] = i;
	return 0;
}

static size_t range_at(const struct map_ranges *c, uint64_t address)
{
	const uint64_t *at = bsearch(&address, c->ends, c->n, sizeof(*c->ends), cmp_ends);

	return at ? (size_t)(at - c->ends) : c->n;
}

/* The first free range from `at` on. Shortens the path to it. */
static size_t free_range(struct map_ranges *c, size_t at)
{
	size_t found = at;

	while (c->next[found] != found)
		found = c->next[found];
	while (c->next[at] != found) {
		size_t next = c->next[at];

		c->next[at] = found;
		at = next;
	}
	return found;
}

static void take_ranges(struct map_ranges *c, const struct task_map *m)
{
	size_t end = range_at(c, m->end);

	for (size_t at = free_range(c, range_at(c, m->start)); at < end; at = free_range(c, at)) {
		c->owner[at] = m;
		c->next[at] = at + 1;
	}
}

static void put_line(const struct task_map *m, uint64_t start, uint64_t end, unsigned indent,
		     struct buf *out)
{
	buf_pad(out, ' ', indent);
	buf_printf(out, "%" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " %s\n", start, end,
		   m->prot & 1 ? 'r' : '-', m->prot & 2 ? 'w' : '-', m->prot & 4 ? 'x' : '-',
		   m->flags & 1 ? 's' : 'p', m->pgoff + (start - m->start), m->inode, m->path);
}

int task_maps_put(const struct task_map *head, unsigned indent, struct buf *out)
{
	struct map_ranges c = { 0 };
	int err = map_ranges_init(&c, head);

	for (const struct task_map *m = head; err == 0 && m; m = m->older)
		if (m->start < m->end)
			take_ranges(&c, m);
	for (size_t i = 0, last; err == 0 && i < c.n; i = last) {
		last = i + 1;
		while (last < c.n && c.owner[last] == c.owner[i])
			last++;
		if (c.owner[i])
			put_line(c.owner[i], c.ends[i], c.ends[last], indent, out);
	}
	map_ranges_done(&c);
	return err;
}
