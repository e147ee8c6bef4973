/*
 * Lists the functions that can be probed.
 */
#include "probe/probe.h"

#include <errno.h>

#include "base/vec.h"
#include "probe/filter.h"
#include "probe/kernel.h"
#include "symbol/demangle.h"

struct names {
	char **v;
	size_t n, cap;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	vec_done(names);
}

static int add_name(struct names *names, const struct name_filter *f, const char *name)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str shown = str_of(name);
	char **slot;

	if (demangle(name, false, &text) && !buf_failed(&text))
		shown = buf_view(&text);
	if (!name_filter_matches(f, shown))
		return 0;
	slot = vec_next(names);
	if (!slot)
		return -ENOMEM;
	*slot = str_dup(shown);
	if (*slot)
		return 0;
	names->n--;
	return -ENOMEM;
}

static int collect_kernel(struct tacho_probes *p, const struct name_filter *f, struct names *names, struct tacho_error *e)
{
	struct kernel_functions all;
	int err = kernel_functions_read(&all, &p->sys, p->target.module, e);

	for (size_t i = 0; err == 0 && i < all.n; i++)
		err = add_name(names, f, all.v[i].name);
	kernel_functions_done(&all);
	return err;
}

static int collect(struct tacho_probes *p, const struct name_filter *f, struct names *names, struct tacho_error *e)
{
	struct probe_object *o;
	int err;

	if (probes_target_is_kernel(p))
		return collect_kernel(p, f, names, e);
	err = probes_object(p, &o, e);
	for (size_t i = 0; err == 0 && i < o->functions.n; i++)
		err = add_name(names, f, o->functions.v[i].name);
	return err;
}

int tacho_probes_functions(struct tacho_probes *p, const char *filter, int (*fn)(void *arg, const char *name), void *arg,
			   struct tacho_error *e)
{
	struct name_filter f;
	struct names names = { 0 };
	int err = name_filter_parse(&f, str_of(filter ? filter : "!_* & !*@plt"), e);

	if (err == 0)
		err = collect(p, &f, &names, e);
	if (err == -ENOMEM)
		error_nomem(e);
	if (err == 0 && names.n)
		qsort(names.v, names.n, sizeof(*names.v), by_text);
	for (size_t i = 0; err == 0 && i < names.n; i++)
		if (!i || strcmp(names.v[i], names.v[i - 1]) != 0)
			err = fn(arg, names.v[i]);
	names_done(&names);
	return err;
}
