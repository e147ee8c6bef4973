/*
 * Columns and sort keys of the tables, one row each.
 */
#include "cli/lock/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/io.h"
#include "base/json.h"
#include "cli/core/app.h"

static uint64_t acquired(const struct tacho_lock_row *row)
{
	return row->n_acquired;
}

static uint64_t contended(const struct tacho_lock_row *row)
{
	return row->n_contended;
}

static uint64_t wait_avg(const struct tacho_lock_row *row)
{
	return row->n_waits ? row->wait_ns / row->n_waits : 0;
}

static uint64_t wait_total(const struct tacho_lock_row *row)
{
	return row->wait_ns;
}

static uint64_t wait_max(const struct tacho_lock_row *row)
{
	return row->max_ns;
}

static uint64_t wait_min(const struct tacho_lock_row *row)
{
	return row->n_waits ? row->min_ns : 0;
}

static const struct lock_column columns[] = {
	{ "acquired", "acquired", 10, false, acquired },     { "contended", "contended", 10, false, contended },
	{ "avg_wait", "avg wait", 12, true, wait_avg },	     { "wait_total", "total wait", 12, true, wait_total },
	{ "wait_max", "max wait", 12, true, wait_max },	     { "wait_min", "min wait", 12, true, wait_min },
};

static const struct lock_column *find_column(const char *command, const char *option, struct str name)
{
	for (size_t i = 0; i < countof(columns); i++)
		if (str_is(name, columns[i].key))
			return &columns[i];
	message_text(command, "%s: '%.*s' is none of acquired, contended, avg_wait, wait_total, wait_max and wait_min", option, STR(name));
	return NULL;
}

static bool has_column(const struct lock_table *t, const struct lock_column *c)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i] == c)
			return true;
	return false;
}

int lock_columns(struct lock_table *t, const char *command, const char *default_fields, const char *default_key)
{
	struct str rest = str_of(t->o->fields ? t->o->fields : default_fields), one;
	const struct lock_column *c;

	while (str_cut(&rest, ',', &one)) {
		c = find_column(command, "-F", str_trim(one));
		if (!c)
			return -EINVAL;
		if (!has_column(t, c))
			t->columns[t->n_columns++] = c;
	}
	t->key = find_column(command, "-k", str_of(t->o->key ? t->o->key : default_key));
	if (!t->key)
		return -EINVAL;
	if (!has_column(t, t->key))
		t->columns[t->n_columns++] = t->key;
	return 0;
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct lock_table *t = arg;
	const size_t *x = a, *y = b;
	const struct tacho_lock_row *p = tacho_lock_row(t->l, *x), *q = tacho_lock_row(t->l, *y);
	uint64_t v = t->key->value(p), w = t->key->value(q);

	if (v == w) {
		v = p->wait_ns;
		w = q->wait_ns;
	}
	return v != w ? (v > w ? -1 : 1) : *x < *y ? -1 : *x > *y;
}

int lock_sort(struct lock_table *t)
{
	size_t n = 0;

	while (tacho_lock_row(t->l, n))
		n++;
	t->order = calloc(max_of(n, (size_t)1), sizeof(*t->order));
	if (!t->order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		t->order[i] = i;
	qsort_r(t->order, n, sizeof(*t->order), by_key, t);
	t->n = t->o->entries ? min_of(n, (size_t)t->o->entries) : n;
	return 0;
}

/* "     3.62 us": two decimals of the largest unit that is not larger than the time; rounded as perf does, from a float. */
static void put_time(struct buf *out, uint64_t ns, unsigned width)
{
	static const struct { uint64_t ns; const char *name; } units[] = {
		{ 3600000000000, "h " }, { 60000000000, "m " }, { 1000000000, "s " }, { 1000000, "ms" }, { 1000, "us" },
	};

	for (size_t i = 0; i < countof(units); i++)
		if (ns >= units[i].ns) {
			buf_printf(out, "%*.2f %s", (int)width - 3, (double)((float)ns / (float)units[i].ns), units[i].name);
			return;
		}
	buf_printf(out, "%*" PRIu64 " ns", (int)width - 3, ns);
}

void lock_put_titles(const struct lock_table *t, struct buf *out)
{
	for (size_t i = 0; i < t->n_columns; i++)
		buf_printf(out, "%*s ", (int)t->columns[i]->width, t->columns[i]->title);
}

void lock_put_values(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct lock_column *c = t->columns[i];

		if (c->is_time)
			put_time(out, c->value(row), c->width);
		else
			buf_printf(out, "%*" PRIu64, (int)c->width, c->value(row));
		buf_putc(out, ' ');
	}
}

void lock_put_json_values(const struct lock_table *t, size_t i, struct json *j)
{
	static const struct { const char *name; double percent; } percentiles[] = { { "p50", 50 }, { "p90", 90 }, { "p99", 99 } };
	const struct tacho_lock_row *row = tacho_lock_row(t->l, i);

	json_member(j, "acquired", u64, row->n_acquired);
	json_member(j, "contended", u64, row->n_contended);
	json_member(j, "waits", u64, row->n_waits);
	json_member(j, "wait_ns", u64, row->wait_ns);
	json_member(j, "max_ns", u64, row->max_ns);
	json_key(j, "min_ns");
	if (row->n_waits)
		json_u64(j, row->min_ns);
	else
		json_null(j);
	json_key(j, "percentiles_ns");
	json_begin(j, '{');
	for (size_t p = 0; row->n_waits && !t->watch && p < countof(percentiles); p++)
		json_member(j, percentiles[p].name, u64, tacho_lock_percentile(t->l, i, percentiles[p].percent));
	json_end(j);
}

void lock_put_task(struct buf *out, const struct tacho_lock_row *row)
{
	if (row->comm)
		buf_puts(out, row->comm);
	else if (row->tid == TACHO_LOCK_NO_OWNER)
		buf_puts(out, "Unknown");
	else
		buf_printf(out, ":%" PRIu32, row->tid);
}

void lock_put_caller(struct buf *out, const struct lock_table *t, uint64_t address)
{
	struct tacho_frame frame;

	if (!address)
		buf_puts(out, "Unknown");
	else if (tacho_symbols_resolve(t->symbols, 0, TACHO_SPACE_KERNEL, address, &frame) > 0) {
		buf_text(out, str_of(tacho_symbols_name(t->symbols, frame.symbol)));
		buf_printf(out, "+%#" PRIx64, frame.symbol_offset);
	} else {
		buf_printf(out, "%#" PRIx64, address);
	}
}

int lock_write(const struct lock_opts *o, const char *command, struct buf *out)
{
	int fd = STDERR_FILENO, status;

	if (o->output) {
		fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0) {
			message_text(command, "cannot write %s: %s", o->output, strerror(errno));
			buf_done(out);
			return EXIT_FAILED;
		}
	} else if (o->json) {
		fd = STDOUT_FILENO;
	}
	status = print_fd(command, fd, o->output ? o->output : fd == STDOUT_FILENO ? "stdout" : "stderr", out);
	if (o->output)
		close(fd);
	return status;
}
