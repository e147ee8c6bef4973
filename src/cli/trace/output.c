/*
 * Where lines go: stderr, as in perf and strace, or the file of -o; with --last the newest lines are stored and written
 * at the end.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/io.h"
#include "cli/core/terminal.h"

#define THREAD_LINES_MAX 60000

int trace_output_open(struct trace *t)
{
	const char *path = t->o->output;

	t->out_fd = STDERR_FILENO;
	if (trace_is_per_thread(t->o)) {
		t->out_fd = STDERR_FILENO;	/* of the summary */
	} else if (path && strcmp(path, "-") != 0) {
		t->out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (t->out_fd < 0) {
			int err = -errno;

			message_text("trace", "cannot write '%s': %s", path, strerror(-err));
			return err;
		}
	} else if (path) {
		t->out_fd = STDOUT_FILENO;
	}
	t->colors = !trace_is_per_thread(t->o) && term_has_colors(t->out_fd);
	if (t->o->last) {
		t->recent.v = calloc(t->o->last, sizeof(*t->recent.v));
		if (!t->recent.v)
			return -ENOMEM;
	}
	return 0;
}

static void report_failed_write(struct trace *t, const char *path, int err)
{
	t->stop = t->write_failed = true;
	message_text("trace", "cannot write '%s': %s", path, strerror(-err));
}

/* The file is opened each time, because there may be more threads than a process can have files. */
static int write_thread(struct trace_thread *th, const char *path)
{
	scoped(closep) int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (th->has_file ? 0 : O_TRUNC), 0644);
	int err = fd < 0 ? -errno : io_write_all(fd, th->lines.bytes, th->lines.n);

	th->has_file = true;
	buf_done(&th->lines);
	return err;
}

static void flush_thread(struct trace *t, struct trace_thread *th)
{
	char path[PATH_MAX];
	int err = 0;

	if (!th->lines.n || t->write_failed)
		return;
	if ((size_t)snprintf(path, sizeof(path), "%s.%d", t->o->output, th->tid) >= sizeof(path))
		err = -ENAMETOOLONG;
	if (err == 0)
		err = write_thread(th, path);
	if (err < 0)
		report_failed_write(t, path, err);
}

void trace_flush_threads(struct trace *t)
{
	for (size_t i = 0; trace_is_per_thread(t->o) && i < t->threads.n; i++)
		flush_thread(t, t->threads.v[i]);
}

void trace_flush(struct trace *t)
{
	int err = t->out.n && !t->write_failed ? io_write_all(t->out_fd, t->out.bytes, t->out.n) : 0;

	if (err < 0)
		report_failed_write(t, t->o->output ? t->o->output : "stderr", err);
	buf_clear(&t->out);
}

static void store_recent(struct trace *t)
{
	free(t->recent.v[t->recent.next]);
	t->recent.v[t->recent.next] = str_dup(buf_view(&t->out));
	t->recent.next = (t->recent.next + 1) % t->o->last;
	t->recent.n = min_of(t->recent.n + 1, (size_t)t->o->last);
	buf_clear(&t->out);
}

void trace_line_end(struct trace *t, struct trace_thread *th)
{
	buf_putc(&t->out, '\n');
	t->n_lines++;
	if (trace_is_per_thread(t->o)) {
		if (t->out.n)
			buf_put(&th->lines, t->out.bytes, t->out.n);
		buf_clear(&t->out);
		if (th->lines.n > THREAD_LINES_MAX)
			flush_thread(t, th);
	}
	if (t->recent.v)
		store_recent(t);
	if (t->o->max_events && t->n_lines >= t->o->max_events)
		t->stop = true;
}

/* --last: what was stored before a crash is printed at once, because tracing may continue for long. */
void trace_dump_recent(struct trace *t)
{
	size_t at;

	for (size_t i = 0; t->recent.v && i < t->o->last; i++) {
		at = (t->recent.next + i) % t->o->last;
		if (t->recent.v[at])
			buf_puts(&t->out, t->recent.v[at]);
		free(t->recent.v[at]);
		t->recent.v[at] = NULL;
	}
	t->recent.n = 0;
	trace_flush(t);
}

void trace_print_recent(struct trace *t)
{
	trace_dump_recent(t);
	free(t->recent.v);
	t->recent.v = NULL;
}

void trace_output_close(struct trace *t)
{
	trace_flush(t);
	trace_flush_threads(t);
	if (t->out_fd > STDERR_FILENO)
		close(t->out_fd);
	buf_done(&t->out);
}

const char *trace_call_name(struct trace *t, uint32_t nr, bool compat, char room[TRACE_NAME_ROOM])
{
	const struct tacho_syscall *sc = compat ? NULL : tacho_syscall_by_nr(t->arch, nr);
	const char *name_32 = compat ? tacho_syscall_name_32(t->arch, nr) : NULL;

	if (sc)
		return tacho_syscall_name(sc);
	if (name_32)
		snprintf(room, TRACE_NAME_ROOM, "%s@32", name_32);
	else
		snprintf(room, TRACE_NAME_ROOM, compat ? "syscall_%u@32" : "syscall_%u", nr);
	return room;
}

struct fd_context {
	struct trace *t;
	struct trace_process *p;
};

static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f && c != '<' && c != '>' && c != '\\';
}

