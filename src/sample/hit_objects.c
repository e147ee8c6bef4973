/*
 * tacho_sampler_objects(): the objects that samples were taken in, with their build IDs. For mappings made
 * during the recording the build ID came with the MMAP2 record (Linux 5.12); for mappings that existed
 * before, it is read from the file now.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <tacho/symbol.h>

/* Opens the path as the process that mapped it sees it: in a container the same path may be another file. */
static int build_id_in_mount_namespace(struct hit_object *o)
{
	scoped(buf_done) struct buf path = { 0 };

	if (o->pid <= 0)
		return -ENOENT;
	buf_printf(&path, "/proc/%d/root%s", o->pid, o->path);
	return buf_failed(&path) ? -ENOMEM : tacho_build_id_of_file(path.bytes, o->build_id);
}

/* The file of a running program can be read by /proc/PID/exe even after it was deleted. */
static int build_id_of_deleted_program(struct hit_object *o)
{
	char path[32], target[4200];
	ssize_t n;

	if (o->pid <= 0 || !str_ends(str_of(o->path), " (deleted)"))
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/exe", o->pid);
	n = readlink(path, target, sizeof(target));
	if (n <= 0 || !str_is(str_n(target, (size_t)n), o->path))
		return -ENOENT;
	return tacho_build_id_of_file(path, o->build_id);
}

static void read_build_id(struct hit_object *o)
{
	int n;

	if (o->n_build_id || o->kernel || o->path[0] != '/')
		return;
	n = build_id_in_mount_namespace(o);
	if (n <= 0)
		n = build_id_of_deleted_program(o);
	if (n <= 0)
		n = tacho_build_id_of_file(o->path, o->build_id);
	o->n_build_id = n > 0 ? (uint8_t)n : 0;
}

int tacho_sampler_objects(struct tacho_sampler *s, bool all,
			  int (*fn)(void *arg, const struct tacho_sampled_object *o), void *arg)
{
	if (!s || !fn)
		return -EINVAL;
	if (s->n_readers)		/* readers do not track hits */
		all = true;
	for (size_t i = 0; i < s->hitmap.list.n; i++) {
		struct hit_object *o = &s->hitmap.list.v[i];
		struct tacho_sampled_object shown = { .size = sizeof(shown), .path = o->path,
						      .kernel = o->kernel, .pid = max_of(o->pid, 0) };
		int err;

		shown.hit = o->hit || (s->hitmap.kernel_hit && strcmp(o->path, "[kernel.kallsyms]") == 0);
		if (!all && !shown.hit)
			continue;
		read_build_id(o);
		if (!o->n_build_id)
			continue;
		shown.n_build_id = o->n_build_id;
		memcpy(shown.build_id, o->build_id, sizeof(shown.build_id));
		err = fn(arg, &shown);
		if (err)
			return err;
	}
	return 0;
}
