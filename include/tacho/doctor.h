#ifndef TACHO_DOCTOR_H
#define TACHO_DOCTOR_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * What this kernel, CPU, user and container can do, as a list of findings.
 */
enum tacho_verdict { TACHO_OK, TACHO_LIMITED, TACHO_NO, TACHO_INFO };

/* Borrowed: valid for the call. */
struct tacho_finding {
	size_t size;
	const char *id;		/* stable, e.g. "paranoid", "pmu", "cap-perfmon" */
	const char *topic;	/* "kernel", "cpu", "permissions", "limits", "tracing", "config", "live" */
	const char *title;	/* "perf_event_paranoid" */
	enum tacho_verdict verdict;
	const char *value;	/* "2", "6.18.44", ... or NULL */
	const char *meaning;	/* one sentence */
	const char *affects;	/* the commands it matters to: "stat, record", or NULL */
	const char *fix;	/* the exact command that mends it, or NULL */
};

struct tacho_diagnosis {
	size_t size;
	bool counting, sampling;	/* does it work for this user, on own processes at least */
};

/* Runs every check, in a fixed order. Returns 0, what `fn` returned when that was not 0, or a
 * negative errno. */
TACHO_API int tacho_doctor(struct tacho *t, int (*fn)(void *arg, const struct tacho_finding *f),
			   void *arg, struct tacho_diagnosis *out, struct tacho_error *e);

TACHO_END_DECLS
#endif
