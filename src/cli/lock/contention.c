/*
 * `lock contention`: waits by the function that waits, by thread or by lock.
 */
#include "cli/lock/lock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/num.h"
#include "base/vec.h"
#include "cli/core/app.h"
#include "cli/kernel/input.h"

#define CSV_FIELDS "contended,wait_total,wait_max,avg_wait"

static void filter_done(struct contention_filter *f)
{
	vec_done(&f->addresses);
	strlist_done(&f->names);
	strlist_done(&f->functions);
}

static int parse_types(struct contention_filter *f, const char *text)
{
	struct str rest = str_of(text), one;

	while (str_cut(&rest, ',', &one)) {
		char name[32];
		size_t n;

		snprintf(name, sizeof(name), "%.*s", STR(one));
		n = tacho_lock_type_flags(name, f->types + f->n_types, LOCK_TYPES_MAX - f->n_types);
		if (!n || f->n_types + n > LOCK_TYPES_MAX) {
			struct tacho_error e;

			error_set(&e, -EINVAL, "'%.*s' is not a kind of lock", STR(one));
			error_at(&e, (size_t)(one.s - text), one.n);
			error_hint(&e, "use spinlock, mutex, rwsem, rwlock, semaphore, rt-mutex, rwlock-rt, percpu-rwsem, or "
				   "rwsem:R, rwsem:W ...");
			message_error("lock contention", "-Y", text, &e);
			return -EINVAL;
		}
		f->n_types += n;
	}
	return 0;
}

/* Numbers are addresses, everything else names. */
static int parse_locks(struct contention_filter *f, const char *text)
{
	struct str rest = str_of(text), one;

	while (str_cut(&rest, ',', &one)) {
		uint64_t address, *at;
		bool is_number = (str_starts(one, "0x") || str_starts(one, "ffff")) && num_hex(one, &address) == 0;

		if (!is_number && strlist_add(&f->names, one) < 0)
			return -ENOMEM;
		at = is_number ? vec_next(&f->addresses) : NULL;
		if (is_number && !at)
			return -ENOMEM;
		if (at)
			*at = address;
	}
	return 0;
}

static int parse_functions(struct contention_filter *f, const char *text)
{
	struct str rest = str_of(text), one;

	while (str_cut(&rest, ',', &one))
		if (one.n && strlist_add(&f->functions, one) < 0)
			return -ENOMEM;
	return 0;
}

static int parse_filter(const struct lock_opts *o, struct contention_filter *f)
{
	int err = o->types ? parse_types(f, o->types) : 0;

	if (err == 0 && o->locks)
		err = parse_locks(f, o->locks);
	if (err == 0 && o->functions)
		err = parse_functions(f, o->functions);
	if (err == -ENOMEM)
		message_text("lock contention", "out of memory");
	return err;
}

/* ---- text ---- */

/* The lock's variable, if it is one of the kernel. */
static void put_lock_name(struct buf *out, const struct lock_table *t, uint64_t address)
{
	struct tacho_frame frame;

	if (tacho_symbols_resolve(t->symbols, 0, TACHO_SPACE_KERNEL, address, &frame) > 0)
		buf_text(out, str_of(tacho_symbols_name(t->symbols, frame.symbol)));
}

/* A cgroup that has been removed has no path any more. */
static void put_cgroup(struct buf *out, const struct tacho_lock_row *row)
{
	if (row->name)
		buf_text(out, str_of(row->name));
	else
		buf_printf(out, "cgroup:%" PRIu64, row->address);
}

static void put_chain(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out)
{
	for (size_t i = 0; i < row->n_chain; i++) {
		buf_printf(out, "\t\t\t%#" PRIx64 "  ", row->chain[i]);
		lock_put_caller(out, t, row->chain[i]);
		buf_putc(out, '\n');
	}
}

static void put_row(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out)
{
	lock_put_values(t, row, out);
	if (t->o->threads || t->o->by_owner) {
		buf_printf(out, "  %10" PRId32 "   ", (int32_t)row->tid);
		lock_put_task(out, row);
	} else if (t->o->by_cgroup) {
		buf_puts(out, "  ");
		put_cgroup(out, row);
	} else if (t->o->by_address) {
		buf_printf(out, "  %016" PRIx64 "   ", row->address);
		put_lock_name(out, t, row->address);
		buf_printf(out, " (%s)", tacho_lock_type(row->flags, false));
	} else {
		buf_printf(out, "  %10s   ", tacho_lock_type(row->flags, true));
		lock_put_caller(out, t, row->address);
	}
	buf_putc(out, '\n');
	if (t->o->verbose)
		put_chain(t, row, out);
}

