/*
 * Symbols of the kernel come from the first of: the given vmlinux, the given kallsyms, what the
 * build-id cache has for the recorded kernel if another one runs here, /proc/kallsyms if it is the
 * recorded kernel's or nobody knows (of which the cache may have a copy), a vmlinux where distributions
 * put it. A kernel sits elsewhere after every boot (KASLR): the recorder tells where one symbol was, and
 * the difference shifts all others.
 */
#include "symbol/kernel.h"

#include "symbol/elf_symbols.h"
#include "symbol/object_files.h"
#include "symbol/kallsyms.h"
#include "symbol/symbol_cache.h"

#include "base/io.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>

#define KERNEL_NAME "[kernel.kallsyms]"
#define KERNEL_HALF 0x8000000000000000ull
#define HEAD_BYTES 16384	/* some hundred symbols: two kernels do not begin with the same by chance */

int kernel_init(struct kernel *k)
{
	k->maps = maps_new();
	return k->maps ? 0 : -ENOMEM;
}

void kernel_done(struct kernel *k)
{
	maps_unref(k->maps);
	free(k->reference);
	free(k->file);
	*k = (struct kernel){ 0 };
}

static struct object *main_object(struct kernel *k, struct objects *o)
{
	if (!k->main)
		k->main = objects_get(o, OBJECT_KERNEL, KERNEL_NAME, NULL);
	return k->main;
}

static struct interval interval_of(uint64_t start, uint64_t length, uint64_t bias, uint32_t object)
{
	uint64_t last = start + length - 1;

	return (struct interval){ start, last < start ? UINT64_MAX : last, bias, object };
}

static int map_main(struct kernel *k, struct objects *o, struct interval where, uint64_t pgoff,
		    const char *reference, const struct object_identity *identity)
{
	struct object *obj = main_object(k, o);

	if (!obj)
		return -ENOMEM;
	/* Zero: the recorder was not shown kernel addresses. */
	if (pgoff && *reference && !k->reference) {
		k->reference = strdup(reference);
		if (!k->reference)
			return -ENOMEM;
		k->reference_address = pgoff;
	}
	if (identity && identity->n_build_id && !obj->build_id.n) {
		obj->build_id.n = (uint8_t)min_of(identity->n_build_id, (size_t)BUILD_ID_MAX);
		memcpy(obj->build_id.bytes, identity->build_id, obj->build_id.n);
	}
	where.object = obj->id;
	return maps_insert_below(&k->maps, where);
}

static int map_module(struct kernel *k, struct objects *o, struct interval where, const char *path,
		      const struct object_identity *identity)
{
	char name[128];
	struct object *obj;

	if (path[0] == '[')
		snprintf(name, sizeof(name), "%s", path);
	else if (!object_module_name(path, name, sizeof(name)))
		return 0;
	obj = objects_get(o, OBJECT_MODULE, name, identity && identity->n_build_id ? identity : NULL);
	if (!obj)
		return -ENOMEM;
	if (path[0] == '/' && !obj->file) {
		obj->file = arena_str(&o->text, str_of(path));
		if (!obj->file)
			return -ENOMEM;
	}
	where.object = obj->id;
	return maps_insert(&k->maps, where);
}

int kernel_map(struct kernel *k, struct objects *o, uint64_t start, uint64_t length, uint64_t pgoff,
	       const char *path, const struct object_identity *identity)
{
	size_t n = strlen("[kernel.kallsyms");
	struct interval where = interval_of(start, length, start, 0);

	if (length == 0)
		return 0;
	if (strncmp(path, KERNEL_NAME, n) == 0) {
		where.bias = 0;
		return map_main(k, o, where, pgoff, path + n + (path[n] == ']'), identity);
	}
	return map_module(k, o, where, path, identity);
}

int kernel_symbol(struct kernel *k, struct objects *o, uint64_t start, uint64_t length,
		  const char *name, bool gone)
{
	struct interval where = interval_of(start, length, start, 0);
	struct object *obj;

	if (length == 0)
		return 0;
	if (gone)
		return maps_remove(&k->maps, where.start, where.last);
	obj = objects_get(o, OBJECT_KSYMBOL, name, NULL);
	if (!obj)
		return -ENOMEM;
	where.object = obj->id;
	return maps_insert(&k->maps, where);
}

/* "ext4 1101824 1 - Live 0xffffffffc0400000" */
static int assume_module(struct kernel *k, struct objects *o, struct str line)
{
	struct str word[6];
	uint64_t start, size;
	char name[128];

	for (size_t i = 0; i < countof(word); i++)
		if (!str_cut(&line, ' ', &word[i]))
			return 0;
	if (num_hex(word[5], &start) < 0 || num_u64(word[1], &size) < 0 || !start || !size ||
	    word[0].n > sizeof(name) - 3)
		return 0;
	snprintf(name, sizeof(name), "[%.*s]", STR(word[0]));
	return kernel_map(k, o, start, size, 0, name, NULL);
}

