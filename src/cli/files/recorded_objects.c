/*
 * The objects of a recording. `perf record` writes the build ID table at the end, with the objects that have
 * samples; with --buildid-mmap the IDs are in the mmap records instead.
 */
#include "cli/files/recorded_objects.h"

#include <errno.h>
#include <fcntl.h>

#include "base/error.h"
#include "base/io.h"
#include "base/vec.h"
#include "cli/files/build_id_table.h"
#include "record/callchain_markers.h"

static struct file_object *object_get(struct file_objects *o, const char *path)
{
	const uint64_t *at = map_get(&o->index, str_of(path));
	struct file_object *obj;

	if (at)
		return &o->list.v[*at];
	obj = vec_add(&o->list);
	if (!obj)
		return NULL;
	obj->path = arena_str(&o->arena, str_of(path));
	if (!obj->path || map_put(&o->index, str_of(obj->path), o->list.n - 1)) {
		o->list.n--;
		return NULL;
	}
	return obj;
}

static int object_set(struct file_objects *o, const char *path, const uint8_t *id, size_t n,
		      bool kernel)
{
	struct file_object *obj = object_get(o, path);

	if (!obj)
		return -ENOMEM;
	obj->kernel |= kernel;
	if (!obj->n && n && n <= sizeof(obj->id)) {
		memcpy(obj->id, id, n);
		obj->n = n;
	}
	return 0;
}

static int add_build_ids(struct file_objects *o, struct tacho_feature_list *list)
{
	struct tacho_file_build_id entry;
	int err = 0;

	while (!err && tacho_build_id_next(list, &entry) > 0)
		err = object_set(o, entry.path, entry.id, entry.n, entry.kernel);
	return err;
}

/* Returns the name of the mapped object. The kernel's mapping is called "[kernel.kallsyms]_text"; the part
 * after the bracket is removed. */
static const char *mapped_name(const struct tacho_sideband *r, char *out, size_t size)
{
	const char *end = strchr(r->mmap.path, ']');
	size_t n = end ? (size_t)(end - r->mmap.path) + 1 : 0;

	if (r->mmap.path[0] != '[' || !n || n >= size)
		return r->mmap.path;
	memcpy(out, r->mmap.path, n);
	out[n] = 0;
	return out;
}

int file_objects_add_record(struct file_objects *o, const struct tacho_sideband *r)
{
	char name[256];
	const char *path;

	if (r->type != TACHO_RECORD_MMAP && r->type != TACHO_RECORD_MMAP2)
		return 0;
	path = mapped_name(r, name, sizeof(name));
	if (strcmp(path, "//anon") == 0 || strncmp(path, "[heap", 5) == 0 || path[0] == '\0')
		return 0;
	return object_set(o, path, r->mmap.build_id, r->mmap.n_build_id, (r->misc & 7) == 1);
}

struct objects_reader {
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;	/* NULL: samples are not needed */
	struct tacho_scratch *scratch;
};

/* Marks the object of an address as hit. */
static int add_address(struct file_objects *o, struct objects_reader *w, uint32_t pid, enum tacho_space space,
		       uint64_t ip)
{
	struct tacho_object_info info = { .size = sizeof(info) };
	struct tacho_frame frame;
	struct file_object *obj;

	if (tacho_symbols_resolve(w->symbols, pid, space, ip, &frame) == -ENOMEM)
		return -ENOMEM;
	if (!frame.object || tacho_symbols_object(w->symbols, frame.object, &info) < 0)
		return 0;
	obj = object_get(o, info.path);
	if (!obj)
		return -ENOMEM;
	obj->hit = true;
	return obj->n ? 0 : object_set(o, info.path, info.build_id, info.n_build_id, info.kernel);
}

static int add_sample(struct file_objects *o, struct objects_reader *w, const struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(w->pd, rec), err;
	enum tacho_space space = rec->misc & 7;
	struct tacho_sample sample;

	if (i < 0)
		return 0;
	err = tacho_sample_decode(&sample, rec, &tacho_perfdata_event(w->pd, (size_t)i)->layout, w->scratch);
	if (err)
		return err;
	err = add_address(o, w, sample.pid, space, sample.ip);
	for (size_t k = 0; k < sample.chain.n && !err; k++)
		if (sample.chain.v[k] < CONTEXT_FIRST)
			err = add_address(o, w, sample.pid, space, sample.chain.v[k]);
		else if (!context_space(sample.chain.v[k], &space))
			break;
	return err;
}

