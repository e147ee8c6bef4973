/*
 * Reads and writes the definitions of probes. When the kernel refuses one, the reason is the newest entry of error_log.
 */
#include "probe/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/vec.h"

#define BUSY_PAUSE_MS 10
#define BUSY_MAX_MS 5000

static const char *file_of(bool is_kernel)
{
	return is_kernel ? "kprobe_events" : "uprobe_events";
}

static int refuse(struct sys *sys, int err, bool is_kernel, struct tacho_error *e)
{
	const char *root = sys->tracefs ? sys->tracefs : "/sys/kernel/tracing";

	if (err == -EACCES || err == -EPERM) {
		error_set(e, err, "%s/%s cannot be opened: permission denied", root, file_of(is_kernel));
		error_hint(e, "probes are defined by root; a program with CAP_PERFMON can use uprobe:FILE:FUNCTION events "
			   "without a definition");
		return err;
	}
	if (err == -ENOENT && sys->tracefs) {
		error_set(e, -EOPNOTSUPP, "this kernel has no %s (%s is missing)", is_kernel ? "kprobes" : "uprobes",
			  file_of(is_kernel));
		error_hint(e, "it was built without CONFIG_%s_EVENTS", is_kernel ? "KPROBE" : "UPROBE");
		return -EOPNOTSUPP;
	}
	if (err == -ENOENT) {
		error_set(e, err, "probes cannot be defined: tracefs is not mounted");
		error_hint(e, "mount -t tracefs nodev /sys/kernel/tracing");
		return err;
	}
	return error_set(e, err, "cannot open %s/%s: %s", root, file_of(is_kernel), strerror(-err));
}

