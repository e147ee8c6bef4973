/*
 * BPF programs that ran while a file was recorded, as its header lists them. Of each the recorder kept
 * what the kernel tells of it (struct bpf_prog_info) and the arrays that belong to it, one behind the
 * other, with offsets in place of pointers. Names of functions are in type information (BTF), which
 * is a feature of its own.
 */
#include "cli/files/bpf_header.h"

/* Places in struct bpf_prog_info. */
enum {
	INFO_ID = 4, INFO_NAME = 64, INFO_N_SYMBOLS = 104, INFO_N_LENGTHS = 108, INFO_SYMBOLS = 112,
	INFO_LENGTHS = 120, INFO_BTF = 128, INFO_FUNC_BYTES = 132, INFO_FUNCS = 136, INFO_N_FUNCS = 144,
	INFO_N_TAGS = 180, INFO_TAGS = 184,
};
#define TAG_BYTES 8
#define NAME_BYTES 16
#define BTF_TYPE_BYTES 12

/* `n` bytes from `at` on, or a cursor that has failed. */
static struct payload part(const struct payload *whole, uint64_t at, uint64_t n)
{
	uint64_t room = whole->bad ? 0 : (uint64_t)(whole->end - whole->at);

	if (whole->bad || at > room || n > room - at)
		return (struct payload){ .bad = true };
	return (struct payload){ whole->at + at, whole->at + at + n, whole->swap, false };
}

static uint32_t u32_at(const struct payload *whole, uint64_t at)
{
	struct payload p = part(whole, at, 4);

	return payload_u32(&p);
}

static uint64_t u64_at(const struct payload *whole, uint64_t at)
{
	struct payload p = part(whole, at, 8);

	return payload_u64(&p);
}

/* ---- type information ---- */

/* What a type has behind its first twelve bytes. */
static uint64_t btf_more(uint32_t info)
{
	uint32_t kind = info >> 24 & 0x1f, n = info & 0xffff;

	switch (kind) {
	case 1:		/* a number */
	case 14:	/* a variable */
	case 17:	/* a tag of a declaration */
		return 4;
	case 3:		/* an array */
		return 12;
	case 4:		/* a struct, a union, a section, an enum of 64 bits: per member */
	case 5:
	case 15:
	case 19:
		return 12ULL * n;
	case 6:		/* an enum, the parameters of a function */
	case 13:
		return 8ULL * n;
	default:
		return 0;
	}
}

/* The name of a type, or one of no bytes. */
static struct str btf_name(const struct payload *btf, uint32_t type)
{
	uint32_t head = u32_at(btf, 4);
	struct payload types = part(btf, (uint64_t)head + u32_at(btf, 8), u32_at(btf, 12));
	struct payload names = part(btf, (uint64_t)head + u32_at(btf, 16), u32_at(btf, 20));
	uint64_t at = 0;
	const char *name;
	uint32_t n;

	for (uint32_t id = 1; id < type && !types.bad; id++) {
		uint64_t step = BTF_TYPE_BYTES + btf_more(u32_at(&types, at + 4));

		if (part(&types, at, step).bad)
			return (struct str){ "", 0 };
		at += step;
	}
	n = u32_at(&types, at);
	if (!type || names.bad || n >= (uint64_t)(names.end - names.at))
		return (struct str){ "", 0 };
	name = (const char *)names.at + n;
	return str_n(name, strnlen(name, (size_t)(names.end - names.at) - n));
}

/* The type information of that id; failed where the file has none. */
static struct payload btf_of(const struct tacho_perfdata *pd, uint32_t id)
{
	struct payload all = payload_of(pd, TACHO_FEATURE_BPF_BTF);
	uint32_t n = payload_u32(&all);

	for (uint32_t i = 0; i < n && !all.bad; i++) {
		uint32_t this_id = payload_u32(&all), bytes = payload_u32(&all);
		struct payload btf = part(&all, 0, bytes);

		if (this_id == id && !btf.bad)
			return btf;
		payload_bytes(&all, bytes);
	}
	return (struct payload){ .bad = true };
}

