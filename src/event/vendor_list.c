/*
 * Builds the memory block of a list and finds names in it. The block is sorted by name, and names are
 * compared without regard to case.
 */
#include "event/vendor.h"

#include <errno.h>
#include <strings.h>

#include "base/vec.h"

#define MAGIC "tachoEvL"
#define FORM 3u

uint32_t vendor_put(struct vendor_builder *b, struct str s)
{
	size_t at;

	if (!b->pool.n)
		buf_putc(&b->pool, '\0');
	at = b->pool.n;
	if (!s.n || at + s.n + 1 > UINT32_MAX)
		return 0;
	/* Cut at a NUL and replace control characters, because strings are printed later. */
	buf_str(&b->pool, str_n(s.s, strnlen(s.s, s.n)));
	buf_putc(&b->pool, '\0');
	if (buf_failed(&b->pool))
		return 0;
	str_make_printable(b->pool.bytes + at, b->pool.n - 1 - at);
	return (uint32_t)at;
}

struct vendor_event *vendor_add(struct vendor_builder *b, struct str name)
{
	uint32_t at = vendor_put(b, name);
	struct vendor_event *ev;

	if (b->events.n >= VENDOR_EVENTS_MAX || buf_failed(&b->pool))
		return NULL;
	ev = vec_add(&b->events);
	if (!ev)
		return NULL;
	ev->name = at;
	ev->scale = 1;
	return ev;
}

void vendor_builder_done(struct vendor_builder *b)
{
	vec_done(&b->events);
	buf_done(&b->pool);
}

static int by_name(const void *a, const void *b, void *pool)
{
	const struct vendor_event *x = a, *y = b;
	int order = strcasecmp((const char *)pool + x->name, (const char *)pool + y->name);

	return order ? order : x->name < y->name ? -1 : x->name > y->name;
}

static bool is_same_event(const char *pool, const struct vendor_event *a, const struct vendor_event *b)
{
	return !strcasecmp(pool + a->name, pool + b->name) && !strcmp(pool + a->pmu, pool + b->pmu) &&
	       !strcmp(pool + a->terms, pool + b->terms) &&
	       !strcmp(pool + a->refused, pool + b->refused);
}

/* Drops duplicates. They have the same name, so sorting has put them near each other. */
static size_t drop_repeated(const char *pool, struct vendor_event *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool repeated = false;

		for (size_t k = kept; k-- > 0 && !repeated && kept - k <= 8 &&
				      !strcasecmp(pool + v[k].name, pool + v[i].name);)
			repeated = is_same_event(pool, &v[k], &v[i]);
		if (!repeated)
			v[kept++] = v[i];
	}
	return kept;
}

int vendor_build(struct vendor_builder *b, struct vendor_list *out)
{
	struct vendor_header head = { .magic = MAGIC, .form = FORM, .midr = b->midr };
	size_t events_bytes;
	char *block;

	vendor_put(b, STR_LIT(""));
	if (buf_failed(&b->pool))
		return -ENOMEM;
	if (b->events.n) {
		qsort_r(b->events.v, b->events.n, sizeof(*b->events.v), by_name, b->pool.bytes);
		b->events.n = drop_repeated(b->pool.bytes, b->events.v, b->events.n);
	}
	head.n = (uint32_t)b->events.n;
	head.pool_n = (uint32_t)b->pool.n;
	events_bytes = b->events.n * sizeof(*b->events.v);
	block = malloc(sizeof(head) + events_bytes + b->pool.n);
	if (!block)
		return -ENOMEM;
	memcpy(block, &head, sizeof(head));
	if (events_bytes)
		memcpy(block + sizeof(head), b->events.v, events_bytes);
	memcpy(block + sizeof(head) + events_bytes, b->pool.bytes, b->pool.n);
	vendor_block_use(out, block);
	vendor_builder_done(b);
	return 0;
}

static bool event_ok(const struct vendor_event *ev, uint32_t pool_n)
{
	const uint32_t at[] = { ev->name, ev->desc, ev->more, ev->topic, ev->pmu, ev->terms,
				ev->refused, ev->errata, ev->counters, ev->unit, ev->filter, ev->standard };

	for (size_t i = 0; i < countof(at); i++)
		if (at[i] >= pool_n)
			return false;
	return true;
}

bool vendor_block_ok(const void *block, size_t n)
{
	const struct vendor_header *head = block;
	const struct vendor_event *v;
	size_t rest;

	if (n < sizeof(*head) || memcmp(head->magic, MAGIC, sizeof(head->magic)) != 0 ||
	    head->form != FORM || head->n > VENDOR_EVENTS_MAX || !head->pool_n)
		return false;
	rest = n - sizeof(*head);
	if (rest < head->n * sizeof(*v) || rest - head->n * sizeof(*v) != head->pool_n ||
	    ((const char *)block)[n - 1])
		return false;
	v = (const struct vendor_event *)(head + 1);
	for (size_t i = 0; i < head->n; i++)
		if (!event_ok(&v[i], head->pool_n))
			return false;
	return true;
}

void vendor_block_use(struct vendor_list *l, void *block)
{
	free(l->block);
	l->block = block;
	l->head = block;
	l->v = (const struct vendor_event *)(l->head + 1);
	l->pool = (const char *)(l->v + l->head->n);
}

void vendor_list_free(struct vendor_list *l)
{
	if (!l)
		return;
	free(l->path);
	free(l->role);
	free(l->block);
	free(l);
}

static int compare_name(const struct vendor_list *l, const struct vendor_event *ev, struct str name)
{
	const char *own = vendor_str(l, ev->name);
	int order = strncasecmp(own, name.s, name.n);

	return order ? order : own[name.n] ? 1 : 0;
}

const struct vendor_event *vendor_find(const struct vendor_list *l, struct str name, size_t *n)
{
	size_t low = 0, high = l->head->n, first;

	*n = 0;
	if (!name.n)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_name(l, &l->v[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (first = low; low < l->head->n && compare_name(l, &l->v[low], name) == 0; low++)
		++*n;
	return *n ? &l->v[first] : NULL;
}
