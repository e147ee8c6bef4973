/*
 * The instructions of a function with their samples, for `tacho annotate` and the browser of `tacho report`.
 *
 *	addresses_read or _load -> annotate_make -> annotate_rows -> annotate_done ... -> addresses_free
 */
#ifndef CLI_ANNOTATE_ANNOTATE_H
#define CLI_ANNOTATE_ANNOTATE_H

#include "base/arena.h"
#include "cli/annotate/disasm.h"
#include "cli/annotate/source_file.h"
#include "cli/report/report.h"

struct annotate_sum {
	uint64_t samples, period;
};

struct address_hit {			/* a row of the profile with a known function */
	uint32_t object, row;
	uint64_t address;
};

struct code_of_object {			/* the code of one object; symbols are read once per object */
	uint32_t object;
	struct tacho_code *code;
};

struct addresses {			/* samples by instruction address */
	struct tacho_profile *profile;
	bool borrowed;			/* the profile is */
	struct { struct address_hit *v; size_t n, cap; } hits;	/* sorted by object and address */
	struct { struct code_of_object *v; size_t n, cap; } codes;
};

/* Reads the recording without call chains. Returns 0, -ESPIPE if it is a pipe, or another negative errno. */
int addresses_read(struct addresses **out, const struct report_opts *o, struct tacho_error *e);
/* The same with a recording that is open. Returns -EBADMSG or -ENODATA with *out if it is damaged. */
int addresses_load(struct addresses **out, const struct report_opts *o, struct tacho_perfdata *pd, struct tacho_error *e);
/* The samples of a profile that was made with per_address; it is borrowed. 0, -EAGAIN if it is NULL, or -ENOMEM. */
int addresses_of(struct addresses **out, struct tacho_profile *p, struct tacho_error *e);
void addresses_free(struct addresses *a);

struct annotate_function {		/* a function with samples */
	uint32_t frame;			/* one of its frames in the profile */
	size_t first, n;		/* its hits */
	uint64_t period;		/* of the events of interest */
	uint64_t samples;		/* of the first one */
};
struct annotate_functions {
	struct annotate_function *v;
	size_t n, cap;
};
/* Lists the functions that have samples of these events, the hottest first. 0 or -ENOMEM. */
int annotate_functions(const struct addresses *a, const uint32_t *events, size_t n_events, struct annotate_functions *out);

struct annotate_inline {		/* a function that is inlined at an instruction */
	const char *name;
	const char *file;		/* where it is called; NULL: not known */
	uint32_t line;
};

struct annotate_line {			/* an instruction */
	uint64_t address;
	uint64_t target;		/* target address of a jump or call; 0: none */
	const char *text;
	enum disasm_flow flow;
	uint32_t n_bytes;
	uint64_t samples, period;	/* of all events */
	const char *file;		/* source file; NULL: not known */
	uint32_t line;
	const struct annotate_inline *inlined;	/* innermost first */
	size_t n_inlined;
	const char *const *functions;	/* what to print before it, if other functions are inlined than before */
	size_t n_functions;
};

struct annotate {
	struct { struct annotate_line *v; size_t n, cap; } lines;
	struct annotate_sum *sums;	/* n_events of the first line, then of the second ... */
	struct annotate_sum totals[TACHO_REPORT_EVENTS_MAX];	/* of each event */
	size_t n_events;
	struct arena text;
	struct tacho_code *code;	/* borrowed from the addresses */
	struct tacho_code_view view;
	uint64_t samples, period;	/* sums of all lines */
};

struct annotate_request {
	struct addresses *from;
	const struct report_opts *opts;
	const struct tacho_profile *profile;	/* the frame's; may be another one than that of `from` */
	const struct tacho_profile_frame *frame;
	const uint32_t *events;
	size_t n_events;
	struct disasm_opts disasm;
	bool source_lines;
	bool inlined;			/* also the functions that are inlined */
	bool full_paths;		/* in what is printed of them */
};

/* Disassembles the function of a frame and adds the samples of these events. Only the last function that was made is
 * valid. 0, or a negative errno with *e. */
int annotate_make(struct annotate *a, const struct annotate_request *r, struct tacho_error *e);
void annotate_done(struct annotate *a);
/* Returns the index of the line whose instruction covers the address, or SIZE_MAX. */
size_t annotate_at(const struct annotate *a, uint64_t address);
/* Returns the index of the line with the nth largest period (n from 0), or SIZE_MAX if fewer lines have
 * samples. */
size_t annotate_hottest(const struct annotate *a, size_t nth);
static inline const struct annotate_sum *annotate_sum(const struct annotate *a, size_t line, size_t event)
{
	return &a->sums[line * a->n_events + event];
}

/* annotate_rows.c: reads the functions that are inlined at each instruction, and what is printed of them. 0 or -ENOMEM. */
int annotate_find_inlines(struct annotate *a, const char *function, bool full_paths);

/* What is shown: instructions, and before them lines of source and the functions they are in, if these change. */
struct annotate_row {
	const char *source;		/* NULL: an instruction */
	uint32_t number;		/* of the source line; 0: it names a function */
	uint32_t line;			/* index of the instruction, or of the one that follows */
};
struct annotate_rows {
	struct annotate_row *v;
	size_t n, cap;
};
/* Source lines are those since the last one shown, or up to five before the first; 0 or -ENOMEM. `files` may be NULL: only
 * instructions. */
int annotate_rows(const struct annotate *a, struct source_files *files, struct annotate_rows *out);

#endif
