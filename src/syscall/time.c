/*
 * Times.
 */
#include "syscall/syscall.h"

#include <errno.h>

#define UTIME_NOW_NS 0x3fffffff
#define UTIME_OMIT_NS 0x3ffffffe

/* In perf's style without the names of the members. */
static void put_time(struct syscall_value *x, const int64_t *t, const char *fraction)
{
	if (is_perf_style(x))
		buf_printf(x->out, "{ .tv_sec: %lld, .%s: %lld }", (long long)t[0], fraction, (long long)t[1]);
	else
		buf_printf(x->out, "{tv_sec=%lld, %s=%lld}", (long long)t[0], fraction, (long long)t[1]);
}

void show_timespec(struct syscall_value *x)
{
	const int64_t *t = value_struct(x, 16);

	if (t)
		put_time(x, t, "tv_nsec");
}

/* The rest of a sleep is written only if a signal ended it. */
void show_timespec_rest(struct syscall_value *x)
{
	const int64_t *t;
	size_t n = 0;

	if (!x->call->returned || (x->call->ret != -EINTR && x->call->ret != -516)) {
		show_address(x);
		return;
	}
	t = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;
	if (t && n >= 16)
		put_time(x, t, "tv_nsec");
	else
		show_address(x);
}

void show_timespecs(struct syscall_value *x)
{
	const int64_t *t = value_struct(x, 32);

	if (!t)
		return;
	buf_putc(x->out, '[');
	for (size_t i = 0; i < 2; i++) {
		if (i)
			buf_puts(x->out, ", ");
		if (t[2 * i + 1] == UTIME_NOW_NS)
			buf_puts(x->out, "UTIME_NOW");
		else if (t[2 * i + 1] == UTIME_OMIT_NS)
			buf_puts(x->out, "UTIME_OMIT");
		else
			put_time(x, t + 2 * i, "tv_nsec");
	}
	buf_putc(x->out, ']');
}

void show_timeval(struct syscall_value *x)
{
	const int64_t *t = value_struct(x, 16);

	if (t)
		put_time(x, t, "tv_usec");
}

void show_timevals(struct syscall_value *x)
{
	const int64_t *t = value_struct(x, 32);

	if (!t)
		return;
	buf_putc(x->out, '[');
	put_time(x, t, "tv_usec");
	buf_puts(x->out, ", ");
	put_time(x, t + 2, "tv_usec");
	buf_putc(x->out, ']');
}

static void put_interval(struct syscall_value *x, const int64_t *t, const char *fraction)
{
	buf_puts(x->out, "{it_interval=");
	put_time(x, t, fraction);
	buf_puts(x->out, ", it_value=");
	put_time(x, t + 2, fraction);
	buf_putc(x->out, '}');
}

void show_itimerval(struct syscall_value *x)
{
	const int64_t *t = value_struct(x, 32);

	if (t)
		put_interval(x, t, "tv_usec");
}

void show_itimerspec(struct syscall_value *x)
{
	const int64_t *t = value_struct(x, 32);

	if (t)
		put_interval(x, t, "tv_nsec");
}

void show_time_pointer(struct syscall_value *x)
{
	const int64_t *t = value_struct(x, 8);

	if (t)
		buf_printf(x->out, "[%lld]", (long long)*t);
}
