#ifndef TACHO_REGION_H
#define TACHO_REGION_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Self-monitoring: what does this piece of code cost? Counters of the calling thread run all
 * the time; a region is the difference of two reads. They are read from user space (rdpmc)
 * where the kernel allows it, else by one group read.
 *
 *	meter open -> (region begin ... region end)* -> look at the region -> meter close
 *
 *	struct tacho_region parse = TACHO_REGION("parse");
 *	struct tacho_mark mark;
 *	tacho_region_begin(meter, &mark);
 *	... work ...
 *	tacho_region_end(meter, &mark, &parse);
 *
 * A meter belongs to the thread that opened it: calls from another thread, or from a child
 * after fork, return -EPERM. Marks nest.
 */
#define TACHO_METER_EVENTS 8

struct tacho_meter;

/* `spec` is one list of at most TACHO_METER_EVENTS events; NULL means "task-clock,page-faults".
 * Measures the cost of an empty region on the way. */
TACHO_API int tacho_meter_open(struct tacho_meter **out, struct tacho *t, const char *spec,
			       struct tacho_error *e);
TACHO_API void tacho_meter_close(struct tacho_meter *m);
TACHO_API size_t tacho_meter_size(const struct tacho_meter *m);
TACHO_API const char *tacho_meter_event(const struct tacho_meter *m, size_t i);
/* What one begin/end pair adds to event i; already taken off by tacho_region_end(). */
TACHO_API uint64_t tacho_meter_cost(const struct tacho_meter *m, size_t i);
/* Whether event i is read from user space rather than by a system call. */
TACHO_API bool tacho_meter_is_fast(const struct tacho_meter *m, size_t i);

struct tacho_mark {
	uint64_t value[TACHO_METER_EVENTS];
	uint64_t enabled_ns, running_ns;
};

struct tacho_region {			/* zeroed but for its name; lives where the caller likes */
	const char *name;
	uint64_t n;			/* how often it was passed */
	uint64_t n_multiplexed;		/* of these, with counters off the hardware at times: not added */
	uint64_t n_too_short;		/* of these, costing less than the measuring itself */
	uint64_t sum[TACHO_METER_EVENTS];
	uint64_t min[TACHO_METER_EVENTS], max[TACHO_METER_EVENTS];
};
#define TACHO_REGION(title) { (title), 0, 0, 0, { 0 }, { 0 }, { 0 } }

TACHO_API int tacho_region_begin(struct tacho_meter *m, struct tacho_mark *mark);
TACHO_API int tacho_region_end(struct tacho_meter *m, const struct tacho_mark *mark,
			       struct tacho_region *region);

TACHO_END_DECLS
#endif
