/*
 * How long threads wait for locks. Each thread has a state per lock, which its events change; a wait is the time from the first
 * lock:contention_begin (or lock_contended) to the event that ends it. With optimistic spinning a mutex has a second
 * contention_begin before its end, which belongs to the same wait.
 *
 *	contention: -- begin --> CONTENDED -- end --> ACQUIRED
 *	lockdep:    -- acquire --> ACQUIRING [-- contended --> CONTENDED] -- acquired --> ACQUIRED -- release --> --
 */
#include <tacho/lock.h>

#include <errno.h>

#include "base/sized_opts.h"
#include "kernel/lock_caller.h"
#include "kernel/lock_rows.h"
#include "kernel/lock_types.h"
#include "kernel/pass.h"

#define STACK_DEFAULT 8
#define NO_ROW UINT32_MAX

enum lock_state { LOCK_UNUSED, LOCK_ACQUIRING, LOCK_READ_ACQUIRED, LOCK_CONTENDED, LOCK_ACQUIRED, LOCK_BROKEN };

struct lock_key {			/* of a thread's state; without padding, for the hash map */
	uint64_t address;
	uint64_t tid;
};

struct lock_use {			/* a lock as one thread uses it */
	enum lock_state state;
	uint32_t row, readers;
	uint64_t time;			/* of the event that the next wait is counted from */
};

struct lock_row {
	struct tacho_lock_row pub;
	struct { uint64_t *v; size_t n, cap; } waits;	/* only with keep_waits */
	bool sorted;
};

struct tacho_lock {
	struct tacho_lock_opts opts;
	struct kernel_pass pass;
	struct tacho_lock_totals totals;
	struct arena arena;
	struct lock_caller caller;
	struct map uses_by_key, rows_by_key;
	struct int_map rows_by_number;
	struct int_map task_set;
	struct { uint32_t *v; size_t n, cap; } tasks;	/* that have used a lock */
	struct int_map named;		/* address -> whether its name is in the filter */
	struct { struct lock_use *v; size_t n, cap; } uses;
	struct { struct lock_row *v; size_t n, cap; } rows;
};

static bool is_in_time(const struct tacho_lock *l, const struct kernel_sample *s)
{
	return s->time >= l->opts.from_ns && (!l->opts.to_ns || s->time <= l->opts.to_ns);
}

/* ---- filters ---- */

static bool has_type(const struct tacho_lock_filter *f, uint32_t flags)
{
	for (size_t i = 0; i < f->n_types; i++)
		if (f->types[i] == (flags & LOCK_FLAGS))
			return true;
	return !f->n_types;
}

static int has_name(struct tacho_lock *l, uint64_t address, bool *result)
{
	const struct tacho_lock_filter *f = &l->opts.filter;
	struct tacho_frame frame;
	uint32_t known;

	if (!int_map_get(&l->named, address, &known)) {
		int found = l->opts.symbols ? tacho_symbols_resolve(l->opts.symbols, 0, TACHO_SPACE_KERNEL, address, &frame) : 0;

		if (found < 0)
			return found;
		known = 0;
		for (size_t i = 0; found && i < f->n_names; i++)
			known |= !strcmp(tacho_symbols_name(l->opts.symbols, frame.symbol), f->names[i]);
		if (int_map_put(&l->named, address, known) < 0)
			return -ENOMEM;
	}
	*result = known;
	return 0;
}

static int has_address(struct tacho_lock *l, uint64_t address, bool *result)
{
	const struct tacho_lock_filter *f = &l->opts.filter;

	*result = !f->n_addresses && !f->n_names;
	for (size_t i = 0; !*result && i < f->n_addresses; i++)
		*result = f->addresses[i] == address;
	return *result || !f->n_names ? 0 : has_name(l, address, result);
}

/* ---- rows ---- */

static struct lock_row *new_row(struct tacho_lock *l, uint32_t flags, uint32_t *index)
{
	struct lock_row *row;

	*index = (uint32_t)l->rows.n;
	row = vec_add(&l->rows);
	if (row) {
		row->pub.flags = flags;
		row->pub.min_ns = UINT64_MAX;
	}
	return row;
}

