/*
 * The vdso is an ELF image that exists only in memory. All processes of a kernel have the same one, so
 * our own is used, if the running kernel is the recorded one.
 */
#include "symbol/objects.h"

#include "symbol/elf_symbols.h"

#include <errno.h>
#include <sys/auxv.h>

/* The length of the vdso is not recorded anywhere, but its section headers are at its end. */
static size_t vdso_bytes(const uint8_t *at)
{
	uint64_t sections = elf_uint(false, at + 40, 8);
	uint64_t end = sections + elf_uint(false, at + 58, 2) * elf_uint(false, at + 60, 2);

	return end >= 64 && end < (1u << 20) ? (size_t)end : 0;
}

int vdso_open(struct elf *out, struct object *obj)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives addresses as numbers */
	const uint8_t *at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	uint8_t id[BUILD_ID_MAX];
	int err, n;

	if (!at || at[4] != 2)
		return -ENOENT;
	if (obj->compat) {
		obj->why = "the vdso of 32-bit processes is not available";
		return -ENOENT;
	}
	err = elf_open_bytes(out, at, vdso_bytes(at));
	if (err < 0)
		return err;
	n = elf_build_id(out, id);
	if (n == -ENOMEM) {
		elf_close(out);
		return n;
	}
	if (obj->build_id.n &&
	    (n <= 0 || memcmp(id, obj->build_id.bytes, min_of((size_t)n, (size_t)obj->build_id.n)))) {
		obj->why = "the vdso here is of another kernel";
		elf_close(out);
		return -ESTALE;
	}
	if (n > 0 && !obj->build_id.n) {
		memcpy(obj->build_id.bytes, id, (size_t)n);
		obj->build_id.n = (uint8_t)n;
	}
	return 0;
}

int vdso_load(struct object *obj)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	int err = vdso_open(&e, obj);

	if (err < 0)
		return err;
	obj->segments = calloc(e.n_segments ? e.n_segments : 1, sizeof(*obj->segments));
	if (!obj->segments)
		return -ENOMEM;
	for (size_t i = 0; i < e.n_segments; i++)
		if (e.segments[i].type == ELF_PT_LOAD)
			obj->segments[obj->n_segments++] = e.segments[i];
	err = elf_add_symbols(&e, &obj->table, NULL);
	return min_of(err, 0);
}