int kernel_assume_here(struct kernel *k, struct objects *o)
{
	scoped(buf_done) struct buf path = { 0 }, text = { 0 };
	struct str rest, line;
	int err = 0;

	if (k->main)
		return 0;
	if (o->places->live) {
		buf_printf(&path, "%s/modules", o->places->procfs);
		if (buf_failed(&path))
			return -ENOMEM;
		if (io_read(path.bytes, KALLSYMS_MAX, &text) == -ENOMEM)
			return -ENOMEM;
	}
	rest = buf_view(&text);
	while (err == 0 && str_cut(&rest, '\n', &line))
		err = assume_module(k, o, line);
	if (err < 0)
		return err;
	return kernel_map(k, o, KERNEL_HALF, KERNEL_HALF, 0, KERNEL_NAME, NULL);
}

/* After the table is read: where the recorded kernel's addresses lie in it. */
static void find_shift(struct kernel *k)
{
	const struct symbol *s;

	if (!k->reference)
		return;
	s = table_named(&k->main->table, k->reference);
	if (s)
		k->shift = s->start - k->reference_address;
}

static int take_kallsyms(struct kernel *k, struct buf *text)
{
	struct table fresh = { .names = k->main->table.names };
	int err = kallsyms_parse(&fresh, text);

	if (err < 0) {
		table_done(&fresh);
		return err;
	}
	table_done(&k->main->table);
	k->main->table = fresh;
	find_shift(k);
	return 0;
}

static int load_kallsyms(struct kernel *k, const char *path)
{
	scoped(buf_done) struct buf text = { 0 };
	int err = io_read(path, KALLSYMS_MAX, &text);

	return err < 0 ? err : take_kallsyms(k, &text);
}

/* Only their lines have a tab. */
static size_t bytes_before_modules(struct str list)
{
	const char *tab = memchr(list.s, '\t', list.n);
	const char *end = tab ? memrchr(list.s, '\n', (size_t)(tab - list.s)) : NULL;

	if (!tab)
		return list.n;
	return end ? (size_t)(end + 1 - list.s) : 0;
}

/* Lists of some kernels begin with hundreds of small numbers, offsets in a CPU's own memory: these are the
 * same wherever the kernel lies. */
static bool tells_place(const char *head, size_t n)
{
	return memmem(head, n, "\nffff", 5) || (n >= 4 && memcmp(head, "ffff", 4) == 0);
}

/* The kernel writes its list anew for each reader, which takes longer than all the rest. The build-id
 * cache may have a copy: if that begins as the list does, it is of this kernel, which lies where it lay.
 * Modules come and go, so their part is not believed. */
static int read_copy(struct kernel *k, struct saved *saved, const char *path)
{
	struct table *t = &k->main->table;
	scoped(buf_done) struct buf text = { 0 };
	int err;

	if (t->n == 0 && saved_read(saved, t)) {
		kallsyms_rules(t);
		find_shift(k);
		return 0;
	}
	err = io_read(path, KALLSYMS_MAX, &text);
	if (err < 0)
		return err;
	text.n = bytes_before_modules(buf_view(&text));
	err = take_kallsyms(k, &text);
	if (err == 0)
		saved_write(saved, t);
	return err;
}

static int load_copy(struct kernel *k, const struct places *places, const char *original)
{
	scoped(freep) char *path = NULL;
	char head[HEAD_BYTES], copied[HEAD_BYTES];
	struct saved saved;
	int err, n;

	if (!k->main->build_id.n || !k->reference)
		return -ENOENT;
	path = files_by_build_id(places->build_id_dir, &k->main->build_id, "/kallsyms");
	if (!path)
		return -ENOMEM;
	err = io_read_small(AT_FDCWD, path, copied, sizeof(copied));
	n = err < 0 ? err : io_read_small(AT_FDCWD, original, head, sizeof(head));
	if (n <= 0)
		return n < 0 ? n : -ENODATA;
	if (err < n || memcmp(copied, head, (size_t)n) != 0 || !tells_place(head, (size_t)n))
		return -ESTALE;
	saved_of_file(&saved, path);
	saved.usable = saved.usable && !places->live;
	err = read_copy(k, &saved, path);
	k->copied = err == 0;
	return err;
}

static int load_vmlinux(struct kernel *k, const char *path, bool check)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	uint8_t id[BUILD_ID_MAX];
	struct object *obj = k->main;
	int err = elf_open(&e, path), n;

	if (err < 0)
		return err;
	n = elf_build_id(&e, id);
	if (check && obj->build_id.n && (n <= 0 || memcmp(id, obj->build_id.bytes, (size_t)n)))
		return -ESTALE;
	n = elf_add_symbols(&e, &obj->table, NULL);
	if (n < 0)
		return n;
	obj->table.raw = true;
	err = table_finish(&obj->table);
	if (err == 0)
		find_shift(k);
	if (err == 0 && obj->table.n)
		k->file = strdup(path);	/* without it there are no lines, no more */
	return err == 0 && obj->table.n == 0 ? -ENODATA : err;
}