static int row_of_number(struct tacho_lock *l, uint64_t number, uint32_t flags, uint32_t *index)
{
	struct lock_row *row;

	if (int_map_get(&l->rows_by_number, number, index))
		return 0;
	row = new_row(l, flags, index);
	if (!row || int_map_put(&l->rows_by_number, number, *index) < 0)
		return -ENOMEM;
	if (l->opts.by == TACHO_LOCK_BY_TASK || l->opts.by == TACHO_LOCK_BY_OWNER)
		row->pub.tid = (uint32_t)number;
	else
		row->pub.address = number;
	return 0;
}

static int row_of_text(struct tacho_lock *l, struct str key, uint32_t flags, uint32_t *index, const char **copy)
{
	const uint64_t *found = map_get(&l->rows_by_key, key);

	*copy = NULL;
	if (found) {
		*index = (uint32_t)*found;
		return 0;
	}
	*copy = arena_str(&l->arena, key);
	return *copy && new_row(l, flags, index) && map_put(&l->rows_by_key, str_n(*copy, key.n), *index) == 0 ? 0 : -ENOMEM;
}

/* All waits whose chain is empty are one row. */
static int row_of_caller(struct tacho_lock *l, uint32_t flags, uint32_t *index)
{
	const struct lock_caller *c = &l->caller;
	const char *copy;
	int err = row_of_text(l, c->n_frames ? str_n((const char *)c->frames, c->n_frames * sizeof(*c->frames)) : STR_LIT("-"), flags,
			      index, &copy);

	if (err == 0 && copy && c->n_frames) {
		struct tacho_lock_row *row = &l->rows.v[*index].pub;

		row->chain = (const uint64_t *)(const void *)copy;	/* aligned for any type */
		row->n_chain = c->n_frames;
		row->address = row->chain[0];
	}
	return err;
}

static int row_of(struct tacho_lock *l, const struct kernel_sample *s, uint64_t address, struct str name, uint32_t flags,
		  uint32_t *index)
{
	const char *copy;
	int err;

	switch (l->opts.by) {
	case TACHO_LOCK_BY_CALLER:
		return row_of_caller(l, flags, index);
	case TACHO_LOCK_BY_TASK:
		return row_of_number(l, s->tid, flags, index);
	case TACHO_LOCK_BY_CLASS:
		if (!name.n)
			break;
		err = row_of_text(l, name, flags, index, &copy);
		return err;
	default:
		break;
	}
	return row_of_number(l, address, flags, index);
}

static int name_row(struct tacho_lock *l, uint32_t index, struct str name)
{
	struct tacho_lock_row *row = &l->rows.v[index].pub;

	if (row->name || !name.n)
		return 0;
	row->name = arena_text(&l->arena, name);
	return row->name ? 0 : -ENOMEM;
}

static int add_wait(struct tacho_lock *l, uint32_t index, uint64_t ns)
{
	struct lock_row *row = &l->rows.v[index];
	uint64_t *kept;

	row->pub.n_waits++;
	row->pub.wait_ns += ns;
	row->pub.max_ns = max_of(row->pub.max_ns, ns);
	row->pub.min_ns = min_of(row->pub.min_ns, ns);
	if (!l->opts.keep_waits)
		return 0;
	kept = vec_next(&row->waits);
	if (!kept)
		return -ENOMEM;
	*kept = ns;
	row->sorted = false;
	return 0;
}

/* ---- a thread's use of a lock ---- */

/* The idle tasks of all CPUs have the same thread ID. */
static struct lock_key key_of(const struct kernel_sample *s, uint64_t address)
{
	return (struct lock_key){ .address = address, .tid = s->tid ? s->tid : (uint64_t)1 << 32 | s->cpu };
}

static struct lock_use *find_use(const struct tacho_lock *l, const struct kernel_sample *s, uint64_t address)
{
	const struct lock_key key = key_of(s, address);
	const uint64_t *found = map_get(&l->uses_by_key, str_n((const char *)&key, sizeof(key)));

	return found ? &l->uses.v[*found] : NULL;
}

static int add_task(struct tacho_lock *l, uint32_t tid)
{
	uint32_t unused, *at;

	if (int_map_get(&l->task_set, tid, &unused))
		return 0;
	at = vec_next(&l->tasks);
	if (!at)
		return -ENOMEM;
	*at = tid;
	return int_map_put(&l->task_set, tid, 1);
}

static struct lock_use *use_of(struct tacho_lock *l, const struct kernel_sample *s, uint64_t address)
{
	const struct lock_key key = key_of(s, address);
	struct lock_use *use = find_use(l, s, address);
	const char *copy;

