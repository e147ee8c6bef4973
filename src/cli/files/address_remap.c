/*
 * Moved mappings of processes and of the kernel. New starts are handed out one after the other, with an unmapped
 * page between two mappings, from a base where programs and kernels are never loaded: no address of the
 * original is a valid address of the copy.
 */
#include "cli/files/address_remap.h"

#include "base/vec.h"

#include <errno.h>

#define PAGE 4096u
#define USER_BASE 0x100000000000ull
#define KERNEL_BASE 0xffff900000100000ull
#define MAX_LENGTH (1ull << 46)		/* larger ranges are placeholders such as "all kernel addresses" */

void remap_init(struct address_remap *m)
{
	*m = (struct address_remap){ .kernel = { .refs = 1, .next = KERNEL_BASE } };
}

static void space_unref(struct moved_space *s)
{
	if (!s || --s->refs)
		return;
	vec_done(&s->ranges);
	free(s);
}

void remap_done(struct address_remap *m)
{
	for (size_t i = 0; i < m->spaces.n; i++)
		space_unref(m->spaces.v[i]);
	vec_done(&m->spaces);
	vec_done(&m->kernel.ranges);
	int_map_done(&m->of_pid);
}

/* The index of the first range that ends after `address`. */
static size_t first_after(const struct moved_space *s, uint64_t address)
{
	size_t low = 0, high = s->ranges.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->ranges.v[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t moved_address(const struct moved_space *s, uint64_t address)
{
	size_t i = first_after(s, address);
	const struct moved_range *r = i < s->ranges.n ? &s->ranges.v[i] : NULL;

	return r && r->start <= address ? r->new_start + (address - r->start) : 0;
}

/* Makes room for a range: shortens, splits or removes those that overlap with it. The caller has reserved space
 * for two more ranges. Returns the index where the new range belongs. */
static size_t cut_out(struct moved_space *s, uint64_t start, uint64_t end)
{
	struct moved_range *v = s->ranges.v, right;
	size_t i = first_after(s, start), last;

	if (i < s->ranges.n && v[i].start < start) {
		right = (struct moved_range){ start, v[i].end, v[i].new_start + (start - v[i].start) };
		v[i].end = start;
		i++;
		memmove(&v[i + 1], &v[i], (s->ranges.n++ - i) * sizeof(*v));
		v[i] = right;
	}
	for (last = i; last < s->ranges.n && v[last].end <= end; last++)
		;
	memmove(&v[i], &v[last], (s->ranges.n - last) * sizeof(*v));
	s->ranges.n -= last - i;
	if (i < s->ranges.n && v[i].start < end) {
		v[i].new_start += end - v[i].start;
		v[i].start = end;
	}
	return i;
}

static int space_add(struct moved_space *s, uint64_t start, uint64_t length, uint64_t *new_start)
{
	size_t at;

	*new_start = 0;
	if (!length || length > MAX_LENGTH || start + length < start ||
	    s->next + length + 2 * PAGE < s->next)
		return 0;
	if (!vec_reserve(&s->ranges, 2))
		return -ENOMEM;
	at = cut_out(s, start, start + length);
	memmove(&s->ranges.v[at + 1], &s->ranges.v[at], (s->ranges.n++ - at) * sizeof(*s->ranges.v));
	*new_start = s->next + start % PAGE;
	s->ranges.v[at] = (struct moved_range){ start, start + length, *new_start };
	s->next = (*new_start + length + 2 * PAGE - 1) / PAGE * PAGE;
	return 0;
}

/* Replaces the space of a process by `s`, which the caller hands over, also on failure. */
static int put_space(struct address_remap *m, uint32_t pid, struct moved_space *s)
{
	struct moved_space **at;
	uint32_t i;
	int err;

	if (int_map_get(&m->of_pid, pid, &i)) {
		space_unref(m->spaces.v[i]);
		m->spaces.v[i] = s;
		return 0;
	}
	at = vec_add(&m->spaces);
	if (!at) {
		space_unref(s);
		return -ENOMEM;
	}
	*at = s;
	err = int_map_put(&m->of_pid, pid, (uint32_t)(m->spaces.n - 1));
	if (err < 0)
		space_unref(m->spaces.v[--m->spaces.n]);
	return err;
}

static struct moved_space *space_of(const struct address_remap *m, uint32_t pid)
{
	uint32_t i;

	return int_map_get(&m->of_pid, pid, &i) ? m->spaces.v[i] : NULL;
}

/* Gives the process a space of its own: an empty one, or a copy of the one it shares. */
static int own_space(struct address_remap *m, uint32_t pid, struct moved_space **out)
{
	const struct moved_space *shared = space_of(m, pid);
	struct moved_space *s;

	if (shared && shared->refs == 1) {
		*out = space_of(m, pid);
		return 0;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct moved_space){ .refs = 1, .next = shared ? shared->next : USER_BASE };
	if (shared && !vec_reserve(&s->ranges, shared->ranges.n)) {
		space_unref(s);
		return -ENOMEM;
	}
	if (shared && shared->ranges.n) {
		memcpy(s->ranges.v, shared->ranges.v, shared->ranges.n * sizeof(*s->ranges.v));
		s->ranges.n = shared->ranges.n;
	}
	*out = s;
	return put_space(m, pid, s);
}

int remap_add(struct address_remap *m, uint32_t pid, uint64_t start, uint64_t length, uint64_t *new_start)
{
	struct moved_space *s;
	int err = own_space(m, pid, &s);

	return err < 0 ? err : space_add(s, start, length, new_start);
}

int remap_add_kernel(struct address_remap *m, uint64_t start, uint64_t length, uint64_t *new_start)
{
	return space_add(&m->kernel, start, length, new_start);
}

int remap_fork(struct address_remap *m, uint32_t parent, uint32_t child)
{
	struct moved_space *s = space_of(m, parent);

	if (parent == child || !s)
		return 0;
	s->refs++;
	return put_space(m, child, s);
}

int remap_exec(struct address_remap *m, uint32_t pid)
{
	struct moved_space *s;

	if (!space_of(m, pid))
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct moved_space){ .refs = 1, .next = USER_BASE };
	return put_space(m, pid, s);
}

uint64_t remap_user(const struct address_remap *m, uint32_t pid, uint64_t address)
{
	const struct moved_space *s = space_of(m, pid);

	return s ? moved_address(s, address) : 0;
}

uint64_t remap_kernel(const struct address_remap *m, uint64_t address)
{
	return moved_address(&m->kernel, address);
}