/* Paths are the traced program's text: special characters become octal numbers. */
static size_t escape(const char *s, char *out, size_t room)
{
	size_t n = 0;

	for (; *s && n + 5 < room; s++)
		n += is_plain(*s) ? (out[n] = *s, 1u) : (size_t)snprintf(out + n, room - n, "\\%03o", (unsigned char)*s);
	out[n] = '\0';
	return n;
}

/* "<char 1:3>" after the path of a device */
static size_t device_text(const char *path, char *out, size_t room)
{
	struct stat st;
	int n;

	if (stat(path, &st) < 0 || (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
		return 0;
	n = snprintf(out, room, "<%s %u:%u>", S_ISCHR(st.st_mode) ? "char" : "block", major(st.st_rdev), minor(st.st_rdev));
	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

static size_t fd_text(void *arg, int fd, char *out, size_t room)
{
	struct fd_context *f = arg;
	char path[PATH_MAX];
	size_t n;

	if (!f->p || !room || !trace_fd_text(f->t, f->p, fd, path, sizeof(path)))
		return 0;
	if (path[0] != '/') {		/* the kernel's own: pipe:[812] */
		n = strlen(path);
		snprintf(out, room, "%s", path);
		return min_of(n, room - 1);
	}
	n = escape(path, out, room);
	return f->t->o->show_fds > 1 ? n + device_text(path, out + n, room - n) : n;
}

static void print_value(struct trace *t, struct trace_call *call, int arg, struct buf *out)
{
	struct fd_context f = { t, t->o->show_fds ? trace_process_get(t, call->th->pid) : NULL };
	struct tacho_syscall_print_opts o = { .size = sizeof(o), .string_bytes = t->o->string_limit,
		.all_strings = t->o->verbose_structs, .whole_names = t->o->show_prefix,
		.style = t->writer == &trace_writer_perf ? TACHO_SYSCALL_PERF : TACHO_SYSCALL_STRACE };
	char text[1024], *more;
	ptrdiff_t n;

	if (t->o->show_fds) {
		o.fd_text = fd_text;
		o.sockets = t->o->show_fds > 1;
		o.arg = &f;
	}
	n = arg < 0 ? tacho_syscall_print_return(&call->c, &o, text, sizeof(text)) :
		tacho_syscall_print_arg(&call->c, (unsigned)arg, &o, text, sizeof(text));
	if (n < 0)
		return;
	if ((size_t)n < sizeof(text)) {
		buf_put(out, text, (size_t)n);
		return;
	}
	more = malloc((size_t)n + 1);
	if (!more)
		return;
	if (arg < 0)
		tacho_syscall_print_return(&call->c, &o, more, (size_t)n + 1);
	else
		tacho_syscall_print_arg(&call->c, (unsigned)arg, &o, more, (size_t)n + 1);
	buf_put(out, more, (size_t)n);
	free(more);
}

void trace_print_arg(struct trace *t, struct trace_call *call, unsigned arg, struct buf *out)
{
	print_value(t, call, (int)arg, out);
}

void trace_print_return(struct trace *t, struct trace_call *call, struct buf *out)
{
	if (call->c.sc) {
		print_value(t, call, -1, out);
		return;
	}
	if (call->c.ret < 0 && call->c.ret > -4096 && tacho_errno_name((int)-call->c.ret))
		buf_printf(out, "-1 %s (%s)", tacho_errno_name((int)-call->c.ret), strerror((int)-call->c.ret));
	else
		buf_printf(out, "%lld", (long long)call->c.ret);
}

/* strace names the arguments of clone. */
static void put_strace_name(const struct trace_call *call, unsigned arg, struct buf *out)
{
	static const char *const clone_names[] = { "flags=", "child_stack=", "parent_tid=", "child_tidptr=", "tls=" };

	if (!strcmp(tacho_syscall_name(call->c.sc), "clone") && arg < countof(clone_names))
		buf_puts(out, clone_names[arg]);
}

/* FUTEX_WAIT_BITSET has no second address, FUTEX_WAKE_BITSET no time either. */
static bool is_unused_futex_arg(const struct trace_call *call, unsigned arg)
{
	unsigned op = call->c.args[1] & 0x7f;

	return !strcmp(tacho_syscall_name(call->c.sc), "futex") && ((arg == 4 && (op == 9 || op == 10)) || (arg == 3 && op == 10));
}

/* Arguments of clone that its flags do not ask for are not shown. */
static bool is_unused_clone_arg(const struct trace_call *call, unsigned arg)
{
	static const uint64_t needs[] = { 0, 0, 0x100000, 0x1200000, 0x80000 };

	return !strcmp(tacho_syscall_name(call->c.sc), "clone") && arg < countof(needs) && needs[arg] &&
	       !(call->c.args[0] & needs[arg]);
}

/* clone is printed as strace does: the stack first. */
static unsigned arg_in_order(const struct trace_call *call, unsigned i)
{
	if (strcmp(tacho_syscall_name(call->c.sc), "clone") != 0)
		return i;
	return (const unsigned[]){ 1, 0, 2, 4, 3, 5 }[min_of(i, 5u)];
}

void trace_print_args(struct trace *t, struct trace_call *call, unsigned from, unsigned to, struct buf *out)
{
	for (unsigned i = from; i < to; i++) {
		unsigned arg = arg_in_order(call, i);

		if (is_unused_clone_arg(call, arg) || is_unused_futex_arg(call, arg))
			continue;
		if (i)
			buf_puts(out, ", ");
		put_strace_name(call, arg, out);
		trace_print_arg(t, call, arg, out);
	}
}