	if (use)
		return use;
	copy = arena_str(&l->arena, str_n((const char *)&key, sizeof(key)));
	use = copy ? vec_add(&l->uses) : NULL;
	if (!use || map_put(&l->uses_by_key, str_n(copy, sizeof(key)), l->uses.n - 1) < 0)
		return NULL;
	use->row = NO_ROW;
	return add_task(l, s->tid) < 0 ? NULL : use;
}

/* Events were lost, or come in an impossible order: what follows until the lock is free again is ignored. */
static int break_use(struct tacho_lock *l, struct lock_use *use, uint64_t *kind)
{
	struct tacho_lock_row *row = &l->rows.v[use->row].pub;

	if (!row->is_broken) {
		row->is_broken = true;
		l->totals.n_broken++;
		(*kind)++;
	}
	use->state = LOCK_UNUSED;
	return 0;
}

/* ---- contention ---- */

enum { BEGIN_ADDRESS, BEGIN_FLAGS };

static int handle_begin(void *view, const struct kernel_sample *s)
{
	struct tacho_lock *l = view;
	uint64_t address = kernel_number(s, BEGIN_ADDRESS);
	uint32_t flags = (uint32_t)kernel_number(s, BEGIN_FLAGS);
	struct lock_use *use;
	bool is_wanted;
	int err;

	if (!is_in_time(l, s) || !has_type(&l->opts.filter, flags))
		return 0;
	err = has_address(l, address, &is_wanted);
	if (err < 0 || !is_wanted)
		return err;
	use = use_of(l, s, address);
	if (!use || lock_caller_find(&l->caller, &s->chain) < 0)
		return -ENOMEM;
	if (use->state == LOCK_CONTENDED || !l->caller.is_selected)
		return 0;
	if (row_of(l, s, address, (struct str){ 0 }, flags, &use->row) < 0)
		return -ENOMEM;
	use->state = LOCK_CONTENDED;
	use->time = s->time;
	l->rows.v[use->row].pub.n_contended++;
	return 0;
}

static int handle_end(void *view, const struct kernel_sample *s)
{
	struct tacho_lock *l = view;
	struct lock_use *use = find_use(l, s, kernel_number(s, BEGIN_ADDRESS));

	if (!use || use->state != LOCK_CONTENDED || !is_in_time(l, s))
		return 0;
	use->state = LOCK_ACQUIRED;
	l->rows.v[use->row].pub.n_acquired++;
	return add_wait(l, use->row, kernel_elapsed(use->time, s->time));
}

/* ---- sums ---- */

static uint64_t number_of(const struct tacho_lock *l, const struct lock_sum *s)
{
	return l->opts.by == TACHO_LOCK_BY_ADDRESS ? s->lock : s->who;
}

int lock_rows_add(struct tacho_lock *l, const struct lock_sum *s)
{
	struct tacho_lock_row *row;
	bool is_wanted;
	uint32_t index;
	int err;

	if (!has_type(&l->opts.filter, s->flags))
		return 0;
	err = has_address(l, s->lock, &is_wanted);
	if (err < 0 || !is_wanted)
		return err;
	if (lock_caller_find(&l->caller, &s->chain) < 0)
		return -ENOMEM;
	if (!l->caller.is_selected)
		return 0;
	err = l->opts.by == TACHO_LOCK_BY_CALLER ? row_of_caller(l, s->flags, &index) : row_of_number(l, number_of(l, s), s->flags, &index);
	if (err < 0)
		return err;
	row = &l->rows.v[index].pub;
	row->n_contended += s->n;
	row->n_acquired += s->n;
	row->n_waits += s->n;
	row->wait_ns += s->wait_ns;
	row->max_ns = max_of(row->max_ns, s->max_ns);
	row->min_ns = min_of(row->min_ns, s->min_ns);
	return 0;
}

int lock_rows_set_comm(struct tacho_lock *l, size_t i, const char *comm)
{
	l->rows.v[i].pub.comm = arena_text(&l->arena, str_of(comm));
	return l->rows.v[i].pub.comm ? 0 : -ENOMEM;
}

int lock_rows_set_name(struct tacho_lock *l, size_t i, const char *name)
{
	return name_row(l, (uint32_t)i, str_of(name));
}

