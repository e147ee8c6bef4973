/*
 * Strings, buffers and vectors of them, quoted as strace does.
 */
#include "syscall/syscall.h"

static const char escapes[] = "tnvfr";	/* from 9 on */

static bool is_octal_digit(uint8_t c)
{
	return c >= '0' && c <= '7';
}

void show_quoted(struct buf *out, const void *bytes, size_t n, bool cut)
{
	const uint8_t *s = bytes;

	buf_putc(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"' || s[i] == '\\')
			buf_printf(out, "\\%c", s[i]);
		else if (s[i] >= ' ' && s[i] < 0x7f)
			buf_putc(out, (char)s[i]);
		else if (s[i] >= 9 && s[i] <= 13)
			buf_printf(out, "\\%c", escapes[s[i] - 9]);
		else if (i + 1 < n && is_octal_digit(s[i + 1]))
			buf_printf(out, "\\%03o", s[i]);
		else
			buf_printf(out, "\\%o", s[i]);
	}
	buf_putc(out, '"');
	if (cut)
		buf_puts(out, "...");
}

void show_buffer(struct syscall_value *x, const void *bytes, size_t n, size_t whole)
{
	size_t limit = x->opts->string_bytes, shown = min_of(min_of(n, whole), limit);

	show_quoted(x->out, bytes, shown, whole > shown);
}

/* A string that was captured up to its NUL, or as far as the limit. */
static void show_c_string(struct syscall_value *x, const char *s, size_t n, size_t limit)
{
	bool ended = n && s[n - 1] == '\0';
	size_t len = ended ? n - 1 : n;

	show_quoted(x->out, s, min_of(len, limit), len > limit || !ended);
}

void show_path(struct syscall_value *x)
{
	size_t n;
	const char *s = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (s)
		show_c_string(x, s, n, SIZE_MAX);
	else
		show_address(x);
}

/* Output strings (getcwd) are only there if the call succeeded. */
void show_string(struct syscall_value *x)
{
	size_t n;
	const char *s = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (x->spec->output && x->call->ret < 0)
		s = NULL;
	if (s)
		show_c_string(x, s, n, x->spec->output ? SIZE_MAX : x->opts->string_bytes);
	else
		show_address(x);
}

void show_mount_data(struct syscall_value *x)
{
	show_string(x);
}

void show_buffer_arg(struct syscall_value *x)
{
	const struct tacho_syscall_call *c = x->call;
	uint32_t whole = 0;
	size_t n = 0;
	const void *bytes;

	if (x->spec->output && c->returned && c->ret < 0) {
		show_address(x);
		return;
	}
	bytes = x->v ? value_part(x, TACHO_PART_MAIN, &n, &whole) : NULL;
	if (bytes)
		show_buffer(x, bytes, n, whole);
	else if (x->v && x->spec->output && c->returned && c->ret == 0 && c->exit_parts)
		buf_puts(x->out, "\"\"");
	else
		show_address(x);
}

/* Random bytes: strace prints all of them in hexadecimal. */
void show_hex_buffer(struct syscall_value *x)
{
	uint32_t whole = 0;
	size_t n = 0;
	const uint8_t *b = x->v && x->call->ret >= 0 ? value_part(x, TACHO_PART_MAIN, &n, &whole) : NULL;

	if (!b) {
		show_address(x);
		return;
	}
	n = min_of(min_of(n, (size_t)whole), (size_t)x->opts->string_bytes);
	buf_putc(x->out, '"');
	for (size_t i = 0; i < n; i++)
		buf_printf(x->out, "\\x%02x", b[i]);
	buf_puts(x->out, whole > n ? "\"..." : "\"");
}

void show_strings(struct syscall_value *x)
{
	uint32_t whole = 0;
	size_t n, shown = 0;
	const char *s;

	if (!x->v || !value_part(x, TACHO_PART_MAIN, &n, &whole)) {
		show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (; shown < 32 && (s = value_part(x, TACHO_PART_FIRST + (unsigned)shown, &n, NULL)); shown++) {
		if (shown)
			buf_puts(x->out, ", ");
		show_c_string(x, s, n, x->opts->string_bytes);
	}
	if (whole > shown)
		buf_puts(x->out, shown ? ", ..." : "...");
	buf_putc(x->out, ']');
}

void show_environment(struct syscall_value *x)
{
	size_t n, count = 0;
	const uint64_t *pointers = x->v ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	show_address(x);
	if (!pointers || is_perf_style(x))
		return;
	while (count < n / 8 && pointers[count])
		count++;
	buf_printf(x->out, " /* %zu var%s */", count, count == 1 ? "" : "s");
}

/* `index`: of the part with the vector. Buffers that the kernel fills end where the returned value says. */
void show_iovec(struct syscall_value *x, uint64_t address, unsigned index, bool addresses)
{
	uint32_t whole = 0;
	size_t n = 0;
	const uint64_t *iov = value_part(x, index, &n, &whole);
	uint64_t rest = x->spec->output && x->call->returned ? (uint64_t)x->call->ret : ~0ull;
	size_t count = addresses ? min_of(n / 16, whole / 16) : min_of(n / 16, whole), all = addresses ? whole / 16 : whole;

	if (!iov || (x->spec->output && x->call->ret < 0)) {
		x->v = address;
		show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (size_t i = 0; i < count; i++) {
		uint64_t len = min_of(iov[2 * i + 1], rest);
		size_t got = 0;
		const void *bytes = addresses ? NULL : value_part(x, TACHO_PART_FIRST + (unsigned)i, &got, NULL);

		buf_puts(x->out, i ? ", {iov_base=" : "{iov_base=");
		if (bytes)
			show_buffer(x, bytes, got, len);
		else
			buf_printf(x->out, iov[2 * i] ? "%#llx" : "NULL", (unsigned long long)iov[2 * i]);
		buf_printf(x->out, ", iov_len=%llu}", (unsigned long long)iov[2 * i + 1]);
		rest -= len;
	}
	if (all > count)
		buf_puts(x->out, ", ...");
	buf_putc(x->out, ']');
}

void show_iovec_arg(struct syscall_value *x)
{
	show_iovec(x, x->v, TACHO_PART_MAIN, false);
}

void show_iovec_addresses(struct syscall_value *x)
{
	show_iovec(x, x->v, TACHO_PART_MAIN, true);
}

void show_bytes_list(struct syscall_value *x)
{
	size_t n;
	const uint8_t *b = x->v && x->call->ret >= 0 ? value_part(x, TACHO_PART_MAIN, &n, NULL) : NULL;

	if (!b) {
		show_address(x);
		return;
	}
	buf_putc(x->out, '[');
	for (size_t i = 0; i < n; i++)
		buf_printf(x->out, "%s%u", i ? ", " : "", b[i]);
	buf_putc(x->out, ']');
}
