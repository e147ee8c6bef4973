/*
 * Calls whose arguments depend on a command: ioctl, fcntl, prctl.
 */
#include "syscall/syscall.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

void show_ioctl_command(struct syscall_value *x)
{
	uint32_t cmd = (uint32_t)x->v;
	const char *name = flag_name_of("ioctls", cmd);
	static const char *const directions[] = { "_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE" };

	if (name)
		buf_puts(x->out, name);
	else
		buf_printf(x->out, "_IOC(%s, %#x, %#x, %#x)", directions[cmd >> 30], cmd >> 8 & 0xff, cmd & 0xff,
			   cmd >> 16 & 0x3fff);
}

static const struct { uint32_t bits; const char *name; } speeds[] = {
	{ 0, "B0" }, { B9600, "B9600" }, { B19200, "B19200" }, { B38400, "B38400" }, { B57600, "B57600" },
	{ B115200, "B115200" }, { B230400, "B230400" },
};

static void show_termios(struct syscall_value *x, const uint32_t *t)
{
	const char *speed = "B???";

	for (size_t i = 0; i < countof(speeds); i++)
		if ((t[2] & CBAUD) == speeds[i].bits)
			speed = speeds[i].name;
	buf_printf(x->out, "{%s %sopost %sisig %sicanon %secho ...}", speed, t[1] & OPOST ? "" : "-",
		   t[3] & ISIG ? "" : "-", t[3] & ICANON ? "" : "-", t[3] & ECHO ? "" : "-");
}

void show_ioctl_arg(struct syscall_value *x)
{
	uint32_t cmd = (uint32_t)x->call->args[1];
	size_t n = 0;
	const uint32_t *b = x->v && x->call->ret >= 0 ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;
	const uint16_t *h = (const void *)b;

	switch (b && n >= 36 ? cmd : 0) {
	case TCGETS: case TCSETS: case TCSETSW: case TCSETSF:
		show_termios(x, b);
		return;
	case TIOCGWINSZ: case TIOCSWINSZ:
		buf_printf(x->out, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", h[0], h[1], h[2], h[3]);
		return;
	case FIONREAD: case FIONBIO: case FIOASYNC: case TIOCGPGRP: case TIOCSPGRP: case TIOCGSID: case TIOCOUTQ:
	case TIOCGPTN: case TIOCSPTLCK:
		buf_printf(x->out, "[%d]", (int)b[0]);
		return;
	}
	switch (cmd) {
	case TCSBRK: case TCXONC: case TCFLSH: case TIOCSCTTY: case 0x40049409:
		buf_printf(x->out, "%d", (int)x->v);
		return;
	}
	if (is_perf_style(x) || x->v)
		buf_printf(x->out, "%#llx", (unsigned long long)x->v);
	else
		buf_putc(x->out, '0');
}

static void show_file_lock(struct syscall_value *x, const uint8_t *b)
{
	int16_t type, whence;
	int64_t start, len;

	memcpy(&type, b, 2);
	memcpy(&whence, b + 2, 2);
	memcpy(&start, b + 8, 8);
	memcpy(&len, b + 16, 8);
	buf_puts(x->out, "{l_type=");
	show_flags_named(x, "lock_type", (uint16_t)type);
	buf_puts(x->out, ", l_whence=");
	show_flags_named(x, "whence", (uint16_t)whence);
	buf_printf(x->out, ", l_start=%lld, l_len=%lld}", (long long)start, (long long)len);
}

void show_fcntl_arg(struct syscall_value *x)
{
	int cmd = (int)x->call->args[1];
	size_t n = 0;
	const uint8_t *b;

	switch (cmd) {
	case F_SETFD:
		show_flags_named(x, "fd_flags", x->v);
		return;
	case F_SETFL:
		show_flags_named(x, "oflags", (uint32_t)x->v);
		return;
	case F_ADD_SEALS:
		show_flags_named(x, "seals", x->v);
		return;
	case F_GETLK: case F_SETLK: case F_SETLKW: case F_OFD_GETLK: case F_OFD_SETLK: case F_OFD_SETLKW:
		b = value_part(x, TACHO_PART_MAIN, &n, NULL);
		if (b && n >= 24)
			show_file_lock(x, b);
		else
			show_address(x);
		return;
	case F_DUPFD: case F_DUPFD_CLOEXEC: case F_SETOWN: case F_SETSIG: case F_SETPIPE_SZ: case F_NOTIFY: case F_SETLEASE:
		buf_printf(x->out, "%d", (int)x->v);
		return;
	}
	buf_printf(x->out, "%#llx", (unsigned long long)x->v);
}

void show_prctl_arg(struct syscall_value *x)
{
	int option = (int)x->call->args[0];
	size_t n;
	const char *s;

	if (option == 15 && x->arg == 1) {		/* PR_SET_NAME */
		s = value_part(x, TACHO_PART_MAIN, &n, NULL);
		if (s) {
			show_quoted(x->out, s, strnlen(s, n), false);
			return;
		}
	} else if (option == 1 && x->arg == 1) {	/* PR_SET_PDEATHSIG */
		show_signal(x, x->v);
		return;
	} else if (option == 23 || option == 24) {
		show_capability(x);
		return;
	} else if (option == 4 || option == 38) {
		buf_printf(x->out, "%lld", (long long)x->v);
		return;
	}
	buf_printf(x->out, x->v > 9 ? "%#llx" : "%llu", (unsigned long long)x->v);
}
