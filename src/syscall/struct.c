/*
 * Structures of files, processes and the system. Members that are rarely of interest are left out unless all_strings is
 * set, as strace does.
 */
#include "syscall/syscall.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>

void show_stat(struct syscall_value *x)
{
	const struct stat *st = value_struct(x, sizeof(*st));

	if (!st)
		return;
	buf_puts(x->out, "{");
	if (x->opts->all_strings)
		buf_printf(x->out, "st_dev=makedev(%#x, %#x), st_ino=%llu, ", major(st->st_dev), minor(st->st_dev),
			   (unsigned long long)st->st_ino);
	buf_puts(x->out, "st_mode=");
	show_mode(x->out, st->st_mode);
	if (x->opts->all_strings)
		buf_printf(x->out, ", st_nlink=%llu, st_uid=%u, st_gid=%u, st_blksize=%lld, st_blocks=%lld",
			   (unsigned long long)st->st_nlink, st->st_uid, st->st_gid, (long long)st->st_blksize,
			   (long long)st->st_blocks);
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		buf_printf(x->out, ", st_rdev=makedev(%#x, %#x)", major(st->st_rdev), minor(st->st_rdev));
	else
		buf_printf(x->out, ", st_size=%lld", (long long)st->st_size);
	buf_puts(x->out, x->opts->all_strings ? "}" : ", ...}");
}

void show_statfs(struct syscall_value *x)
{
	const struct statfs *s = value_struct(x, sizeof(*s));

	if (!s)
		return;
	buf_puts(x->out, "{f_type=");
	if (flag_name_of("fs_magic", (uint64_t)s->f_type))
		buf_puts(x->out, flag_name_of("fs_magic", (uint64_t)s->f_type));
	else
		buf_printf(x->out, "%#llx", (unsigned long long)s->f_type);
	buf_printf(x->out, ", f_bsize=%lld, f_blocks=%llu, f_bfree=%llu, f_bavail=%llu, f_files=%llu, f_ffree=%llu",
		   (long long)s->f_bsize, (unsigned long long)s->f_blocks, (unsigned long long)s->f_bfree,
		   (unsigned long long)s->f_bavail, (unsigned long long)s->f_files, (unsigned long long)s->f_ffree);
	buf_printf(x->out, ", f_fsid={val=[%#x, %#x]}, f_namelen=%lld, f_frsize=%lld, f_flags=",
		   (uint32_t)s->f_fsid.__val[0], (uint32_t)s->f_fsid.__val[1], (long long)s->f_namelen,
		   (long long)s->f_frsize);
	show_flags_named(x, "st_flags", (uint64_t)s->f_flags);
	buf_putc(x->out, '}');
}

void show_statx(struct syscall_value *x)
{
	const struct statx *s = value_struct(x, sizeof(*s));

	if (!s)
		return;
	buf_puts(x->out, "{stx_mask=");
	show_flags_named(x, "statx_mask", s->stx_mask);
	if (x->opts->all_strings)
		buf_printf(x->out, ", stx_blksize=%u", s->stx_blksize);
	buf_puts(x->out, ", stx_attributes=");
	show_flags_named(x, "statx_attributes", s->stx_attributes);
	if (x->opts->all_strings)
		buf_printf(x->out, ", stx_nlink=%u, stx_uid=%u, stx_gid=%u", s->stx_nlink, s->stx_uid, s->stx_gid);
	buf_puts(x->out, ", stx_mode=");
	show_mode(x->out, s->stx_mode);
	if (x->opts->all_strings)
		buf_printf(x->out, ", stx_ino=%llu", (unsigned long long)s->stx_ino);
	buf_printf(x->out, ", stx_size=%llu", (unsigned long long)s->stx_size);
	buf_puts(x->out, x->opts->all_strings ? "}" : ", ...}");
}

/* strace prints the number of entries only. */
void show_dirents(struct syscall_value *x)
{
	const struct tacho_syscall_call *c = x->call;
	uint32_t entries = 0;
	size_t n;
	bool known = x->v && c->returned && c->ret > 0 && value_part(x, TACHO_PART_MAIN, &n, &entries);

	show_address(x);
	if (!is_perf_style(x) && (known || (c->exit_parts && c->returned && c->ret == 0)))
		buf_printf(x->out, " /* %u entries */", entries);
}

