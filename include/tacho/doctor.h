#ifndef TACHO_DOCTOR_H
#define TACHO_DOCTOR_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Diagnoses what can be measured with this kernel, CPU, user and container, as a list of findings.
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
	const char *meaning;	/* what the value means, one sentence */
	const char *affects;	/* the commands that depend on it: "stat, record", or NULL */
	const char *fix;	/* the exact command or setting that fixes it, or NULL */
};

struct tacho_diagnosis {
	size_t size;
	bool counting, sampling;	/* whether this user can count and sample at least their own processes */
};

/* Runs all checks in a fixed order and calls `fn` for each finding. If `fn` returns non-zero, ends and returns
 * that. Otherwise returns 0 or a negative errno. */
TACHO_API int tacho_doctor(struct tacho *t, int (*fn)(void *arg, const struct tacho_finding *f),
			   void *arg, struct tacho_diagnosis *out, struct tacho_error *e);

TACHO_END_DECLS
#endif
