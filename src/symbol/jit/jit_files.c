#include "symbol/jit/jit_files.h"

#include "base/io.h"
#include "base/num.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

uint32_t jit_inner_pid(const char *status_path, uint32_t outer)
{
	char text[4096], *line, *end, *last;
	uint32_t inner;

	if (io_read_small(AT_FDCWD, status_path, text, sizeof(text)) < 0)
		return outer;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return outer;
	end = strchr(line + 1, '\n');
	if (end)
		*end = '\0';
	last = strrchr(line, '\t');
	return last && num_u32(str_of(last + 1), &inner) == 0 ? inner : outer;
}

/* The path of a process's perf map: for a container, below its root and with the pid it has there. */
int jit_map_path(const struct object *obj, const struct symbol_search *search, struct buf *out)
{
	uint32_t inner;

	if (!search->live || !obj->pid) {
		buf_puts(out, obj->path);
		return buf_failed(out) ? -ENOMEM : 0;
	}
	buf_printf(out, "%s/%u/status", search->procfs, obj->pid);
	if (buf_failed(out))
		return -ENOMEM;
	inner = jit_inner_pid(out->bytes, obj->pid);
	buf_clear(out);
	buf_printf(out, "%s/%u/root/tmp/perf-%u.map", search->procfs, obj->pid, inner);
	if (!buf_failed(out) && !io_is_accessible(out->bytes, F_OK)) {
		buf_clear(out);
		buf_puts(out, obj->path);
	}
	return buf_failed(out) ? -ENOMEM : 0;
}

int jit_dump_path(const struct object *obj, const struct symbol_search *search, struct buf *out)
{
	const char *path = obj->file ? obj->file : obj->path;

	if (search->live && obj->pid)
		buf_printf(out, "%s/%u/root%s", search->procfs, obj->pid, path);
	if (!buf_failed(out) && (!out->n || !io_is_accessible(out->bytes, F_OK))) {
		buf_clear(out);
		buf_puts(out, path);
	}
	return buf_failed(out) ? -ENOMEM : 0;
}

/* The user a running process belongs to; ours if it has ended. */
uid_t jit_process_owner(uint32_t pid, const struct symbol_search *search)
{
	scoped(buf_done) struct buf path = { 0 };
	struct stat st;

	if (!pid)
		return geteuid();
	buf_printf(&path, "%s/%u", search->procfs, pid);
	return !buf_failed(&path) && stat(path.bytes, &st) == 0 ? st.st_uid : geteuid();
}
