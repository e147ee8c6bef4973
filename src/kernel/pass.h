/*
 * One pass over a recording, in the order of time, that delivers the samples of tracepoints to the handlers of a view
 * (the scheduler, locks, allocations ...). Nothing is stored but the threads: a view keeps only what it shows.
 *
 *	kernel_pass_init -> kernel_pass_run -> the view's results -> kernel_pass_done
 *
 * A view lists the tracepoints it handles and the fields it needs of each. Where a field is follows from the formats in the
 * recording, and is looked up once per event. Formats and samples may come from a hostile file: a sample that is too short
 * for a field of its event is counted as damaged and not delivered, so that handlers need not check.
 */
#ifndef KERNEL_PASS_H
#define KERNEL_PASS_H

#include "base/error.h"
#include "kernel/threads.h"
#include "record/cursor.h"

#include <tacho/kernel.h>
#include <tacho/perfdata.h>
#include <tacho/symbol.h>
#include <tacho/trace.h>

#define KERNEL_FIELDS_MAX 12

struct kernel_field {			/* where a field is in the raw data of its event */
	uint32_t offset, size;		/* size 0: the event does not have it */
	bool is_signed;
	bool is_dynamic, is_relative;	/* four bytes with the position and length of the data */
};

struct kernel_sample {
	const struct kernel_event *event;
	const uint8_t *raw;
	uint32_t n_raw;
	bool swapped;
	uint32_t pid, tid, cpu;		/* of the thread that was running, UINT32_MAX: not recorded */
	uint64_t time, period;
	struct tacho_words chain;	/* with context markers; empty: not recorded */
	uint16_t misc;
};

struct kernel_handler {
	const char *event;		/* "sched:sched_switch"; "*": every tracepoint without a handler of its own */
	/* A negative errno ends the pass, which returns it. */
	int (*handle)(void *view, const struct kernel_sample *s);
	/* Handlers refer to a field by its index here. "?name": the kernel may not have it (see kernel_has()); without the
	 * question mark, an event that lacks it is not delivered. */
	const char *fields[KERNEL_FIELDS_MAX];
};

struct kernel_event {			/* an event of the recording */
	const struct kernel_handler *handler;	/* NULL: not delivered */
	const struct tacho_trace_event *format;
	uint32_t index;			/* in the recording */
	uint16_t min_raw;		/* no field is after that; larger than any record: not known yet */
	bool decoded;			/* its samples have fields before the raw data that are not at fixed offsets */
	bool has_chain;
	uint16_t task, time, cpu, period, after;	/* offsets in a sample; 0: not there */
	uint16_t min_size;		/* of a sample without call chain and raw data */
	struct kernel_field fields[KERNEL_FIELDS_MAX];
};

/* Options of a pass; a pointer to it must remain valid. */
struct kernel_view {
	const struct kernel_handler *handlers;
	size_t n_handlers;
	size_t thread_bytes;		/* size of the view's struct that starts with a struct kernel_thread; 0: just that */
	/* Called after the pass has handled the record; each may be NULL. A negative errno ends the pass. */
	int (*comm)(void *view, struct kernel_thread *t, uint64_t time);
	int (*fork)(void *view, struct kernel_thread *t, struct kernel_thread *parent, uint64_t time);
	int (*exited)(void *view, struct kernel_thread *t, uint64_t time);
	int (*lost)(void *view, uint64_t n);
};

#define KERNEL_ID_SLOTS 1024u
struct kernel_id_slot {
	uint64_t id;
	struct kernel_event *event;	/* NULL: unused */
};

struct kernel_pass {
	struct tacho_perfdata *pd;
	const struct kernel_view *view;
	void *data;			/* what handlers get */
	struct tacho_symbols *symbols;	/* fed with the maps; NULL: not needed. Belongs to the caller. */
	struct kernel_threads threads;
	struct tacho_kernel_totals totals;
	struct tacho_trace *formats;
	struct kernel_event *events;	/* by index in the recording */
	size_t n_events;
	struct kernel_id_slot ids[KERNEL_ID_SLOTS];
	uint32_t id_offset;
	uint32_t sideband_cpu;		/* where the record was written that a view's callback is called for */
	bool swapped;
	bool out_of_memory;
	struct tacho_scratch *scratch;
	struct tacho_sample sample;
};

/* `pd` must have been opened with `ordered`. Returns 0 or -ENOMEM. */
int kernel_pass_init(struct kernel_pass *p, struct tacho_perfdata *pd, const struct kernel_view *view, void *data);
/* Returns 0, -ENOENT if the recording has none of the view's events, what a handler has returned, or the errno of the damage
 * of the file after all that precedes it was delivered. */
int kernel_pass_run(struct kernel_pass *p, struct tacho_error *e);
void kernel_pass_done(struct kernel_pass *p);

static inline bool kernel_has(const struct kernel_sample *s, unsigned field)
{
	return s->event->fields[field].size != 0;
}

/* Nanoseconds between two events; 0 if they come in the wrong order, as in a recording with wrong times. */
static inline uint64_t kernel_elapsed(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

uint64_t kernel_number_any(const struct kernel_sample *s, const struct kernel_field *f);

/* The value of a number, with its sign extended; 0 if the event does not have the field. */
static inline uint64_t kernel_number(const struct kernel_sample *s, unsigned field)
{
	const struct kernel_field *f = &s->event->fields[field];
	uint32_t v;

	if (f->size == sizeof(uint64_t))
		return load_u64(s->raw + f->offset, s->swapped);
	if (f->size != sizeof(v))
		return kernel_number_any(s, f);
	v = load_u32(s->raw + f->offset, s->swapped);
	return f->is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
}

/* A text, up to its NUL; empty if the event does not have the field. Not terminated and not printable: see buf_text(). */
struct str kernel_text(const struct kernel_sample *s, unsigned field);
/* All bytes of a field, e.g. of a dynamic array. */
struct str kernel_bytes(const struct kernel_sample *s, unsigned field);

/* The thread with this ID: found or added; NULL: out of memory. */
struct kernel_thread *kernel_thread_slow(struct kernel_pass *p, uint32_t tid);
static inline struct kernel_thread *kernel_thread(struct kernel_pass *p, uint32_t tid)
{
	struct kernel_thread *t = kernel_threads_find(&p->threads, tid);

	return t ? t : kernel_thread_slow(p, tid);
}

#endif
