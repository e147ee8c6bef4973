/*
 * bpf_view: loads only the programs that the view uses, so that others are neither verified nor attached.
 */
#include "bpf/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/error.h"
#include "base/int_map.h"
#include "base/vec.h"
#include "bpf/load_libbpf.h"
#include "bpf/map_walk.h"
#include "bpf/views.skel.h"

/* The stacks of the map: n and n addresses each, and where one is by its ID. */
struct stack_copies {
	bool is_valid;
	struct { uint64_t *v; size_t n, cap; } words;
	struct int_map at;
};

struct bpf_view {
	struct views_bpf *skel;
	struct ring_buffer *ring;
	bpf_view_record_fn *fn;
	void *arg;
	bool has_levels, uses_stack_map;
	struct stack_copies copies;
	struct { struct bpf_link **v; size_t n, cap; } links;
};

static int on_ring_record(void *arg, void *data, size_t n)
{
	struct bpf_view *v = arg;
	const struct view_record *r = data;

	if (n < sizeof(*r) || r->size > n || r->size < sizeof(*r))
		return -EBADMSG;
	return v->fn(v->arg, r);
}

static struct bpf_program *tracepoint_program(const struct views_bpf *s, size_t event)
{
	struct bpf_program *const all[VIEW_EVENTS] = { s->progs.tp0, s->progs.tp1, s->progs.tp2, s->progs.tp3, s->progs.tp4,
		s->progs.tp5, s->progs.tp6, s->progs.tp7, s->progs.tp8, s->progs.tp9 };

	return all[event];
}

/* In the order in which they are attached: children must be known before anything else happens in them. */
struct raw_programs {
	struct bpf_program *fork, *raw[VIEW_RAWS];
};

static struct raw_programs raw_programs(const struct views_bpf *s)
{
	return (struct raw_programs){ .fork = s->progs.raw_fork,
		.raw = { s->progs.raw_switch, s->progs.raw_wakeup, s->progs.raw_wakeup_new, s->progs.raw_sys_enter,
			 s->progs.raw_sys_exit } };
}

static void choose_programs(struct views_bpf *s, const struct bpf_view_opts *o)
{
	const struct raw_programs raw = raw_programs(s);

	for (size_t i = 0; i < VIEW_EVENTS; i++)
		bpf_program__set_autoload(tracepoint_program(s, i), o->tracepoints[i] || (i == 0 && o->has_function_tracepoints));
	for (size_t i = 0; i < VIEW_RAWS; i++)
		bpf_program__set_autoload(raw.raw[i], o->program->raw_event[i] != 0);
	bpf_program__set_autoload(raw.fork, o->program->follows != 0);
	bpf_program__set_autoload(s->progs.on_sample, o->has_samples);
	bpf_program__set_autoload(s->progs.probe0, o->has_probes && o->program->events[0].n_steps != 0);
	bpf_program__set_autoload(s->progs.probe1, o->has_probes && o->program->events[1].n_steps != 0);
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 4096;

	while (p < n && p < 1u << 30)
		p *= 2;
	return p;
}

static int set_sizes(struct views_bpf *s, const struct bpf_view_opts *o)
{
	bool is_summary = o->program->is_summary;
	int err = bpf_map__set_max_entries(s->maps.ring, is_summary ? 4096 : power_of_two(o->ring_bytes));

	if (!err)
		err = bpf_map__set_max_entries(s->maps.sums, is_summary ? o->n_sums : 1);
	if (!err && !o->program->has_levels)
		err = bpf_map__set_value_size(s->maps.sums, VIEW_SUM_BYTES);
	if (!err)
		err = bpf_map__set_max_entries(s->maps.stacks, o->n_stacks && o->program->uses_stack_map ? o->n_stacks : 1);
	if (!err)
		err = bpf_map__set_max_entries(s->maps.stacks_by_hash, o->n_stacks && !o->program->uses_stack_map ? o->n_stacks : 1);
	return err;
}

static int take_link(struct bpf_view *v, struct bpf_link *link, struct tacho_error *e)
{
	struct bpf_link **slot;

	if (!link)
		return libbpf_error(-errno, e);
	slot = vec_add(&v->links);
	if (!slot) {
		bpf_link__destroy(link);
		return error_nomem(e);
	}
	*slot = link;
	return 0;
}

