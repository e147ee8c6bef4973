/*
 * The events of a file. The size field of an attr says how many bytes of it are valid (64 to 144 so far; 0
 * means 64, the first version). Bytes that this build does not know are passed on to the caller. Attrs
 * in the other byte order are converted field by field.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <time.h>
#include <inttypes.h>

size_t attrs_size(const uint8_t *attr, size_t max_bytes, bool swap)
{
	uint32_t n;

	if (max_bytes < PERF_ATTR_SIZE_VER0)
		return 0;
	n = load_u32(attr + offsetof(struct perf_event_attr, size), swap);
	if (n == 0)
		n = PERF_ATTR_SIZE_VER0;
	return n < PERF_ATTR_SIZE_VER0 || n > max_bytes || n % 8 ? 0 : n;
}

/* On a machine of the other byte order, bit fields start at the other end of each byte. */
static uint64_t mirror_bytes(uint64_t v)
{
	v = (v & 0xf0f0f0f0f0f0f0f0ULL) >> 4 | (v & 0x0f0f0f0f0f0f0f0fULL) << 4;
	v = (v & 0xccccccccccccccccULL) >> 2 | (v & 0x3333333333333333ULL) << 2;
	return (v & 0xaaaaaaaaaaaaaaaaULL) >> 1 | (v & 0x5555555555555555ULL) << 1;
}

static uint64_t flags_to_host(uint64_t raw)
{
	uint64_t v = mirror_bytes(raw), precise = v & PERF_ATTR_PRECISE_MASK;

	/* precise_ip is the only field of two bits: swap them back. */
	if (precise && precise != PERF_ATTR_PRECISE_MASK)
		v ^= PERF_ATTR_PRECISE_MASK;
	return v;
}

#define SWAP32(field) (field) = __builtin_bswap32(field)
#define SWAP64(field) (field) = __builtin_bswap64(field)

void attr_to_host(struct perf_event_attr *a, const uint8_t *attr, size_t n, bool swap)
{
	memset(a, 0, sizeof(*a));
	memcpy(a, attr, min_of(n, sizeof(*a)));
	a->size = (uint32_t)n;
	if (!swap)
		return;
	SWAP32(a->type);
	SWAP64(a->config);
	SWAP64(a->sample_period);
	SWAP64(a->sample_type);
	SWAP64(a->read_format);
	a->flags = flags_to_host(a->flags);
	SWAP32(a->wakeup_events);
	SWAP32(a->bp_type);
	SWAP64(a->config1);
	SWAP64(a->config2);
	SWAP64(a->branch_sample_type);
	SWAP64(a->sample_regs_user);
	SWAP32(a->sample_stack_user);
	a->clockid = (int32_t)__builtin_bswap32((uint32_t)a->clockid);
	SWAP64(a->sample_regs_intr);
	SWAP32(a->aux_watermark);
	a->sample_max_stack = __builtin_bswap16(a->sample_max_stack);
	SWAP32(a->aux_sample_size);
	a->aux_action = (uint32_t)mirror_bytes(a->aux_action);
	SWAP64(a->sig_data);
	SWAP64(a->config3);
	SWAP64(a->config4);
}

/* The attr in this machine's byte order, followed by the words that this build does not know. */
static void *copy_attr(struct tacho_perfdata *pd, const uint8_t *attr, size_t n)
{
	struct perf_event_attr host;
	uint8_t *copy = arena_alloc(&pd->arena, max_of(n, sizeof(host)));
	bool swap = pd->header.swap;

	if (!copy)
		return NULL;
	attr_to_host(&host, attr, n, swap);
	memcpy(copy, &host, sizeof(host));
	for (size_t at = sizeof(host); at + 8 <= n; at += 8) {
		uint64_t word = load_u64(attr + at, swap);

		memcpy(copy + at, &word, sizeof(word));
	}
	return copy;
}

