/*
 * Formats of this machine's tracepoints, read from tracefs and put into the layout of TRACING_DATA, so that they are
 * parsed like those of a recording.
 */
#include "trace/trace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/io.h"
#include "base/tracefs.h"

#define FORMAT_MAX (1u << 20)

static void put_u32(struct buf *b, uint32_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_u64(struct buf *b, uint64_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_header(struct buf *b)
{
	static const char magic[] = "\027\010\104tracing0.6";

	buf_put(b, magic, sizeof(magic));
	buf_putc(b, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	buf_putc(b, sizeof(long));
	put_u32(b, 4096);
	buf_put(b, "header_page", sizeof("header_page"));
	put_u64(b, 0);
	buf_put(b, "header_event", sizeof("header_event"));
	put_u64(b, 0);
	put_u32(b, 0);			/* ftrace's own formats */
}

/* "sched:sched_switch" */
static int put_event(struct buf *b, const char *tracefs, const char *event)
{
	struct str name = str_of(event), system;
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	int err;

	str_cut(&name, ':', &system);
	if (snprintf(path, sizeof(path), "%s/events/%.*s/%.*s/format", tracefs, STR(system), STR(name)) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = io_read(path, FORMAT_MAX, &text);
	if (err < 0)
		return err;
	buf_str(b, system);
	buf_putc(b, '\0');
	put_u32(b, 1);
	put_u64(b, text.n);
	buf_put(b, text.bytes, text.n);
	return 0;
}

static int refuse(int err, const char *event, bool is_mounted, struct tacho_error *e)
{
	if (err == -ENOENT && !is_mounted) {
		error_set(e, err, "the format of %s cannot be read: tracefs is not mounted", event);
		error_hint(e, "mount -t tracefs tracefs /sys/kernel/tracing");
	} else if (err == -ENOENT) {
		error_set(e, err, "this kernel has no tracepoint %s", event);
	} else {
		error_set(e, err, "the format of %s cannot be read: %s", event, strerror(-err));
	}
	if (err == -EACCES || err == -EPERM)
		error_hint(e, "run as root, or let this group in: mount -o remount,gid=GID,mode=750 /sys/kernel/tracing");
	return err;
}

int tacho_trace_new_here(struct tacho_trace **out, const char *tracefs, const char *const *events, size_t n,
			 struct tacho_error *e)
{
	scoped(buf_done) struct buf b = { 0 };
	bool is_mounted = true;
	char found[PATH_MAX];
	int err;

	if (!tracefs && tracefs_find(NULL, NULL, found, sizeof(found))) {
		tracefs = found;
	} else if (!tracefs) {
		is_mounted = errno == EACCES;
		tracefs = "/sys/kernel/tracing";
	}
	put_header(&b);
	put_u32(&b, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		err = put_event(&b, tracefs, events[i]);
		if (err < 0)
			return refuse(err, events[i], is_mounted, e);
	}
	put_u32(&b, 0);			/* kallsyms */
	put_u32(&b, 0);			/* printk strings */
	put_u64(&b, 0);			/* saved command lines */
	if (buf_failed(&b))
		return error_nomem(e);
	return tacho_trace_new(out, b.bytes, b.n, e);
}
