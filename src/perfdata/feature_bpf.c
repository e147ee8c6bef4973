/*
 * The BPF programs that ran during a recording. For each program, the recorder stores struct bpf_prog_info of the
 * kernel and the arrays that it refers to, one after the other, with offsets in place of the pointers. Names of
 * functions are in the type information (BTF), which is a separate feature.
 */
#include "perfdata/feature_decode.h"

#include <errno.h>

/* Offsets in struct bpf_prog_info. */
enum {
	INFO_ID = 4, INFO_NAME = 64, INFO_N_SYMBOLS = 104, INFO_N_LENGTHS = 108, INFO_SYMBOLS = 112,
	INFO_LENGTHS = 120, INFO_BTF = 128, INFO_FUNC_BYTES = 132, INFO_FUNCS = 136, INFO_N_FUNCS = 144,
	INFO_N_TAGS = 180, INFO_TAGS = 184,
};
#define TAG_BYTES 8u
#define NAME_BYTES 16u
#define BTF_TYPE_BYTES 12u


/* `n` bytes from offset `at` on; at == NULL if they are not within `whole`. */
static struct tacho_bytes part(const struct tacho_bytes *whole, uint64_t at, uint64_t n)
{
	if (!whole->at || at > whole->n || n > whole->n - at)
		return (struct tacho_bytes){ 0 };
	return (struct tacho_bytes){ whole->at + at, (size_t)n, whole->swapped };
}

/* The number at offset `at`; 0 if it is not within `whole`. */
static uint32_t u32_at(const struct tacho_bytes *whole, uint64_t at)
{
	struct tacho_bytes b = part(whole, at, 4);

	return b.at ? load_u32(b.at, b.swapped) : 0;
}

static uint64_t u64_at(const struct tacho_bytes *whole, uint64_t at)
{
	struct tacho_bytes b = part(whole, at, 8);

	return b.at ? load_u64(b.at, b.swapped) : 0;
}

static struct tacho_bytes take_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *at = cursor_bytes(c, n);

	return at ? (struct tacho_bytes){ at, (size_t)n, c->swap } : (struct tacho_bytes){ 0 };
}

/* ---- type information ---- */

/* The number of bytes that follow the twelve bytes of struct btf_type. */
static uint64_t btf_extra_bytes(uint32_t info)
{
	uint32_t kind = info >> 24 & 0x1f, n = info & 0xffff;

	switch (kind) {
	case 1:		/* BTF_KIND_INT */
	case 14:	/* BTF_KIND_VAR */
	case 17:	/* BTF_KIND_DECL_TAG */
		return 4;
	case 3:		/* BTF_KIND_ARRAY */
		return 12;
	case 4:		/* BTF_KIND_STRUCT, UNION, DATASEC, ENUM64: per member */
	case 5:
	case 15:
	case 19:
		return 12ULL * n;
	case 6:		/* BTF_KIND_ENUM, FUNC_PROTO */
	case 13:
		return 8ULL * n;
	default:
		return 0;
	}
}

/* The name of a type, or an empty text. */
static struct tacho_text btf_name(const struct tacho_bytes *btf, uint32_t type)
{
	uint32_t head = u32_at(btf, 4), name_at;
	struct tacho_bytes types = part(btf, (uint64_t)head + u32_at(btf, 8), u32_at(btf, 12));
	struct tacho_bytes names = part(btf, (uint64_t)head + u32_at(btf, 16), u32_at(btf, 20));
	const char *name;
	uint64_t at = 0;

	for (uint32_t id = 1; id < type && types.at; id++) {
		uint64_t step = BTF_TYPE_BYTES + btf_extra_bytes(u32_at(&types, at + 4));

		if (!part(&types, at, step).at)
			return (struct tacho_text){ "", 0 };
		at += step;
	}
	name_at = u32_at(&types, at);
	if (!type || !names.at || name_at >= names.n)
		return (struct tacho_text){ "", 0 };
	name = (const char *)names.at + name_at;
	return (struct tacho_text){ name, strnlen(name, names.n - name_at) };
}

