/*
 * `lock report`: how often locks were taken and waited for, by lock, class of locks, or thread; and `lock info`.
 */
#include "cli/lock/lock.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/core/app.h"
#include "cli/kernel/input.h"

#define REPORT_FIELDS "acquired,contended,avg_wait,wait_total,wait_max,wait_min"
#define NAME_WIDTH 20

/* The class, for a thread its name, else the variable or the address. */
static void put_name(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out)
{
	struct tacho_frame frame;

	if (t->o->threads)
		lock_put_task(out, row);
	else if (row->name)
		buf_puts(out, row->name);
	else if (tacho_symbols_resolve(t->symbols, 0, TACHO_SPACE_KERNEL, row->address, &frame) > 0)
		buf_text(out, str_of(tacho_symbols_name(t->symbols, frame.symbol)));
	else
		buf_printf(out, "%#" PRIx64, row->address);
}

/* Long names are cut: "a_name_that_is_to..." */
static void put_row(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out)
{
	struct buf name = { 0 };

	put_name(t, row, &name);
	if (name.n > NAME_WIDTH)
		buf_printf(out, " %.*s...", NAME_WIDTH - 4, name.bytes);
	else
		buf_right(out, buf_view(&name), NAME_WIDTH);
	buf_putc(out, ' ');
	buf_done(&name);
	lock_put_values(t, row, out);
	buf_putc(out, '\n');
}

static void put_text(const struct lock_table *t, struct buf *out)
{
	if (!t->o->quiet) {
		buf_printf(out, "%*s ", NAME_WIDTH, "Name");
		lock_put_titles(t, out);
		buf_puts(out, "\n\n");
	}
	for (size_t i = 0; i < t->n; i++)
		put_row(t, tacho_lock_row(t->l, t->order[i]), out);
}

static void put_json_row(const struct lock_table *t, size_t i, struct json *j)
{
	const struct tacho_lock_row *row = tacho_lock_row(t->l, i);
	struct buf name = { 0 };

	json_begin(j, '{');
	put_name(t, row, &name);
	json_key(j, "name");
	json_strn(j, buf_view(&name));
	buf_done(&name);
	if (t->o->threads) {
		json_member(j, "tid", u64, row->tid);
	} else if (row->address) {
		buf_printf(&name, "%#" PRIx64, row->address);
		json_key(j, "address");
		json_strn(j, buf_view(&name));
		buf_done(&name);
	}
	lock_put_json_values(t, i, j);
	json_end(j);
}

static void put_json(const struct lock_table *t, struct buf *out)
{
	const struct tacho_lock_totals *totals = tacho_lock_totals(t->l);
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.lock-report/1");
	json_member(&j, "lost", u64, totals->pass.lost);
	json_member(&j, "broken", u64, totals->n_broken);
	json_key(&j, "rows");
	json_begin(&j, '[');
	for (size_t i = 0; i < t->n; i++)
		put_json_row(t, t->order[i], &j);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

/* As in perf, if events were in an impossible order, or with -v. */
static void put_broken(const struct lock_table *t, struct buf *out)
{
	const struct tacho_lock_totals *totals = tacho_lock_totals(t->l);
	size_t n = 0;

	if (t->o->quiet || (!totals->n_broken && !t->o->verbose))
		return;
	while (tacho_lock_row(t->l, n))
		n++;
	buf_printf(out, "\n=== output for debug ===\n\nbad: %" PRIu64 ", total: %zu\n", totals->n_broken, n);
	buf_printf(out, "bad rate: %.2f %%\n", n ? (double)totals->n_broken / (double)n * 100 : 0.0);
	buf_printf(out, "histogram of events caused bad sequence\n    acquire: %" PRIu64 "\n   acquired: %" PRIu64 "\n  contended: %" PRIu64
		   "\n    release: %" PRIu64 "\n", totals->broken_acquire, totals->broken_acquired, totals->broken_contended,
		   totals->broken_release);
}

static int show(struct lock_table *t)
{
	struct buf out = { 0 };

	if (lock_sort(t) < 0) {
		message_text("lock report", "out of memory");
		return EXIT_FAILED;
	}
	if (t->o->json) {
		put_json(t, &out);
	} else {
		put_text(t, &out);
		put_broken(t, &out);
	}
	free(t->order);
	return lock_write(t->o, "lock report", &out);
}

static struct tacho_lock *read_locks(const struct lock_opts *o, const char *command, const struct kernel_source *source,
				     enum tacho_lock_by by, int *status)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_lock *l = NULL;
	int err = tacho_lock_new(&l, source->pd, TACHO_OPTS(tacho_lock_opts, .by = by, .symbols = source->symbols,
				.stack_skip = TACHO_LOCK_FUNCTIONS, .keep_waits = o->json, .from_ns = source->time.from_ns,
				.to_ns = source->time.to_ns), &e);

	if (l)
		*status = kernel_status(command, &tacho_lock_totals(l)->pass, err, &e);
	else
		message_error(command, NULL, NULL, &e);
	return l;
}

