#ifndef TACHO_OUTPUT_H
#define TACHO_OUTPUT_H

#include <tacho/profile.h>

TACHO_BEGIN_DECLS

/*
 * Writes profiles as flame graphs and in the formats of other programs.
 *
 *	format = tacho_format_find("pprof");
 *	tacho_format_wants(format, &opts)    sets the options the profile needs, before it is loaded
 *	tacho_output_write(format, profile, opts, put, arg, &e)
 *
 * A writer reads the profile and passes its output to `put` in chunks.
 */
struct tacho_format {
	const char *name;		/* "folded", "svg", "pprof" ... */
	const char *suffix;		/* file name suffix: ".svg", ".pb.gz" */
	const char *summary;		/* one line for lists of formats */
	bool one_event;			/* a file has one event of the profile; otherwise it has all */
};

/* All formats, in a list that ends with NULL. */
TACHO_API const struct tacho_format *const *tacho_formats(void);
/* Finds a format by its name; NULL if there is none. */
TACHO_API const struct tacho_format *tacho_format_find(const char *name);
/* Finds the format with the longest suffix that the file name ends with; NULL if there is none. */
TACHO_API const struct tacho_format *tacho_format_of_path(const char *path);
/* Sets the options of the profile that the format needs (times, CPUs). */
TACHO_API void tacho_format_wants(const struct tacho_format *f, struct tacho_profile_opts *opts);

enum tacho_weight { TACHO_WEIGHT_DEFAULT, TACHO_WEIGHT_SAMPLES, TACHO_WEIGHT_PERIOD };

struct tacho_output_attribute {
	const char *name, *value;
};

struct tacho_output_opts {		/* zero means the default in every field */
	size_t size;			/* filled in by TACHO_OPTS */
	const char *event;		/* name of the event to write; NULL: the first that has samples */
	const char *title;		/* title of a picture */
	uint32_t width;			/* width of a picture in pixels; 0: 1200 */
	double min_pixels;		/* narrower boxes are omitted; 0: 0.1, negative: all boxes are drawn */
	bool reverse;			/* merge stacks from the leaf, so that callers are above their callees */
	bool icicle;			/* draw the root at the top */
	enum tacho_weight weight;	/* weight of a stack: number of samples, or sum of periods; the default
					 * is samples in folded stacks and for Firefox, else periods */
	const struct tacho_profile *before;	/* a profile to compare with: colours show the change */
	uint32_t rows;			/* number of cells per second in a heat map; 0: 50 */
	int64_t wall_offset_ns;		/* added to the times of samples, it makes them wall-clock times since 1970;
					 * 0: unknown. Used by otlp */
	uint64_t from_ns, to_ns;	/* the time that the profile covers, in the clock of the samples; 0: from the
					 * first sample to the last. Used by otlp */
	const struct tacho_output_attribute *resource;	/* otlp: further attributes of all resources, such as */
	size_t n_resource;				/* host.name and service.name */
	/* pprof and otlp: attributes of a process, such as its service: labels of its samples, or attributes of its resource.
	 * Fills in at most `max` and returns how many; the strings must stay valid until the writer returns. */
	size_t (*process_attributes)(void *arg, uint32_t pid, struct tacho_output_attribute *out, size_t max);
	void *process_arg;
	bool no_threads;		/* pprof: samples have no labels of their thread (pid, tid, thread_comm, cpu),
					 * for receivers that store a series per combination of labels */
};

/* Returns 0, -ENOENT (no such event; *e lists the events), -ENODATA (no samples of it), -ENOMEM, or the error of `put`. */
TACHO_API int tacho_output_write(const struct tacho_format *f, const struct tacho_profile *p,
				 const struct tacho_output_opts *opts, tacho_put put, void *arg,
				 struct tacho_error *e);

/* Writes the profile to the file `path`, in the format of its suffix, as "app.svg" or "app.pb.gz". A file of that name is
 * replaced. Returns as above, -EINVAL if no format has the suffix, or the error of the file. */
TACHO_API int tacho_output_file(const char *path, const struct tacho_profile *p, const struct tacho_output_opts *opts,
				struct tacho_error *e);

TACHO_END_DECLS
#endif