void file_bpf_types(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	(void)pd;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = payload_u32(p);

		payload_bytes(p, payload_u32(p));
		if (p->bad)
			return;
		buf_printf(out, "# btf info of id %u\n", id);
	}
}

/* ---- programs ---- */

struct program {
	struct payload info, data, btf;
	struct payload symbols, lengths, tags, funcs;
	uint32_t n, func_bytes;
};

static struct payload array_of(const struct program *g, uint64_t at, uint64_t n, uint64_t bytes)
{
	return part(&g->data, u64_at(&g->info, at), n * bytes);
}

/* False: it tells of no functions, or not the same number everywhere. */
static bool program_open(const struct tacho_perfdata *pd, struct program *g)
{
	uint32_t btf = u32_at(&g->info, INFO_BTF), n = g->n = u32_at(&g->info, INFO_N_SYMBOLS);

	if (!n || n != u32_at(&g->info, INFO_N_TAGS) || n != u32_at(&g->info, INFO_N_LENGTHS))
		return false;
	g->symbols = array_of(g, INFO_SYMBOLS, n, 8);
	g->lengths = array_of(g, INFO_LENGTHS, n, 4);
	g->tags = array_of(g, INFO_TAGS, n, TAG_BYTES);
	g->func_bytes = u32_at(&g->info, INFO_FUNC_BYTES);
	g->funcs = array_of(g, INFO_FUNCS, u32_at(&g->info, INFO_N_FUNCS), g->func_bytes);
	g->btf = btf ? btf_of(pd, btf) : (struct payload){ .bad = true };
	return !g->symbols.bad && !g->lengths.bad && !g->tags.bad;
}

static struct str short_name(const struct program *g, uint32_t i)
{
	struct payload name = part(&g->info, INFO_NAME, NAME_BYTES);

	if (!g->btf.bad)
		return btf_name(&g->btf, u32_at(&g->funcs, (uint64_t)i * g->func_bytes + 4));
	if (g->n > 1)
		return str_of("F");
	return name.bad ? str_of("") : str_n((const char *)name.at, strnlen((const char *)name.at, NAME_BYTES));
}

static void put_function(const struct program *g, uint32_t i, struct buf *out)
{
	struct str name = short_name(g, i);

	buf_puts(out, "bpf_prog_");
	for (size_t k = 0; k < TAG_BYTES; k++)
		buf_printf(out, "%02x", g->tags.at[(size_t)i * TAG_BYTES + k]);
	if (name.n)
		buf_printf(out, "_%.*s", STR(name));
	buf_printf(out, " addr 0x%llx size %u\n", (unsigned long long)u64_at(&g->symbols, 8ULL * i),
		   u32_at(&g->lengths, 4ULL * i));
}

static void put_program(const struct tacho_perfdata *pd, struct program *g, struct buf *out)
{
	uint32_t id = u32_at(&g->info, INFO_ID);

	if (!program_open(pd, g))
		return;
	if (g->n == 1) {
		buf_printf(out, "# bpf_prog_info %u: ", id);
		put_function(g, 0, out);
		return;
	}
	buf_printf(out, "# bpf_prog_info %u:\n", id);
	for (uint32_t i = 0; i < g->n; i++) {
		buf_printf(out, "# \tsub_prog %u: ", i);
		put_function(g, i, out);
	}
}

/* u32 programs; each: u32 bytes of the info, u32 of the arrays, u64 which arrays, then both. */
void file_bpf_programs(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t info = payload_u32(p), data = payload_u32(p);
		struct program g = { 0 };

		payload_u64(p);
		g.info = part(p, 0, info);
		g.data = part(p, info, data);
		payload_bytes(p, info);
		payload_bytes(p, data);
		if (p->bad)
			return;
		put_program(pd, &g, out);
	}
}
