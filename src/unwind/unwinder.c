/*
 * Implements <tacho/unwind.h>. Most addresses of a recording occur again and again, so the result of looking up an
 * address is cached under the version of the process's maps.
 */
#include <tacho/unwind.h>

#include "symbol/address_lookup.h"
#include "record/callchain_markers.h"
#include "record/perf_abi.h"
#include "record/replace_chain.h"
#include "unwind/object_tables.h"
#include "unwind/walk.h"

#include "base/error.h"
#include "base/sized_opts.h"

#include <errno.h>

#define MAX_WORDS 8192u			/* a record is smaller than 64 KiB */
#define MAX_USER_FRAMES 4096u
#define RULE_CACHE_SLOTS 8192u		/* a power of two */
#define ABI_64 2u
#define MISC_CPUMODE 7u

struct cached_rule {
	uint64_t version, address;	/* version 0: free */
	struct unwind_code code;
};

struct tacho_unwinder {
	struct tacho_symbols *symbols;
	const struct unwind_arch *arch;	/* NULL: not supported */
	struct unwind_objects *objects;	/* owned by `symbols` */
	struct address_lookup lookup;	/* of the current sample's process */
	bool no_memory;
	struct tacho_unwind_counts counts;
	struct buf rewritten;		/* the last record that was rewritten */
	uint32_t generation;		/* of `objects`, when the cache was empty */
	struct cached_rule cache[RULE_CACHE_SLOTS];
	uint64_t words[MAX_WORDS];
};

static uint16_t host_machine(void)
{
	scoped(elf_close) struct elf self = { .fd = -1 };

	return elf_open(&self, "/proc/self/exe") == 0 ? self.machine : 0;
}

bool tacho_unwinder_supports(uint16_t machine)
{
	return unwind_arch_of(machine ? machine : host_machine());
}

int tacho_unwinder_new(struct tacho_unwinder **out, struct tacho_symbols *symbols, uint16_t machine,
		       struct tacho_error *e)
{
	struct tacho_unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return error_nomem(e);
	u->objects = unwind_objects_of(symbols);
	if (!u->objects) {
		free(u);
		return error_nomem(e);
	}
	u->symbols = symbols;
	u->generation = u->objects->generation;
	u->arch = unwind_arch_of(machine ? machine : host_machine());
	*out = u;
	return 0;
}

void tacho_unwinder_free(struct tacho_unwinder *u)
{
	if (!u)
		return;
	buf_done(&u->rewritten);
	free(u);
}

int tacho_unwinder_counts(const struct tacho_unwinder *u, struct tacho_unwind_counts *out)
{
	size_t size = out->size;

	if (size < sizeof(size) || size > sizeof(*out))
		return -EINVAL;
	memcpy(out, &u->counts, size);
	out->size = size;
	return 0;
}

static struct unwind_code look_up(struct tacho_unwinder *u, uint64_t address)
{
	struct interval in = address_lookup_find(&u->lookup, address);
	const struct unwind_object *o;

	if (!in.object)
		return (struct unwind_code){ 0 };
	o = unwind_object_get(u->objects, u->symbols, in.object);
	u->no_memory |= !o;
	return (struct unwind_code){ o ? unwind_object_rule(o, address - in.bias) : NULL, true };
}

static struct unwind_code look_up_cached(void *arg, uint64_t address)
{
	struct tacho_unwinder *u = arg;
	uint64_t version = u->lookup.version;
	struct cached_rule *slot;

	slot = &u->cache[((address ^ version << 40) * 0x9e3779b97f4a7c15ull) >> 32 & (RULE_CACHE_SLOTS - 1)];
	if (slot->version == version && slot->address == address && version)
		return slot->code;
	if (!address_lookup_is_stable(&u->lookup))
		return look_up(u, address);
	*slot = (struct cached_rule){ version, address, look_up(u, address) };
	return slot->code;
}

/* The value of a register by its number in perf's mask. */
static bool sampled_register(const struct tacho_regs *r, unsigned number, uint64_t *out)
{
	uint64_t bit = 1ull << number;
	size_t index = (size_t)__builtin_popcountll(r->mask & (bit - 1));

	if (!(r->mask & bit) || index >= r->values.n)
		return false;
	*out = r->values.v[index];
	return true;
}

