#ifndef TACHO_OUTPUT_H
#define TACHO_OUTPUT_H

#include <tacho/profile.h>

TACHO_BEGIN_DECLS

/*
 * Profiles as bytes: flame graphs and the formats of other programs.
 *
 *	format = tacho_format_find("pprof");
 *	tacho_format_wants(format, &opts)    what the profile has to keep, before it is loaded
 *	tacho_output_write(format, profile, opts, put, arg, &e)
 *
 * A writer walks the profile once and hands out its bytes in pieces; nothing is kept.
 */
struct tacho_format {
	const char *name;		/* "folded", "svg", "pprof" ... */
	const char *suffix;		/* of its files: ".svg", ".pb.gz" */
	const char *summary;		/* "stacks, one a line, with their weights" */
	bool one_event;			/* shows one event of the profile; others show all of them */
};

/* All formats; the list ends with NULL. */
TACHO_API const struct tacho_format *const *tacho_formats(void);
/* By name, or NULL. */
TACHO_API const struct tacho_format *tacho_format_find(const char *name);
/* By the end of a file's name, the longest that fits; or NULL. */
TACHO_API const struct tacho_format *tacho_format_of_path(const char *path);
/* Sets in *opts what this format needs the profile to keep (times, CPUs). */
TACHO_API void tacho_format_wants(const struct tacho_format *f, struct tacho_profile_opts *opts);

enum tacho_weight { TACHO_WEIGHT_DEFAULT, TACHO_WEIGHT_SAMPLES, TACHO_WEIGHT_PERIOD };

struct tacho_output_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const char *event;		/* its name; NULL: the first that has samples */
	const char *title;		/* of a picture */
	uint32_t width;			/* of a picture in pixels; 0: 1200 */
	double min_pixels;		/* narrower boxes are left out; 0: 0.1, below 0: none is */
	bool reverse;			/* stacks from their leaf on, so that equal leaves meet */
	bool icicle;			/* the root on top at first */
	enum tacho_weight weight;	/* of a stack: how many samples, or how many events they stand
					 * for; the default is samples in folded text, else events */
	const struct tacho_profile *before;	/* the same work earlier: colours tell the change */
	uint32_t rows;			/* of a heat map in a second; 0: 50 */
};

/* Returns 0, -ENOENT (no such event; *e says which there are), -ENODATA (no samples of it),
 * -ENOMEM, or what `put` returned. */
TACHO_API int tacho_output_write(const struct tacho_format *f, const struct tacho_profile *p,
				 const struct tacho_output_opts *opts, tacho_put put, void *arg,
				 struct tacho_error *e);

TACHO_END_DECLS
#endif
