/*
 * The sort keys and columns: what they are called, what an entry shows in them, and in which order
 * two entries stand when their values are equal.
 */
#include "cli/hist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

static const struct { const char *name, *other, *title; } columns[COL_COUNT] = {
	[COL_OVERHEAD] = { "overhead", NULL, "Overhead" },
	[COL_CHILDREN] = { "overhead_children", NULL, "Children" },
	[COL_SAMPLES] = { "sample", "samples", "Samples" },
	[COL_PERIOD] = { "period", NULL, "Period" },
	[COL_COMM] = { "comm", NULL, "Command" },
	[COL_PID] = { "pid", NULL, "    Pid:Command" },
	[COL_TGID] = { "tgid", NULL, "   Tgid:Command" },
	[COL_TID] = { "tid", NULL, "Tid" },
	[COL_CPU] = { "cpu", NULL, "CPU" },
	[COL_TIME] = { "time", NULL, "Time" },
	[COL_CGROUP] = { "cgroup", NULL, "Cgroup" },
	[COL_CGROUP_ID] = { "cgroup_id", NULL, "cgroup id" },
	[COL_PARENT] = { "parent", NULL, "Parent symbol" },
	[COL_DSO] = { "dso", NULL, "Shared Object" },
	[COL_SYMBOL] = { "symbol", "sym", "Symbol" },
};

static bool is_column(enum hist_column c, struct str name)
{
	return str_is(name, columns[c].name) || (columns[c].other && str_is(name, columns[c].other));
}

static int unknown_key(const char *text, struct str name, struct tacho_error *e)
{
	struct str_nearest near = { .word = name };

	for (int c = 0; c < COL_COUNT; c++)
		str_nearest_try(&near, str_of(columns[c].name));
	error_set(e, -EINVAL, "there is no key '%.*s'", STR(name));
	error_at(e, (size_t)(name.s - text), name.n);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(e, "keys are comm, dso, symbol, pid, tid, cpu, time, parent, cgroup, overhead, "
			      "sample, period");
	return -EINVAL;
}

int hist_parse_keys(const char *text, enum hist_column *out, size_t *n, struct tacho_error *e)
{
	struct str rest = str_of(text), name;

	while (str_cut(&rest, ',', &name)) {
		int c = 0;
		bool twice = false;

		name = str_trim(name);
		while (c < COL_COUNT && !is_column((enum hist_column)c, name))
			c++;
		if (c == COL_COUNT)
			return unknown_key(text, name, e);
		for (size_t i = 0; i < *n; i++)
			twice = twice || (int)out[i] == c;
		if (twice)
			continue;
		if (*n == HIST_KEYS_MAX)
			return error_set(e, -EINVAL, "more than %d keys", HIST_KEYS_MAX);
		out[(*n)++] = (enum hist_column)c;
	}
	return 0;
}

const char *hist_column_title(enum hist_column c)
{
	return columns[c].title;
}

const char *hist_column_name(enum hist_column c)
{
	return columns[c].name;
}

size_t hist_key_index(const struct hist *h, enum hist_column key)
{
	size_t at = 0;

	for (size_t i = 0; i < h->opts->n_keys && h->opts->keys[i] != key; i++)
		at++;
	return at;
}

/* The first caller, from the leaf on, whose name matches. */
static uint64_t parent_of(const struct hist *h, uint32_t node)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(h->profile);

	for (; node; node = nodes[node].parent) {
		const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, nodes[node].frame);

		if (f && f->known && h->opts->parent &&
		    regexec(h->opts->parent, f->name, 0, NULL, 0) == 0)
			return (uint64_t)nodes[node].frame + 1;
	}
	return 0;
}

uint64_t hist_row_value(const struct hist *h, enum hist_column key, const struct tacho_profile_row *r)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(h->profile, r->thread);

	switch (key) {
	case COL_COMM:
		return (uintptr_t)t->comm;	/* equal text is one pointer */
	case COL_PID:
	case COL_TID:
		return t->tid;
	case COL_TGID:
		return t->pid;
	case COL_CPU:
		return (uint64_t)(int64_t)r->cpu;
	case COL_TIME:
		return h->opts->quantum_ns ? r->time / h->opts->quantum_ns * h->opts->quantum_ns : r->time;
	case COL_CGROUP:
	case COL_CGROUP_ID:
		return r->cgroup;
	case COL_PARENT:
		return parent_of(h, r->node);
	default:
		return 0;
	}
}

void hist_frame_text(const struct tacho_profile_frame *f, struct buf *out)
{
	if (f->known)
		buf_puts(out, f->name);
	else
		buf_printf(out, "%#" PRIx64, f->offset);
}

