/*
 * TRACING_DATA: the formats of the recorded tracepoints, in the layout of trace-cmd files of version 6:
 *
 *	17 08 44 "tracing" "0.6" 0, byte order, bytes of a long, u32 bytes of a page
 *	"header_page" 0, u64 length, text	"header_event" 0, u64 length, text
 *	u32 formats of ftrace events	u32 systems; each: name 0, u32 formats; each: u64, text
 *	u32 kallsyms (none)	u32 length, printk formats	u64 saved command names (none)
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"
#include "base/tracefs.h"

#define FORMAT_MAX (1u << 20)
#define PRINTK_MAX (16u << 20)
#define NAME_MAX_BYTES 200

struct trace_name {
	struct str system, event;
};

static int compare_trace_name(const void *a, const void *b)
{
	const struct trace_name *x = a, *y = b;
	int order = str_cmp(x->system, y->system);

	return order ? order : str_cmp(x->event, y->event);
}

static bool is_valid_name(struct str s)
{
	return s.n > 0 && s.n < NAME_MAX_BYTES && str_find(s, '/') < 0 && !str_is(s, "..");
}

static int split_names(struct trace_name *out, const char *const *names, size_t n,
		       struct tacho_error *e)
{
	for (size_t i = 0; i < n; i++) {
		struct str rest = str_of(names[i]);

		str_cut(&rest, ':', &out[i].system);
		out[i].event = rest;
		if (!is_valid_name(out[i].system) || !is_valid_name(out[i].event))
			return error_set(e, -EINVAL, "'%s' is not a tracepoint (system:event)", names[i]);
	}
	qsort(out, n, sizeof(*out), compare_trace_name);
	return 0;
}

/* Appends the length (u64 if `wide`, else u32) and the content of a file below tracefs. */
static int put_file(struct buf *out, const char *root, const char *path, bool wide, size_t limit,
		    struct tacho_error *e)
{
	scoped(buf_done) struct buf name = { 0 }, text = { 0 };
	int err;

	buf_printf(&name, "%s/%s", root, path);
	if (buf_failed(&name))
		return error_nomem(e);
	err = io_read(name.bytes, limit, &text);
	if (err < 0) {
		error_set(e, err, "cannot read %s: %s", name.bytes, strerror(-err));
		if (err == -EACCES)
			error_hint(e, "only root can read tracefs, unless it is mounted with another mode");
		return err;
	}
	if (wide)
		put_u64(out, text.n);
	else
		put_u32(out, (uint32_t)text.n);
	buf_str(out, buf_view(&text));
	return 0;
}

static void put_start(struct buf *out)
{
	static const char magic[] = "\x17\x08\x44" "tracing" "0.6";

	buf_put(out, magic, sizeof(magic));
	buf_putc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	buf_putc(out, sizeof(long));
	put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
}

static size_t system_end(const struct trace_name *v, size_t at, size_t n)
{
	size_t end = at;

	while (end < n && str_eq(v[end].system, v[at].system))
		end++;
	return end;
}

static int put_systems(struct buf *out, const char *root, const struct trace_name *v, size_t n,
		       struct tacho_error *e)
{
	uint32_t systems = 0;
	size_t end;

	for (size_t at = 0; at < n; at = system_end(v, at, n))
		systems++;
	put_u32(out, systems);
	for (size_t at = 0; at < n; at = end) {
		end = system_end(v, at, n);
		buf_str(out, v[at].system);
		buf_putc(out, 0);
		put_u32(out, (uint32_t)(end - at));
		for (size_t i = at; i < end; i++) {
			char path[2 * NAME_MAX_BYTES + 32];
			int err;

			snprintf(path, sizeof(path), "events/%.*s/%.*s/format", STR(v[i].system),
				 STR(v[i].event));
			err = put_file(out, root, path, true, FORMAT_MAX, e);
			if (err < 0)
				return err;
		}
	}
	return 0;
}

/* Removes duplicates from the sorted names: a tracepoint may be recorded twice. */
static size_t remove_duplicates(struct trace_name *v, size_t n)
{
	size_t n_unique = 0;

	for (size_t i = 0; i < n; i++)
		if (n_unique == 0 || compare_trace_name(&v[n_unique - 1], &v[i]) != 0)
			v[n_unique++] = v[i];
	return n_unique;
}

int tacho_writer_tracing(struct tacho_perfdata_writer *w, const char *tracefs,
			 const char *const *names, size_t n, struct tacho_error *e)
{
	scoped(freep) struct trace_name *v = calloc(n + 1, sizeof(*v));
	char found[PATH_MAX];
	const char *root = tracefs ? tracefs : tracefs_find(NULL, NULL, found, sizeof(found)) ? found : "/sys/kernel/tracing";
	scoped(buf_done) struct buf out = { 0 };
	int err;

	if (!v)
		return error_nomem(e);
	err = split_names(v, names, n, e);
	if (err < 0)
		return err;
	n = remove_duplicates(v, n);
	put_start(&out);
	buf_put(&out, "header_page", sizeof("header_page"));
	err = put_file(&out, root, "events/header_page", true, FORMAT_MAX, e);
	buf_put(&out, "header_event", sizeof("header_event"));
	if (err == 0)
		err = put_file(&out, root, "events/header_event", true, FORMAT_MAX, e);
	put_u32(&out, 0);
	if (err == 0)
		err = put_systems(&out, root, v, n, e);
	put_u32(&out, 0);
	if (err == 0 && put_file(&out, root, "printk_formats", false, PRINTK_MAX, NULL) < 0)
		put_u32(&out, 0);
	put_u64(&out, 0);
	if (err < 0)
		return err;
	err = writer_set_feature(w, TACHO_FEATURE_TRACING_DATA, &out);
	return err < 0 ? error_set(e, err, "cannot store the tracing data: %s", strerror(-err)) : 0;
}
