/*
 * See rows.h. One function per way of showing (enum view_show), in a table.
 */
#include "view/rows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"

#include <tacho/syscall.h>

#define MAX_TEXT (VIEW_TEXT + 64)

struct shown {				/* a value that is to be shown, and where its text goes */
	struct view_rows *rows;
	uint64_t number;
	const char *text;
	size_t n_text;
	char *out;
	struct tacho_view_value *value;
	const struct shown *next;	/* of the next column */
};

static void show_number(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%" PRIu64, s->number);
	s->value->is_number = true;
}

static void show_signed(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%d", (int)s->number);
	s->value->is_number = true;
	s->value->number = (int)s->number;
}

static void show_wide(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%" PRId64, (int64_t)s->number);
	s->value->is_number = true;
}

static void show_hex(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%#" PRIx64, s->number);
}

static void show_text(struct shown *s)
{
	size_t n = strnlen(s->text, min_of(s->n_text, (size_t)VIEW_TEXT));

	memcpy(s->out, s->text, n);
	s->out[n] = '\0';
	str_make_printable(s->out, n);
}

static void show_clock(struct shown *s)
{
	time_t t = (time_t)(((int64_t)s->number + s->rows->wall_offset_ns) / 1000000000);
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(s->out, MAX_TEXT, "%H:%M:%S", &tm))
		s->out[0] = '\0';
}

static void show_seconds(struct shown *s)
{
	if (!s->rows->first_ns)
		s->rows->first_ns = s->number;
	snprintf(s->out, MAX_TEXT, "%.6f", (double)(s->number - s->rows->first_ns) / 1e9);
}

static void show_ms(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%.2f", (double)s->number / 1e6);
	s->value->is_number = true;
}

static void show_age(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%.2f", (double)s->number / 1e9);
	s->value->is_number = true;
}

static void show_kb(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%" PRIu64, s->number / 1024);
	s->value->is_number = true;
}

static void show_sectors(struct shown *s)
{
	s->number *= 512;
	s->value->number = (int64_t)s->number;
	show_number(s);
}

static void show_fd(struct shown *s)
{
	s->number = (int64_t)s->number < 0 ? ~UINT64_C(0) : s->number;
	show_signed(s);
}

static void show_errno(struct shown *s)
{
	s->number = (int64_t)s->number < 0 ? -s->number : 0;
	show_signed(s);
}

static void show_exit(struct shown *s)
{
	unsigned code = (unsigned)s->number, sig = code & 0x7f;
	const char *name = tacho_signal_name((int)sig);

	if (sig)
		snprintf(s->out, MAX_TEXT, "signal %u (%s)", sig, name && !strncmp(name, "SIG", 3) ? name + 3 : "?");
	else if (code >> 8 & 0xff)
		snprintf(s->out, MAX_TEXT, "code %u", code >> 8 & 0xff);
	else
		snprintf(s->out, MAX_TEXT, "0");
}

/* The link /sys/dev/block/8:0 ends with the name of the disk. */
static void show_disk(struct shown *s)
{
	struct view_rows *r = s->rows;
	char path[60], target[512];
	const char *name;
	ssize_t n;

	if (r->disk_dev != s->number || !r->disk[0]) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", (unsigned)(s->number >> 20), (unsigned)(s->number & 0xfffff));
		n = readlink(path, target, sizeof(target) - 1);
		target[max_of(n, (ssize_t)0)] = '\0';
		name = strrchr(target, '/');
		snprintf(r->disk, sizeof(r->disk), "%.60s", name ? name + 1 : path + strlen("/sys/dev/block/"));
		r->disk_dev = s->number;
	}
	snprintf(s->out, MAX_TEXT, "%s", r->disk);
}

static void show_rwbs(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%c", s->n_text && s->text[0] > ' ' ? s->text[0] : '?');
}

static void show_call(struct shown *s)
{
	int arch = tacho_syscall_host_arch();
	const struct tacho_syscall *sc = arch < 0 ? NULL : tacho_syscall_by_nr((enum tacho_syscall_arch)arch, s->number);

	if (sc)
		snprintf(s->out, MAX_TEXT, "%s", tacho_syscall_name(sc));
	else
		snprintf(s->out, MAX_TEXT, "call %" PRId64, (int64_t)s->number);
}

static void show_ip_version(struct shown *s)
{
	s->number = s->number == AF_INET6 ? 6 : 4;
	s->value->number = (int64_t)s->number;
	show_number(s);
}

/* An address of IPv4 is mapped into one of IPv6. */
static void show_address(struct shown *s)
{
	const struct view_column *next = &s->rows->plan->columns[s->value - s->rows->values + 1];
	char text[INET6_ADDRSTRLEN] = "";
	struct in6_addr a = { 0 };

	memcpy(&a, s->text, min_of(s->n_text, sizeof(a)));
	if (IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, a.s6_addr + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, &a, text, sizeof(text));
	if (s->next && next->show == SHOW_PORT && !next->title)
		snprintf(s->out, MAX_TEXT, "%s:%u", text, (unsigned)s->next->number);
	else
		snprintf(s->out, MAX_TEXT, "%s", text);
}

static void show_tcp_state(struct shown *s)
{
	static const char *const names[] = { "?", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT",
		"CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV" };

	snprintf(s->out, MAX_TEXT, "%s", names[s->number < countof(names) ? s->number : 0]);
}

static void show_letter(struct shown *s)
{
	snprintf(s->out, MAX_TEXT, "%c", (char)s->number);
}

