/*
 * The ends of all maps cut the addresses into cells. The newest map paints its cells first, and a
 * cell that is painted stays so: `next` leads from each cell to the first one behind it that is
 * not, so each is passed once.
 */
#include "cli/report/task_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cells {
	size_t n;			/* of ends; cell i lies between ends i and i + 1 */
	uint64_t *ends;
	size_t *next;
	const struct task_map **owner;
};

static void cells_done(struct cells *c)
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
	m->path = arena_str(arena, str_of(map->path));
	m->older = *head;
	*head = m;
	return m->path ? 0 : -ENOMEM;
}

static int cmp_ends(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static int cells_init(struct cells *c, const struct task_map *head)
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

static size_t cell_at(const struct cells *c, uint64_t address)
{
	const uint64_t *at = bsearch(&address, c->ends, c->n, sizeof(*c->ends), cmp_ends);

	return at ? (size_t)(at - c->ends) : c->n;
}

/* The first unpainted cell from `at` on; the way there is made shorter for the next one. */
static size_t unpainted(struct cells *c, size_t at)
{
	size_t found = at;

	while (c->next[found] != found)
		found = c->next[found];
	while (c->next[at] != found) {
		size_t behind = c->next[at];

		c->next[at] = found;
		at = behind;
	}
	return found;
}

static void paint(struct cells *c, const struct task_map *m)
{
	size_t end = cell_at(c, m->end);

	for (size_t at = unpainted(c, cell_at(c, m->start)); at < end; at = unpainted(c, at)) {
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
	struct cells c = { 0 };
	int err = cells_init(&c, head);

	for (const struct task_map *m = head; err == 0 && m; m = m->older)
		if (m->start < m->end)
			paint(&c, m);
	for (size_t i = 0, last; err == 0 && i < c.n; i = last) {
		last = i + 1;
		while (last < c.n && c.owner[last] == c.owner[i])
			last++;
		if (c.owner[i])
			put_line(c.owner[i], c.ends[i], c.ends[last], indent, out);
	}
	cells_done(&c);
	return err;
}