void lock_rows_set_lost(struct tacho_lock *l, uint64_t n)
{
	l->totals.pass.lost = n;
}

/* ---- lockdep ---- */

enum { DEP_ADDRESS, DEP_NAME, DEP_FLAGS };

static int start_read(struct tacho_lock *l, struct lock_use *use, uint32_t flags)
{
	if (use->state == LOCK_READ_ACQUIRED) {
		if (!(flags & LOCKDEP_READ))
			return break_use(l, use, &l->totals.broken_acquire);
		use->readers++;
	} else {
		use->state = LOCK_READ_ACQUIRED;
		use->readers = 1;
	}
	l->rows.v[use->row].pub.n_acquired++;
	return 0;
}

static int handle_acquire(void *view, const struct kernel_sample *s)
{
	struct tacho_lock *l = view;
	uint64_t address = kernel_number(s, DEP_ADDRESS);
	uint32_t flags = (uint32_t)kernel_number(s, DEP_FLAGS);
	struct str name = kernel_text(s, DEP_NAME);
	struct lock_use *use;
	bool is_wanted;
	int err;

	l->totals.has_lockdep = true;
	if (!is_in_time(l, s))
		return 0;
	err = has_address(l, address, &is_wanted);
	if (err < 0 || !is_wanted)
		return err;
	use = use_of(l, s, address);
	if (!use || lock_caller_find(&l->caller, &s->chain) < 0)
		return -ENOMEM;
	if (!l->caller.is_selected)
		return 0;
	if (use->state == LOCK_ACQUIRING || use->state == LOCK_CONTENDED || use->state == LOCK_ACQUIRED)
		return break_use(l, use, &l->totals.broken_acquire);
	if (row_of(l, s, address, name, 0, &use->row) < 0 || name_row(l, use->row, name) < 0)
		return -ENOMEM;
	use->time = s->time;
	if (flags & (LOCKDEP_TRY | LOCKDEP_READ) || use->state == LOCK_READ_ACQUIRED)
		return start_read(l, use, flags);
	use->state = LOCK_ACQUIRING;
	return 0;
}

static int handle_contended(void *view, const struct kernel_sample *s)
{
	struct tacho_lock *l = view;
	struct lock_use *use = find_use(l, s, kernel_number(s, DEP_ADDRESS));

	if (!use || use->state == LOCK_UNUSED || !is_in_time(l, s))
		return 0;
	if (use->state != LOCK_ACQUIRING)
		return break_use(l, use, &l->totals.broken_contended);
	use->state = LOCK_CONTENDED;
	use->time = s->time;
	l->rows.v[use->row].pub.n_contended++;
	return 0;
}

static int handle_acquired(void *view, const struct kernel_sample *s)
{
	struct tacho_lock *l = view;
	struct lock_use *use = find_use(l, s, kernel_number(s, DEP_ADDRESS));
	int err = 0;

	if (!use || use->state == LOCK_UNUSED || !is_in_time(l, s))
		return 0;
	if (use->state == LOCK_CONTENDED)
		err = add_wait(l, use->row, kernel_elapsed(use->time, s->time));
	else if (use->state != LOCK_ACQUIRING)
		return break_use(l, use, &l->totals.broken_acquired);
	use->state = LOCK_ACQUIRED;
	use->time = s->time;
	l->rows.v[use->row].pub.n_acquired++;
	return err;
}

static int handle_release(void *view, const struct kernel_sample *s)
{
	struct tacho_lock *l = view;
	struct lock_use *use = find_use(l, s, kernel_number(s, DEP_ADDRESS));

	if (!use || use->state == LOCK_UNUSED || !is_in_time(l, s))
		return 0;
	if (use->state == LOCK_READ_ACQUIRED && --use->readers)
		return 0;
	if (use->state == LOCK_ACQUIRING || use->state == LOCK_CONTENDED)
		return break_use(l, use, &l->totals.broken_release);
	use->state = LOCK_UNUSED;
	return 0;
}

/* ---- the recording ---- */

static const struct kernel_handler handlers[] = {
	{ "lock:contention_begin", handle_begin, { "lock_addr", "flags" } },
	{ "lock:contention_end", handle_end, { "lock_addr" } },
	{ "lock:lock_acquire", handle_acquire, { "lockdep_addr", "name", "flags" } },
	{ "lock:lock_contended", handle_contended, { "lockdep_addr", "name" } },
	{ "lock:lock_acquired", handle_acquired, { "lockdep_addr", "name" } },
	{ "lock:lock_release", handle_release, { "lockdep_addr", "name" } },
};
static const struct kernel_view view = { .handlers = handlers, .n_handlers = countof(handlers) };

