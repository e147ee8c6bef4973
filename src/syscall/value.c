/*
 * Prints an argument or the returned value of a call: finds the captured memory and calls the printer of the type.
 * Numbers, flags and addresses are here; the other files print what pointers point to.
 */
#include "syscall/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#define DEFAULT_STRING_BYTES 32

const struct tacho_syscall_part *find_part(const void *parts, size_t n, unsigned arg, unsigned index)
{
	const uint8_t *at = parts;

	while (n >= sizeof(struct tacho_syscall_part)) {
		const struct tacho_syscall_part *p = (const void *)at;
		size_t size = (sizeof(*p) + p->n + 7) & ~(size_t)7;

		if (size > n)
			return NULL;
		if (p->arg == arg && p->index == index)
			return p;
		at += size;
		n -= size;
	}
	return NULL;
}

const void *value_part(const struct syscall_value *x, unsigned index, size_t *n, uint32_t *whole)
{
	const struct tacho_syscall_call *c = x->call;
	const struct tacho_syscall_part *p = NULL;

	if (!x->spec->output && c->entry_parts)
		p = find_part(c->entry_parts, c->n_entry_parts, x->arg, index);
	if (!p && c->exit_parts)
		p = find_part(c->exit_parts, c->n_exit_parts, x->arg, index);
	if (!p)
		return NULL;
	*n = p->n;
	if (whole)
		*whole = p->whole;
	return p + 1;
}

void show_address(struct syscall_value *x)
{
	if (x->v)
		buf_printf(x->out, "%#llx", (unsigned long long)x->v);
	else
		buf_puts(x->out, "NULL");
}

const void *value_struct(struct syscall_value *x, size_t n)
{
	size_t got;
	const void *bytes = NULL;

	/* What a failed call would have written is not there. */
	if (x->v && !(x->spec->output && x->call->returned && x->call->ret < 0))
		bytes = value_part(x, TACHO_PART_MAIN, &got, NULL);
	if (bytes && got >= n)
		return bytes;
	show_address(x);
	return NULL;
}

/* Without the prefix of the set in perf's style. */
static void put_name(struct syscall_value *x, const struct flag_set *set, const char *name)
{
	size_t n = strlen(set->prefix);

	if (is_perf_style(x) && !x->opts->whole_names && n && !strncmp(name, set->prefix, n) && strcmp(set->name, "landlock_rule") != 0 &&
	    strcmp(set->name, "hrtimer_mode") != 0)
		name += n;
	buf_puts(x->out, name);
}

static const char *name_in(const struct flag_set *set, uint64_t v)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].value == v || (v <= UINT32_MAX && (uint32_t)set->v[i].value == v))
			return set->v[i].name;
	return NULL;
}

static void show_unknown(struct syscall_value *x, const struct flag_set *set, uint64_t v)
{
	const char *first = set->n && set->v[0].name ? set->v[0].name : "";
	size_t n = strlen(set->prefix);

	buf_printf(x->out, "%#llx", (unsigned long long)v);
	if (is_perf_style(x))
		return;
	if (set->unknown)
		buf_printf(x->out, " /* %s */", set->unknown);
	else if (n && !strncmp(first, set->prefix, n))
		buf_printf(x->out, " /* %s??? */", set->prefix);
}

static void show_mask(struct syscall_value *x, const struct flag_set *set, uint64_t v)
{
	const char *name = name_in(set, v & set->field);
	bool first = true;

	if (v == 0 || set->field) {
		if (name && (v == 0 || (v & set->field) || set->v[0].value == 0 || name_in(set, 0))) {
			put_name(x, set, name);
			first = false;
			v &= ~set->field;
		} else if (v == 0) {
			buf_putc(x->out, '0');
			return;
		}
	}
	for (size_t i = 0; i < set->n && v; i++) {
		uint64_t bits = set->v[i].value;

		if (!bits || (v & bits) != bits || (set->field && !(bits & ~set->field)))
			continue;
		if (!first)
			buf_putc(x->out, '|');
		put_name(x, set, set->v[i].name);
		first = false;
		v &= ~bits;
	}
	if (!v)
		return;
	if (first) {
		show_unknown(x, set, v);
		return;
	}
	buf_printf(x->out, "|%#llx", (unsigned long long)v);
}

