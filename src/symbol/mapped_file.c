/*
 * A mapping is recognized by device and inode. Without them, as when a recording has build IDs instead, it is by its path,
 * and the caller checks the build ID.
 */
#include "symbol/mapped_file.h"

#include "symbol/proc_maps.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define FOUND (-EEXIST)			/* ends the search */

struct mapping_search {
	const struct object *obj;
	uint64_t start, end;
};

bool mapped_file_is_replaced(const struct object *obj, int fd)
{
	struct stat st;

	if (!obj->inode || fd < 0 || fstat(fd, &st) < 0)
		return false;
	return obj->device == ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)) && obj->inode != st.st_ino;
}

static size_t length_without_mark(const char *path)
{
	struct str mark = STR_LIT(" (deleted)");
	size_t n = strlen(path);

	return str_ends(str_n(path, n), mark.s) ? n - mark.n : n;
}

static bool same_path(const char *a, const char *b)
{
	size_t n = length_without_mark(a);

	return n == length_without_mark(b) && strncmp(a, b, n) == 0;
}

static int compare_mapping(void *arg, uint32_t pid, const struct proc_map *map)
{
	struct mapping_search *m = arg;
	const struct object *obj = m->obj;
	bool same = obj->inode ? map->inode == obj->inode && map->device == obj->device :
				 map->inode && same_path(map->path, obj->file ? obj->file : obj->path);

	(void)pid;
	if (!same)
		return 0;
	m->start = map->start;
	m->end = map->start + map->length;
	return FOUND;
}

int mapped_file_open(struct elf *out, const struct object *obj, const struct symbol_search *search)
{
	struct mapping_search m = { .obj = obj };
	scoped(buf_done) struct buf path = { 0 };

	if (!obj->pid || (!obj->inode && !obj->build_id.n) ||
	    proc_maps_read(search, obj->pid, compare_mapping, &m) != FOUND)
		return -ENOENT;
	buf_printf(&path, "%s/%u/map_files/%llx-%llx", search->procfs, obj->pid, (unsigned long long)m.start,
		   (unsigned long long)m.end);
	return buf_failed(&path) ? -ENOMEM : elf_open(out, path.bytes);
}
