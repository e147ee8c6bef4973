/*
 * A file of another build is never used: its offsets would give wrong names.
 */
#include "symbol/debug_alt.h"

#include "symbol/elf_section_data.h"
#include "symbol/object_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

struct alt_link {
	struct buf text;		/* the section */
	const char *name;
	struct build_id id;
};

static void alt_link_done(struct alt_link *l)
{
	buf_done(&l->text);
}

static int read_link(const struct elf *file, struct alt_link *out)
{
	const struct elf_section *s = elf_find_section(file, ".gnu_debugaltlink");
	size_t n;
	int err = s ? elf_read_section_data(file, s, &out->text) : -ENODATA;

	if (err < 0)
		return err == -ENOMEM ? err : -ENODATA;
	n = out->text.n ? strnlen(out->text.bytes, out->text.n) : 0;
	if (!n || n >= out->text.n)
		return -ENODATA;
	out->name = out->text.bytes;
	out->id.n = (uint8_t)min_of(out->text.n - n - 1, (size_t)BUILD_ID_MAX);
	memcpy(out->id.bytes, out->text.bytes + n + 1, out->id.n);
	return out->id.n ? 0 : -ENODATA;
}

/* Takes ownership of `path`, which is NULL if it could not be allocated. */
static int try_file(struct elf *out, char *path, const struct build_id *want)
{
	scoped(freep) char *owned = path;
	uint8_t id[BUILD_ID_MAX];
	int err = owned ? elf_open(out, owned) : -ENOMEM;

	if (err < 0)
		return err;
	if (elf_build_id(out, id) == want->n && memcmp(id, want->bytes, want->n) == 0)
		return 0;
	elf_close(out);
	return -ENOENT;
}

/* The path of a name that is relative to the directory of an open file; NULL without memory. */
static char *beside(const struct elf *file, const char *name)
{
	char link[64], path[PATH_MAX];
	struct buf text = { 0 };
	ssize_t n;
	char *slash;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[max_of(n, (ssize_t)0)] = '\0';
	slash = strrchr(path, '/');
	buf_printf(&text, "%.*s/%s", slash ? (int)(slash - path) : 0, path, name);
	return buf_take(&text);
}

int debug_alt_open(struct elf *out, const struct elf *file)
{
	scoped(alt_link_done) struct alt_link l = { 0 };
	int err = read_link(file, &l);

	if (err < 0)
		return err;
	err = try_file(out, l.name[0] == '/' ? strdup(l.name) : beside(file, l.name), &l.id);
	if (err < 0 && err != -ENOMEM)
		err = try_file(out, files_by_build_id(DEBUG_ROOT, &l.id, ".debug"), &l.id);
	return err == -ENOMEM ? err : err < 0 ? -ENOENT : 0;
}
