/*
 * Kernel symbols come from the first usable of these sources:
 *
 *	1. the vmlinux given by the user
 *	2. the kallsyms given by the user
 *	3. the build-id cache, if the running kernel is not the recorded one
 *	4. /proc/kallsyms, or a copy of it in the build-id cache, if the running kernel is the recorded one
 *	   or the build ID was not recorded
 *	5. a vmlinux in the directories where distributions install it
 *	6. the symbols that are embedded in the recording
 *
 * KASLR moves the kernel at every boot: the recording holds the address of one reference symbol, and
 * the difference to the symbol table shifts all other addresses.
 */
#include "symbol/kernel.h"

#include "symbol/elf_symbols.h"
#include "symbol/embed/embedded.h"
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
#define HEAD_BYTES 16384	/* some hundred symbols, enough to tell two kernels apart */

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
	/* Zero: kernel addresses were hidden from the recorder. */
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
	obj->mapped_bytes = max_of(obj->mapped_bytes, where.last - where.start + 1);
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
	obj->mapped_bytes = max_of(obj->mapped_bytes, where.last - where.start + 1);
	where.object = obj->id;
	return maps_insert(&k->maps, where);
}

int kernel_map(struct kernel *k, struct objects *o, const struct kernel_mapping *m)
{
	size_t n = strlen("[kernel.kallsyms");
	struct interval where = interval_of(m->start, m->length, m->start, 0);

	if (m->length == 0)
		return 0;
	if (strncmp(m->path, KERNEL_NAME, n) == 0) {
		where.bias = 0;
		return map_main(k, o, where, m->pgoff, m->path + n + (m->path[n] == ']'), m->identity);
	}
	return map_module(k, o, where, m->path, m->identity);
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
	return kernel_map(k, o, &(struct kernel_mapping){ .start = start, .length = size, .path = name });
}

int kernel_assume_running(struct kernel *k, struct objects *o)
{
	scoped(buf_done) struct buf path = { 0 }, text = { 0 };
	struct str rest, line;
	int err = 0;

	if (k->main)
		return 0;
	if (o->search->live) {
		buf_printf(&path, "%s/modules", o->search->procfs);
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
	return kernel_map(k, o, &(struct kernel_mapping){ .start = KERNEL_HALF, .length = KERNEL_HALF,
							  .path = KERNEL_NAME });
}

/* Computes the KASLR shift once the table has been read. */
static void find_shift(struct kernel *k)
{
	const struct symbol *s;

	if (!k->reference)
		return;
	s = symbol_table_find_name(&k->main->table, k->reference);
	if (s)
		k->shift = s->start - k->reference_address;
}

static int use_kallsyms(struct kernel *k, struct buf *text)
{
	struct symbol_table fresh = { .names = k->main->table.names };
	int err = kallsyms_parse(&fresh, text);

	if (err < 0) {
		symbol_table_done(&fresh);
		return err;
	}
	symbol_table_done(&k->main->table);
	k->main->table = fresh;
	find_shift(k);
	return 0;
}

static int load_kallsyms(struct kernel *k, const char *path)
{
	scoped(buf_done) struct buf text = { 0 };
	int err = io_read(path, KALLSYMS_MAX, &text);

	return err < 0 ? err : use_kallsyms(k, &text);
}

/* Only lines of modules contain a tab. */
static size_t bytes_before_modules(struct str list)
{
	const char *tab = memchr(list.s, '\t', list.n);
	const char *end = tab ? memrchr(list.s, '\n', (size_t)(tab - list.s)) : NULL;

	if (!tab)
		return list.n;
	return end ? (size_t)(end + 1 - list.s) : 0;
}

/* Whether the head of a kallsyms list contains kernel addresses. Lists of some kernels begin with hundreds of
 * per-CPU offsets, which are the same wherever the kernel is loaded. */
static bool has_kernel_addresses(const char *head, size_t n)
{
	return memmem(head, n, "\nffff", 5) || (n >= 4 && memcmp(head, "ffff", 4) == 0);
}

/* The kernel generates /proc/kallsyms for each reader, which takes longer than everything else here. The
 * build-id cache may have a copy: if both begin with the same bytes, the copy is of this kernel at this
 * address. Modules are loaded and unloaded, so their part of the copy is not used. */
static int read_copy(struct kernel *k, struct symbol_cache_entry *saved, const char *path)
{
	struct symbol_table *t = &k->main->table;
	scoped(buf_done) struct buf text = { 0 };
	int err;

	if (t->n == 0 && symbol_cache_read(saved, t)) {
		kallsyms_rules(t);
		find_shift(k);
		return 0;
	}
	err = io_read(path, KALLSYMS_MAX, &text);
	if (err < 0)
		return err;
	text.n = bytes_before_modules(buf_view(&text));
	err = use_kallsyms(k, &text);
	if (err == 0)
		symbol_cache_write(saved, t);
	return err;
}

static int load_copy(struct kernel *k, const struct symbol_search *search, const char *original)
{
	scoped(freep) char *path = NULL;
	char head[HEAD_BYTES], copied[HEAD_BYTES];
	struct symbol_cache_entry saved;
	int err, n;

	if (!k->main->build_id.n || !k->reference)
		return -ENOENT;
	path = files_by_build_id(search->build_id_dir, &k->main->build_id, "/kallsyms");
	if (!path)
		return -ENOMEM;
	err = io_read_small(AT_FDCWD, path, copied, sizeof(copied));
	n = err < 0 ? err : io_read_small(AT_FDCWD, original, head, sizeof(head));
	if (n <= 0)
		return n < 0 ? n : -ENODATA;
	if (err < n || memcmp(copied, head, (size_t)n) != 0 || !has_kernel_addresses(head, (size_t)n))
		return -ESTALE;
	symbol_cache_for_file(&saved, path);
	saved.usable = saved.usable && !search->live;
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
	err = symbol_table_finish(&obj->table);
	if (err == 0)
		find_shift(k);
	if (err == 0 && obj->table.n)
		k->file = strdup(path);	/* on failure only source lines are missing */
	return err == 0 && obj->table.n == 0 ? -ENODATA : err;
}

/* Whether the running kernel is the recorded one; true when the recording has no build ID. */
static bool is_running_kernel(const struct object *obj)
{
	scoped(buf_done) struct buf notes = { 0 };
	uint8_t id[BUILD_ID_MAX];
	int n;

	if (!obj->build_id.n || io_read("/sys/kernel/notes", 1u << 20, &notes) < 0)
		return true;
	n = elf_notes_build_id((const uint8_t *)notes.bytes, notes.n, false, id);
	return n > 0 && memcmp(id, obj->build_id.bytes, min_of((size_t)n, (size_t)obj->build_id.n)) == 0;
}

static int load_by_build_id(struct kernel *k, const struct symbol_search *search)
{
	const struct build_id *id = &k->main->build_id;
	scoped(freep) char *list = NULL;
	scoped(freep) char *file = NULL;
	scoped(freep) char *debug = NULL;
	int err;

	if (!id->n)
		return -ENOENT;
	list = files_by_build_id(search->build_id_dir, id, "/kallsyms");
	file = files_by_build_id(search->build_id_dir, id, "/elf");
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
	static const struct { const char *before, *after; } locations[] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" }, { "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" }, { "/boot/vmlinux-", "" },
	};
	struct utsname here;
	int err = -ENOENT;

	/* Without the reference symbol the KASLR shift is unknown. */
	if (!k->reference || uname(&here) < 0)
		return -ENOENT;
	for (size_t i = 0; err < 0 && err != -ENOMEM && i < countof(locations); i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s%s%s", locations[i].before, here.release, locations[i].after);
		err = load_vmlinux(k, path, true);
	}
	return err;
}

