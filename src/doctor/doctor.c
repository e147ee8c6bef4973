/*
 * tacho_doctor(): gathers the facts once, runs all checks in a fixed order, and passes each finding
 * to the caller. The diagnosis (can this user count and sample?) depends only on what was actually tried,
 * not on settings.
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

void finding_set(struct finding *f, enum tacho_verdict verdict, const char *fmt, ...)
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

static void doctor_done(struct doctor *d)
{
	strlist_done(&d->pmus);
	buf_done(&d->config);
}

static int count_cpus(const struct sys *sys)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };

	return sys_online_cpus(sys, &cpus) < 0 ? 1 : max_of((int)cpuset_count(&cpus), 1);
}

/* A missing PMU directory is reported as a finding and is not an error. */
static int doctor_init(struct doctor *d, struct tacho *t, struct tacho_error *e)
{
	char path[PATH_MAX];
	int err = host_probe(&t->sys, &d->host);

	if (err < 0)
		return error_set(e, err, "cannot determine the kernel's release");
	d->t = t;
	snprintf(path, sizeof(path), "%s/bus/event_source/devices", t->sys.sysfs);
	if (sys_list_dir(path, &d->pmus) == -ENOMEM)
		return error_nomem(e);
	d->core_pmu = event_has_core_pmu(t);
	d->n_cpus = count_cpus(&t->sys);
	d->self_error = try_count_self(d);
	d->sample_error = try_sample_self(d);
	kconfig_load(d);
	return 0;
}

static int run_check(struct doctor *d, const struct topic *topic, const struct doctor_check *c,
		     int (*fn)(void *arg, const struct tacho_finding *f), void *arg)
{
	struct finding f = { .verdict = TACHO_INFO };
	struct tacho_finding out;

	if (!c->run(d, c, &f))
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

/* The caller's struct may be older and shorter than ours; only the part that it has is written. */
static void write_diagnosis(struct tacho_diagnosis *out, const struct doctor *d)
{
	struct tacho_diagnosis own = { .counting = d->self_error == 0, .sampling = d->sample_error == 0 };

	own.size = out->size ? min_of(out->size, sizeof(own)) : sizeof(own);
	memcpy(out, &own, own.size);
}

int tacho_doctor(struct tacho *t, int (*fn)(void *arg, const struct tacho_finding *f), void *arg,
		 struct tacho_diagnosis *out, struct tacho_error *e)
{
	scoped(doctor_done) struct doctor d = { 0 };
	int err = doctor_init(&d, t, e);

	if (err < 0)
		return err;
	for (size_t i = 0; i < countof(topics); i++)
		for (const struct doctor_check *c = topics[i].checks; c->id; c++) {
			err = run_check(&d, &topics[i], c, fn, arg);
			if (err)
				return err;
		}
	if (out)
		write_diagnosis(out, &d);
	return 0;
}