/* False if a register that is always needed is missing. */
static bool stack_init(struct unwind_stack *s, const struct unwind_arch *arch, const struct tacho_sample *sample)
{
	*s = (struct unwind_stack){ .arch = arch, .bytes = sample->stack,
				    .n = (size_t)min_of(sample->n_stack, sample->n_stack_used) };
	for (unsigned i = 0; i < arch->n_regs; i++)
		if (sampled_register(&sample->regs_user, arch->perf_number[i], &s->regs[i]))
			s->known |= 1ull << i;
	s->start = s->regs[arch->sp];
	return sampled_register(&sample->regs_user, arch->perf_ip, &s->ip) && s->known >> arch->sp & 1;
}

static bool has_user_chain(const struct tacho_words *chain)
{
	for (size_t i = 0; i + 1 < chain->n; i++)
		if (chain->v[i] == CONTEXT_USER)
			return true;
	return false;
}

static void count(struct tacho_unwind_counts *c, enum unwind_end end, size_t frames)
{
	c->stacks++;
	c->frames += frames;
	c->whole += end == UNWIND_END_OUTERMOST;
	c->truncated += end == UNWIND_END_TRUNCATED;
	c->no_rule += end == UNWIND_END_NO_RULE;
	c->irregular += end == UNWIND_END_IRREGULAR;
	c->invalid += end == UNWIND_END_INVALID;
}

int tacho_unwinder_unwind(struct tacho_unwinder *u, const struct tacho_sample *sample, struct tacho_words *chain)
{
	struct unwind_stack s;
	size_t n = min_of(sample->chain.n, (size_t)MAX_WORDS / 2), frames = 0;
	enum unwind_end end;

	if (!u->arch || !sample->n_stack || !sample->stack || sample->regs_user.abi != ABI_64 ||
	    has_user_chain(&sample->chain) || !stack_init(&s, u->arch, sample))
		return 0;
	if (symbols_lookup_begin(u->symbols, sample->pid, TACHO_SPACE_USER, &u->lookup) < 0)
		return -ENOMEM;
	if (u->generation != u->objects->generation) {
		u->generation = u->objects->generation;
		memset(u->cache, 0, sizeof(u->cache));
	}
	if (n)
		memcpy(u->words, sample->chain.v, n * sizeof(*u->words));
	u->words[n++] = CONTEXT_USER;
	end = unwind_walk(&s, look_up_cached, u, u->words + n, MAX_USER_FRAMES - 1, &frames);
	if (u->no_memory)
		return -ENOMEM;
	/* A task in execve() has no stack any more: a larger copy would not help. */
	if (end == UNWIND_END_TRUNCATED && sample->n_stack_used < sample->n_stack)
		end = UNWIND_END_INVALID;
	count(&u->counts, end, frames);
	*chain = (struct tacho_words){ u->words, n + frames };
	return 1;
}

int tacho_unwinder_rewrite(struct tacho_unwinder *u, const struct tacho_record *rec, const struct tacho_sample *sample,
			   const struct tacho_layout *layout, bool keep_regs, struct tacho_record *out)
{
	uint64_t leaf[] = { CONTEXT_USER, sample->ip };
	struct tacho_words chain = sample->chain;
	int err = tacho_unwinder_unwind(u, sample, &chain);

	/* A program of 32 bits: its chain is the sampled address alone. */
	if (err == 0 && !chain.n && (rec->misc & MISC_CPUMODE) == TACHO_SPACE_USER)
		chain = (struct tacho_words){ leaf, countof(leaf) };
	buf_clear(&u->rewritten);
	if (err >= 0)
		err = record_replace_chain(rec, sample, layout, chain, keep_regs, &u->rewritten);
	if (err < 0)
		return err;
	*out = *rec;
	out->bytes = (const uint8_t *)u->rewritten.bytes;
	out->size = (uint16_t)u->rewritten.n;
	return 0;
}

int tacho_unwinder_rewrite_attr(void *attr, size_t size, bool keep_regs)
{
	struct perf_event_attr changed = { 0 };
	size_t n = min_of(size, sizeof(changed));

	if (size < PERF_ATTR_SIZE_VER0)
		return -EINVAL;
	memcpy(&changed, attr, n);
	record_replace_chain_attr(&changed, keep_regs);
	memcpy(attr, &changed, n);
	return 0;
}
