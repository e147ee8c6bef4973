/*
 * tacho_syscall_tracer: loads syscalls.bpf.c with its configuration, and turns the records of its ring buffer into
 * events.
 */
#include <tacho/bpf.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpuset.h"
#include "base/defs.h"
#include "base/error.h"
#include "base/sized_opts.h"
#include "bpf/load_libbpf.h"
#include "bpf/syscall_record.h"
#include "bpf/syscalls.skel.h"

#define DEFAULT_RING_BYTES (16u << 20)

_Static_assert(sizeof(struct syscall_capture) == sizeof(struct tacho_syscall_capture), "same layout");
_Static_assert(offsetof(struct syscall_capture, max) == offsetof(struct tacho_syscall_capture, max), "same layout");

struct tacho_syscall_tracer {
	struct syscalls_bpf *skel;
	struct ring_buffer *ring;
	tacho_syscall_event_fn *fn;
	void *arg;
};

static int on_record(void *arg, void *data, size_t n)
{
	struct tacho_syscall_tracer *t = arg;
	const struct syscall_record *r = data;
	struct tacho_syscall_event ev = { .size = sizeof(ev) };

	if (n < sizeof(*r) || r->size > n || r->size < sizeof(*r))
		return -EBADMSG;
	ev.type = (enum tacho_syscall_event_type)r->type;
	ev.cpu = r->cpu;
	ev.pid = r->pid;
	ev.tid = r->tid;
	ev.nr = r->nr;
	ev.compat = r->compat;
	ev.time_ns = r->time_ns;
	memcpy(ev.v, r->v, sizeof(ev.v));
	if (r->type == RECORD_EXEC)
		memcpy(ev.comm, &r->v[1], sizeof(ev.comm) - 1);
	else if (r->type == RECORD_COMM)
		memcpy(ev.comm, r->v, sizeof(ev.comm) - 1);
	ev.parts = r + 1;
	ev.n_parts = r->size - sizeof(*r);
	return t->fn(t->arg, &ev);
}

static int set_cpus(struct syscall_config *c, const char *cpus, struct tacho_error *e)
{
	scoped(cpuset_done) struct cpuset set = { 0 };
	int err = cpuset_parse(&set, str_of(cpus));

	if (err < 0)
		return error_set(e, err, "'%s' is not a list of CPUs", cpus);
	c->has_cpus = 1;
	for (unsigned cpu = 0; cpu < countof(c->cpus) * 64; cpu++)
		if (cpuset_has(&set, cpu))
			c->cpus[cpu / 64] |= 1ull << (cpu & 63);
	return 0;
}

static int configure(struct syscalls_bpf *skel, const struct tacho_syscall_tracer_opts *o, struct tacho_error *e)
{
	struct syscall_config c = {
		.all_tasks = o->all_tasks, .follow = !o->no_follow, .self = (unsigned)getpid(), .user = o->user,
		.has_user = o->has_user, .string_bytes = o->string_bytes ? o->string_bytes : 32,
		.has_excluded = o->n_exclude > 0,
	};
	uint32_t ring_bytes = o->ring_bytes ? o->ring_bytes : DEFAULT_RING_BYTES;
	int err = o->cpus ? set_cpus(&c, o->cpus, e) : 0;

	if (err < 0)
		return err;
	c.wakeup_bytes = ring_bytes / 8;
	memcpy((void *)&skel->rodata->config, &c, sizeof(c));
	err = bpf_map__set_max_entries(skel->maps.ring, ring_bytes);
	return err < 0 ? libbpf_error(err, e) : 0;
}

