/*
 * Implements <tacho/symbol.h>: records in, frames out.
 *
 *	(pid, ip) -> maps of the process -> interval -> spot (object, offset) -> symbol
 *	                                                 \_____ location cache ____/
 */
#include <tacho/symbol.h>

#include "symbol/location_cache.h"
#include "symbol/code_reader.h"
#include "symbol/debuginfod.h"
#include "symbol/embed/embedded.h"
#include "symbol/dwarf_line.h"
#include "symbol/inlines.h"
#include "symbol/object_files.h"
#include "symbol/jit/jit_code.h"
#include "symbol/jit/jitdump.h"
#include "symbol/kallsyms.h"
#include "symbol/kernel.h"
#include "symbol/proc_maps.h"
#include "symbol/objects.h"
#include "symbol/address_lookup.h"

#include "base/error.h"
#include "base/io.h"
#include "base/sized_opts.h"

#include <errno.h>
#include <stdio.h>

#define MISC_CPUMODE 7u
#define MISC_MMAP_DATA (1u << 13)
#define MISC_COMM_EXEC (1u << 13)
#define MISC_FORK_EXEC (1u << 13)
#define KSYMBOL_UNREGISTER 1u
#define PROT_EXEC_BIT 4u
#define MAP_HUGETLB_BIT 0x40000u

#define LAST_PROCESSES 64u

struct tacho_symbols {
	struct interned_names names;
	struct objects objects;
	struct processes processes;
	struct kernel kernel;
	struct jit_code jit;
	struct code_reader code;
	struct interval_cache intervals;
	struct location_cache cache;
	struct symbol_search search;
	struct embedded *embedded;
	uint32_t last[LAST_PROCESSES];	/* cache: pid modulo size -> index in `processes` */
	bool out_of_memory;		/* tacho_symbols_failed() */
	char *symfs, *vmlinux, *kallsyms, *build_id_dir, *procfs;
	void *attached;			/* see symbols_attach() */
	void (*free_attached)(void *);
	void (*prune_attached)(void *, size_t max_bytes);
};