static void show_limit(struct buf *out, const char *name, uint64_t v)
{
	if (v == ~0ull)
		buf_printf(out, "%s=RLIM64_INFINITY", name);
	else if (v >= 1024 && v % 1024 == 0)
		buf_printf(out, "%s=%llu*1024", name, (unsigned long long)v / 1024);
	else
		buf_printf(out, "%s=%llu", name, (unsigned long long)v);
}

void show_rlimit(struct syscall_value *x)
{
	const uint64_t *r = value_struct(x, 16);

	if (!r)
		return;
	show_limit(x->out, "{rlim_cur", r[0]);
	show_limit(x->out, ", rlim_max", r[1]);
	buf_putc(x->out, '}');
}

void show_rusage(struct syscall_value *x)
{
	const struct rusage *r = value_struct(x, sizeof(*r));

	if (!r)
		return;
	buf_printf(x->out, "{ru_utime={tv_sec=%lld, tv_usec=%lld}, ru_stime={tv_sec=%lld, tv_usec=%lld}",
		   (long long)r->ru_utime.tv_sec, (long long)r->ru_utime.tv_usec, (long long)r->ru_stime.tv_sec,
		   (long long)r->ru_stime.tv_usec);
	buf_puts(x->out, ", ...}");
}

void show_utsname(struct syscall_value *x)
{
	const struct utsname *u = value_struct(x, sizeof(*u));

	if (!u)
		return;
	buf_puts(x->out, "{sysname=");
	show_quoted(x->out, u->sysname, strnlen(u->sysname, 65), false);
	buf_puts(x->out, ", nodename=");
	show_quoted(x->out, u->nodename, strnlen(u->nodename, 65), false);
	buf_puts(x->out, ", ...}");
}

void show_sysinfo(struct syscall_value *x)
{
	const struct sysinfo *s = value_struct(x, sizeof(*s));

	if (!s)
		return;
	buf_printf(x->out, "{uptime=%ld, loads=[%lu, %lu, %lu], totalram=%lu, freeram=%lu, sharedram=%lu, bufferram=%lu",
		   s->uptime, s->loads[0], s->loads[1], s->loads[2], s->totalram, s->freeram, s->sharedram, s->bufferram);
	buf_printf(x->out, ", totalswap=%lu, freeswap=%lu, procs=%u, totalhigh=%lu, freehigh=%lu, mem_unit=%u}",
		   s->totalswap, s->freeswap, s->procs, s->totalhigh, s->freehigh, s->mem_unit);
}

void show_tms(struct syscall_value *x)
{
	static const char *const names[] = { "tms_utime", "tms_stime", "tms_cutime", "tms_cstime" };
	const int64_t *t = value_struct(x, 32);

	for (int i = 0; t && i < 4; i++) {
		buf_printf(x->out, "%s%s=%lld", i ? ", " : "{", names[i], (long long)t[i]);
		if (t[i])		/* USER_HZ is 100 on all machines */
			buf_printf(x->out, " /* %lld.%02lld s */", (long long)t[i] / 100, (long long)t[i] % 100);
	}
	if (t)
		buf_putc(x->out, '}');
}

void show_wait_status(struct syscall_value *x)
{
	const int *p = x->call->ret > 0 ? value_struct(x, 4) : NULL;
	int s = p ? *p : 0;

	if (!p) {
		if (x->call->ret <= 0)
			show_address(x);
		return;
	}
	if (WIFEXITED(s))
		buf_printf(x->out, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(s));
	else if (WIFSIGNALED(s))
		buf_printf(x->out, "[{WIFSIGNALED(s) && WTERMSIG(s) == %s%s}]", tacho_signal_name(WTERMSIG(s)),
			   WCOREDUMP(s) ? " && WCOREDUMP(s)" : "");
	else if (WIFSTOPPED(s))
		buf_printf(x->out, "[{WIFSTOPPED(s) && WSTOPSIG(s) == %s}]", tacho_signal_name(WSTOPSIG(s)));
	else
		buf_printf(x->out, WIFCONTINUED(s) ? "[{WIFCONTINUED(s)}]" : "[%#x]", s);
}