void show_flags(struct syscall_value *x, const struct flag_set *set, uint64_t v)
{
	const char *name;

	if (v >> 32 == 0xffffffff || !(v >> 32))
		v = (uint32_t)v;
	if (set->is_mask) {
		show_mask(x, set, v);
		return;
	}
	name = name_in(set, v);
	if (name)
		put_name(x, set, name);
	else
		show_unknown(x, set, v);
}

void show_flags_named(struct syscall_value *x, const char *name, uint64_t v)
{
	const struct flag_set *set = flag_set_find(str_of(name));

	if (set)
		show_flags(x, set, v);
}

void show_int(struct syscall_value *x)
{
	buf_printf(x->out, "%d", (int)x->v);
}

void show_uint(struct syscall_value *x)
{
	buf_u64(x->out, (uint32_t)x->v);
}

void show_long(struct syscall_value *x)
{
	buf_printf(x->out, "%lld", (long long)x->v);
}

void show_ulong(struct syscall_value *x)
{
	buf_u64(x->out, x->v);
}

void show_size(struct syscall_value *x)
{
	buf_u64(x->out, x->v);
}

void show_offset(struct syscall_value *x)
{
	buf_printf(x->out, "%lld", (long long)x->v);
}

void show_hex(struct syscall_value *x)
{
	buf_printf(x->out, "%#llx", (unsigned long long)x->v);
}

void show_x32(struct syscall_value *x)
{
	buf_printf(x->out, is_perf_style(x) ? "%u" : "%#x", (uint32_t)x->v);
}

void show_pointer(struct syscall_value *x)
{
	show_address(x);
}

void show_addr(struct syscall_value *x)
{
	show_address(x);
}

void show_id(struct syscall_value *x)
{
	buf_printf(x->out, "%d", (int)x->v);
}

void show_pid(struct syscall_value *x)
{
	buf_printf(x->out, "%d", (int)x->v);
}

void show_fd(struct syscall_value *x, int fd)
{
	char text[4200];

	buf_printf(x->out, "%d", fd);
	if (fd >= 0 && x->opts->sockets && show_socket(x))
		return;
	if (fd >= 0 && x->opts->fd_text) {
		size_t n = x->opts->fd_text(x->opts->arg, fd, text, sizeof(text));

		if (n)
			buf_printf(x->out, "<%.*s>", (int)min_of(n, sizeof(text)), text);
	}
}

void show_fd_arg(struct syscall_value *x)
{
	show_fd(x, (int)x->v);
}

void show_at(struct syscall_value *x)
{
	char text[4200];
	size_t n;

	if ((int)x->v != AT_FDCWD) {
		show_fd(x, (int)x->v);
		return;
	}
	buf_puts(x->out, is_perf_style(x) ? "CWD" : "AT_FDCWD");
	n = x->opts->fd_text ? x->opts->fd_text(x->opts->arg, AT_FDCWD, text, sizeof(text)) : 0;
	if (n)
		buf_printf(x->out, "<%.*s>", (int)min_of(n, sizeof(text)), text);
}

static const struct flag_name file_types[] = {
	{ "S_IFREG", 0100000 }, { "S_IFDIR", 0040000 }, { "S_IFLNK", 0120000 }, { "S_IFCHR", 0020000 },
	{ "S_IFBLK", 0060000 }, { "S_IFIFO", 0010000 }, { "S_IFSOCK", 0140000 },
};