/* The names of threads as they were at the end. */
static void name_tasks(struct tacho_lock *l)
{
	for (size_t i = 0; l->opts.by == TACHO_LOCK_BY_TASK && i < l->rows.n; i++) {
		const struct kernel_thread *t = kernel_threads_find(&l->pass.threads, l->rows.v[i].pub.tid);

		l->rows.v[i].pub.comm = t ? t->comm : NULL;
	}
}

static void set_caller(struct tacho_lock *l)
{
	const struct tacho_lock_opts *o = &l->opts;

	l->caller = (struct lock_caller){
		.symbols = o->by == TACHO_LOCK_BY_CALLER || o->filter.n_functions ? o->symbols : NULL, .skip = o->stack_skip,
		.max = min_of(o->max_stack ? o->max_stack : STACK_DEFAULT, (uint32_t)TACHO_LOCK_FRAMES_MAX),
		.functions = o->filter.functions, .n_functions = o->filter.n_functions,
	};
}

int lock_rows_new(struct tacho_lock **out, const struct tacho_lock_opts *opts, struct tacho_error *e)
{
	struct tacho_lock *l = calloc(1, sizeof(*l));
	int err;

	if (!l) {
		error_nomem(e);
		return -ENOMEM;
	}
	err = opts_copy(&l->opts, sizeof(l->opts), opts, e);
	if (err < 0) {
		free(l);
		return err;
	}
	l->totals.size = sizeof(l->totals);
	set_caller(l);
	*out = l;
	return 0;
}

int tacho_lock_new(struct tacho_lock **out, struct tacho_perfdata *pd, const struct tacho_lock_opts *opts, struct tacho_error *e)
{
	struct tacho_lock *l = NULL;
	int err = lock_rows_new(&l, opts, e);

	if (err < 0)
		return err;
	if (kernel_pass_init(&l->pass, pd, &view, l) < 0) {
		tacho_lock_free(l);
		return error_nomem(e);
	}
	l->pass.symbols = l->opts.symbols;
	err = kernel_pass_run(&l->pass, e);
	l->totals.pass = l->pass.totals;
	if (err == -ENOMEM || err == -ENOENT) {
		tacho_lock_free(l);
		return err;
	}
	name_tasks(l);
	*out = l;
	return err;
}

void tacho_lock_free(struct tacho_lock *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->rows.n; i++)
		vec_done(&l->rows.v[i].waits);
	vec_done(&l->rows);
	vec_done(&l->uses);
	map_done(&l->uses_by_key);
	map_done(&l->rows_by_key);
	int_map_done(&l->rows_by_number);
	int_map_done(&l->named);
	int_map_done(&l->task_set);
	vec_done(&l->tasks);
	lock_caller_done(&l->caller);
	arena_done(&l->arena);
	kernel_pass_done(&l->pass);
	free(l);
}

const struct tacho_lock_totals *tacho_lock_totals(const struct tacho_lock *l)
{
	return &l->totals;
}

const struct tacho_lock_row *tacho_lock_row(const struct tacho_lock *l, size_t i)
{
	return i < l->rows.n ? &l->rows.v[i].pub : NULL;
}

bool tacho_lock_task(const struct tacho_lock *l, size_t i, uint32_t *tid, const char **comm)
{
	const struct kernel_thread *t;

	if (i >= l->tasks.n)
		return false;
	*tid = l->tasks.v[i];
	t = kernel_threads_find(&l->pass.threads, *tid);
	*comm = t ? t->comm : NULL;
	return true;
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t tacho_lock_percentile(struct tacho_lock *l, size_t i, double percent)
{
	struct lock_row *row = i < l->rows.n ? &l->rows.v[i] : NULL;
	double rank;

	if (!row || !row->waits.n)
		return 0;
	if (!row->sorted)
		qsort(row->waits.v, row->waits.n, sizeof(*row->waits.v), by_length);
	row->sorted = true;
	rank = (double)row->waits.n * percent / 100;
	return row->waits.v[rank <= 1 ? 0 : min_of((size_t)(rank + 0.999999), row->waits.n) - 1];
}