int lock_report_run(void *opts, int argc, char **argv)
{
	const struct lock_opts *o = opts;
	struct lock_table t = { .o = o };
	struct kernel_source source;
	int status = EXIT_FAILED, damage;

	if (argc) {
		message_text("lock report", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (lock_columns(&t, "lock report", REPORT_FIELDS, "acquired") < 0)
		return EXIT_USAGE;
	if (kernel_source_open(&source, "lock report", &o->source, true) < 0)
		return EXIT_FAILED;
	t.symbols = source.symbols;
	t.l = read_locks(o, "lock report", &source, o->threads ? TACHO_LOCK_BY_TASK : o->combine ? TACHO_LOCK_BY_CLASS :
			 TACHO_LOCK_BY_ADDRESS, &damage);
	if (t.l) {
		status = show(&t);
		status = max_of(status, damage);
	}
	tacho_lock_free(t.l);
	kernel_source_done(&source);
	return status;
}

/* ---- info ---- */

static void put_tasks(const struct tacho_lock *l, struct buf *out)
{
	const char *comm;
	uint32_t tid;

	buf_printf(out, "%10s: comm\n", "Thread ID");
	for (size_t i = 0; tacho_lock_task(l, i, &tid, &comm); i++) {
		buf_printf(out, "%10" PRIu32 ": ", tid);
		if (comm)
			buf_printf(out, "%s\n", comm);
		else
			buf_printf(out, ":%" PRIu32 "\n", tid);
	}
}

static void put_instances(const struct tacho_lock *l, struct buf *out)
{
	const struct tacho_lock_row *row;

	buf_puts(out, "Address of instance: name of class\n");
	for (size_t i = 0; (row = tacho_lock_row(l, i)) != NULL; i++)
		buf_printf(out, " %#" PRIx64 ": %s\n", row->address, row->name ? row->name : tacho_lock_type(row->flags, true));
}

static void put_info_json(const struct tacho_lock *l, struct buf *out)
{
	struct json j = { .out = out };
	const struct tacho_lock_row *row;
	const char *comm;
	uint32_t tid;

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.lock-info/1");
	json_key(&j, "threads");
	json_begin(&j, '[');
	for (size_t i = 0; tacho_lock_task(l, i, &tid, &comm); i++) {
		json_begin(&j, '{');
		json_member(&j, "tid", u64, tid);
		json_member(&j, "comm", str, comm);
		json_end(&j);
	}
	json_end(&j);
	json_key(&j, "locks");
	json_begin(&j, '[');
	for (size_t i = 0; (row = tacho_lock_row(l, i)) != NULL; i++) {
		struct buf text = { 0 };

		buf_printf(&text, "%#" PRIx64, row->address);
		json_begin(&j, '{');
		json_member(&j, "address", strn, buf_view(&text));
		json_member(&j, "class", str, row->name);
		json_member(&j, "type", str, tacho_lock_totals(l)->has_lockdep ? NULL : tacho_lock_type(row->flags, true));
		json_end(&j);
		buf_done(&text);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

int lock_info_run(void *opts, int argc, char **argv)
{
	const struct lock_opts *o = opts;
	struct kernel_source source;
	struct tacho_lock *l;
	struct buf out = { 0 };
	int status = EXIT_FAILED, damage;

	if (argc) {
		message_text("lock info", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (kernel_source_open(&source, "lock info", &o->source, true) < 0)
		return EXIT_FAILED;
	l = read_locks(o, "lock info", &source, TACHO_LOCK_BY_ADDRESS, &damage);
	if (l) {
		if (o->json)
			put_info_json(l, &out);
		if (!o->json && (o->threads || !o->map))
			put_tasks(l, &out);
		if (!o->json && (o->map || !o->threads))
			put_instances(l, &out);
		status = lock_write(o, "lock info", &out);
		status = max_of(status, damage);
	}
	tacho_lock_free(l);
	kernel_source_done(&source);
	return status;
}