static int copy_text(char **to, const char *from)
{
	if (!from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : -ENOMEM;
}

static int copy_opts(struct tacho_symbols *s, const struct tacho_symbols_opts *opts)
{
	int err = 0;

	err |= copy_text(&s->symfs, opts->symfs);
	err |= copy_text(&s->vmlinux, opts->vmlinux);
	err |= copy_text(&s->kallsyms, opts->kallsyms);
	err |= copy_text(&s->procfs, opts->procfs ? opts->procfs : "/proc");
	s->build_id_dir = opts->build_id_dir ? strdup(opts->build_id_dir) : files_build_id_dir();
	err |= s->build_id_dir ? 0 : -ENOMEM;
	s->search = (struct symbol_search){
		.symfs = s->symfs, .build_id_dir = s->build_id_dir, .procfs = s->procfs,
		.live = opts->live, .force = opts->force, .no_demangle = opts->no_demangle,
		.short_names = opts->short_names, .machine = opts->machine,
	};
	if (!opts->live)		/* a live session must not wait for a network */
		err |= debuginfod_new(&s->search.downloads, opts->progress, opts->progress_arg);
	s->kernel.vmlinux = s->vmlinux;
	s->kernel.kallsyms = s->kallsyms;
	s->jit.next_ns = UINT64_MAX;
	s->objects.names = &s->names;
	s->objects.search = &s->search;
	return err ? -ENOMEM : 0;
}

static int symbols_init(struct tacho_symbols *s, const struct tacho_symbols_opts *opts,
			struct tacho_error *e)
{
	scoped(elf_close) struct elf file = { .fd = -1 };
	int err;

	if (copy_opts(s, opts) < 0 || kernel_init(&s->kernel) < 0)
		return error_nomem(e);
	if (s->vmlinux && !io_is_accessible(s->vmlinux, R_OK))
		return error_set(e, -errno, "cannot read the vmlinux '%s'", s->vmlinux);
	if (s->vmlinux && (err = elf_open(&file, s->vmlinux)) < 0)
		return error_set(e, err, "the vmlinux '%s' is not an ELF file, or it is damaged", s->vmlinux);
	if (s->kallsyms && !io_is_accessible(s->kallsyms, R_OK))
		return error_set(e, -errno, "cannot read the kallsyms '%s'", s->kallsyms);
	return 0;
}

int tacho_symbols_new(struct tacho_symbols **out, const struct tacho_symbols_opts *opts,
		      struct tacho_error *e)
{
	struct tacho_symbols_opts own;
	struct tacho_symbols *s;
	int err = opts_copy(&own, sizeof(own), opts, e);

	if (err < 0)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_nomem(e);
	err = symbols_init(s, &own, e);
	if (err < 0) {
		tacho_symbols_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void tacho_symbols_free(struct tacho_symbols *s)
{
	if (!s)
		return;
	if (s->attached)
		s->free_attached(s->attached);
	code_reader_done(&s->code);
	processes_done(&s->processes);
	jit_code_done(&s->jit);
	kernel_done(&s->kernel);
	objects_done(&s->objects);
	embedded_free(s->embedded);
	location_cache_done(&s->cache);
	names_done(&s->names);
	debuginfod_free(s->search.downloads);
	free(s->symfs);
	free(s->vmlinux);
	free(s->kallsyms);
	free(s->build_id_dir);
	free(s->procfs);
	free(s);
}

int tacho_symbols_failed(const struct tacho_symbols *s)
{
	return s->out_of_memory || s->names.out_of_memory || s->processes.comms.out_of_memory ? -ENOMEM : 0;
}

/* Returns `err`, and notes whether memory ran out. */
static int note_failure(struct tacho_symbols *s, int err)
{
	s->out_of_memory |= err == -ENOMEM;
	return err;
}

/* ---- feeding records ---- */

/* `prefix` has at least two characters. They are compared inline, because most paths already differ there. */
static bool starts(const char *s, const char *prefix)
{
	return s[0] == prefix[0] && s[1] == prefix[1] && strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_anon(const char *path, uint32_t flags)
{
	return (flags & MAP_HUGETLB_BIT) || strcmp(path, "//anon") == 0 || path[0] == '\0' ||
	       starts(path, "/dev/zero") || starts(path, "/anon_hugepage");
}

static bool is_plain(const char *path)
{
	return starts(path, "[stack") || starts(path, "/SYSV") || starts(path, "[heap]") ||
	       starts(path, "[anon");
}

/* The object of a user mapping. Executable memory without a file is JIT code. */
static struct object *user_object(struct tacho_symbols *s, const struct tacho_mmap *m, bool exec,
				  bool *whole)
{
	struct object_identity identity = {
		.device = (uint64_t)m->major << 32 | m->minor, .inode = m->inode,
		.build_id = m->build_id, .n_build_id = m->n_build_id,
	};
	const char *path = m->path ? m->path : "";
	char jit[48];

	*whole = is_anon(path, m->flags) || is_plain(path);
	if (*whole && exec) {
		snprintf(jit, sizeof(jit), "/tmp/perf-%d.map", (int)m->pid);
		return objects_get(&s->objects, OBJECT_JIT, jit, NULL);
	}
	if (*whole)
		return objects_get(&s->objects, OBJECT_PLAIN, *path ? path : "//anon", NULL);
	if (strcmp(path, "[vdso]") == 0)
		return objects_get(&s->objects, OBJECT_VDSO, path,
				   m->n_build_id ? &identity : NULL);
	if (path[0] == '[')
		return objects_get(&s->objects, OBJECT_PLAIN, path, NULL);
	return objects_get(&s->objects, OBJECT_FILE, path, &identity);
}

/* A process maps the dump of its JIT compiler so that profilers find it. The mapping itself has no code. */
static int map_dump(struct tacho_symbols *s, const struct tacho_mmap *m, uint64_t time)
{
	const struct object_identity identity = {
		.device = (uint64_t)m->major << 32 | m->minor, .inode = m->inode,
	};
	struct object *dump = objects_get(&s->objects, OBJECT_JITDUMP, m->path, &identity);

	if (!dump)
		return -ENOMEM;
	if (!dump->pid)
		dump->pid = m->pid;
	return jit_code_mapped(&s->jit, &s->processes, dump, &s->search, &(struct jit_mapping){ m->pid, time });
}

static int map_user(struct tacho_symbols *s, const struct tacho_mmap *m, bool exec)
{
	struct process *proc;
	struct interval where = { .start = m->addr, .last = m->addr + m->len - 1 };
	struct object *obj;
	bool whole;
	int err;

	if (m->len == 0 || where.last < where.start)
		return 0;
	proc = process_get(&s->processes, m->pid);
	obj = proc ? user_object(s, m, exec, &whole) : NULL;
	if (!obj)
		return -ENOMEM;
	process_before_map(proc, obj->kind == OBJECT_VDSO);
	if (exec)
		obj->mapped_bytes = max_of(obj->mapped_bytes, m->len);
	if (!obj->pid)
		obj->pid = m->pid;
	if (obj->kind == OBJECT_VDSO) {
		obj->compat = obj->compat || where.last <= UINT32_MAX;
		where.bias = m->addr;
	} else if (!whole) {
		where.bias = m->addr - m->pgoff;
	}
	where.object = obj->id;
	if (proc->jit && exec && obj->kind == OBJECT_FILE && maps_remove(&proc->jit, where.start, where.last) < 0)
		return -ENOMEM;
	err = maps_insert(&proc->maps, where);
	return err == -E2BIG ? 0 : err;
}

static int feed_mmap(struct tacho_symbols *s, const struct tacho_sideband *rec)
{
	const struct tacho_mmap *m = &rec->mmap;
	struct object_identity identity = { .build_id = m->build_id, .n_build_id = m->n_build_id };
	bool exec = rec->type == TACHO_RECORD_MMAP2 ? (m->prot & PROT_EXEC_BIT) != 0 :
						      !(rec->misc & MISC_MMAP_DATA);
	int err;

	switch (rec->misc & MISC_CPUMODE) {
	case TACHO_SPACE_KERNEL:
		err = kernel_map(&s->kernel, &s->objects, &(struct kernel_mapping){
				 m->addr, m->len, m->pgoff, m->path ? m->path : "", &identity });
		return err == -E2BIG ? 0 : err;
	case TACHO_SPACE_USER:
	case TACHO_SPACE_UNKNOWN:
		if (exec && m->path && jitdump_is_path(m->path))
			return map_dump(s, m, rec->id.time);
		return map_user(s, m, exec);
	default:
		return 0;
	}
}

static int feed_ksymbol(struct tacho_symbols *s, const struct tacho_sideband *rec)
{
	int err = kernel_assume_running(&s->kernel, &s->objects);

	if (err == 0)
		err = kernel_symbol(&s->kernel, &s->objects, rec->ksymbol.addr, rec->ksymbol.len,
				    rec->ksymbol.name ? rec->ksymbol.name : "",
				    rec->ksymbol.flags & KSYMBOL_UNREGISTER);
	return err == -E2BIG ? 0 : err;
}

int tacho_symbols_feed(struct tacho_symbols *s, const struct tacho_sideband *rec)
{
	switch (rec->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
		return feed_mmap(s, rec);
	case TACHO_RECORD_COMM:
		return process_comm(&s->processes, rec->comm.pid, rec->comm.tid,
				    rec->comm.name ? rec->comm.name : "", rec->misc & MISC_COMM_EXEC);
	case TACHO_RECORD_FORK:
		return process_fork(&s->processes, rec->task.pid, rec->task.tid, rec->task.ppid,
				    rec->task.ptid, !(rec->misc & MISC_FORK_EXEC));
	case TACHO_RECORD_EXIT:
		process_exit(&s->processes, rec->task.pid, rec->task.tid);
		return 0;
	case TACHO_RECORD_KSYMBOL:
		return feed_ksymbol(s, rec);
	default:
		return 0;
	}
}

int tacho_symbols_prune(struct tacho_symbols *s, size_t max_bytes)
{
	if (max_bytes)
		objects_evict(&s->objects, max_bytes);
	if (max_bytes && s->attached)
		s->prune_attached(s->attached, max_bytes);
	return processes_prune(&s->processes);
}

int tacho_symbols_set_build_id(struct tacho_symbols *s, const char *path, const uint8_t *id,
			       size_t n, bool kernel)
{
	char module[128];
	int err = objects_set_build_id(&s->objects, path, id, n);

	if (err == 0 && kernel && object_module_name(path, module, sizeof(module)))
		err = objects_set_build_id(&s->objects, module, id, n);
	return err;
}

void tacho_symbols_set_monotonic(struct tacho_symbols *s, bool monotonic)
{
	s->jit.monotonic = monotonic;
}

uint64_t tacho_symbols_next_change(const struct tacho_symbols *s)
{
	return s->jit.next_ns;
}

int tacho_symbols_advance(struct tacho_symbols *s, uint64_t time)
{
	return note_failure(s, jit_code_advance(&s->jit, &s->processes, &s->objects, time));
}

int tacho_symbols_set_embedded(struct tacho_symbols *s, const void *bytes, size_t n)
{
	struct embedded *read;
	int err = embedded_read(&read, bytes, n);

	if (err < 0)
		return err == -ENOMEM ? note_failure(s, err) : err;
	embedded_free(s->embedded);
	s->embedded = read;
	s->search.embedded = read;
	return 0;
}

/* ---- resolving ---- */

static int add_live_map(void *arg, uint32_t pid, const struct proc_map *map)
{
	struct tacho_mmap m = {
		.pid = pid, .tid = pid, .addr = map->start, .len = map->length, .pgoff = map->pgoff,
		.major = (uint32_t)(map->device >> 32), .minor = (uint32_t)map->device,
		.inode = map->inode, .path = map->path,
	};

	if (map->exec && map->path && jitdump_is_path(map->path))
		return map_dump(arg, &m, 0);
	return map_user(arg, &m, map->exec);
}

/* The process, in live mode read from /proc on first use; NULL when it is unknown. */
static struct process *process_for(struct tacho_symbols *s, uint32_t pid)
{
	uint32_t *last = &s->last[pid % LAST_PROCESSES];
	struct process *proc = process_at(&s->processes, *last);

	if (!proc || proc->pid != pid)
		proc = process_find(&s->processes, pid);
	if (s->search.live && (!proc || (!proc->proc_read && proc->maps->n == 0))) {
		proc = process_get(&s->processes, pid);
		if (!proc)
			return NULL;
		proc->proc_read = true;
		proc_maps_read(&s->search, pid, add_live_map, s);
		proc = process_find(&s->processes, pid);
	}
	if (proc)
		*last = process_index(&s->processes, proc);
	return proc;
}

static void fill(struct tacho_frame *out, const struct object *obj, const struct symbol *sym)
{
	out->object = obj->id;
	if (!sym)
		return;
	out->symbol = sym->id;
	out->symbol_offset = out->object_address - sym->start;
}

static int resolve_user(struct tacho_symbols *s, const struct tacho_spot *spot,
			struct tacho_frame *out)
{
	struct object *obj = objects_at(&s->objects, spot->object);
	struct symbol *sym;
	int err;

	if (!obj)
		return 0;
	obj->used_at = s->objects.generation;
	if (!obj->loaded) {
		err = object_load(obj, &s->search);
		if (err < 0)
			return err;
	}
	out->object_offset = spot->offset;
	out->object_address = object_address(obj, spot->offset);
	sym = symbol_table_find(&obj->table, out->object_address);
	if (!sym && object_refresh(obj, &s->search))
		sym = symbol_table_find(&obj->table, out->object_address);
	fill(out, obj, sym);
	return 0;
}

/* The object of a kernel symbol: symbols in kallsyms may belong to a module. */
static struct object *owner_of(struct tacho_symbols *s, struct object *obj, const struct symbol *sym)
{
	const char *module = sym ? kallsyms_module(&s->kernel.main->table, sym) : NULL;
	struct object *found;

	if (!module || obj != s->kernel.main)
		return obj;
	found = objects_get(&s->objects, OBJECT_MODULE, module, NULL);
	return found ? found : obj;
}

static int resolve_kernel(struct tacho_symbols *s, uint64_t ip, struct tacho_frame *out)
{
	struct kernel *k = &s->kernel;
	const struct interval *where = maps_find(k->maps, ip);
	struct object *obj = where ? objects_at(&s->objects, where->object) : NULL;
	struct symbol *sym;
	int err;

	/* MMAP records cover the kernel text only; init code lies after it. */
	if (!obj)
		obj = k->main;
	if (!obj)
		return 0;
	out->object_offset = out->object_address = ip - (where ? where->bias : 0);
	if (obj->kind == OBJECT_KSYMBOL) {
		out->object = obj->id;
		out->symbol = names_add(&s->names, str_of(obj->path));
		out->symbol_offset = out->object_address;
		return out->symbol ? 0 : -ENOMEM;
	}
	err = k->main ? kernel_load(k, &s->search, ip, where || s->search.live) : 0;
	if (err < 0)
		return err;
	sym = k->main ? symbol_table_find(&k->main->table, ip + k->shift) : NULL;
	/* Modules and BPF programs were recorded where they were: what is at an unmapped address now was loaded later. Without a
	 * recording the names are those of now. */
	if (sym && !where && !s->search.live && (sym->flags & SYMBOL_MODULE))
		sym = NULL;
	if (sym && (obj == k->main || (sym->flags & SYMBOL_MODULE))) {
		out->object_address = ip + k->shift;
		fill(out, owner_of(s, obj, sym), sym);
		return 0;
	}
	if (!where) {
		out->object_offset = out->object_address = 0;
		return 0;
	}
	if (obj->kind == OBJECT_MODULE && !obj->loaded) {
		err = object_load(obj, &s->search);
		if (err < 0)
			return err;
	}
	fill(out, obj, obj->kind == OBJECT_MODULE ? symbol_table_find(&obj->table, out->object_address) : NULL);
	return 0;
}

static enum tacho_space space_of(enum tacho_space space, uint64_t ip)
{
	if (space != TACHO_SPACE_UNKNOWN)
		return space;
	return ip >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER;
}

int symbols_lookup_begin(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
			 struct address_lookup *out)
{
	const struct process *proc;

	if (space == TACHO_SPACE_KERNEL) {
		int err = s->kernel.main ? 0 : kernel_assume_running(&s->kernel, &s->objects);

		out->kernel = err < 0 ? 0 : kernel_location_object(&s->intervals, s->kernel.maps);
		return err;
	}
	proc = space == TACHO_SPACE_USER ? process_for(s, pid) : NULL;
	if (proc && proc->jit && s->search.live && jit_code_refresh(&s->jit, &s->processes, &s->objects, pid) < 0)
		return -ENOMEM;
	*out = (struct address_lookup){ .intervals = &s->intervals,
					.proc = proc,
					.version = proc ? proc->maps->version : 0 };
	return 0;
}

struct object *symbols_object(const struct tacho_symbols *s, uint32_t id)
{
	return objects_at(&s->objects, id);
}

void *symbols_attached(const struct tacho_symbols *s)
{
	return s->attached;
}

void symbols_attach(struct tacho_symbols *s, void *data, void (*free_data)(void *), void (*prune)(void *, size_t max_bytes))
{
	s->attached = data;
	s->free_attached = free_data;
	s->prune_attached = prune;
}

const struct symbol_search *symbols_search(const struct tacho_symbols *s)
{
	return &s->search;
}

uint64_t symbols_kernel_version(const struct tacho_symbols *s)
{
	return s->kernel.maps->version;
}

static void spots_fill(const struct address_lookup *w, const uint64_t *ips, size_t n, struct tacho_spot *out)
{
	struct interval in = INTERVAL_EMPTY;

	for (size_t i = 0; i < n && w->kernel; i++)
		out[i] = (struct tacho_spot){ ips[i], w->kernel };
	for (size_t i = 0; i < n && !w->kernel; i++) {
		if (!interval_has(&in, ips[i]))
			in = address_lookup_find(w, ips[i]);
		out[i] = (struct tacho_spot){ in.object ? ips[i] - in.bias : 0, in.object };
	}
}

int tacho_symbols_spots(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
			const uint64_t *ips, size_t n, struct tacho_spot *out)
{
	size_t step = space == TACHO_SPACE_UNKNOWN ? 1 : n;
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i += step) {
		struct address_lookup walk;

		err = symbols_lookup_begin(s, pid, space_of(space, ips[i]), &walk);
		if (err == 0)
			spots_fill(&walk, ips + i, step, out + i);
	}
	return note_failure(s, err);
}

void symbols_prefetch(const struct tacho_symbols *s, enum tacho_space space, const struct tacho_spot *spot)
{
	const struct object *obj = space == TACHO_SPACE_USER ? objects_at(&s->objects, spot->object) :
							       s->kernel.main;

	if (obj)
		symbol_table_prefetch(&obj->table, space == TACHO_SPACE_USER ? object_address(obj, spot->offset) :
								     spot->offset + s->kernel.shift);
}

/* As resolve_kernel() finds a symbol: in the table of the kernel, or of the module that is mapped at the address. */
static bool kernel_span(const struct tacho_symbols *s, uint64_t ip, struct span *out)
{
	const struct kernel *k = &s->kernel;
	const struct interval *where = maps_find(k->maps, ip);
	const struct object *obj = where ? objects_at(&s->objects, where->object) : NULL;

	if (!obj)
		return false;
	span_cut(out, ip, where->start, where->last);
	if (obj->kind != OBJECT_KSYMBOL && k->main)
		symbol_table_span(&k->main->table, ip + k->shift, out);
	if (obj->kind == OBJECT_MODULE)
		symbol_table_span(&obj->table, ip - where->bias, out);
	return true;
}

bool symbols_span(const struct tacho_symbols *s, enum tacho_space space, const struct tacho_spot *spot, struct span *out)
{
	const struct object *obj;

	if (space == TACHO_SPACE_KERNEL)
		return kernel_span(s, spot->offset, out);
	obj = objects_at(&s->objects, spot->object);
	return obj && object_span(obj, spot->offset, out);
}

int tacho_symbols_resolve_spot(struct tacho_symbols *s, enum tacho_space space,
			       const struct tacho_spot *spot, struct tacho_frame *out)
{
	int err;

	*out = (struct tacho_frame){ .space = space };
	err = space == TACHO_SPACE_USER ? resolve_user(s, spot, out) : resolve_kernel(s, spot->offset, out);
	return err < 0 ? note_failure(s, err) : out->symbol != 0;
}

/* Kernel addresses are resolved repeatedly, so results are cached. */
static int resolve_kernel_cached(struct tacho_symbols *s, const struct tacho_spot *spot,
				 struct tacho_frame *out)
{
	const struct tacho_frame *hit = location_cache_get(&s->cache, spot);
	int got;

	if (hit) {
		*out = *hit;
		return out->symbol != 0;
	}
	got = tacho_symbols_resolve_spot(s, TACHO_SPACE_KERNEL, spot, out);
	if (got >= 0)
		location_cache_put(&s->cache, spot, out);
	return got;
}

int tacho_symbols_resolve(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
			  uint64_t ip, struct tacho_frame *out)
{
	struct tacho_spot spot = { 0, 0 };
	int err;

	space = space_of(space, ip);
	err = tacho_symbols_spots(s, pid, space, &ip, 1, &spot);
	*out = (struct tacho_frame){ .space = space };
	if (!spot.object || err < 0)
		return err;
	return space == TACHO_SPACE_KERNEL ? resolve_kernel_cached(s, &spot, out) :
					     tacho_symbols_resolve_spot(s, space, &spot, out);
}

int tacho_symbols_range(const struct tacho_symbols *s, const struct tacho_frame *f, uint64_t *start,
			uint64_t *length)
{
	const struct object *obj = objects_at(&s->objects, f->object);
	struct symbol_table *table;
	const struct symbol *sym;

	if (!obj || !f->symbol)
		return -ENOENT;
	if (obj->kind == OBJECT_KSYMBOL)
		return -ENOENT;
	table = (struct symbol_table *)&obj->table;	/* searching only assigns ids */
	if (obj->kind == OBJECT_KERNEL || (obj->kind == OBJECT_MODULE && obj->table.n == 0))
		table = s->kernel.main ? &s->kernel.main->table : table;
	sym = symbol_table_find(table, f->object_address);
	if (!sym)
		return -ENOENT;
	*start = sym->start;
	*length = sym->size;
	return 0;
}

int tacho_symbols_srcline(struct tacho_symbols *s, const struct tacho_frame *f, const char **file,
			  uint32_t *line)
{
	const struct inlines_search in = { &s->search, s->kernel.file, &s->names };
	struct object *obj = objects_at(&s->objects, f->object);
	int got = obj ? object_find_line(obj, &in, f->object_address, file, line) : 0;

	return got < 0 ? note_failure(s, got) : got;
}

int tacho_symbols_inlines(struct tacho_symbols *s, const struct tacho_frame *f, bool is_caller, bool with_calls,
			  struct tacho_inline *out, size_t max)
{
	const struct inlines_search in = { &s->search, s->kernel.file, &s->names };
	struct inlined_function found[INLINE_DEPTH_MAX];
	struct object *obj = objects_at(&s->objects, f->object);
	int n;

	if (!obj || !max)
		return 0;
	n = object_find_inlines(obj, &in, f->object_address - is_caller, with_calls, found);
	if (n < 0)
		return note_failure(s, n);
	n = (int)min_of((size_t)n, max);
	for (int i = 0; i < n; i++)
		out[i] = (struct tacho_inline){ found[i].name, found[i].call_line, found[i].call_file };
	return n;
}

int tacho_symbols_code(struct tacho_symbols *s, const struct tacho_frame *f, size_t max, struct tacho_code_view *out)
{
	const struct code_range range = { f->object_address, max };
	struct object *obj = objects_at(&s->objects, f->object);
	struct tacho_code_view view;
	size_t size = out->size && out->size < sizeof(view) ? out->size : sizeof(view);
	int err = obj ? code_reader_read(&s->code, &s->kernel, obj, &s->search, &range, &view) : -ENOENT;

	if (err < 0)
		return note_failure(s, err);
	view.size = size;
	memcpy(out, &view, size);
	return 0;
}

/* ---- names ---- */

const char *tacho_symbols_name(const struct tacho_symbols *s, uint32_t symbol)
{
	const char *name = names_get(&s->names, symbol);

	return name ? name : "[unknown]";
}

size_t tacho_symbols_n_objects(const struct tacho_symbols *s)
{
	return s->objects.n;
}

int tacho_symbols_object(const struct tacho_symbols *s, uint32_t object,
			 struct tacho_object_info *out)
{
	const struct object *obj = objects_at(&s->objects, object);
	struct tacho_object_info info = {
		.path = "[unknown]", .short_name = "[unknown]", .why = "nothing is mapped there",
	};
	size_t size = out->size && out->size < sizeof(info) ? out->size : sizeof(info);

	if (object && !obj)
		return -ENOENT;
	if (obj)
		info = (struct tacho_object_info){
			.path = obj->path, .short_name = obj->short_name,
			.build_id = obj->build_id.n ? obj->build_id.bytes : NULL,
			.n_build_id = obj->build_id.n,
			.kernel = obj->kind == OBJECT_KERNEL || obj->kind == OBJECT_MODULE ||
				  obj->kind == OBJECT_KSYMBOL,
			.jit = obj->kind == OBJECT_JIT || obj->kind == OBJECT_JITDUMP,
			.has_symbols = obj->table.n || obj->kind == OBJECT_KSYMBOL,
			.why = obj->why, .mapped_bytes = obj->mapped_bytes, .symbol_source = obj->symbol_source,
		};
	info.size = size;
	memcpy(out, &info, size);
	return 0;
}

const char *tacho_symbols_comm(const struct tacho_symbols *s, uint32_t pid, uint32_t tid)
{
	struct processes *p = (struct processes *)&s->processes;	/* may intern ":TID" */
	char name[32];

	if (s->search.live && !process_has_comm(p, tid) &&
	    proc_comm_read(&s->search, pid, tid, name, sizeof(name)) > 0)
		process_comm(p, pid, tid, name, false);
	return process_comm_of(p, pid, tid);
}

int tacho_build_id_of_file(const char *path, uint8_t out[20])
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	int err = elf_open(&e, path);

	return err < 0 ? err : elf_build_id(&e, out);
}
