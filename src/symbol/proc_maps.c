/*
 * Parses lines of /proc/PID/maps: "START-END PERMS OFFSET MAJOR:MINOR INODE   PATH".
 */
#include "symbol/proc_maps.h"

#include "base/io.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define MAPS_TEXT_MAX (64u << 20)

/* The caller has NUL-terminated the line, so the path is a C string. */
static bool parse_line(struct str line, struct proc_map *out)
{
	struct str range, perms, offset, device, inode, start, major;
	uint64_t end, hi, lo;

	if (!str_cut(&line, ' ', &range) || !str_cut(&line, ' ', &perms) ||
	    !str_cut(&line, ' ', &offset) || !str_cut(&line, ' ', &device) ||
	    !str_cut(&line, ' ', &inode) || !str_cut(&range, '-', &start) ||
	    !str_cut(&device, ':', &major))
		return false;
	if (num_hex(start, &out->start) < 0 || num_hex(range, &end) < 0 || end <= out->start ||
	    num_hex(offset, &out->pgoff) < 0 || num_hex(major, &hi) < 0 ||
	    num_hex(device, &lo) < 0 || num_u64(inode, &out->inode) < 0)
		return false;
	out->length = end - out->start;
	out->device = hi << 32 | lo;
	out->exec = perms.n > 2 && perms.s[2] == 'x';
	while (line.n && *line.s == ' ')
		line = str_n(line.s + 1, line.n - 1);
	out->path = line.n ? line.s : "//anon";
	return true;
}

int proc_maps_read(const struct symbol_search *search, uint32_t pid,
	      int (*each)(void *arg, uint32_t pid, const struct proc_map *map), void *arg)
{
	scoped(buf_done) struct buf path = { 0 }, text = { 0 };
	int err;

	buf_printf(&path, "%s/%u/maps", search->procfs, pid);
	if (buf_failed(&path))
		return -ENOMEM;
	err = io_read(path.bytes, MAPS_TEXT_MAX, &text);
	if (err < 0)
		return err;
	for (char *at = text.bytes, *end; at && (end = strchr(at, '\n')); at = end + 1) {
		struct proc_map map;

		*end = '\0';
		if (!parse_line(str_n(at, (size_t)(end - at)), &map))
			continue;
		err = each(arg, pid, &map);
		if (err < 0)
			return err;
	}
	return 0;
}

int proc_comm_read(const struct symbol_search *search, uint32_t pid, uint32_t tid, char *out, size_t size)
{
	scoped(buf_done) struct buf path = { 0 };

	buf_printf(&path, "%s/%u/task/%u/comm", search->procfs, pid, tid);
	if (buf_failed(&path))
		return -ENOMEM;
	return io_read_small(AT_FDCWD, path.bytes, out, size);
}
