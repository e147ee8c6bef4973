/*
 * CPUs that go offline or come online while a sampler is open. The kernel removes the events of a CPU that goes offline;
 * they stay removed when it comes back, so that nothing more of it is recorded.
 */
#include "sample/sampler.h"

#include <errno.h>

/* Whether any event is bound to the CPU. */
static bool is_sampled(const struct tacho_sampler *s, int cpu)
{
	for (size_t i = 0; i < s->rings.n; i++)
		if (!s->rings.v[i].tracker && s->rings.v[i].cpu == cpu)
			return true;
	return false;
}

/* Prints the CPUs of `a` that are not in `b`, either those that are sampled or the others. Returns how many, or
 * -ENOMEM. */
static int print_difference(const struct tacho_sampler *s, const struct cpuset *a, const struct cpuset *b,
			    bool sampled, struct buf *out)
{
	scoped(cpuset_done) struct cpuset found = { 0 };
	int err = 0;

	for (int cpu = cpuset_next(a, -1); err == 0 && cpu >= 0; cpu = cpuset_next(a, cpu))
		if (!cpuset_has(b, cpu) && is_sampled(s, cpu) == sampled)
			err = cpuset_add(&found, cpu);
	if (err < 0 || cpuset_empty(&found))
		return err;
	buf_puts(out, cpuset_count(&found) > 1 ? "CPUs " : "CPU ");
	cpuset_print(&found, out);
	return (int)cpuset_count(&found);
}

int tacho_sampler_check_cpus(struct tacho_sampler *s, struct tacho_error *e)
{
	scoped(cpuset_done) struct cpuset now = { 0 };
	scoped(buf_done) struct buf text = { 0 };
	int err = sampler_check_open(s), n_gone = 0, n_new = 0;

	if (err == 0)
		err = sys_online_cpus(&s->t->sys, &now);
	if (err == 0 && !cpuset_empty(&s->online)) {
		n_gone = print_difference(s, &s->online, &now, true, &text);
		if (n_gone > 0)
			buf_puts(&text, " went offline: no more samples of it are recorded, even if it comes back");
		if (!s->target.cpus)	/* otherwise only the given CPUs are of interest */
			n_new = print_difference(s, &now, &s->online, false, &text);
		if (n_new > 0)
			buf_puts(&text, " came online after the recording was started and is not recorded");
	}
	if (err == 0)
		err = n_gone < 0 ? n_gone : n_new < 0 ? n_new : cpuset_copy(&s->online, &now);
	if (err < 0 || n_gone + n_new == 0)
		return err;
	if (buf_failed(&text))
		return -ENOMEM;
	error_set(e, 0, "%s", text.bytes);
	if (e)
		error_hint(e, "start another recording to include it");
	return n_gone + n_new;
}