void show_mode(struct buf *out, uint32_t mode)
{
	for (size_t i = 0; i < countof(file_types); i++)
		if ((mode & 0170000) == file_types[i].value)
			buf_printf(out, "%s|", file_types[i].name);
	if (mode & 04000)
		buf_puts(out, "S_ISUID|");
	if (mode & 02000)
		buf_puts(out, "S_ISGID|");
	if (mode & 01000)
		buf_puts(out, "S_ISVTX|");
	buf_printf(out, "%#03o", mode & 0777);
}

void show_mode_arg(struct syscall_value *x)
{
	buf_printf(x->out, "%#03o", (uint32_t)x->v & 0xffff);
}

void show_omode(struct syscall_value *x)
{
	show_mode_arg(x);
}

void show_mknod(struct syscall_value *x)
{
	show_mode(x->out, (uint32_t)x->v & 0xffff);
}

void show_dev(struct syscall_value *x)
{
	buf_printf(x->out, "makedev(%#x, %#x)", major(x->v), minor(x->v));
}

void show_open_flags(struct syscall_value *x)
{
	show_flags_named(x, "oflags", (uint32_t)x->v);
}

/* Flags of a descriptor that is made without being opened (pipe2, dup3). */
void show_new_flags(struct syscall_value *x)
{
	show_flags_named(x, "new_flags", (uint32_t)x->v);
}

void show_socket_type(struct syscall_value *x)
{
	show_flags_named(x, "sock_type", x->v);
}

void show_protocol(struct syscall_value *x)
{
	int domain = (int)x->call->args[0];

	if (domain == 2 || domain == 10)
		show_flags_named(x, "protocol_ip", x->v);
	else if (domain == 16)
		show_flags_named(x, "netlink_protocol", x->v);
	else
		buf_printf(x->out, "%d", (int)x->v);
}

void show_clone_flags(struct syscall_value *x)
{
	unsigned sig = x->v & 0xff;

	if (x->v & ~0xffull)
		show_flags_named(x, "clone_bits", x->v & ~0xffull);
	if (sig || !(x->v & ~0xffull)) {
		if (x->v & ~0xffull)
			buf_putc(x->out, '|');
		if (sig)
			show_signal(x, sig);
		else
			buf_putc(x->out, '0');
	}
}

void show_clock_id(struct syscall_value *x)
{
	int id = (int)x->v;

	if (id >= 0)
		show_flags_named(x, "clockid", x->v);
	else
		buf_printf(x->out, "MAKE_%s_CPUCLOCK(%d, CPUCLOCK_%s)", id & 4 ? "THREAD" : "PROCESS", ~id >> 3,
			   (id & 3) == 0 ? "PROF" : (id & 3) == 1 ? "VIRT" : "SCHED");
}

static int futex_op(const struct syscall_value *x)
{
	return (int)(x->call->args[1] & 0x7f);
}

void show_futex_op(struct syscall_value *x)
{
	unsigned op = (uint32_t)x->v;
	const char *name = flag_name_of("futex_ops", op & 0x7f);

	if (!name) {
		buf_printf(x->out, "%#x /* FUTEX_??? */", op);
		return;
	}
	if (is_perf_style(x)) {
		buf_printf(x->out, "%s%s%s", name + 6, op & 128 ? "|PRIVATE_FLAG" : "", op & 256 ? "|CLOCK_REALTIME" : "");
		return;
	}
	buf_printf(x->out, "%s%s%s", name, op & 128 ? "_PRIVATE" : "", op & 256 ? "|FUTEX_CLOCK_REALTIME" : "");
}

void show_futex_value(struct syscall_value *x)
{
	int op = futex_op(x);

	if (op == 1 || op == 10 || op == 3 || op == 4 || op == 5 || op == 12)
		buf_printf(x->out, "%d", (int)x->v);
	else
		buf_u64(x->out, (uint32_t)x->v);
}

void show_futex_time(struct syscall_value *x)
{
	int op = futex_op(x);

	if (op == 3 || op == 4 || op == 5 || op == 12)	/* a number of tasks */
		buf_printf(x->out, "%d", (int)x->v);
	else
		show_timespec(x);
}

