/*
 * The examination: gather the facts once, run every check in a fixed order, hand each finding
 * to the caller. What counts for the diagnosis is what was tried and worked, not what the
 * settings promise.
 */
#include <tacho/doctor.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "doctor/check.h"

static const struct topic topics[] = {
	{ "kernel", kernel_checks },	{ "cpu", cpu_checks },
	{ "permissions", permission_checks }, { "limits", limit_checks },
	{ "tracing", tracing_checks },	{ "config", config_checks },
	{ "live", live_checks },
};

void finding_say(struct finding *f, enum tacho_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	f->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(f->meaning, sizeof(f->meaning), fmt, ap);
	va_end(ap);
}

void finding_value(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->value, sizeof(f->value), fmt, ap);
	va_end(ap);
}

void finding_fix(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->fix, sizeof(f->fix), fmt, ap);
	va_end(ap);
}

static void patient_done(struct patient *p)
{
	strlist_done(&p->pmus);
	buf_done(&p->config);
}

static int count_cpus(const struct sys *sys)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };

	return sys_online_cpus(sys, &cpus) < 0 ? 1 : max_of((int)cpuset_count(&cpus), 1);
}

/* A missing PMU directory is a finding, not a failure. */
static int patient_init(struct patient *p, struct tacho *t, struct tacho_error *e)
{
	char path[PATH_MAX];
	int err = host_probe(&t->sys, &p->host);

	if (err < 0)
		return error_set(e, err, "cannot ask the kernel for its name");
	p->t = t;
	snprintf(path, sizeof(path), "%s/bus/event_source/devices", t->sys.sysfs);
	if (sys_list_dir(path, &p->pmus) == -ENOMEM)
		return error_nomem(e);
	p->core_pmu = event_has_core_pmu(t);
	p->n_cpus = count_cpus(&t->sys);
	p->self_error = live_count_self(p);
	p->sample_error = live_sample_self(p);
	kconfig_load(p);
	return 0;
}

static int run_check(struct patient *p, const struct topic *topic, const struct doctor_check *c,
		     int (*fn)(void *arg, const struct tacho_finding *f), void *arg)
{
	struct finding f = { .verdict = TACHO_INFO };
	struct tacho_finding out;

	if (!c->run(p, c, &f))
		return 0;
	out = (struct tacho_finding){
		.size = sizeof(out),
		.id = c->id,
		.topic = topic->name,
		.title = c->title,
		.verdict = f.verdict,
		.value = f.value[0] ? f.value : NULL,
		.meaning = f.meaning,
		.affects = c->affects,
		.fix = f.fix[0] ? f.fix : NULL,
	};
	return fn(arg, &out);
}

/* The caller's struct may be older and shorter than ours: only what it has is written. */
static void write_diagnosis(struct tacho_diagnosis *out, const struct patient *p)
{
	struct tacho_diagnosis d = { .counting = p->self_error == 0, .sampling = p->sample_error == 0 };

	d.size = out->size ? min_of(out->size, sizeof(d)) : sizeof(d);
	memcpy(out, &d, d.size);
}

int tacho_doctor(struct tacho *t, int (*fn)(void *arg, const struct tacho_finding *f), void *arg,
		 struct tacho_diagnosis *out, struct tacho_error *e)
{
	scoped(patient_done) struct patient p = { 0 };
	int err = patient_init(&p, t, e);

	if (err < 0)
		return err;
	for (size_t i = 0; i < countof(topics); i++)
		for (const struct doctor_check *c = topics[i].checks; c->id; c++) {
			err = run_check(&p, &topics[i], c, fn, arg);
			if (err)
				return err;
		}
	if (out)
		write_diagnosis(out, &p);
	return 0;
}