static int path_of(struct sys *sys, const char *name, char out[PATH_MAX])
{
	const char *root = sys_tracefs(sys);
	int n = root ? snprintf(out, PATH_MAX, "%s/%s", root, name) : 0;

	if (!root)
		return -errno;
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static struct str take_word(struct str *rest)
{
	struct str word;

	*rest = str_trim(*rest);
	return str_cut(rest, ' ', &word) ? word : STR_LIT("");
}

/* "PATH:0x10(0x20)" */
static int parse_user_place(struct probe_definition *d, struct str place)
{
	size_t colon = place.n;
	struct str number, semaphore;
	ptrdiff_t open;

	while (colon && place.s[colon - 1] != ':')
		colon--;
	if (colon < 2)
		return -EINVAL;
	d->target = str_n(place.s, colon - 1);
	number = str_n(place.s + colon, place.n - colon);
	open = str_find(number, '(');
	if (open >= 0) {
		semaphore = str_n(number.s + open + 1, number.n - (size_t)open - 1);
		if (!str_ends(semaphore, ")") || num_u64(str_n(semaphore.s, semaphore.n - 1), &d->semaphore) < 0)
			return -EINVAL;
		number.n = (size_t)open;
	}
	return num_u64(number, &d->offset);
}

/* "vfs_read+0", "ext4:ext4_read+4", or an address */
static int parse_kernel_place(struct probe_definition *d, struct str place)
{
	size_t plus = place.n;

	while (plus && place.s[plus - 1] != '+')
		plus--;
	d->target = plus ? str_n(place.s, plus - 1) : place;
	if (plus && num_u64(str_n(place.s + plus, place.n - plus), &d->offset) < 0)
		return -EINVAL;
	return d->target.n ? 0 : -EINVAL;
}

int probe_definition_parse(struct probe_definition *d, struct str line, bool is_kernel)
{
	struct str head = take_word(&line), place;
	ptrdiff_t colon = str_find(head, ':'), slash = str_find(head, '/');

	*d = (struct probe_definition){ .is_kernel = is_kernel };
	if (colon < 1 || slash < colon + 2 || (size_t)slash + 1 >= head.n || (head.s[0] != 'p' && head.s[0] != 'r'))
		return -EINVAL;
	d->is_return = head.s[0] == 'r';
	d->group = str_n(head.s + colon + 1, (size_t)(slash - colon - 1));
	d->event = str_n(head.s + slash + 1, head.n - (size_t)slash - 1);
	place = take_word(&line);
	d->args = str_trim(line);
	return is_kernel ? parse_kernel_place(d, place) : parse_user_place(d, place);
}

static int parse_lines(struct probe_definitions *d, struct str text, bool is_kernel)
{
	struct str line;

	while (str_cut(&text, '\n', &line)) {
		struct probe_definition *slot, found;

		if (probe_definition_parse(&found, line, is_kernel) < 0)
			continue;
		slot = vec_next(&d->list);
		if (!slot)
			return -ENOMEM;
		*slot = found;
	}
	return 0;
}

int probe_definitions_read(struct probe_definitions *d, struct sys *sys, struct tacho_error *e)
{
	size_t ends[2] = { 0 }, start = 0;
	char path[PATH_MAX];
	int err = 0;

	*d = (struct probe_definitions){ 0 };
	for (int kernel = 0; err == 0 && kernel < 2; kernel++) {
		err = path_of(sys, file_of(kernel), path);
		if (err == 0)
			err = io_read(path, DEFINITIONS_BYTES_MAX, &d->text);
		if (err == -ENOENT && sys->tracefs)
			err = 0;	/* this kernel does not have that kind of probes */
		if (err < 0)
			err = err == -ENOMEM ? error_nomem(e) : refuse(sys, err, kernel, e);
		ends[kernel] = d->text.n;
	}
	/* Only now, because the buffer may move while it grows. */
	for (int kernel = 0; err == 0 && kernel < 2; kernel++) {
		if (ends[kernel] > start)
			err = parse_lines(d, str_n(d->text.bytes + start, ends[kernel] - start), kernel);
		start = ends[kernel];
		if (err < 0)
			error_nomem(e);
	}
	if (err < 0)
		probe_definitions_done(d);
	return err;
}

void probe_definitions_done(struct probe_definitions *d)
{
	vec_done(&d->list);
	buf_done(&d->text);
}

/* The newest message of the kernel: "trace_uprobe: error: Bad type". */
static bool kernel_reason(struct sys *sys, char *out, size_t size)
{
	scoped(buf_done) struct buf log = { 0 };
	struct str rest, line, reason = { 0 };
	char path[PATH_MAX];

	if (path_of(sys, "error_log", path) < 0 || io_read(path, 1u << 20, &log) < 0)
		return false;
	rest = buf_view(&log);
	while (str_cut(&rest, '\n', &line)) {
		const char *at = memmem(line.s, line.n, "probe: error: ", 14);

		if (at)
			reason = str_n(at + 14, (size_t)(line.s + line.n - at) - 14);
	}
	snprintf(out, size, "%.*s", STR(reason));
	return reason.n > 0;
}

static int refuse_line(struct sys *sys, int err, bool is_kernel, const char *line, struct tacho_error *e)
{
	char reason[160];

	if (err == -EEXIST)
		error_set(e, err, "the kernel has a probe of this name with other arguments: %s", line);
	else if (err == -EBUSY)
		error_set(e, err, "the probe is in use by a tracer or a recording");
	else if (err == -ENOENT && line[0] == '-')
		error_set(e, err, "the kernel has no such probe");
	else if (err != -ENOMEM && kernel_reason(sys, reason, sizeof(reason)))
		error_set(e, err, "the kernel refuses the probe: %s", reason);
	else
		error_set(e, err, "the kernel refuses the probe: %s", strerror(-err));
	if (err != -EBUSY && err != -EEXIST && line[0] != '-')
		error_hint(e, "the line written to %s was: %s", file_of(is_kernel), line);
	return err;
}

/* One write: the kernel takes each line as soon as it is complete. Events that a recorder has just closed remain in use
 * until a grace period of the kernel has passed. */
static int write_line(int fd, struct str line)
{
	const struct timespec pause = { .tv_nsec = BUSY_PAUSE_MS * 1000000l };

	for (unsigned waited_ms = 0; write(fd, line.s, line.n) < 0; waited_ms += BUSY_PAUSE_MS) {
		if (errno != EBUSY || waited_ms >= BUSY_MAX_MS)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int probe_definition_write(struct sys *sys, bool is_kernel, const char *line, struct tacho_error *e)
{
	scoped(closep) int fd = -1;
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	int err = path_of(sys, file_of(is_kernel), path);

	if (err == 0) {
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		err = fd < 0 ? -errno : 0;
	}
	if (err < 0)
		return refuse(sys, err, is_kernel, e);
	buf_printf(&text, "%s\n", line);
	if (buf_failed(&text))
		return error_nomem(e);
	err = write_line(fd, buf_view(&text));
	return err < 0 ? refuse_line(sys, err, is_kernel, line, e) : 0;
}