static void put_text(const struct lock_table *t, struct buf *out)
{
	if (!t->o->quiet) {
		lock_put_titles(t, out);
		if (t->o->threads || t->o->by_owner)
			buf_printf(out, "  %10s   %s\n\n", "pid", t->o->by_owner ? "owner" : "comm");
		else if (t->o->by_cgroup)
			buf_puts(out, "  cgroup\n\n");
		else if (t->o->by_address)
			buf_printf(out, "  %16s   %s\n\n", "address", "symbol");
		else
			buf_printf(out, "  %10s   %s\n\n", "type", "caller");
	}
	for (size_t i = 0; i < t->n; i++)
		put_row(t, tacho_lock_row(t->l, t->order[i]), out);
}

/* ---- CSV ---- */

static bool is_by_caller(const struct lock_opts *o)
{
	return !o->threads && !o->by_address && !o->by_owner && !o->by_cgroup;
}

static void put_csv_titles(const struct lock_table *t, struct buf *out)
{
	const char *sep = t->o->separator;

	buf_puts(out, "# output: ");
	for (size_t i = 0; i < t->n_columns; i++)
		buf_printf(out, "%s%s ", t->columns[i]->title, sep);
	if (t->o->threads || t->o->by_owner)
		buf_printf(out, "pid%s %s", sep, t->o->by_owner ? "owner" : "comm");
	else if (t->o->by_cgroup)
		buf_puts(out, "cgroup");
	else if (t->o->by_address)
		buf_printf(out, "address%s symbol%s type", sep, sep);
	else
		buf_printf(out, "type%s caller", sep);
	if (t->o->verbose && is_by_caller(t->o))
		buf_printf(out, "%s stacktrace", sep);
	buf_putc(out, '\n');
}

static void put_csv_chain(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out)
{
	buf_printf(out, "%s ", t->o->separator);
	for (size_t i = 0; i < row->n_chain; i++) {
		if (i)
			buf_putc(out, ' ');
		lock_put_caller(out, t, row->chain[i]);
	}
}

static void put_csv_row(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out)
{
	const char *sep = t->o->separator;

	for (size_t i = 0; i < t->n_columns; i++)
		buf_printf(out, "%" PRIu64 "%s ", t->columns[i]->value(row), sep);
	if (t->o->threads || t->o->by_owner) {
		buf_printf(out, "%" PRId32 "%s ", (int32_t)row->tid, sep);
		lock_put_task(out, row);
	} else if (t->o->by_cgroup) {
		put_cgroup(out, row);
	} else if (t->o->by_address) {
		buf_printf(out, "%" PRIx64 "%s ", row->address, sep);
		put_lock_name(out, t, row->address);
		buf_printf(out, "%s %s", sep, tacho_lock_type(row->flags, false));
	} else {
		buf_printf(out, "%s%s ", tacho_lock_type(row->flags, true), sep);
		lock_put_caller(out, t, row->address);
		if (t->o->verbose)
			put_csv_chain(t, row, out);
	}
	buf_putc(out, '\n');
}

static void put_csv(const struct lock_table *t, struct buf *out)
{
	put_csv_titles(t, out);
	for (size_t i = 0; i < t->n; i++)
		put_csv_row(t, tacho_lock_row(t->l, t->order[i]), out);
}

/* ---- JSON ---- */

static void put_json_text(struct json *j, const char *key, struct buf *text)
{
	json_key(j, key);
	if (buf_failed(text))
		j->out->bad = true;
	if (text->n)
		json_strn(j, buf_view(text));
	else
		json_null(j);
	buf_done(text);
}

static void put_json_row(const struct lock_table *t, size_t i, struct json *j)
{
	const struct tacho_lock_row *row = tacho_lock_row(t->l, i);
	struct buf text = { 0 };

	json_begin(j, '{');
	if (t->o->threads || t->o->by_owner) {
		json_key(j, "tid");
		if (row->tid == TACHO_LOCK_NO_OWNER)
			json_null(j);
		else
			json_u64(j, row->tid);
		json_member(j, "comm", str, row->comm);
	} else if (t->o->by_cgroup) {
		json_member(j, "cgroup", str, row->name);
		json_member(j, "cgroup_id", u64, row->address);
	} else if (t->o->by_address) {
		buf_printf(&text, "%#" PRIx64, row->address);
		put_json_text(j, "address", &text);
		put_lock_name(&text, t, row->address);
		put_json_text(j, "name", &text);
		json_member(j, "type", str, tacho_lock_type(row->flags, false));
	} else {
		json_member(j, "type", str, tacho_lock_type(row->flags, true));
		if (row->address)
			lock_put_caller(&text, t, row->address);
		put_json_text(j, "caller", &text);
		json_key(j, "chain");
		json_begin(j, '[');
		for (size_t f = 0; f < row->n_chain; f++) {
			lock_put_caller(&text, t, row->chain[f]);
			json_strn(j, buf_view(&text));
			buf_done(&text);
		}
		json_end(j);
	}
	lock_put_json_values(t, i, j);
	json_end(j);
}