void show_fd_pair(struct syscall_value *x)
{
	const int *fds = value_struct(x, 8);

	if (!fds)
		return;
	buf_putc(x->out, '[');
	show_fd(x, fds[0]);
	buf_puts(x->out, ", ");
	show_fd(x, fds[1]);
	buf_putc(x->out, ']');
}

void show_int_list(struct syscall_value *x)
{
	const int *v = value_struct(x, 4);

	if (v)
		buf_printf(x->out, "[%d]", *v);
}

void show_int_pointer(struct syscall_value *x)
{
	show_int_list(x);
}

void show_id_pointer(struct syscall_value *x)
{
	show_int_list(x);
}

void show_timer_id(struct syscall_value *x)
{
	show_int_list(x);
}

void show_tid_pointer(struct syscall_value *x)
{
	if (x->call->args[0] & 0x100000)	/* CLONE_PARENT_SETTID */
		show_int_list(x);
	else
		show_address(x);
}

void show_mempolicy_pointer(struct syscall_value *x)
{
	const int *v = value_struct(x, 4);

	if (!v)
		return;
	buf_putc(x->out, '[');
	show_flags_named(x, "mempolicy", (uint32_t)*v);
	buf_putc(x->out, ']');
}

void show_ulong_pointer(struct syscall_value *x)
{
	const uint64_t *v = value_struct(x, 8);

	if (v)
		buf_printf(x->out, *v > 4096 ? "[%#llx]" : "[%llu]", (unsigned long long)*v);
}

void show_offset_pointer(struct syscall_value *x)
{
	const int64_t *v = value_struct(x, 8);

	if (v)
		buf_printf(x->out, "[%lld]", (long long)*v);
}

/* "[0] => [3]": before the call, and after it if it has moved the offset */
void show_changed_offset(struct syscall_value *x)
{
	const struct tacho_syscall_call *c = x->call;
	const struct tacho_syscall_part *p = c->exit_parts ? find_part(c->exit_parts, c->n_exit_parts, x->arg, TACHO_PART_MAIN) : NULL;
	int64_t after;

	show_offset_pointer(x);
	if (!x->v || !p || p->n < 8 || !c->returned || c->ret <= 0)
		return;
	memcpy(&after, p + 1, 8);
	buf_printf(x->out, " => [%lld]", (long long)after);
}

void show_hex_pointer(struct syscall_value *x)
{
	show_address(x);
}

