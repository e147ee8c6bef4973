#ifndef TACHO_TRACE_H
#define TACHO_TRACE_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Tracepoints: decodes the raw data of their samples, and prints it as the kernel would.
 * The kernel describes each tracepoint in a format file; a recording contains the format files of its events
 * in the feature TRACING_DATA.
 *
 *	new -> find -> print, print ... -> free
 *
 * If a print format cannot be parsed, the event is printed as "name=value name=value".
 */
struct tacho_trace;
struct tacho_trace_event;

struct tacho_trace_field {
	const char *name, *type;	/* "prev_comm", "char" */
	uint32_t offset, size;		/* in the raw data; the size of all elements together */
	uint32_t element_size;
	bool is_signed, is_array, is_string, is_pointer;
	bool is_dynamic;		/* __data_loc or __rel_loc: four bytes with the position and length of the data */
	bool is_relative;		/* __rel_loc: the position is relative to the end of these four bytes */
};

/* `blob` is the payload of the feature; it is copied. Returns 0, -EBADMSG or -ENOMEM. */
TACHO_API int tacho_trace_new(struct tacho_trace **out, const void *blob, size_t n,
			      struct tacho_error *e);
/* The same for events of this machine ("sched:sched_switch"), whose formats are read from tracefs; NULL: where it is
 * usually mounted. -ENOENT: no such event, -EACCES ... */
TACHO_API int tacho_trace_new_here(struct tacho_trace **out, const char *tracefs, const char *const *events,
				   size_t n, struct tacho_error *e);
TACHO_API void tacho_trace_free(struct tacho_trace *t);

/* The event with that ID (attr.config), or NULL. Valid as long as `t`. */
TACHO_API const struct tacho_trace_event *tacho_trace_find(struct tacho_trace *t, uint64_t id);
/* The event with that name, "sched:sched_switch", or NULL. */
TACHO_API const struct tacho_trace_event *tacho_trace_find_name(struct tacho_trace *t, const char *name);
/* Whether a format that was searched for could not be parsed because memory ran out: 0 or -ENOMEM. NULL is fine. */
TACHO_API int tacho_trace_failed(const struct tacho_trace *t);
TACHO_API const char *tacho_trace_name(const struct tacho_trace_event *ev);	/* "sched:sched_switch" */
/* The event's print format as the kernel wrote it: a format string in quotes, and C expressions. Not terminated: see *n. */
TACHO_API const char *tacho_trace_print_format(const struct tacho_trace_event *ev, size_t *n);
TACHO_API size_t tacho_trace_n_fields(const struct tacho_trace_event *ev);
/* The fields that every tracepoint has come first; their names start with "common_". */
TACHO_API const struct tacho_trace_field *tacho_trace_field(const struct tacho_trace_event *ev,
							    size_t i);

struct tacho_trace_opts {
	size_t size;
	bool swapped;			/* the raw data has the other byte order */
	/* Returns the kernel function at `address`, or NULL. */
	const char *(*function)(void *arg, uint64_t address, uint64_t *offset);
	void *arg;
};

/* Writes the event's text to out[room], truncated and NUL-terminated. Returns the length of the whole
 * text, without the NUL, or -ENOMEM. */
TACHO_API ptrdiff_t tacho_trace_print(const struct tacho_trace_event *ev, const void *raw, size_t n,
				      const struct tacho_trace_opts *opts, char *out, size_t room);
/* Like tacho_trace_print(), for the value of one field. */
TACHO_API ptrdiff_t tacho_trace_print_field(const struct tacho_trace_event *ev, size_t field,
					    const void *raw, size_t n,
					    const struct tacho_trace_opts *opts, char *out,
					    size_t room);

TACHO_END_DECLS
#endif
