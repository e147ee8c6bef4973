/*
 * Sets of file descriptors: poll, select, epoll.
 */
#include "syscall/syscall.h"

/* At entry the events that are waited for. The kernel overwrites revents only, so the captured memory has both. */
void show_pollfds(struct syscall_value *x)
{
	size_t n;
	uint32_t whole = 0;
	const int16_t *p = x->v ? value_part(x, TACHO_PART_MAIN, &n, &whole) : NULL;

	if (!p) {
		if (x->v && !x->call->args[1])
			buf_puts(x->out, "[]");
		else
			show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (size_t i = 0; i < n / 8; i++) {
		int fd;

		memcpy(&fd, p + 4 * i, 4);
		buf_puts(x->out, i ? ", {fd=" : "{fd=");
		show_fd(x, fd);
		if (fd >= 0) {
			buf_puts(x->out, ", events=");
			show_flags_named(x, "poll_bits", (uint16_t)p[4 * i + 2]);
		}
		buf_putc(x->out, '}');
	}
	buf_puts(x->out, whole > n ? ", ...]" : "]");
}

/* " ([{fd=3, revents=POLLIN}])" after the number that poll() returned */
void show_ready_fds(struct syscall_value *x)
{
	const struct tacho_syscall_call *c = x->call;
	const struct tacho_syscall_part *p = c->exit_parts ? find_part(c->exit_parts, c->n_exit_parts, 0, 0) : NULL;
	const int16_t *v = p ? (const int16_t *)(p + 1) : NULL;
	bool first = true;

	if (!v)
		return;
	buf_puts(x->out, " ([");
	for (size_t i = 0; i < p->n / 8u; i++) {
		int fd;

		memcpy(&fd, v + 4 * i, 4);
		if (!v[4 * i + 3] || fd < 0)
			continue;
		buf_puts(x->out, first ? "{fd=" : ", {fd=");
		show_fd(x, fd);
		buf_puts(x->out, ", revents=");
		show_flags_named(x, "poll_bits", (uint16_t)v[4 * i + 3]);
		buf_putc(x->out, '}');
		first = false;
	}
	buf_puts(x->out, "])");
}

static void put_fd_set(struct syscall_value *x, const uint8_t *bits, size_t n)
{
	size_t limit = (uint32_t)x->call->args[0];
	bool first = true;

	buf_putc(x->out, '[');
	for (size_t fd = 0; fd < min_of(n * 8, limit); fd++)
		if (bits[fd / 8] >> (fd & 7) & 1) {
			if (!first)
				buf_putc(x->out, ' ');
			first = false;
			show_fd(x, (int)fd);
		}
	buf_putc(x->out, ']');
}

void show_fd_set(struct syscall_value *x)
{
	size_t n;
	const uint8_t *bits = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (bits)
		put_fd_set(x, bits, n);
	else
		show_address(x);
}

static bool has_bits(const uint8_t *bits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bits[i])
			return true;
	return false;
}

/* " (in [3], out [4], left {tv_sec=0, tv_nsec=7})" after the number that select() returned */
void show_selected_fds(struct syscall_value *x)
{
	static const char *const sets[] = { "in ", "out ", "except " };
	const struct tacho_syscall_call *c = x->call;
	const struct tacho_syscall_part *p;
	const char *before = " (";

	for (unsigned i = 0; i < countof(sets); i++) {
		p = c->exit_parts && c->args[1 + i] ? find_part(c->exit_parts, c->n_exit_parts, 1 + i, TACHO_PART_MAIN) : NULL;
		if (!p || !has_bits((const uint8_t *)(p + 1), p->n))
			continue;
		buf_printf(x->out, "%s%s", before, sets[i]);
		put_fd_set(x, (const uint8_t *)(p + 1), p->n);
		before = ", ";
	}
	p = c->exit_parts && c->args[4] ? find_part(c->exit_parts, c->n_exit_parts, 4, TACHO_PART_MAIN) : NULL;
	if (p && p->n >= 16) {
		int64_t left[2];

		memcpy(left, p + 1, sizeof(left));
		buf_printf(x->out, "%sleft {tv_sec=%lld, %s=%lld}", before, (long long)left[0], strcmp(c->sc->name, "select") != 0 ? "tv_nsec" : "tv_usec",
			   (long long)left[1]);
		before = ", ";
	}
	if (before[0] == ',')
		buf_putc(x->out, ')');
}

/* struct epoll_event is packed on x86-64 only. */
static size_t epoll_event_bytes(const struct syscall_value *x)
{
	return x->call->arch == TACHO_SYSCALL_X86_64 ? 12 : 16;
}

static void put_epoll_event(struct syscall_value *x, const uint8_t *b)
{
	uint32_t events, low;
	uint64_t data;

	memcpy(&events, b, 4);
	memcpy(&data, b + epoll_event_bytes(x) - 8, 8);
	low = (uint32_t)data;
	buf_puts(x->out, "{events=");
	show_flags_named(x, "epoll_bits", events);
	if (is_perf_style(x) || data > UINT32_MAX)
		buf_printf(x->out, ", data={u32=%u, u64=%llu}}", low, (unsigned long long)data);
	else
		buf_printf(x->out, ", data={u32=%u, u64=%llu}}", low, (unsigned long long)data);
}

void show_epoll_event(struct syscall_value *x)
{
	const uint8_t *b = value_struct(x, epoll_event_bytes(x));

	if (b)
		put_epoll_event(x, b);
}

void show_epoll_events(struct syscall_value *x)
{
	size_t n, size = epoll_event_bytes(x);
	const uint8_t *b = x->v && x->call->ret > 0 ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;
	size_t count = b ? min_of(n / size, (size_t)x->call->ret) : 0;

	if (!b) {
		if (x->v && x->call->returned && x->call->ret == 0)
			buf_puts(x->out, "[]");
		else
			show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_puts(x->out, ", ");
		put_epoll_event(x, b + i * size);
	}
	buf_puts(x->out, (size_t)x->call->ret > count ? ", ...]" : "]");
}