static char level_of(const struct tacho_profile_frame *f)
{
	static const char letters[] = { '.', 'k', '.', 'H', 'g', 'u' };

	return (size_t)f->space < sizeof(letters) ? letters[f->space] : '.';
}

/* Sixteen digits behind 0x; nought is shown without. */
static void put_address(struct buf *out, uint64_t address)
{
	static const char digits[] = "0123456789abcdef";
	char text[16];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = digits[address >> (60 - 4 * i) & 15];
	buf_puts(out, address ? "0x" : "");
	buf_put(out, text, sizeof(text));
}

static void symbol_text(const struct hist *h, const struct hist_entry *e, struct buf *out)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, e->frame);

	buf_putc(out, '[');
	buf_putc(out, f ? level_of(f) : '.');
	buf_puts(out, "] ");
	if (f && f->known)
		buf_puts(out, f->name);
	else
		put_address(out, f ? f->offset : 0);
}

static void time_text(const struct hist *h, uint64_t ns, struct buf *out)
{
	if (h->opts->nanoseconds)
		buf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	else
		buf_printf(out, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
}

void hist_key_text(const struct hist *h, const struct hist_entry *e, enum hist_column key,
		   struct buf *out)
{
	const struct hist_group *g = &h->groups.v[e->group];
	const struct tacho_profile_thread *t = tacho_profile_thread(h->profile, g->thread);
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, e->frame);
	uint64_t v = key < COL_FIRST_OF_FRAME ? g->v[hist_key_index(h, key)] : 0;
	const char *path;

	switch (key) {
	case COL_COMM:
		buf_puts(out, t->comm);
		return;
	case COL_PID:
	case COL_TGID:
		buf_printf(out, "%7" PRIu64 ":%s", v, t->comm);
		return;
	case COL_CPU:
		buf_printf(out, "%.3" PRId64, (int64_t)v);
		return;
	case COL_TIME:
		time_text(h, v, out);
		return;
	case COL_CGROUP:
		path = tacho_profile_cgroup(h->profile, v);
		buf_puts(out, path ? path : v ? "unknown" : "N/A");
		return;
	case COL_PARENT:
		buf_puts(out, v ? tacho_profile_frame(h->profile, v - 1)->name : "[other]");
		return;
	case COL_DSO:
		buf_puts(out, f ? f->object_name : "[unknown]");
		return;
	case COL_SYMBOL:
		symbol_text(h, e, out);
		return;
	default:
		buf_printf(out, "%" PRIu64, v);
	}
}

size_t hist_key_width(const struct hist *h, const struct hist_entry *e, enum hist_column key)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, e->frame);
	struct buf text = { 0 };
	size_t n;

	if (key == COL_SYMBOL)		/* of these there may be a million */
		return f && f->known ? strlen(f->name) + 4 : f && f->offset ? 22 : 20;
	if (key == COL_DSO)
		return strlen(f ? f->object_name : "[unknown]");
	if (key == COL_COMM)
		return strlen(tacho_profile_thread(h->profile, h->groups.v[e->group].thread)->comm);
	hist_key_text(h, e, key, &text);
	n = text.n;
	buf_done(&text);
	return n;
}

static int cmp_frames(enum hist_column key, const struct tacho_profile_frame *a,
		      const struct tacho_profile_frame *b)
{
	if (!a || !b)
		return !a - !b;
	if (key == COL_DSO) {
		if (!a->object || !b->object)
			return !a->object - !b->object;
		return strcmp(a->object_name, b->object_name);
	}
	if (!a->known || !b->known) {
		if (a->known != b->known)
			return a->known ? -1 : 1;
		return (a->offset > b->offset) - (a->offset < b->offset);
	}
	return strcmp(a->name, b->name);
}

int hist_key_cmp(const struct hist *h, enum hist_column key, const struct hist_entry *a,
		 const struct hist_entry *b)
{
	const struct hist_group *ga = &h->groups.v[a->group], *gb = &h->groups.v[b->group];
	uint64_t va, vb;

	if (key >= COL_FIRST_OF_FRAME)
		return cmp_frames(key, tacho_profile_frame(h->profile, a->frame),
				  tacho_profile_frame(h->profile, b->frame));
	va = ga->v[hist_key_index(h, key)];
	vb = gb->v[hist_key_index(h, key)];
	if (key == COL_COMM && va != vb)
		return strcmp(tacho_profile_thread(h->profile, ga->thread)->comm,
			      tacho_profile_thread(h->profile, gb->thread)->comm);
	return (va > vb) - (va < vb);
}
