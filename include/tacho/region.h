#ifndef TACHO_REGION_H
#define TACHO_REGION_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Self-monitoring: measures what a piece of code costs. Counters of the calling thread run all
 * the time; a region is the difference of two reads. The counters are read from user space (rdpmc)
 * if the kernel allows it, else by one read() of their group.
 *
 *	meter open -> (region begin ... region end)* -> read the region -> meter close
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

/* `spec` is a list of at most TACHO_METER_EVENTS events; NULL means "task-clock,page-faults".
 * Also measures the overhead of an empty region. */
TACHO_API int tacho_meter_open(struct tacho_meter **out, struct tacho *t, const char *spec,
			       struct tacho_error *e);
TACHO_API void tacho_meter_close(struct tacho_meter *m);
TACHO_API size_t tacho_meter_size(const struct tacho_meter *m);
TACHO_API const char *tacho_meter_event(const struct tacho_meter *m, size_t i);
/* The overhead of one begin/end pair in event i; tacho_region_end() subtracts it. */
TACHO_API uint64_t tacho_meter_cost(const struct tacho_meter *m, size_t i);
/* Whether event i is read from user space rather than by a system call. */
TACHO_API bool tacho_meter_is_fast(const struct tacho_meter *m, size_t i);

struct tacho_mark {
	uint64_t value[TACHO_METER_EVENTS];
	uint64_t enabled_ns, running_ns;
	uint64_t reserved[6];
};

struct tacho_region {			/* owned by the caller; all zero except the name at first */
	const char *name;
	uint64_t n;			/* number of passes */
	uint64_t n_multiplexed;		/* passes during which counters were multiplexed: not in the sums */
	uint64_t n_too_short;		/* passes that cost less than the measurement itself */
	uint64_t sum[TACHO_METER_EVENTS];
	uint64_t min[TACHO_METER_EVENTS], max[TACHO_METER_EVENTS];
	uint64_t reserved[8];
};
#define TACHO_REGION(title) { (title), 0, 0, 0, { 0 }, { 0 }, { 0 }, { 0 } }

TACHO_API int tacho_region_begin(struct tacho_meter *m, struct tacho_mark *mark);
TACHO_API int tacho_region_end(struct tacho_meter *m, const struct tacho_mark *mark,
			       struct tacho_region *region);

TACHO_END_DECLS
#endif