static int load_proc_kallsyms(struct kernel *k, const struct symbol_search *search)
{
	scoped(buf_done) struct buf path = { 0 };
	int err = -ESTALE;

	buf_printf(&path, "%s/kallsyms", search->procfs);
	if (buf_failed(&path))
		return -ENOMEM;
	if (!k->main->loaded)		/* else the copy has been tried already */
		err = load_copy(k, search, path.bytes);
	return err == 0 || err == -ENOMEM ? err : load_kallsyms(k, path.bytes);
}

static int load_running(struct kernel *k, const struct symbol_search *search)
{
	int err, other;

	if (!files_is_host(search->machine) || !is_running_kernel(k->main)) {
		k->main->why = "another kernel runs here than was recorded";
		return -ESTALE;
	}
	err = load_proc_kallsyms(k, search);
	if (err == 0 || err == -ENOMEM)
		return err;
	other = load_distribution(k);
	if (other < 0)
		k->main->why = err == -EACCES ? "kernel addresses are hidden (kernel.kptr_restrict)" :
						"its kallsyms cannot be read";
	return other;
}

/* Embedded symbols have the addresses of the recorded kernel. */
static int load_embedded(struct kernel *k, const struct symbol_search *search)
{
	struct object *obj = k->main;
	const struct embedded_object *from = embedded_find(search->embedded, obj);
	int err;

	if (!from || !from->functions.n)
		return -ENOENT;
	symbol_table_done(&obj->table);
	kallsyms_rules(&obj->table);
	err = embedded_add_symbols(search->embedded, from, &obj->table);
	if (err == 0)
		err = symbol_table_finish(&obj->table);
	if (err < 0)
		return err;
	k->shift = 0;
	k->embedded = true;
	obj->why = NULL;
	return 0;
}

static int load_first(struct kernel *k, const struct symbol_search *search)
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
		err = is_running_kernel(obj) ? -ENOENT : load_by_build_id(k, search);
		if (err < 0 && err != -ENOMEM)
			err = load_running(k, search);
		if (err < 0 && err != -ENOMEM)
			err = load_embedded(k, search);
	}
	return err;
}

/* Whether an address is outside the kernel text and may belong to a module; a copied list has no modules. */
static bool is_outside_text(const struct kernel *k, uint64_t ip)
{
	const struct symbol_table *t = &k->main->table;

	return ip < k->reference_address || !t->n || ip + k->shift >= t->v[t->n - 1].start;
}

int kernel_load(struct kernel *k, const struct symbol_search *search, uint64_t ip, bool mapped)
{
	int err = k->main->loaded ? 0 : load_first(k, search);

	if (err == -ENOMEM)
		return err;
	k->main->loaded = true;
	if (search->live)
		symbol_table_compact(&k->main->table);
	k->main->symbol_source = (char)(!k->main->table.n ? 0 : k->file ? 'v' : k->embedded ? 'e' : 'k');
	if (k->copied && mapped && is_outside_text(k, ip)) {
		err = load_proc_kallsyms(k, search);
		k->copied = err == -ENOMEM;
	}
	return err == -ENOMEM ? err : 0;
}

int kernel_open_code(const struct kernel *k, const struct object *obj, const struct symbol_search *search, struct elf *out)
{
	scoped(buf_done) struct buf path = { 0 };

	if (k->file)
		return obj == k->main ? elf_open(out, k->file) : -ENOENT;
	if (!k->main || k->kallsyms || (obj != k->main && obj->loaded))
		return -ENOENT;
	if (!files_is_host(search->machine) || !is_running_kernel(k->main))
		return -ESTALE;
	buf_printf(&path, "%s/kcore", search->procfs);
	return buf_failed(&path) ? -ENOMEM : elf_open(out, path.bytes);
}
