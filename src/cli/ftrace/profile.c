/*
 * `ftrace profile`: how often and how long each kernel function ran.
 */
#include "cli/ftrace/ftrace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/int_map.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/core/app.h"

#include <tacho/symbol.h>

struct profiled_function {
	uint64_t address, count, total_ns, min_ns, max_ns;
	const char *name;
};

struct function_profile {
	struct int_map by_address;
	struct { struct profiled_function *v; size_t n, cap; } functions;
};

static int add_call(void *arg, const struct tacho_ftrace_call *call)
{
	struct function_profile *p = arg;
	struct profiled_function *fn;
	uint64_t ns = call->duration_ns;
	uint32_t i;

	if (int_map_get(&p->by_address, call->address, &i)) {
		fn = &p->functions.v[i];
	} else {
		fn = vec_add(&p->functions);
		if (!fn || int_map_put(&p->by_address, call->address, (uint32_t)(p->functions.n - 1)) < 0)
			return -ENOMEM;
		fn->address = call->address;
		fn->min_ns = ns;
	}
	fn->count++;
	fn->total_ns += ns;
	fn->min_ns = min_of(fn->min_ns, ns);
	fn->max_ns = max_of(fn->max_ns, ns);
	return 0;
}

static int drain(void *arg, struct tacho_ftrace *f, bool is_end)
{
	return tacho_ftrace_drain(f, TACHO_OPTS(tacho_ftrace_visitor, .arg = arg, .call = add_call), is_end);
}

static double average(const struct profiled_function *fn)
{
	return (double)fn->total_ns / (double)fn->count;
}

static int compare(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int by_total(const void *a, const void *b)
{
	const struct profiled_function *x = a, *y = b;

	return compare((double)x->total_ns, (double)y->total_ns);
}

static int by_average(const void *a, const void *b)
{
	return compare(average(a), average(b));
}

static int by_max(const void *a, const void *b)
{
	const struct profiled_function *x = a, *y = b;

	return compare((double)x->max_ns, (double)y->max_ns);
}

static int by_count(const void *a, const void *b)
{
	const struct profiled_function *x = a, *y = b;

	return compare((double)x->count, (double)y->count);
}

static int by_name(const void *a, const void *b)
{
	const struct profiled_function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : by_total(a, b);
}

static const struct {
	const char *name;
	int (*compare)(const void *a, const void *b);
} sort_keys[] = {
	{ "total", by_total }, { "avg", by_average }, { "max", by_max }, { "count", by_count }, { "name", by_name },
};

static int find_key(const char *name, size_t *out)
{
	for (size_t i = 0; i < countof(sort_keys); i++)
		if (!strcmp(sort_keys[i].name, name)) {
			*out = i;
			return 0;
		}
	message_text("ftrace profile", "'%s' is not a sort key: use total, avg, max, count or name", name);
	return -EINVAL;
}

/* Functions that have no name are shown by their address. */
static int name_functions(struct function_profile *p, struct tacho_symbols *symbols, struct strlist *addresses)
{
	char text[32];

	for (size_t i = 0; i < p->functions.n; i++) {
		struct profiled_function *fn = &p->functions.v[i];
		struct tacho_frame frame;
		int n, found = tacho_symbols_resolve(symbols, 0, TACHO_SPACE_KERNEL, fn->address, &frame);

		if (found < 0)
			return found;
		if (found) {
			fn->name = tacho_symbols_name(symbols, frame.symbol);
			continue;
		}
		n = snprintf(text, sizeof(text), "%#" PRIx64, fn->address);
		if (strlist_add(addresses, str_n(text, (size_t)n)) < 0)
			return -ENOMEM;
		fn->name = addresses->v[addresses->n - 1];
	}
	return 0;
}

static void put_text(const struct function_profile *p, struct buf *out)
{
	buf_puts(out, "# Total (us)   Avg (us)   Max (us)      Count   Function\n");
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct profiled_function *fn = &p->functions.v[i];

		buf_printf(out, "%12.3f %10.3f %10.3f %10" PRIu64 "   ", (double)fn->total_ns / 1000, average(fn) / 1000,
			   (double)fn->max_ns / 1000, fn->count);
		buf_text(out, str_of(fn->name));
		buf_putc(out, '\n');
	}
}

static void put_json(const struct function_profile *p, uint64_t lost, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.ftrace-profile/1");
	json_member(&j, "lost", u64, lost);
	json_key(&j, "functions");
	json_begin(&j, '[');
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct profiled_function *fn = &p->functions.v[i];

		json_begin(&j, '{');
		json_member(&j, "name", str, fn->name);
		json_member(&j, "count", u64, fn->count);
		json_member(&j, "total_ns", u64, fn->total_ns);
		json_member(&j, "min_ns", u64, fn->min_ns);
		json_member(&j, "max_ns", u64, fn->max_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static int show(const struct ftrace_opts *o, struct function_profile *p, size_t key, uint64_t lost)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_symbols *symbols = NULL;
	struct strlist addresses = { 0 };
	struct buf out = { 0 };
	int status = EXIT_FAILED, err = tacho_symbols_new(&symbols, TACHO_OPTS(tacho_symbols_opts, .live = true), &e);

	if (err == 0)
		err = name_functions(p, symbols, &addresses);
	if (err < 0) {
		message_text("ftrace profile", "cannot read the names of functions: %s", strerror(-err));
	} else {
		if (p->functions.n)
			qsort(p->functions.v, p->functions.n, sizeof(*p->functions.v), sort_keys[key].compare);
		(o->json ? put_json(p, lost, &out) : put_text(p, &out));
		status = print_out("ftrace profile", &out);
	}
	strlist_done(&addresses);
	tacho_symbols_free(symbols);
	return status;
}

int ftrace_profile_run(void *opts, int argc, char **argv)
{
	const struct ftrace_opts *o = opts;
	struct function_profile p = { 0 };
	struct ftrace_job job = { .name = "ftrace profile", .tracer = "function_graph", .arg = &p, .drain = drain };
	size_t key = 0;
	bool done = false;
	int status = EXIT_USAGE;

	if (!o->sort || find_key(o->sort, &key) == 0)
		status = ftrace_session(o, &job, argc, argv, &done);
	if (done && !p.functions.n && !o->json)
		message_text(job.name, "no function was called");
	else if (done)
		status = show(o, &p, key, job.lost);
	int_map_done(&p.by_address);
	vec_done(&p.functions);
	return status;
}