static int copy_ids(struct tacho_perfdata *pd, struct tacho_file_event *ev, const uint8_t *ids,
		    uint64_t n)
{
	uint64_t *copy = arena_alloc(&pd->arena, n * sizeof(*copy) + 1);

	if (!copy)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		copy[i] = load_u64(ids + 8 * i, pd->header.swap);
		/* If several events have the same id, it belongs to the first one. */
		if (!int_map_find(&pd->ids, copy[i]) && int_map_put(&pd->ids, copy[i], (uint32_t)pd->events.n) < 0)
			return -ENOMEM;
	}
	ev->ids = copy;
	ev->n_ids = n;
	pd->n_ids += n;
	return 0;
}

int attrs_add(struct tacho_perfdata *pd, const uint8_t *attr, size_t n, const uint8_t *ids,
	      uint64_t n_ids)
{
	struct event_row *row;
	struct event_slot *slot;
	char name[80];

	if (pd->events.n >= EVENTS_MAX)
		return -EBADMSG;
	row = arena_alloc(&pd->arena, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->pub.attr = copy_attr(pd, attr, n);
	if (!row->pub.attr)
		return -ENOMEM;
	row->pub.attr_size = n;
	attr_name(row->pub.attr, name, sizeof(name));
	row->name = arena_str(&pd->arena, str_of(name));
	if (tacho_layout_init(&row->pub.layout, row->pub.attr, n) < 0)
		return -EBADMSG;
	if (!row->name || copy_ids(pd, &row->pub, ids, n_ids) < 0 ||
	    record_offsets_add(pd, &row->pub.layout) < 0)
		return -ENOMEM;
	row->pub.name = row->name;
	row->pub.leader = (uint32_t)pd->events.n;
	row->pub.group_size = 1;
	row->pub.scale = 1.0;
	slot = vec_add(&pd->events);
	if (!slot)
		return -ENOMEM;
	slot->row = row;
	pd->has_deferred_chains |= ((const struct perf_event_attr *)row->pub.attr)->flags & PERF_ATTR_DEFER_CALLCHAIN;
	return 0;
}

static int read_entry(struct tacho_perfdata *pd, const struct input_file *f, uint64_t offset,
		      struct tacho_error *e)
{
	size_t max_bytes = pd->header.entry_bytes - 16, n;
	const uint8_t *at = f->map + offset;
	bool swap = pd->header.swap;
	struct section ids = { load_u64(at + max_bytes, swap), load_u64(at + max_bytes + 8, swap) };
	int err;

	n = attrs_size(at, max_bytes, swap);
	if (!n)
		return error_set(e, -EBADMSG, "byte %" PRIu64 ": an attr of %u bytes in an entry for %zu",
				 offset + 4, load_u32(at + 4, swap), max_bytes);
	/* Lists of ids do not overlap, so their total size is limited by that of the file. */
	if (ids.offset > f->size || ids.size > f->size - ids.offset || ids.size % 8 ||
	    pd->n_ids + ids.size / 8 > f->size / 8)
		return error_set(e, -EBADMSG,
				 "byte %" PRIu64 ": the ids (%" PRIu64 " bytes at %" PRIu64
				 ") are not within the file", offset + max_bytes, ids.size, ids.offset);
	err = attrs_add(pd, at, n, f->map + ids.offset, ids.size / 8);
	if (err == -EBADMSG)
		return error_set(e, err, "byte %" PRIu64 ": invalid attr", offset);
	return err < 0 ? error_nomem(e) : 0;
}

int attrs_read(struct tacho_perfdata *pd, const struct input_file *f, struct tacho_error *e)
{
	const struct file_header *h = &pd->header;

	for (uint64_t at = 0; at < h->attrs.size; at += h->entry_bytes) {
		int err = read_entry(pd, f, h->attrs.offset + at, e);

		if (err < 0)
			return err;
	}
	return 0;
}

bool tacho_perfdata_is_monotonic(const struct tacho_perfdata *pd)
{
	struct perf_event_attr attr;

	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);

		memset(&attr, 0, sizeof(attr));
		memcpy(&attr, ev->attr, min_of(ev->attr_size, sizeof(attr)));
		if (!(attr.flags & PERF_ATTR_USE_CLOCKID) || attr.clockid != CLOCK_MONOTONIC)
			return false;
	}
	return tacho_perfdata_n_events(pd) > 0;
}