int tacho_bpf_types_next(struct tacho_feature_list *list, struct tacho_bpf_types *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->id = cursor_u32(&c);
	out->btf = take_bytes(&c, cursor_u32(&c));
	return list_advance(list, &c);
}

/* The type information with this id; at == NULL if the recording does not have it. */
static struct tacho_bytes find_btf(const struct tacho_perfdata *pd, uint32_t id)
{
	struct tacho_feature_list list;
	struct tacho_bpf_types types;

	if (!id || tacho_perfdata_list(pd, TACHO_FEATURE_BPF_BTF, &list) < 0)
		return (struct tacho_bytes){ 0 };
	while (tacho_bpf_types_next(&list, &types) > 0)
		if (types.id == id)
			return types.btf;
	return (struct tacho_bytes){ 0 };
}

/* ---- programs ---- */

/* u32 size of bpf_prog_info, u32 size of the arrays, u64 bitmap of the arrays, then both. */
int tacho_bpf_program_next(const struct tacho_perfdata *pd, struct tacho_feature_list *list,
			   struct tacho_bpf_program *out)
{
	struct tacho_bpf_program p = { 0 };
	uint32_t n_info, n_arrays;
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	n_info = cursor_u32(&c);
	n_arrays = cursor_u32(&c);
	cursor_u64(&c);
	p.info = take_bytes(&c, n_info);
	p.arrays = take_bytes(&c, n_arrays);
	p.id = u32_at(&p.info, INFO_ID);
	p.n_functions = u32_at(&p.info, INFO_N_SYMBOLS);
	/* Without symbols (net.core.bpf_jit_kallsyms, or no permission), the functions are unknown. */
	if (p.n_functions != u32_at(&p.info, INFO_N_TAGS) || p.n_functions != u32_at(&p.info, INFO_N_LENGTHS))
		p.n_functions = 0;
	p.btf = find_btf(pd, u32_at(&p.info, INFO_BTF));
	*out = p;
	return list_advance(list, &c);
}

static struct tacho_bytes array_of(const struct tacho_bpf_program *p, uint64_t info_at, uint64_t i, uint64_t bytes)
{
	return part(&p->arrays, u64_at(&p->info, info_at) + i * bytes, bytes);
}

static struct tacho_text function_name(const struct tacho_bpf_program *p, uint32_t i)
{
	struct tacho_bytes func, name;

	if (p->btf.at && i < u32_at(&p->info, INFO_N_FUNCS)) {
		func = array_of(p, INFO_FUNCS, i, u32_at(&p->info, INFO_FUNC_BYTES));
		return btf_name(&p->btf, u32_at(&func, 4));
	}
	if (p->btf.at)
		return (struct tacho_text){ "", 0 };
	if (p->n_functions > 1)
		return (struct tacho_text){ "F", 1 };		/* as perf names functions without BTF */
	name = part(&p->info, INFO_NAME, NAME_BYTES);
	return name.at ? (struct tacho_text){ (const char *)name.at, strnlen((const char *)name.at, name.n) } :
			 (struct tacho_text){ "", 0 };
}

int tacho_bpf_function(const struct tacho_bpf_program *p, uint32_t i, struct tacho_bpf_function *out)
{
	struct tacho_bytes symbol, length, tag;

	if (i >= p->n_functions)
		return -EINVAL;
	symbol = array_of(p, INFO_SYMBOLS, i, 8);
	length = array_of(p, INFO_LENGTHS, i, 4);
	tag = array_of(p, INFO_TAGS, i, TAG_BYTES);
	if (!symbol.at || !length.at || !tag.at)
		return -EBADMSG;
	out->address = load_u64(symbol.at, symbol.swapped);
	out->size = load_u32(length.at, length.swapped);
	memcpy(out->tag, tag.at, sizeof(out->tag));
	out->name = function_name(p, i);
	return 0;
}