/* Arguments with blanks are put in quotes; those of a long list end with "...". */
static void show_argv(struct shown *s)
{
	struct str rest = str_n(s->text, s->n_text), one;
	scoped(buf_done) struct buf out = { 0 };

	if (rest.n && !rest.s[rest.n - 1])
		rest.n--;
	while (str_cut(&rest, '\0', &one)) {
		const char *quote = !one.n || memchr(one.s, ' ', one.n) ? "\"" : "";

		buf_printf(&out, "%s%s%.*s%s", out.n ? " " : "", quote, STR(one), quote);
	}
	if (s->n_text >= VIEW_TEXT)
		buf_puts(&out, "...");
	snprintf(s->out, MAX_TEXT, "%s", out.n ? out.bytes : "");
	str_make_printable(s->out, strlen(s->out));
}

static void show_interrupt(struct shown *s)
{
	static const char *const softirqs[] = { "hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched",
						"hrtimer", "rcu" };
	int64_t n = (int64_t)s->number;
	char path[60], name[100] = "";

	if (n < 0) {
		n += SOFTIRQS;
		snprintf(s->out, MAX_TEXT, "softirq:%s", n >= 0 && n < (int64_t)countof(softirqs) ? softirqs[n] : "?");
		return;
	}
	snprintf(path, sizeof(path), "/sys/kernel/irq/%" PRId64 "/actions", n);
	io_read_small(AT_FDCWD, path, name, sizeof(name));
	if (name[0])
		snprintf(s->out, MAX_TEXT, "%s", name);
	else
		snprintf(s->out, MAX_TEXT, "irq %" PRId64, n);
}

static void show_function(struct shown *s)
{
	const struct view_functions *f = s->rows->functions;

	snprintf(s->out, MAX_TEXT, "%.*s", MAX_TEXT - 1, f && s->number < f->list.n ? f->list.v[s->number].name : "?");
	str_make_printable(s->out, strlen(s->out));
}

static void show_nothing(struct shown *s)
{
	s->out[0] = '\0';
}

static void (*const show[])(struct shown *s) = {
	[SHOW_NUMBER] = show_number, [SHOW_SIGNED] = show_signed, [SHOW_TEXT] = show_text, [SHOW_HEX] = show_hex,
	[SHOW_CLOCK] = show_clock, [SHOW_SECONDS] = show_seconds, [SHOW_MS] = show_ms, [SHOW_AGE] = show_age, [SHOW_KB] = show_kb,
	[SHOW_SECTORS] = show_sectors, [SHOW_FD] = show_fd, [SHOW_ERRNO] = show_errno, [SHOW_RESULT] = show_wide,
	[SHOW_EXIT] = show_exit, [SHOW_DISK] = show_disk, [SHOW_RWBS] = show_rwbs, [SHOW_CALL] = show_call,
	[SHOW_IP_VERSION] = show_ip_version, [SHOW_ADDRESS] = show_address, [SHOW_PORT] = show_number,
	[SHOW_TCP_STATE] = show_tcp_state, [SHOW_LETTER] = show_letter, [SHOW_ARGV] = show_argv,
	[SHOW_INTERRUPT] = show_interrupt, [SHOW_FUNCTION] = show_function, [SHOW_STACK] = show_nothing,
};

void view_rows_init(struct view_rows *r, const struct view_plan *p, const struct view_functions *f)
{
	*r = (struct view_rows){ .plan = p, .functions = f,
				 .wall_offset_ns = clock_wall_ns() - (int64_t)clock_mono_ns() };
}

static void show_all(struct view_rows *r, struct shown shown[VIEW_COLUMNS])
{
	for (size_t i = 0; i < r->plan->n_columns; i++) {
		struct shown *s = &shown[i];

		s->rows = r;
		s->out = r->texts[i];
		s->value = &r->values[i];
		s->next = i + 1 < r->plan->n_columns ? &shown[i + 1] : NULL;
		*s->value = (struct tacho_view_value){ .text = s->out, .number = (int64_t)s->number };
		show[r->plan->columns[i].show](s);
	}
}

void view_rows_of_record(struct view_rows *r, const struct view_record *rec)
{
	size_t n_texts = rec->size - sizeof(*rec);
	struct shown shown[VIEW_COLUMNS] = { 0 };

	for (size_t i = 0; i < r->plan->n_columns; i++) {
		uint64_t v = rec->values[i];
		size_t at = (size_t)(v >> 32), n = (uint32_t)v;

		shown[i].number = v;
		shown[i].text = "";
		if (view_is_text(r->plan->program.row[i].source) && at <= n_texts && n <= n_texts - at) {
			shown[i].text = (const char *)(rec + 1) + at;
			shown[i].n_text = n;
		}
	}
	show_all(r, shown);
}

void view_rows_of_key(struct view_rows *r, const struct view_key *key)
{
	struct shown shown[VIEW_COLUMNS] = { 0 };
	size_t numbers = 0, texts = 0;

	for (size_t i = 0; i < r->plan->n_columns; i++) {
		const struct view_operand *o = &r->plan->program.row[i];

		shown[i].text = "";
		if (view_is_stack(o->source))
			continue;
		if (!view_is_text(o->source)) {
			shown[i].number = numbers < VIEW_KEY_NUMBERS ? key->numbers[numbers++] : 0;
		} else if (texts < VIEW_KEY_TEXTS) {
			shown[i].text = key->texts[texts++];
			shown[i].n_text = VIEW_KEY_TEXT;
		}
	}
	show_all(r, shown);
}