void show_futex_address(struct syscall_value *x)
{
	show_address(x);
}

void show_futex_value3(struct syscall_value *x)
{
	if ((uint32_t)x->v == 0xffffffff && (futex_op(x) == 9 || futex_op(x) == 10))
		buf_puts(x->out, "FUTEX_BITSET_MATCH_ANY");
	else
		buf_printf(x->out, "%#x", (uint32_t)x->v);
}

/* How many arguments the operation of a futex has. */
static unsigned futex_args(int op)
{
	switch (op) {
	case 0: case 6: case 13: return 4;
	case 1: return 3;
	case 7: case 8: return 2;
	case 3: return 5;
	default: return 6;
	}
}

static unsigned fcntl_args(uint64_t cmd)
{
	switch ((int)cmd) {
	case F_GETFD: case F_GETFL: case F_GETOWN: case F_GETSIG: case F_GETLEASE: case F_GETPIPE_SZ: case F_GET_SEALS:
		return 2;
	}
	return 3;
}

static unsigned prctl_args(uint64_t option)
{
	switch ((int)option) {
	case 3: case 7: case 21: case 27: case 30: case 31: case 32: return 1;
	case 1: case 2: case 4: case 8: case 15: case 16: case 23: case 24: case 28: case 29: case 36: case 37: return 2;
	}
	return 5;
}

unsigned tacho_syscall_used_args(const struct tacho_syscall_call *call)
{
	const char *name = call->sc->name;
	unsigned n = tacho_syscall_n_args(call->sc);

	if (!strcmp(name, "open") || !strcmp(name, "openat")) {
		uint64_t flags = call->args[n - 2];

		return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? n : n - 1;
	}
	if (!strcmp(name, "futex"))
		return futex_args((int)(call->args[1] & 0x7f));
	if (!strcmp(name, "fcntl"))
		return fcntl_args(call->args[1]);
	if (!strcmp(name, "prctl"))
		return prctl_args(call->args[0]);
	if (!strcmp(name, "mremap"))
		return call->args[3] & 2 ? n : 4;
	if (!strcmp(name, "clone"))
		return 5;
	if (!strcmp(name, "arch_prctl") && call->args[0] >> 4 == 0x101)
		return 1;
	return n;
}

static const struct tacho_syscall_print_opts *options(const struct tacho_syscall_print_opts *opts,
						      struct tacho_syscall_print_opts *copy)
{
	memset(copy, 0, sizeof(*copy));
	if (opts)
		memcpy(copy, opts, min_of(opts->size, sizeof(*copy)));
	if (!copy->string_bytes)
		copy->string_bytes = DEFAULT_STRING_BYTES;
	return copy;
}

/* Copies the text to the caller and frees it. */
static ptrdiff_t copy_out(struct buf *b, char *out, size_t room)
{
	ptrdiff_t n = (ptrdiff_t)b->n;

	if (buf_failed(b)) {
		buf_done(b);
		return -ENOMEM;
	}
	if (room) {
		size_t k = min_of(b->n, room - 1);

		if (k)
			memcpy(out, b->bytes, k);
		out[k] = '\0';
	}
	buf_done(b);
	return n;
}

ptrdiff_t tacho_syscall_print_arg(const struct tacho_syscall_call *call, unsigned arg,
				  const struct tacho_syscall_print_opts *opts, char *out, size_t room)
{
	const struct call_spec *spec = call_spec_of(call->sc);
	struct tacho_syscall_print_opts copy;
	struct buf b = { 0 };
	struct syscall_value x = { .call = call, .opts = options(opts, &copy), .arg = arg, .out = &b };

	if (arg >= spec->n)
		return -EINVAL;
	x.spec = &spec->args[arg];
	x.v = call->args[arg];
	if (x.spec->type)
		x.spec->type->print(&x);
	else
		show_flags(&x, x.spec->flags, x.v);
	return copy_out(&b, out, room);
}

