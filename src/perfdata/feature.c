/*
 * Features: one payload per bit of the bitmap in the header, listed as (offset, size) directly after the data,
 * lowest bit first. A killed tacho recorder may have left only the list before the data. Payloads are returned
 * as they are in the file; only strings and the descriptions of events and groups are decoded here. A section
 * that is not within the file is ignored, which tacho_perfdata_next() reports after the last record.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <inttypes.h>

static bool is_string(unsigned f)
{
	return (f >= TACHO_FEATURE_HOSTNAME && f <= TACHO_FEATURE_ARCH) ||
	       f == TACHO_FEATURE_CPUDESC || f == TACHO_FEATURE_CPUID;
}

/* u32 length, then the text, padded with zeros to that length. */
static struct str take_string(struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	const char *s = cursor_bytes(c, n);

	return s ? str_n(s, strnlen(s, n)) : (struct str){ 0 };
}

int feature_set(struct tacho_perfdata *pd, unsigned f, const uint8_t *at, size_t n)
{
	const uint8_t *map = pd->sources.n ? pd->sources.v[0].src->file.map : NULL;
	struct feature_section *slot;

	if (f >= TACHO_FEATURE_MAX)
		return 0;
	slot = &pd->features[f];
	if (!map || at < map || at >= map + pd->sources.v[0].src->file.size) {
		uint8_t *copy = arena_alloc(&pd->arena, n + 1);

		if (!copy)
			return -ENOMEM;
		if (n)
			memcpy(copy, at, n);
		at = copy;
	}
	*slot = (struct feature_section){ .at = at, .n = n, .present = true };
	if (is_string(f)) {
		struct cursor c = cursor_over(at, n, pd->header.swap);
		struct str s = take_string(&c);

		if (!c.bad)
			slot->text = arena_text(&pd->arena, s);
		if (!c.bad && !slot->text)
			return -ENOMEM;
	}
	return 0;
}

