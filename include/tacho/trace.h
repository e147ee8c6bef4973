#ifndef TACHO_TRACE_H
#define TACHO_TRACE_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Tracepoints: what lies in the raw bytes of their samples, and how the kernel would print it.
 * The kernel describes each tracepoint in a format file; a recording carries those of its events
 * in the feature TRACING_DATA.
 *
 *	new -> find -> print, print ... -> free
 *
 * Formats are data of others: one that is not understood prints as "name=value name=value".
 */
struct tacho_trace;
struct tacho_trace_event;

struct tacho_trace_field {
	const char *name, *type;	/* "prev_comm", "char" */
	uint32_t offset, size;		/* in the raw bytes; of all elements together */
	uint32_t element_size;
	bool is_signed, is_array, is_string, is_pointer;
	bool is_dynamic, is_relative;	/* the four bytes say where the data is, and how long */
};

/* `blob` is the feature's payload; it is copied. Returns 0, -EBADMSG or -ENOMEM. */
TACHO_API int tacho_trace_new(struct tacho_trace **out, const void *blob, size_t n,
			      struct tacho_error *e);
TACHO_API void tacho_trace_free(struct tacho_trace *t);

/* The event with that number (attr.config), or NULL. It lives as long as `t`. */
TACHO_API const struct tacho_trace_event *tacho_trace_find(struct tacho_trace *t, uint64_t id);
TACHO_API const char *tacho_trace_name(const struct tacho_trace_event *ev);	/* "sched:sched_switch" */
TACHO_API size_t tacho_trace_n_fields(const struct tacho_trace_event *ev);
/* Those every tracepoint has come first: names that start with "common_". */
TACHO_API const struct tacho_trace_field *tacho_trace_field(const struct tacho_trace_event *ev,
							    size_t i);

struct tacho_trace_opts {
	size_t size;
	bool swapped;			/* the raw bytes have the other byte order */
	/* The kernel function at `address`; returns NULL where there is none. */
	const char *(*function)(void *arg, uint64_t address, uint64_t *offset);
	void *arg;
};

/* Writes the event's text, with a NUL where it fits into `room`; returns the length of the whole
 * text, without the NUL, or -ENOMEM. */
TACHO_API ptrdiff_t tacho_trace_print(const struct tacho_trace_event *ev, const void *raw, size_t n,
				      const struct tacho_trace_opts *opts, char *out, size_t room);
/* The same for the value of one field. */
TACHO_API ptrdiff_t tacho_trace_print_field(const struct tacho_trace_event *ev, size_t field,
					    const void *raw, size_t n,
					    const struct tacho_trace_opts *opts, char *out,
					    size_t room);

TACHO_END_DECLS
#endif