static int add_record(struct file_objects *o, struct objects_reader *w, const struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(w->pd, rec), err;
	struct tacho_feature_list list;
	struct tacho_sideband other;

	w->scratch->used = 0;
	if (rec->type == TACHO_RECORD_SAMPLE)
		return w->symbols ? add_sample(o, w, rec) : 0;
	if (rec->type == TACHO_RECORD_BUILD_ID)
		return tacho_record_list(rec, &list) < 0 ? 0 : add_build_ids(o, &list);
	if (rec->type >= TACHO_RECORD_HEADER_ATTR || !tacho_perfdata_n_events(w->pd))
		return 0;
	err = tacho_sideband_decode(&other, rec, &tacho_perfdata_event(w->pd, i < 0 ? 0 : (size_t)i)->layout,
				 w->scratch);
	if (err)
		return err == -EOPNOTSUPP ? 0 : err;
	err = file_objects_add_record(o, &other);
	if (!err && w->symbols)
		err = tacho_symbols_feed(w->symbols, &other);
	return err;
}

static int read_records(struct file_objects *o, struct objects_reader *w, struct tacho_error *e)
{
	struct tacho_record rec;
	int err, bad;

	while ((err = tacho_perfdata_next(w->pd, &rec, e)) > 0) {
		bad = add_record(o, w, &rec);
		if (bad)
			return error_set(e, bad, bad == -ENOMEM ? "out of memory" :
					 "the record at offset %#llx is damaged", (unsigned long long)rec.offset);
	}
	return err;
}

struct file_object *file_objects_mapped(const struct file_objects *o, const struct tacho_sideband *decoded)
{
	char name[256];
	const uint64_t *at = map_get(&o->index, str_of(mapped_name(decoded, name, sizeof(name))));

	return at ? &o->list.v[*at] : NULL;
}

int file_object_disk(struct file_object *obj)
{
	int n = 0;

	if (obj->n)
		return 0;
	if (obj->kernel && strncmp(obj->path, "[kernel", 7) == 0)
		n = kernel_build_id(obj->id);
	else if (obj->path[0] == '/')
		n = tacho_build_id_of_file(obj->path, obj->id);
	obj->n = n > 0 ? (size_t)n : 0;
	return n == -ENOMEM ? n : 0;
}

int file_objects_disk(struct file_objects *o)
{
	int err = 0;

	for (size_t i = 0; i < o->list.n && err == 0; i++)
		err = file_object_disk(&o->list.v[i]);
	return err;
}

int file_objects_read(struct file_objects *o, struct tacho_perfdata *pd, unsigned sources,
		      struct tacho_error *e)
{
	struct objects_reader w = { .pd = pd };
	struct tacho_symbols_opts opts = { .size = sizeof(opts) };
	struct tacho_feature_list list;
	int err = tacho_perfdata_list(pd, TACHO_FEATURE_BUILD_ID, &list) < 0 ? 0 : add_build_ids(o, &list);

	if (err)
		return error_nomem(e);
	if (sources & OBJECTS_HITS) {
		err = tacho_symbols_new(&w.symbols, &opts, e);
		if (!err)
			err = file_build_ids_feed(pd, w.symbols);
	}
	if (!err && (sources & (OBJECTS_HITS | OBJECTS_RECORDS))) {
		w.scratch = malloc(sizeof(*w.scratch));
		err = w.scratch ? read_records(o, &w, e) : error_nomem(e);
	} else if (!err) {
		err = tacho_perfdata_damage(pd, e);
	}
	free(w.scratch);
	tacho_symbols_free(w.symbols);
	if ((sources & OBJECTS_DISK) && file_objects_disk(o) < 0)
		err = error_nomem(e);
	return err;
}

void file_objects_done(struct file_objects *o)
{
	vec_done(&o->list);
	map_done(&o->index);
	arena_done(&o->arena);
}

/* ELF notes: u32 name length, data length and type, then name and data, each padded to four bytes. */
int kernel_build_id(uint8_t out[20])
{
	struct buf notes = { 0 };
	uint32_t head[3];
	size_t at = 0;
	int err = io_read("/sys/kernel/notes", 65536, &notes), n = err ? err : -ENOENT;

	while (!err && n < 0 && notes.n - at >= sizeof(head)) {
		size_t name, data;

		memcpy(head, notes.bytes + at, sizeof(head));
		name = at + sizeof(head);
		data = name + ((size_t)head[0] + 3) / 4 * 4;
		if (head[0] > 256 || head[1] > 65536 || data + head[1] > notes.n)
			break;
		if (head[2] == 3 && head[0] == 4 && memcmp(notes.bytes + name, "GNU", 4) == 0 && head[1] <= 20) {
			memcpy(out, notes.bytes + data, head[1]);
			n = (int)head[1];
		}
		at = data + ((size_t)head[1] + 3) / 4 * 4;
	}
	buf_done(&notes);
	return n;
}
