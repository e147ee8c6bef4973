/*
 * The instructions of a function with their samples. The browser's table has no instruction addresses, so the
 * recording is read a second time, without call chains, when the user annotates the first function.
 */
#ifndef CLI_BROWSER_ANNOTATE_H
#define CLI_BROWSER_ANNOTATE_H

#include "base/arena.h"
#include "cli/report/report.h"

struct addresses;			/* samples by instruction address */

/* Reads the recording again. Returns 0, -ESPIPE if it came from a pipe, or another negative errno. */
int addresses_read(struct addresses **out, const struct report_opts *o, struct tacho_error *e);
void addresses_free(struct addresses *a);

struct annotate_line {
	uint64_t address;
	uint64_t target;		/* target address of a jump or call; 0: none */
	const char *text;
	uint64_t samples, period;
};

struct annotate {
	struct { struct annotate_line *v; size_t n, cap; } lines;
	struct arena text;
	struct tacho_code *code;
	struct tacho_code_view view;
	uint64_t samples, period;	/* sums of all lines */
};

/* Disassembles the function of a frame and adds the samples of these events. 0, or a negative errno with
 * *e. */
int annotate_make(struct annotate *a, const struct addresses *from, const struct report_opts *o,
		  const struct tacho_profile *p, const struct tacho_profile_frame *f,
		  const uint32_t *events, size_t n_events, struct tacho_error *e);
void annotate_done(struct annotate *a);
/* Returns the index of the line whose instruction covers the address, or SIZE_MAX. */
size_t annotate_at(const struct annotate *a, uint64_t address);
/* Returns the index of the line with the nth largest period (n from 0), or SIZE_MAX if fewer lines have
 * samples. */
size_t annotate_hottest(const struct annotate *a, size_t nth);

#endif