void show_id_list(struct syscall_value *x)
{
	size_t n;
	const uint32_t *v = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (!v || (x->spec->output && x->call->ret < 0)) {
		if (x->v && x->spec->output && x->call->ret == 0)
			buf_puts(x->out, "[]");
		else
			show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (size_t i = 0; i < n / 4; i++)
		buf_printf(x->out, "%s%d", i ? ", " : "", (int)v[i]);
	buf_putc(x->out, ']');
}

void show_cpu_mask(struct syscall_value *x)
{
	size_t n;
	const uint64_t *v = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;
	bool first = true;

	if (!v || (x->spec->output && x->call->ret < 0)) {
		show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (size_t cpu = 0; cpu < n / 8 * 64; cpu++)
		if (v[cpu / 64] >> (cpu & 63) & 1) {
			buf_printf(x->out, "%s%zu", first ? "" : " ", cpu);
			first = false;
		}
	buf_putc(x->out, ']');
}

void show_clone_args(struct syscall_value *x)
{
	uint64_t a[11] = { 0 };
	size_t n;
	const void *bytes = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (!bytes || n < 64) {
		show_address(x);
		return;
	}
	memcpy(a, bytes, min_of(n, sizeof(a)));
	buf_puts(x->out, "{flags=");
	show_flags_named(x, "clone_bits", a[0]);
	if (a[0] & 0x1000)
		buf_printf(x->out, ", pidfd=%#llx", (unsigned long long)a[1]);
	if (a[0] & 0x1200000)
		buf_printf(x->out, ", child_tid=%#llx", (unsigned long long)a[2]);
	if (a[0] & 0x100000)
		buf_printf(x->out, ", parent_tid=%#llx", (unsigned long long)a[3]);
	buf_puts(x->out, ", exit_signal=");
	if (a[4])
		show_signal(x, a[4]);
	else
		buf_putc(x->out, '0');
	buf_printf(x->out, a[5] ? ", stack=%#llx" : ", stack=NULL", (unsigned long long)a[5]);
	buf_printf(x->out, a[6] ? ", stack_size=%#llx" : ", stack_size=%llu", (unsigned long long)a[6]);
	if (a[0] & 0x80000)
		buf_printf(x->out, ", tls=%#llx", (unsigned long long)a[7]);
	buf_putc(x->out, '}');
	if (x->call->returned && x->call->ret > 0 && a[0] & 0x100000 && !is_perf_style(x))
		buf_printf(x->out, " => {parent_tid=[%lld]}", (long long)x->call->ret);
}

void show_open_how(struct syscall_value *x)
{
	const uint64_t *h = value_struct(x, 24);

	if (!h)
		return;
	buf_puts(x->out, "{flags=");
	show_flags_named(x, "oflags", h[0]);
	if (h[0] & 0100)
		buf_printf(x->out, ", mode=%#03llo", (unsigned long long)h[1]);
	buf_puts(x->out, ", resolve=");
	show_flags_named(x, "resolve", h[2]);
	buf_putc(x->out, '}');
}

void show_perf_attr(struct syscall_value *x)
{
	const uint32_t *a = value_struct(x, 64);

	if (a)
		buf_printf(x->out, "{type=%u, size=%u, config=%#llx, ...}", a[0], a[1],
			   (unsigned long long)((uint64_t)a[3] << 32 | a[2]));
}

void show_sembufs(struct syscall_value *x)
{
	size_t n;
	const int16_t *s = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (!s) {
		show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (size_t i = 0; i < n / 6; i++)
		buf_printf(x->out, "%s{sem_num=%d, sem_op=%d, sem_flg=%#x}", i ? ", " : "", s[3 * i], s[3 * i + 1],
			   (uint16_t)s[3 * i + 2]);
	buf_putc(x->out, ']');
}

void show_capability_header(struct syscall_value *x)
{
	const uint32_t *h = value_struct(x, 8);

	if (!h)
		return;
	if (h[0] == 0x20080522)
		buf_puts(x->out, "{version=_LINUX_CAPABILITY_VERSION_3, ");
	else
		buf_printf(x->out, "{version=%#x /* _LINUX_CAPABILITY_VERSION_??? */, ", h[0]);
	buf_printf(x->out, "pid=%d}", (int)h[1]);
}

static const char *const capabilities[] = {
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
	"LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE",
	"SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME",
	"SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG",
	"WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
};

/* PR_CAPBSET_READ */
void show_capability(struct syscall_value *x)
{
	if (x->v < countof(capabilities))
		buf_printf(x->out, "CAP_%s", capabilities[x->v]);
	else
		buf_printf(x->out, "%#llx /* CAP_??? */", (unsigned long long)x->v);
}

static void show_capabilities(struct buf *out, const char *name, uint64_t set)
{
	bool first = true;

	buf_printf(out, "%s=", name);
	for (size_t i = 0; i < 64; i++) {
		if (!(set >> i & 1))
			continue;
		if (i < countof(capabilities))
			buf_printf(out, "%s1<<CAP_%s", first ? "" : "|", capabilities[i]);
		else
			buf_printf(out, "%s%#llx", first ? "" : "|", 1ull << i);
		first = false;
	}
	if (first)
		buf_putc(out, '0');
}

void show_capability_data(struct syscall_value *x)
{
	const uint32_t *d = value_struct(x, 24);

	if (!d)
		return;
	show_capabilities(x->out, "{effective", (uint64_t)d[3] << 32 | d[0]);
	show_capabilities(x->out, ", permitted", (uint64_t)d[4] << 32 | d[1]);
	show_capabilities(x->out, ", inheritable", (uint64_t)d[5] << 32 | d[2]);
	buf_putc(x->out, '}');
}