static unsigned bits_set(const uint64_t *bits)
{
	unsigned n = 0;

	for (int i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(bits[i]);
	return n;
}

/* Warns if the file ends with the mark of an unfinished recording. It is after the last payload, but not
 * necessarily at the end of the file: a killed recorder may leave preallocated blocks. */
static void check_unfinished(struct tacho_perfdata *pd, const struct input_file *f, uint64_t end)
{
	if (f->size - end >= UNFINISHED_BYTES && memcmp(f->map + end, UNFINISHED, UNFINISHED_BYTES) == 0)
		add_warning(pd, "the recorder was killed: the file does not have the data of its last moments");
}

/* Reads the sections in the list at `at`; sets *end to the end of the last one. */
static int read_feature_list(struct tacho_perfdata *pd, const struct input_file *f, const uint64_t *bits,
		     uint64_t at, uint64_t *end)
{
	for (unsigned bit = 0; bit < TACHO_FEATURE_MAX; bit++) {
		struct section s;

		if (!(bits[bit / 64] >> bit % 64 & 1))
			continue;
		s.offset = load_u64(f->map + at, pd->header.swap);
		s.size = load_u64(f->map + at + 8, pd->header.swap);
		if (s.offset > f->size || s.size > f->size - s.offset)
			add_damage(pd, "byte %" PRIu64 ": feature %u (%" PRIu64 " bytes at %" PRIu64
				    ") is not within the file", at, bit, s.size, s.offset);
		else if (feature_set(pd, bit, f->map + s.offset, s.size) < 0)
			return -ENOMEM;
		else
			pd->features[bit].offset = s.offset;
		if (s.offset <= f->size && s.size <= f->size - s.offset)
			*end = max_of(*end, s.offset + s.size);
		at += 16;
	}
	return 0;
}

int features_read(struct tacho_perfdata *pd, const struct input_file *f)
{
	const struct file_header *h = &pd->header;
	uint64_t at = h->data.offset + h->data.size, end;
	unsigned n = bits_set(h->features);
	int err;

	if (!n)
		return 0;
	if (at > f->size || f->size - at < 16ULL * n) {
		add_damage(pd, "byte %" PRIu64 ": the file ends before its list of features", at);
		return 0;
	}
	end = at + 16ULL * n;
	err = read_feature_list(pd, f, h->features, at, &end);
	if (err == 0)
		check_unfinished(pd, f, end);
	return err;
}

bool features_has_front_list(const struct file_header *h, const struct input_file *f)
{
	uint64_t at = h->data.offset;

	return at <= f->size && at >= FRONT_LIST_BYTES + 4 * sizeof(uint64_t) &&
	       memcmp(f->map + at - FRONT_LIST_BYTES, FRONT_LIST, FRONT_LIST_BYTES) == 0;
}

int features_read_front(struct tacho_perfdata *pd, const struct input_file *f)
{
	const struct file_header *h = &pd->header;
	uint64_t bits[4], at = h->data.offset, end = 0;

	if (!features_has_front_list(h, f))
		return 0;
	at -= FRONT_LIST_BYTES + sizeof(bits);
	for (int i = 0; i < 4; i++)
		bits[i] = load_u64(f->map + at + 8 * i, h->swap);
	if (at < 16ULL * bits_set(bits))
		return 0;
	return read_feature_list(pd, f, bits, at - 16ULL * bits_set(bits), &end);
}

static int rename_event(struct tacho_perfdata *pd, struct event_row *row, struct str name)
{
	char *copy;

	if (!name.n || row->named)
		return 0;
	copy = arena_text(&pd->arena, name);
	if (!copy)
		return -ENOMEM;
	row->name = copy;
	row->pub.name = copy;
	row->named = true;
	return 0;
}

/* u32 events, u32 attr size; each: attr, u32 number of ids, name, ids. Events are matched by id, or else by
 * their position. */
static int read_event_desc(struct tacho_perfdata *pd)
{
	const struct feature_section *f = &pd->features[TACHO_FEATURE_EVENT_DESC];
	struct cursor c = cursor_over(f->at, f->n, pd->header.swap);
	uint32_t n = cursor_u32(&c), attr_bytes = cursor_u32(&c);

	for (uint32_t i = 0; i < n && !c.bad; i++) {
		const void *attr = cursor_bytes(&c, attr_bytes);
		uint32_t n_ids = cursor_u32(&c);
		struct str name = take_string(&c);
		const uint8_t *ids = cursor_u64s(&c, n_ids);
		int event = n_ids && ids ? event_of_id(pd, load_u64(ids, c.swap)) : -1;

		if (event < 0 && i < pd->events.n)
			event = (int)i;
		if (c.bad || !attr || event < 0)
			continue;
		if (rename_event(pd, pd->events.v[event].row, name) < 0)
			return -ENOMEM;
	}
	if (c.bad)
		add_damage(pd, "byte %" PRIu64 ": the list of event names (feature %d) is damaged",
			    f->offset, TACHO_FEATURE_EVENT_DESC);
	return 0;
}

/* u32 groups; each: name, u32 leader, u32 members (including the leader). */
static void read_group_desc(struct tacho_perfdata *pd)
{
	const struct feature_section *f = &pd->features[TACHO_FEATURE_GROUP_DESC];
	struct cursor c = cursor_over(f->at, f->n, pd->header.swap);
	uint32_t n = cursor_u32(&c);
	size_t left = pd->events.n;		/* events not in a group yet: groups do not overlap */

	for (uint32_t i = 0; i < n && !c.bad; i++) {
		struct str name = take_string(&c);
		uint32_t leader = cursor_u32(&c), members = cursor_u32(&c);

		if (c.bad || !name.s || leader >= pd->events.n ||
		    members > pd->events.n - leader || members > left)
			continue;
		left -= members;
		for (uint32_t k = leader; k < leader + members; k++) {
			pd->events.v[k].row->pub.leader = leader;
			pd->events.v[k].row->pub.group_size = members;
		}
	}
}

/* Converts the machine name of uname() to an ELF machine number, which selects register names. */
static uint16_t machine_of(const char *arch)
{
	static const struct { const char *prefix; uint16_t machine; } names[] = {
		{ "x86_64", 62 }, { "i3", 3 }, { "i4", 3 }, { "i5", 3 }, { "i6", 3 }, { "x86", 62 },
		{ "aarch64", 183 }, { "arm64", 183 }, { "arm", 40 }, { "ppc64", 21 }, { "powerpc", 21 },
		{ "s390", 22 }, { "riscv", 243 }, { "loongarch", 258 }, { "mips", 8 }, { "csky", 252 },
	};

	for (size_t i = 0; arch && i < countof(names); i++)
		if (str_starts(str_of(arch), names[i].prefix))
			return names[i].machine;
	return 0;
}

int features_name_events(struct tacho_perfdata *pd)
{
	uint16_t machine = machine_of(pd->features[TACHO_FEATURE_ARCH].text);

	for (size_t i = 0; machine && i < pd->events.n; i++)
		pd->events.v[i].row->pub.layout.machine = machine;
	if (pd->features[TACHO_FEATURE_GROUP_DESC].present)
		read_group_desc(pd);
	return pd->features[TACHO_FEATURE_EVENT_DESC].present ? read_event_desc(pd) : 0;
}

const void *tacho_perfdata_feature(const struct tacho_perfdata *pd, enum tacho_feature f, size_t *n)
{
	const struct feature_section *slot = (unsigned)f < TACHO_FEATURE_MAX ? &pd->features[f] : NULL;

	if (!slot || !slot->present)
		return NULL;
	if (n)
		*n = slot->n;
	return slot->at;
}

const char *tacho_perfdata_string(const struct tacho_perfdata *pd, enum tacho_feature f)
{
	return (unsigned)f < TACHO_FEATURE_MAX ? pd->features[f].text : NULL;
}