/* Whether the kernel that runs here is the recorded one, as far as can be known. */
static bool is_here(const struct object *obj)
{
	scoped(buf_done) struct buf notes = { 0 };
	uint8_t id[BUILD_ID_MAX];
	int n;

	if (!obj->build_id.n || io_read("/sys/kernel/notes", 1u << 20, &notes) < 0)
		return true;
	n = elf_notes_build_id((const uint8_t *)notes.bytes, notes.n, false, id);
	return n > 0 && memcmp(id, obj->build_id.bytes, min_of((size_t)n, (size_t)obj->build_id.n)) == 0;
}

static int load_by_build_id(struct kernel *k, const struct places *places)
{
	const struct build_id *id = &k->main->build_id;
	scoped(freep) char *list = NULL;
	scoped(freep) char *file = NULL;
	scoped(freep) char *debug = NULL;
	int err;

	if (!id->n)
		return -ENOENT;
	list = files_by_build_id(places->build_id_dir, id, "/kallsyms");
	file = files_by_build_id(places->build_id_dir, id, "/elf");
	debug = files_by_build_id("/usr/lib/debug", id, ".debug");
	if (!list || !file || !debug)
		return -ENOMEM;
	err = load_kallsyms(k, list);
	if (err < 0 && err != -ENOMEM)
		err = load_vmlinux(k, file, true);
	if (err < 0 && err != -ENOMEM)
		err = load_vmlinux(k, debug, true);
	return err;
}

static int load_distribution(struct kernel *k)
{
	static const struct { const char *before, *after; } spots[] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" }, { "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" }, { "/boot/vmlinux-", "" },
	};
	struct utsname here;
	int err = -ENOENT;

	/* Without the reference symbol nobody knows how far the kernel was moved. */
	if (!k->reference || uname(&here) < 0)
		return -ENOENT;
	for (size_t i = 0; err < 0 && err != -ENOMEM && i < countof(spots); i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s%s%s", spots[i].before, here.release, spots[i].after);
		err = load_vmlinux(k, path, true);
	}
	return err;
}

static int load_list(struct kernel *k, const struct places *places)
{
	scoped(buf_done) struct buf path = { 0 };
	int err = -ESTALE;

	buf_printf(&path, "%s/kallsyms", places->procfs);
	if (buf_failed(&path))
		return -ENOMEM;
	if (!k->main->loaded)		/* else that was not enough */
		err = load_copy(k, places, path.bytes);
	return err == 0 || err == -ENOMEM ? err : load_kallsyms(k, path.bytes);
}

static int load_here(struct kernel *k, const struct places *places)
{
	int err, other;

	if (!files_is_host(places->machine) || !is_here(k->main)) {
		k->main->why = "another kernel runs here than was recorded";
		return -ESTALE;
	}
	err = load_list(k, places);
	if (err == 0 || err == -ENOMEM)
		return err;
	other = load_distribution(k);
	if (other < 0)
		k->main->why = err == -EACCES ? "kernel addresses are hidden (kernel.kptr_restrict)" :
						"its kallsyms cannot be read";
	return other;
}

static int load_first(struct kernel *k, const struct places *places)
{
	struct object *obj = k->main;
	int err;

	if (k->vmlinux) {
		err = load_vmlinux(k, k->vmlinux, false);
		if (err < 0)
			obj->why = "the given vmlinux cannot be used";
	} else if (k->kallsyms) {
		err = load_kallsyms(k, k->kallsyms);
		if (err < 0)
			obj->why = err == -EACCES ? "the given kallsyms has no addresses" :
						    "the given kallsyms cannot be used";
	} else {
		err = is_here(obj) ? -ENOENT : load_by_build_id(k, places);
		if (err < 0 && err != -ENOMEM)
			err = load_here(k, places);
	}
	return err;
}

/* Around the kernel lie its modules, of which a copy tells nothing. */
static bool lies_around(const struct kernel *k, uint64_t ip)
{
	const struct table *t = &k->main->table;

	return ip < k->reference_address || !t->n || ip + k->shift >= t->v[t->n - 1].start;
}

int kernel_load(struct kernel *k, const struct places *places, uint64_t ip)
{
	int err = k->main->loaded ? 0 : load_first(k, places);

	if (err == -ENOMEM)
		return err;
	k->main->loaded = true;
	if (k->copied && lies_around(k, ip)) {
		err = load_list(k, places);
		k->copied = err == -ENOMEM;
	}
	return err == -ENOMEM ? err : 0;
}
