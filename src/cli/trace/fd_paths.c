/*
 * What file descriptors refer to, for -y and -P: from /proc when a descriptor is first seen, and from the calls that
 * open, duplicate and close descriptors, since a process may have ended by the time its events are read.
 */
#include "cli/trace/trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"

static struct trace_fd *find_fd(struct trace_process *p, int fd)
{
	for (size_t i = 0; i < p->fds.n; i++)
		if (p->fds.v[i].fd == fd)
			return &p->fds.v[i];
	return NULL;
}

/* Takes the text, which may be NULL: nothing is known. */
static void set_fd(struct trace_process *p, int fd, char *text)
{
	struct trace_fd *f = find_fd(p, fd);

	if (!f) {
		f = p->fds.n < 65536 ? vec_add(&p->fds) : NULL;
		if (!f) {
			free(text);
			return;
		}
		f->fd = fd;
	}
	free(f->text);
	f->text = text;
}

static void forget_fd(struct trace_process *p, int fd)
{
	struct trace_fd *f = find_fd(p, fd);

	if (!f)
		return;
	free(f->text);
	*f = p->fds.v[--p->fds.n];
}

void trace_process_done(struct trace_process *p)
{
	for (size_t i = 0; i < p->fds.n; i++)
		free(p->fds.v[i].text);
	vec_done(&p->fds);
	free(p->cwd);
	trace_environment_done(p);
	free(p);
}

static char *read_link(int pid, const char *what)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = readlink(path, target, sizeof(target) - 1);
	return n > 0 ? str_dup(str_n(target, (size_t)n)) : NULL;
}

static char *read_fd(int pid, int fd)
{
	char what[32];

	snprintf(what, sizeof(what), "fd/%d", fd);
	return read_link(pid, what);
}

static bool is_needed(const struct trace *t)
{
	return t->o->show_fds || t->o->paths.n || t->o->exec_tree;
}

static const char *cwd_of(struct trace_process *p)
{
	if (!p->cwd)
		p->cwd = read_link(p->pid, "cwd");
	return p->cwd;
}

struct str trace_string_in(const void *parts, size_t n, unsigned arg)
{
	const uint8_t *at = parts;

	while (n >= sizeof(struct tacho_syscall_part)) {
		const struct tacho_syscall_part *p = (const void *)at;
		size_t size = (sizeof(*p) + p->n + 7) & ~(size_t)7;

		if (size > n)
			break;
		if (p->arg == arg && p->index == TACHO_PART_MAIN)
			return str_n((const char *)(p + 1), strnlen((const char *)(p + 1), p->n));
		at += size;
		n -= size;
	}
	return (struct str){ 0 };
}

/* A path as it was captured; empty: it was not. */
static struct str path_arg(const struct trace_call *call, unsigned arg)
{
	struct str path = trace_string_in(call->c.entry_parts, call->c.n_entry_parts, arg);

	return path.n ? path : trace_string_in(call->c.exit_parts, call->c.n_exit_parts, arg);
}

/* The path that a call has opened: the argument, made absolute. */
static char *opened_path(struct trace_process *p, const struct trace_call *call, unsigned arg, int dirfd)
{
	struct str path = path_arg(call, arg);
	char whole[2 * PATH_MAX + 8];
	struct trace_fd *dir;
	const char *base;

	if (!path.n || path.n >= PATH_MAX)
		return NULL;
	if (path.s[0] == '/')
		return str_dup(path);
	dir = dirfd == AT_FDCWD ? NULL : find_fd(p, dirfd);
	base = dirfd == AT_FDCWD ? cwd_of(p) : dir ? dir->text : NULL;
	if (!base)
		return NULL;
	if (str_is(path, "."))
		return str_dup(str_of(base));
	snprintf(whole, sizeof(whole), "%s/%.*s", strcmp(base, "/") != 0 ? base : "", STR(path));
	return str_dup(str_of(whole));
}

/* The number in a part of eight bytes: the descriptors of pipe() and socketpair(). */
static const int *fd_pair(const struct trace_call *call)
{
	const struct tacho_syscall_part *p = call->c.exit_parts;

	return p && call->c.n_exit_parts >= sizeof(*p) + 8 && p->n == 8 ? (const int *)(p + 1) : NULL;
}