static void put_json(const struct lock_table *t, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.lock-contention/1");
	json_member(&j, "lost", u64, tacho_lock_totals(t->l)->pass.lost);
	json_key(&j, "rows");
	json_begin(&j, '[');
	for (size_t i = 0; i < t->n; i++)
		put_json_row(t, t->order[i], &j);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

/* ---- the command ---- */

static int show(struct lock_table *t)
{
	struct buf out = { 0 };

	if (lock_sort(t) < 0) {
		message_text("lock contention", "out of memory");
		return EXIT_FAILED;
	}
	(t->o->json ? put_json : t->o->separator ? put_csv : put_text)(t, &out);
	free(t->order);
	return lock_write(t->o, "lock contention", &out);
}

static struct tacho_lock_opts row_opts(const struct lock_opts *o, const struct contention_filter *f)
{
	return (struct tacho_lock_opts){
		.size = sizeof(struct tacho_lock_opts),
		.by = o->by_owner ? TACHO_LOCK_BY_OWNER : o->threads ? TACHO_LOCK_BY_TASK : o->by_cgroup ? TACHO_LOCK_BY_CGROUP :
		      o->by_address ? TACHO_LOCK_BY_ADDRESS : TACHO_LOCK_BY_CALLER,
		.stack_skip = o->stack_skip, .max_stack = o->max_stack,
		.filter = { .types = f->types, .n_types = f->n_types, .addresses = f->addresses.v, .n_addresses = f->addresses.n,
			    .names = (const char *const *)f->names.v, .n_names = f->names.n,
			    .functions = (const char *const *)f->functions.v, .n_functions = f->functions.n },
	};
}

static int analyse(struct lock_table *t, const struct kernel_source *source, const struct contention_filter *f)
{
	struct tacho_lock_opts opts = row_opts(t->o, f);
	struct tacho_error e = { .column = -1 };
	int status, err;

	opts.symbols = source->symbols;
	opts.keep_waits = t->o->json;
	opts.from_ns = source->time.from_ns;
	opts.to_ns = source->time.to_ns;
	err = tacho_lock_new(&t->l, source->pd, &opts, &e);

	if (!t->l) {
		message_error("lock contention", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	t->symbols = source->symbols;
	status = show(t);
	err = kernel_status("lock contention", &tacho_lock_totals(t->l)->pass, err, &e);
	tacho_lock_free(t->l);
	return max_of(status, err);
}

static int check(const struct lock_opts *o, int argc, char **argv)
{
	if (o->threads + o->by_address + o->by_cgroup > 1 || (o->by_owner && (o->by_address || o->by_cgroup))) {
		message_text("lock contention", "-t, -l, -o and --lock-cgroup cannot be used together, but -t and -o");
		return -EINVAL;
	}
	if (!o->use_bpf && (o->by_owner || o->by_cgroup || o->all_cpus || o->cpus || o->pids || o->tids || o->cgroups)) {
		message_text("lock contention", "%s needs -b: recorded events do not say it, or 'lock record' has the option",
			     o->by_owner ? "-o" : o->by_cgroup ? "--lock-cgroup" : o->all_cpus ? "-a" : o->cpus ? "-C" :
			     o->pids ? "-p" : o->tids ? "--tid" : "-G");
		return -EINVAL;
	}
	if (o->use_bpf && (o->source.input || o->source.time)) {
		message_text("lock contention", "-b counts what happens now: -i and --time are for recordings");
		return -EINVAL;
	}
	if (o->separator && strlen(o->separator) == 0) {
		message_text("lock contention", "-x needs a separator");
		return -EINVAL;
	}
	if (argc && !o->use_bpf) {
		message_text("lock contention", "'%s' is not expected here: 'lock record' runs a command", argv[0]);
		return -EINVAL;
	}
	return 0;
}

static int watch(struct lock_table *t, const struct contention_filter *f, int argc, char **argv)
{
	const struct tacho_lock_opts rows = row_opts(t->o, f);
	int command_status = 0, status = lock_live(t, &rows, argc, argv, &command_status);

	if (status == 0) {
		uint64_t lost = tacho_lock_totals(t->l)->pass.lost;

		if (lost)
			message_text("lock contention", "%" PRIu64 " waits were not counted, or have no call chain: a map of the BPF "
				     "program was full; -M makes it larger", lost);
		status = show(t);
	}
	lock_live_done(t);
	return max_of(status, command_status);
}

int lock_contention_run(void *opts, int argc, char **argv)
{
	const struct lock_opts *o = opts;
	struct contention_filter f = { 0 };
	struct lock_table t = { .o = o };
	struct kernel_source source;
	int status = EXIT_USAGE;

	if (check(o, argc, argv) == 0 && lock_columns(&t, "lock contention", CSV_FIELDS, "wait_total") == 0 &&
	    parse_filter(o, &f) == 0) {
		status = EXIT_FAILED;
		if (o->use_bpf)
			status = watch(&t, &f, argc, argv);
		else if (kernel_source_open(&source, "lock contention", &o->source, true) == 0) {
			status = analyse(&t, &source, &f);
			kernel_source_done(&source);
		}
	}
	filter_done(&f);
	return status;
}