/* Errors that only the kernel sees: the call is restarted, or interrupted by a signal. */
static const struct { int err; const char *name, *text; } restarts[] = {
	{ 512, "ERESTARTSYS", "To be restarted if SA_RESTART is set" },
	{ 513, "ERESTARTNOINTR", "To be restarted" },
	{ 514, "ERESTARTNOHAND", "To be restarted if no handler" },
	{ 516, "ERESTART_RESTARTBLOCK", "Interrupted by signal" },
};

static void show_error(struct syscall_value *x, int err)
{
	const char *name = tacho_errno_name(err);

	for (size_t i = 0; i < countof(restarts); i++)
		if (restarts[i].err == err) {
			if (is_perf_style(x))
				buf_printf(x->out, "-1 %s (%s)", restarts[i].name, restarts[i].text);
			else
				buf_printf(x->out, "? %s (%s)", restarts[i].name, restarts[i].text);
			return;
		}
	if (name)
		buf_printf(x->out, "-1 %s (%s)", name, strerror(err));
	else
		buf_printf(x->out, "-1 (errno %d)", err);
}

static void show_fcntl_return(struct syscall_value *x)
{
	int cmd = (int)x->call->args[1];

	if (cmd == F_GETFL && x->call->ret >= 0) {
		buf_printf(x->out, "%#llx (flags ", (unsigned long long)x->v);
		show_flags_named(x, "oflags", x->v);
		buf_putc(x->out, ')');
	} else if (cmd == F_GETFD && x->v) {
		buf_printf(x->out, "%#llx (flags ", (unsigned long long)x->v);
		show_flags_named(x, "fd_flags", x->v);
		buf_putc(x->out, ')');
	} else if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) {
		show_fd(x, (int)x->v);
	} else {
		buf_printf(x->out, "%lld", (long long)x->v);
	}
}

/* Which descriptors are ready: poll and ppoll */
static void show_ready(struct syscall_value *x)
{
	const char *name = x->call->sc->name;
	bool polls = !strcmp(name, "poll") || !strcmp(name, "ppoll"), selects = !strcmp(name, "select") || !strcmp(name, "pselect6");

	if ((!polls && !selects) || is_perf_style(x))
		return;
	if (x->call->ret == 0)
		buf_puts(x->out, " (Timeout)");
	else if (x->call->ret > 0 && polls)
		show_ready_fds(x);
	else if (x->call->ret > 0)
		show_selected_fds(x);
}

ptrdiff_t tacho_syscall_print_return(const struct tacho_syscall_call *call, const struct tacho_syscall_print_opts *opts,
				     char *out, size_t room)
{
	static const struct arg_spec none = { .length_from = TACHO_LENGTH_FIXED };
	struct tacho_syscall_print_opts copy;
	struct buf b = { 0 };
	struct syscall_value x = { .call = call, .opts = options(opts, &copy), .spec = &none, .arg = TACHO_PART_RETURNED, .out = &b,
			   .v = (uint64_t)call->ret };

	if (!call->returned)
		buf_putc(&b, '?');
	else if (call->ret < 0 && call->ret > -4096)
		show_error(&x, (int)-call->ret);
	else if (!strcmp(call->sc->name, "rt_sigreturn"))
		buf_printf(&b, "%lld", (long long)call->ret);
	else if (tacho_syscall_returns_address(call->sc))
		buf_printf(&b, "%#llx", (unsigned long long)call->ret);
	else if (tacho_syscall_returns_fd(call->sc))
		show_fd(&x, (int)call->ret);
	else if (!strcmp(call->sc->name, "fcntl"))
		show_fcntl_return(&x);
	else if (!strcmp(call->sc->name, "umask"))
		buf_printf(&b, "%#03llo", (unsigned long long)call->ret);
	else
		buf_printf(&b, "%lld", (long long)call->ret);
	if (call->returned)
		show_ready(&x);
	return copy_out(&b, out, room);
}