static void on_opened(struct trace *t, struct trace_process *p, const struct trace_call *call, const char *name)
{
	int fd = (int)call->c.ret, n_args = (int)tacho_syscall_n_args(call->c.sc);
	char *text = NULL;

	(void)t;
	if (!strncmp(name, "dup", 3)) {
		struct trace_fd *old = find_fd(p, (int)call->c.args[0]);

		text = old && old->text ? str_dup(str_of(old->text)) : NULL;
	}
	for (int i = 0; !text && i < n_args; i++)
		if (tacho_syscall_arg_is_path(call->c.sc, (unsigned)i))
			text = opened_path(p, call, (unsigned)i, i ? (int)call->c.args[i - 1] : AT_FDCWD);
	if (!text)
		text = read_fd(p->pid, fd);
	set_fd(p, fd, text);
}

static void on_chdir(struct trace_process *p, const struct trace_call *call)
{
	char *path = opened_path(p, call, 0, AT_FDCWD);

	if (path) {
		free(p->cwd);
		p->cwd = path;
	}
}

void trace_fds_on_call(struct trace *t, const struct trace_call *call)
{
	struct trace_process *p;
	const char *name;
	const int *pair;

	if (!is_needed(t) || !call->c.sc || !call->entry_ns)
		return;
	p = trace_process_get(t, call->th->pid);
	if (!p || call->c.ret < 0)
		return;
	name = tacho_syscall_name(call->c.sc);
	if (tacho_syscall_returns_fd(call->c.sc))
		on_opened(t, p, call, name);
	else if (!strcmp(name, "close"))
		forget_fd(p, (int)call->c.args[0]);
	else if (!strcmp(name, "chdir"))
		on_chdir(p, call);
	else if (!strcmp(name, "fcntl") && (call->c.args[1] == F_DUPFD || call->c.args[1] == F_DUPFD_CLOEXEC))
		on_opened(t, p, call, "dup");
	else if (!strncmp(name, "pipe", 4) || !strcmp(name, "socketpair")) {
		pair = fd_pair(call);
		for (int i = 0; pair && i < 2; i++)
			set_fd(p, pair[i], read_fd(p->pid, pair[i]));
	}
}

void trace_fds_read(struct trace *t, int pid)
{
	struct trace_process *p = is_needed(t) ? trace_process_get(t, pid) : NULL;
	char path[64];
	struct dirent *entry;
	DIR *d;
	int fd;

	if (!p)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && (entry = readdir(d)))
		if (num_int(str_of(entry->d_name), &fd) == 0)
			set_fd(p, fd, read_fd(pid, fd));
	if (d)
		closedir(d);
}

void trace_fds_fork(struct trace *t, int parent, int child)
{
	struct trace_process *from, *to;

	if (!is_needed(t))
		return;
	from = trace_process_get(t, parent);
	to = trace_process_get(t, child);
	if (!from || !to)
		return;
	for (size_t i = 0; i < from->fds.n; i++)
		if (from->fds.v[i].text)
			set_fd(to, from->fds.v[i].fd, str_dup(str_of(from->fds.v[i].text)));
	cwd_of(from);
	if (from->cwd && !to->cwd)
		to->cwd = str_dup(str_of(from->cwd));
}

size_t trace_fd_text(struct trace *t, struct trace_process *p, int fd, char *out, size_t room)
{
	struct trace_fd *f;
	const char *text;

	(void)t;
	if (fd == AT_FDCWD) {
		text = cwd_of(p);
	} else {
		f = find_fd(p, fd);
		if (!f || !f->text) {
			set_fd(p, fd, read_fd(p->pid, fd));
			f = find_fd(p, fd);
		}
		text = f ? f->text : NULL;
	}
	if (!text || !room)
		return 0;
	snprintf(out, room, "%s", text);
	return strlen(out);
}

bool trace_touches_path(struct trace *t, const struct trace_call *call)
{
	struct trace_process *p = trace_process_get(t, call->th->pid);
	char text[PATH_MAX];

	for (unsigned arg = 0; p && call->c.sc && arg < tacho_syscall_n_args(call->c.sc); arg++)
		for (size_t i = 0; i < t->o->paths.n; i++) {
			if (tacho_syscall_arg_is_path(call->c.sc, arg)) {
				if (str_is(path_arg(call, arg), t->o->paths.v[i]))
					return true;
			} else if (tacho_syscall_arg_is_fd(call->c.sc, arg) &&
				   trace_fd_text(t, p, (int)call->c.args[arg], text, sizeof(text)) &&
				   !strcmp(text, t->o->paths.v[i])) {
				return true;
			}
		}
	return false;
}