static int attach_tracepoint(struct bpf_view *v, size_t event, const char *name, struct tacho_error *e)
{
	struct bpf_program *p = tracepoint_program(v->skel, event);
	const char *colon = strchr(name, ':');
	char category[100];

	if (!colon || (size_t)(colon - name) >= sizeof(category))
		return error_set(e, -EINVAL, "'%s' is not a tracepoint", name);
	snprintf(category, sizeof(category), "%.*s", (int)(colon - name), name);
	return take_link(v, bpf_program__attach_tracepoint(p, category, colon + 1), e);
}

static int attach(struct bpf_view *v, const struct bpf_view_opts *o, struct tacho_error *e)
{
	const struct raw_programs raw = raw_programs(v->skel);
	int err = 0;

	if (o->program->follows)
		err = take_link(v, bpf_program__attach(raw.fork), e);
	for (size_t i = 0; err == 0 && i < VIEW_RAWS; i++)
		if (o->program->raw_event[i])
			err = take_link(v, bpf_program__attach(raw.raw[i]), e);
	for (size_t i = 0; err == 0 && i < VIEW_EVENTS; i++)
		if (o->tracepoints[i])
			err = attach_tracepoint(v, i, o->tracepoints[i], e);
	return err;
}

static int load(struct bpf_view *v, const struct bpf_view_opts *o, struct tacho_error *e)
{
	int err;

	v->skel = views_bpf__open();
	if (!v->skel)
		return libbpf_error(-errno, e);
	memcpy((void *)&v->skel->rodata->program, o->program, sizeof(*o->program));
	choose_programs(v->skel, o);
	err = set_sizes(v->skel, o);
	if (!err)
		err = views_bpf__load(v->skel);
	if (err < 0)
		return libbpf_error(err, e);
	v->ring = ring_buffer__new(bpf_map__fd(v->skel->maps.ring), on_ring_record, v, NULL);
	return v->ring ? attach(v, o, e) : libbpf_error(-errno, e);
}

int bpf_view_open(struct bpf_view **out, const struct bpf_view_opts *opts, struct tacho_error *e)
{
	struct bpf_view *v;
	int err = libbpf_open(e);

	if (err < 0)
		return err;
	v = calloc(1, sizeof(*v));
	if (!v)
		return error_nomem(e);
	v->has_levels = opts->program->has_levels;
	v->uses_stack_map = opts->program->uses_stack_map;
	err = load(v, opts, e);
	if (err < 0) {
		bpf_view_close(v);
		return err;
	}
	*out = v;
	return 0;
}

void bpf_view_close(struct bpf_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->links.n; i++)
		bpf_link__destroy(v->links.v[i]);
	vec_done(&v->links);
	vec_done(&v->copies.words);
	int_map_done(&v->copies.at);
	ring_buffer__free(v->ring);
	views_bpf__destroy(v->skel);
	free(v);
}

int bpf_view_add_process(struct bpf_view *v, uint32_t pid)
{
	const uint8_t one = 1;

	return bpf_map_update_elem(bpf_map__fd(v->skel->maps.processes), &pid, &one, BPF_ANY);
}

int bpf_view_attach(struct bpf_view *v, int perf_fd, bool is_tracepoint, bool is_return, uint64_t function, struct tacho_error *e)
{
	const struct bpf_perf_event_opts opts = { .sz = sizeof(opts), .bpf_cookie = function };
	const struct bpf_program *p = is_tracepoint ? v->skel->progs.tp0 : is_return ? v->skel->progs.probe1 : v->skel->progs.probe0;
	struct bpf_link *link = bpf_program__attach_perf_event_opts(p, perf_fd, &opts);
	int err = errno;

	if (!link) {
		close(perf_fd);
		errno = err;
	}
	return take_link(v, link, e);
}

int bpf_view_attach_samples(struct bpf_view *v, int perf_fd, struct tacho_error *e)
{
	struct bpf_link *link = bpf_program__attach_perf_event(v->skel->progs.on_sample, perf_fd);
	int err = errno;

	if (!link) {
		close(perf_fd);
		errno = err;
	}
	return take_link(v, link, e);
}

int bpf_view_fd(const struct bpf_view *v)
{
	return ring_buffer__epoll_fd(v->ring);
}

int bpf_view_drain(struct bpf_view *v, bpf_view_record_fn *fn, void *arg)
{
	v->fn = fn;
	v->arg = arg;
	return ring_buffer__consume(v->ring);
}

struct sum_reader {
	bpf_view_sum_fn *fn;
	void *arg;
	size_t bytes;
};

static int on_sum(void *arg, const void *key, const void *value)
{
	const struct sum_reader *r = arg;
	struct view_sum sum = { 0 };

	memcpy(&sum, value, r->bytes);
	return r->fn(r->arg, key, &sum);
}

