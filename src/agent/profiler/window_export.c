/*
 * Each format has its own names for service, container and pod: pprof those of the agent's metrics, OpenTelemetry those of its
 * semantic conventions. Samples of pprof have no labels of threads, because Pyroscope and Parca store a series
 * for each combination of labels.
 */
#include "agent/profiler/window_export.h"

#include <stdio.h>

#include "agent/export/exporter.h"
#include "base/error.h"
#include "base/vec.h"

#include <tacho/output.h>

struct profile_format {
	const char *name;
	const char *service, *unit, *container, *pod;	/* names of attributes; NULL: left out */
	bool no_threads;
};

static const struct profile_format formats[] = {
	{ .name = "pprof", .service = "service", .container = "container", .pod = "pod", .no_threads = true },
	{ .name = "otlp", .service = "service.name", .unit = "systemd.unit", .container = "container.id", .pod = "k8s.pod.uid" },
};

struct attribute_source {
	const struct profile_format *format;
	const struct process_names *names;
};

struct attribute_list {
	struct tacho_output_attribute *v;
	size_t n, max;
};

static void add_attribute(struct attribute_list *l, const char *name, const char *value)
{
	if (name && *value && l->n < l->max)
		l->v[l->n++] = (struct tacho_output_attribute){ name, value };
}

static size_t attributes_of(void *arg, uint32_t pid, struct tacho_output_attribute *out, size_t max)
{
	const struct attribute_source *s = arg;
	const struct cgroup_names *names = process_names_find(s->names, pid);
	struct attribute_list l = { .v = out, .max = max };

	if (names) {
		add_attribute(&l, s->format->service, names->service);
		add_attribute(&l, s->format->unit, names->service);
		add_attribute(&l, s->format->container, names->container);
		add_attribute(&l, s->format->pod, names->pod);
	}
	return l.n;
}

struct resource { struct tacho_output_attribute *v; size_t n, cap; };

static int add_resource(struct resource *r, const char *name, const char *value)
{
	struct tacho_output_attribute *a = vec_add(r);

	if (!a)
		return -1;
	*a = (struct tacho_output_attribute){ name, value };
	return 0;
}

/* The host and the labels of [agent]. */
static int make_resource(const struct exported_window *w, struct resource *out)
{
	const struct key_pairs *labels = &w->config->labels;
	int err = add_resource(out, "host.name", w->agent->host);

	for (size_t i = 0; i < labels->n && err == 0; i++)
		if (strcmp(labels->v[i].name, "host") != 0 && strcmp(labels->v[i].name, "host.name") != 0)
			err = add_resource(out, labels->v[i].name, labels->v[i].value);
	return err;
}

static int put_bytes(void *arg, const void *bytes, size_t n)
{
	buf_put(arg, bytes, n);
	return 0;
}

static void export_format(const struct exported_window *w, const struct profile_format *f, const struct resource *resource)
{
	struct attribute_source source = { f, w->names };
	const struct tacho_output_opts opts = {
		.size = sizeof(opts), .wall_offset_ns = w->clock_offset_ns, .from_ns = (uint64_t)(w->from_ns - w->clock_offset_ns),
		.to_ns = (uint64_t)(w->to_ns - w->clock_offset_ns), .resource = resource->v, .n_resource = resource->n,
		.process_attributes = attributes_of, .process_arg = &source, .no_threads = f->no_threads,
	};
	scoped(buf_done) struct buf out = { 0 };

	if (tacho_output_write(tacho_format_find(f->name), w->profile, &opts, put_bytes, &out, NULL) == 0 && !buf_failed(&out))
		exporters_take_profile(w->agent->exporters, f->name, buf_view(&out), w->samples, w->from_ns, w->to_ns);
}

void window_export(const struct exported_window *w)
{
	struct resource resource = { 0 };

	if (make_resource(w, &resource) == 0)
		for (size_t i = 0; i < countof(formats); i++)
			if (exporters_want_profile(w->agent->exporters, formats[i].name))
				export_format(w, &formats[i], &resource);
	vec_done(&resource);
}