static int set_specs(struct syscalls_bpf *skel, const struct tacho_syscall_tracer_opts *o, struct tacho_error *e)
{
	int arch = tacho_syscall_host_arch(), fd = bpf_map__fd(skel->maps.specs), err = 0;

	for (uint32_t nr = 0; nr < SYSCALL_NUMBERS && !err; nr++) {
		const struct tacho_syscall *sc = arch < 0 ? NULL : tacho_syscall_by_nr((enum tacho_syscall_arch)arch, nr);
		struct syscall_spec spec = { .traced = !o->calls || (o->calls[nr / 64] >> (nr & 63) & 1) };

		if (sc && !o->no_captures)
			tacho_syscall_captures(sc, o->string_bytes ? o->string_bytes : 32,
					       (struct tacho_syscall_capture *)spec.args);
		for (size_t i = 0; i < SYSCALL_ARGS; i++) {
			spec.captures_entry |= (spec.args[i].when & TACHO_CAPTURE_AT_ENTRY) != 0;
			spec.captures_exit |= (spec.args[i].when & TACHO_CAPTURE_AT_EXIT) != 0;
		}
		err = bpf_map_update_elem(fd, &nr, &spec, BPF_ANY);
	}
	return err < 0 ? libbpf_error(err, e) : 0;
}

static int set_excluded(struct syscalls_bpf *skel, const struct tacho_syscall_tracer_opts *o)
{
	const uint8_t one = 1;
	int err = 0;

	for (size_t i = 0; i < o->n_exclude && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(skel->maps.excluded), &o->exclude[i], &one, BPF_ANY);
	return err;
}

static int load(struct tacho_syscall_tracer *t, const struct tacho_syscall_tracer_opts *o, struct tacho_error *e)
{
	int err;

	t->skel = syscalls_bpf__open();
	if (!t->skel)
		return libbpf_error(-errno, e);
	err = configure(t->skel, o, e);
	if (err < 0)
		return err;
	err = syscalls_bpf__load(t->skel);
	if (err < 0)
		return libbpf_error(err, e);
	err = set_specs(t->skel, o, e);
	if (err == 0)
		err = set_excluded(t->skel, o);
	if (err < 0)
		return err;
	t->ring = ring_buffer__new(bpf_map__fd(t->skel->maps.ring), on_record, t, NULL);
	if (!t->ring)
		return libbpf_error(-errno, e);
	err = syscalls_bpf__attach(t->skel);
	return err < 0 ? libbpf_error(err, e) : 0;
}

int tacho_syscall_tracer_open(struct tacho_syscall_tracer **out, const struct tacho_syscall_tracer_opts *opts,
			      struct tacho_error *e)
{
	struct tacho_syscall_tracer_opts o;
	struct tacho_syscall_tracer *t;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	err = libbpf_open(e);
	if (err < 0)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return error_nomem(e);
	err = load(t, &o, e);
	if (err < 0) {
		tacho_syscall_tracer_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void tacho_syscall_tracer_close(struct tacho_syscall_tracer *t)
{
	if (!t)
		return;
	ring_buffer__free(t->ring);
	syscalls_bpf__destroy(t->skel);
	free(t);
}

int tacho_syscall_tracer_add_task(struct tacho_syscall_tracer *t, int tid)
{
	const uint8_t one = 1;

	return bpf_map_update_elem(bpf_map__fd(t->skel->maps.tasks), &tid, &one, BPF_ANY);
}

int tacho_syscall_tracer_fd(const struct tacho_syscall_tracer *t)
{
	return ring_buffer__epoll_fd(t->ring);
}

int tacho_syscall_tracer_drain(struct tacho_syscall_tracer *t, tacho_syscall_event_fn *fn, void *arg)
{
	t->fn = fn;
	t->arg = arg;
	return ring_buffer__consume(t->ring);
}

int tacho_syscall_tracer_lost(const struct tacho_syscall_tracer *t, uint64_t *events, uint64_t *tasks)
{
	int n = libbpf_num_possible_cpus(), err;
	uint64_t *const sums[] = { events, tasks };
	uint64_t *values;

	if (n < 0)
		return n;
	values = calloc((size_t)n, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (uint32_t what = 0; what < countof(sums); what++) {
		*sums[what] = 0;
		err = bpf_map_lookup_elem(bpf_map__fd(t->skel->maps.lost), &what, values);
		for (int i = 0; !err && i < n; i++)
			*sums[what] += values[i];
	}
	free(values);
	return err;
}
