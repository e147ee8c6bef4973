/*
 * Names of the kernel's enumerators, from the types of the running kernel (BTF), which are loaded at the first use. The
 * types that were looked for are cached, because a search goes through all types.
 */
#include <tacho/bpf.h>

#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "bpf/load_libbpf.h"

#define CACHED_TYPES 16

static const struct btf *kernel_types(void)
{
	static struct btf *types;
	static bool tried;

	if (!tried && libbpf_open(NULL) == 0)
		types = btf__load_vmlinux_btf();
	tried = true;
	return types;
}

static int find_enum(const struct btf *types, const char *name)
{
	static struct { char name[64]; int id; } cache[CACHED_TYPES];
	static unsigned n;

	if (strlen(name) >= sizeof(cache[0].name))
		return -1;
	for (unsigned i = 0; i < min_of(n, (unsigned)CACHED_TYPES); i++)
		if (!strcmp(cache[i].name, name))
			return cache[i].id;
	snprintf(cache[n % CACHED_TYPES].name, sizeof(cache[0].name), "%s", name);
	cache[n % CACHED_TYPES].id = btf__find_by_name_kind(types, name, BTF_KIND_ENUM);
	return cache[n++ % CACHED_TYPES].id;
}

const char *tacho_kernel_enum_name(const char *name, int64_t value)
{
	const struct btf *types = kernel_types();
	int id = types ? find_enum(types, name) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;

	for (uint32_t i = 0; type && i < btf_vlen(type); i++)
		if (btf_enum(type)[i].val == value)
			return btf__name_by_offset(types, btf_enum(type)[i].name_off);
	return NULL;
}