int bpf_view_sums(struct bpf_view *v, bpf_view_sum_fn *fn, void *arg)
{
	struct sum_reader r = { fn, arg, v->has_levels ? sizeof(struct view_sum) : VIEW_SUM_BYTES };

	v->copies.is_valid = false;
	return map_walk(bpf_map__fd(v->skel->maps.sums), sizeof(struct view_key), r.bytes, on_sum, &r);
}

/* A map_walk_fn */
static int copy_stack(void *arg, const void *key, const void *value)
{
	struct stack_copies *c = arg;
	const struct view_stack *s = value;
	size_t n = (size_t)min_of(s->n, (uint64_t)VIEW_STACK), at = c->words.n;
	uint64_t id;

	memcpy(&id, key, sizeof(id));
	if (at > UINT32_MAX || !vec_reserve(&c->words, n + 1))
		return -ENOMEM;
	c->words.v[at] = n;
	memcpy(c->words.v + at + 1, s->ips, n * sizeof(*s->ips));
	c->words.n += n + 1;
	return int_map_put(&c->at, id, (uint32_t)at);
}

/* Stacks are read all at once: a system call for each would be most of the cost of a profile. */
static int copy_stacks(struct bpf_view *v)
{
	v->copies.words.n = 0;
	int_map_done(&v->copies.at);
	v->copies.is_valid = true;
	return map_walk(bpf_map__fd(v->skel->maps.stacks_by_hash), sizeof(uint64_t), sizeof(struct view_stack), copy_stack, &v->copies);
}

static int stack_by_hash(struct bpf_view *v, int64_t id, uint64_t ips[VIEW_STACK])
{
	int err = v->copies.is_valid ? 0 : copy_stacks(v);
	struct view_stack late = { 0 };
	const uint64_t *stack;
	uint32_t at;

	if (err == 0 && int_map_get(&v->copies.at, (uint64_t)id, &at)) {
		stack = v->copies.words.v + at;
		memcpy(ips, stack + 1, (size_t)stack[0] * sizeof(*ips));
		return (int)stack[0];
	}
	if (err == 0)			/* stored after the others were read */
		err = bpf_map_lookup_elem(bpf_map__fd(v->skel->maps.stacks_by_hash), &id, &late);
	memcpy(ips, late.ips, VIEW_STACK * sizeof(*ips));
	return err < 0 ? err : (int)min_of(late.n, (uint64_t)VIEW_STACK);
}

int bpf_view_stack(struct bpf_view *v, int64_t id, uint64_t ips[VIEW_STACK])
{
	uint32_t key = (uint32_t)id;
	int n = 0, err;

	if (!v->uses_stack_map)
		return stack_by_hash(v, id, ips);
	err = bpf_map_lookup_elem(bpf_map__fd(v->skel->maps.stacks), &key, ips);
	if (err < 0)
		return err;
	while (n < VIEW_STACK && ips[n])
		n++;
	return n;
}

static uint64_t misses_of(const struct bpf_program *p)
{
	struct bpf_prog_info info = { 0 };
	uint32_t n = sizeof(info);
	int fd = bpf_program__fd(p);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &n) == 0 ? info.recursion_misses : 0;
}

static uint64_t all_misses(const struct bpf_view *v)
{
	const struct raw_programs raw = raw_programs(v->skel);
	uint64_t n = misses_of(v->skel->progs.probe0) + misses_of(v->skel->progs.probe1) +
		     misses_of(v->skel->progs.on_sample);

	for (size_t i = 0; i < VIEW_EVENTS; i++)
		n += misses_of(tracepoint_program(v->skel, i));
	for (size_t i = 0; i < VIEW_RAWS; i++)
		n += misses_of(raw.raw[i]);
	return n;
}

int bpf_view_lost(const struct bpf_view *v, uint64_t lost[VIEW_LOST], uint64_t *missed)
{
	int n = libbpf_num_possible_cpus(), err = 0;
	scoped(freep) uint64_t *values = n > 0 ? calloc((size_t)n, sizeof(*values)) : NULL;

	if (!values)
		return n < 0 ? n : -ENOMEM;
	*missed = all_misses(v);
	for (uint32_t what = 0; what < VIEW_LOST && !err; what++) {
		lost[what] = 0;
		err = bpf_map_lookup_elem(bpf_map__fd(v->skel->maps.lost), &what, values);
		for (int i = 0; !err && i < n; i++)
			lost[what] += values[i];
	}
	return err;
}
