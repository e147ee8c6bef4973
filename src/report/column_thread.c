/*
 * Keys of a profile's row: thread, CPU, time, cgroup, and the caller that matches --parent.
 */
#include "report/column_functions.h"

#include <inttypes.h>

static const struct tacho_profile_thread *thread_of(const struct report *r,
						    const struct tacho_profile_row *row)
{
	return tacho_profile_thread(r->profile, row->thread);
}

/* ---- names of commands ---- */

/* Equal names are one pointer in a profile. */
uint64_t value_comm(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	return (uintptr_t)thread_of(r, row)->comm;
}

void print_comm(const struct column *c, const struct report *r, const struct report_cell *cell,
		struct buf *out)
{
	(void)c;
	(void)r;
	buf_puts(out, cell->thread->comm);
}

int compare_comms(const struct column *c, const struct report *r, const struct report_cell *a,
		  const struct report_cell *b)
{
	(void)c;
	(void)r;
	return strcmp(a->thread->comm, b->thread->comm);
}

/* The name with <N> for each run of digits. */
uint64_t value_comm_nodigit(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	const char *comm = thread_of(r, row)->comm;
	scoped(buf_done) struct buf text = { 0 };

	(void)c;
	while (*comm) {
		size_t n = strspn(comm, "0123456789");

		if (n)
			buf_puts(&text, "<N>");
		else
			buf_putc(&text, *comm);
		comm += n ? n : 1;
	}
	return text_intern(r, buf_view(&text));
}

void print_interned(const struct column *c, const struct report *r, const struct report_cell *cell,
		    struct buf *out)
{
	(void)c;
	buf_puts(out, text_of(r, cell->value));
}

int compare_interned(const struct column *c, const struct report *r, const struct report_cell *a,
		     const struct report_cell *b)
{
	(void)c;
	return strcmp(text_of(r, a->value), text_of(r, b->value));
}

/* ---- ids ---- */

/* Ids are signed: a thread that has ended is -1. */
uint64_t value_tid(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	return (uint64_t)(int32_t)thread_of(r, row)->tid;
}

uint64_t value_pid(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	return (uint64_t)(int32_t)thread_of(r, row)->pid;
}

void print_thread(const struct column *c, const struct report *r, const struct report_cell *cell,
		  struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%7" PRId64 ":%s", (int64_t)cell->value, cell->thread->last);
}

void print_process(const struct column *c, const struct report *r, const struct report_cell *cell,
		   struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%7" PRId64 ":%s", (int64_t)cell->value, cell->thread->process);
}

void print_tid(const struct column *c, const struct report *r, const struct report_cell *cell,
	       struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%" PRId64, (int64_t)cell->value);
}

/* ---- CPU, socket, time ---- */

uint64_t value_cpu(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	(void)r;
	return (uint64_t)(int64_t)row->cpu;
}

void print_cpu(const struct column *c, const struct report *r, const struct report_cell *cell,
	       struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%.3" PRId64, (int64_t)cell->value);
}

uint64_t value_socket(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	bool known = row->cpu >= 0 && (size_t)row->cpu < r->opts.n_sockets;

	(void)c;
	return (uint64_t)(int64_t)(known ? r->opts.sockets[row->cpu] : -1);
}

void print_socket(const struct column *c, const struct report *r, const struct report_cell *cell,
		  struct buf *out)
{
	(void)c;
	(void)r;
	buf_printf(out, "%6.3" PRId64, (int64_t)cell->value);
}

uint64_t value_time(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	uint64_t quantum = r->opts.quantum_ns;

	(void)c;
	return quantum ? row->time / quantum * quantum : row->time;
}

void print_time(const struct column *c, const struct report *r, const struct report_cell *cell,
		struct buf *out)
{
	uint64_t ns = cell->value;

	(void)c;
	if (r->opts.nanoseconds)
		buf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	else
		buf_printf(out, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
}

/* ---- cgroup ---- */

uint64_t value_cgroup(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	(void)c;
	return detail_of(r, row->detail)->cgroup;
}

void print_cgroup(const struct column *c, const struct report *r, const struct report_cell *cell,
		  struct buf *out)
{
	const char *path = tacho_profile_cgroup(r->profile, cell->value);

	(void)c;
	buf_puts(out, path ? path : cell->value ? "unknown" : "N/A");
}

/* ---- the caller that matches ---- */

enum { PARENT_UNKNOWN, PARENT_NO, PARENT_YES };

/* Each frame is matched once: many stacks share it. */
static bool is_parent(struct report *r, uint32_t frame)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, frame);
	uint8_t *match;

	if (!f || !f->known || !r->has_parent)
		return false;
	if (!r->parent_match)
		r->parent_match = calloc(tacho_profile_n_frames(r->profile) + 1, sizeof(*r->parent_match));
	if (!r->parent_match) {
		r->out_of_memory = true;
		return false;
	}
	match = &r->parent_match[frame];
	if (*match == PARENT_UNKNOWN)
		*match = regexec(&r->parent, f->code->name, 0, NULL, 0) == 0 ? PARENT_YES : PARENT_NO;
	return *match == PARENT_YES;
}

/* The name of the first caller that matches, interned, in the order in which chains are shown, as in perf: with
 * callers first that is the outermost one. 0: no caller matches. */
uint64_t value_parent(const struct column *c, struct report *r, const struct tacho_profile_row *row)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(r->profile);
	uint32_t found = NONE;

	(void)c;
	for (uint32_t node = row->node; node && (found == NONE || r->opts.caller); node = nodes[node].parent)
		if (is_parent(r, nodes[node].frame))
			found = nodes[node].frame;
	return found == NONE ? 0 : text_intern(r, str_of(tacho_profile_frame(r->profile, found)->code->name));
}

void print_parent(const struct column *c, const struct report *r, const struct report_cell *cell,
		  struct buf *out)
{
	(void)c;
	buf_puts(out, cell->value ? text_of(r, cell->value) : "[other]");
}

/* [other] is the last. */
int compare_parents(const struct column *c, const struct report *r, const struct report_cell *a,
		    const struct report_cell *b)
{
	if (!a->value || !b->value)
		return a->value ? -1 : 1;
	return compare_interned(c, r, a, b);
}
