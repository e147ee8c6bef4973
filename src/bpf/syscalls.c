/*
 * tacho_syscall_tracer: loads syscalls.bpf.c with its configuration, and turns the records of its ring buffer into
 * events.
 */
#include <tacho/bpf.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpuset.h"
#include "base/defs.h"
#include "base/error.h"
#include "base/sized_opts.h"
#include "bpf/load_libbpf.h"
#include "bpf/syscall_event.h"
#include "bpf/syscall_record.h"
#include "bpf/syscalls.skel.h"

#define DEFAULT_RING_BYTES (16u << 20)
#define MAX_COUNTS 262144
#define MAX_SINGLE_CALLS 16		/* each has two tracepoints, which take time to attach */

_Static_assert(sizeof(struct syscall_capture) == sizeof(struct tacho_syscall_capture), "same layout");
_Static_assert(sizeof(struct syscall_socket) == sizeof(struct tacho_syscall_socket), "same layout");
_Static_assert(offsetof(struct syscall_capture, max) == offsetof(struct tacho_syscall_capture, max), "same layout");

struct tacho_syscall_tracer {
	struct syscalls_bpf *skel;
	struct ring_buffer *ring;
	tacho_syscall_event_fn *fn;
	void *arg;
	struct bpf_link *links[2 * MAX_SINGLE_CALLS];	/* of the tracepoints of single calls */
	size_t n_links;
};

static int on_record(void *arg, void *data, size_t n)
{
	struct tacho_syscall_tracer *t = arg;
	struct tacho_syscall_event ev;
	int err = syscall_event_read(&ev, data, n);

	return err < 0 ? err : t->fn(t->arg, &ev);
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
		.has_excluded = o->n_exclude > 0, .whole_calls = o->whole_calls, .count_by = o->count_by,
		.counts_errors = o->counts_errors, .sockets = o->sockets, .environment = o->environment,
	};
	uint32_t ring_bytes = o->ring_bytes ? o->ring_bytes : DEFAULT_RING_BYTES;
	int err = o->cpus ? set_cpus(&c, o->cpus, e) : 0;

	if (err < 0)
		return err;
	memset(c.calls, 0xff, sizeof(c.calls));
	if (o->calls)
		memcpy(c.calls, o->calls, sizeof(c.calls));
	for (size_t i = 0; i < countof(c.calls); i++)
		c.skips_compat |= c.calls[i] != UINT64_MAX;
	c.wakeup_bytes = ring_bytes / 8;
	memcpy((void *)&skel->rodata->config, &c, sizeof(c));
	err = bpf_map__set_max_entries(skel->maps.ring, ring_bytes);
	if (!err && o->count_by)
		err = bpf_map__set_max_entries(skel->maps.counts, MAX_COUNTS);
	if (!err && o->counts_errors)
		err = bpf_map__set_max_entries(skel->maps.error_counts, MAX_COUNTS);
	return err < 0 ? libbpf_error(err, e) : 0;
}

static void set_descriptors(struct syscall_spec *spec, const struct tacho_syscall *sc)
{
	for (unsigned i = 0; i < SYSCALL_ARGS; i++)
		if (tacho_syscall_arg_is_fd(sc, i))
			spec->fd_args |= (__u8)(1u << i);
	spec->returns_fd = tacho_syscall_returns_fd(sc);
	spec->captures_entry |= spec->fd_args != 0;
	spec->captures_exit |= spec->returns_fd;
}

static int set_specs(struct syscalls_bpf *skel, const struct tacho_syscall_tracer_opts *o, struct tacho_error *e)
{
	int arch = tacho_syscall_host_arch(), fd = bpf_map__fd(skel->maps.specs), err = 0;

	for (uint32_t nr = 0; nr < SYSCALL_NUMBERS && !err; nr++) {
		const struct tacho_syscall *sc = arch < 0 ? NULL : tacho_syscall_by_nr((enum tacho_syscall_arch)arch, nr);
		struct syscall_spec spec = { 0 };

		if (sc && !o->no_captures)
			tacho_syscall_captures(sc, o->string_bytes ? o->string_bytes : 32,
					       (struct tacho_syscall_capture *)spec.args);
		for (size_t i = 0; i < SYSCALL_ARGS; i++) {
			spec.captures_entry |= (spec.args[i].when & TACHO_CAPTURE_AT_ENTRY) != 0;
			spec.captures_exit |= (spec.args[i].when & TACHO_CAPTURE_AT_EXIT) != 0;
		}
		if (sc && o->sockets)
			set_descriptors(&spec, sc);
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

/* The numbers of the selected calls if they are few, so that each can have its own tracepoints; otherwise 0. */
static size_t single_calls(const struct tacho_syscall_tracer_opts *o, uint32_t out[MAX_SINGLE_CALLS])
{
	int arch = tacho_syscall_host_arch();
	size_t n = 0;

	for (uint32_t nr = 0; o->calls && nr < SYSCALL_NUMBERS; nr++) {
		const struct tacho_syscall *sc = arch < 0 ? NULL : tacho_syscall_by_nr((enum tacho_syscall_arch)arch, nr);

		if (!(o->calls[nr / 64] >> (nr & 63) & 1))
			continue;
		if (!sc || n == MAX_SINGLE_CALLS)
			return 0;
		out[n++] = nr;
	}
	return n;
}

static int attach_single(struct tacho_syscall_tracer *t, const struct bpf_program *program, const char *prefix, const char *name)
{
	char event[64];
	struct bpf_link *link;

	snprintf(event, sizeof(event), "%s%s", prefix, name);
	link = bpf_program__attach_tracepoint(program, "syscalls", event);
	if (!link)
		return -errno;
	t->links[t->n_links++] = link;
	return 0;
}

static void detach_singles(struct tacho_syscall_tracer *t)
{
	while (t->n_links)
		bpf_link__destroy(t->links[--t->n_links]);
}

/* The end of a call first, so that no call has only a start. */
static int attach_singles(struct tacho_syscall_tracer *t, const uint32_t *numbers, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i++) {
		const char *name = tacho_syscall_tracepoint_name(tacho_syscall_by_nr((enum tacho_syscall_arch)tacho_syscall_host_arch(), numbers[i]));

		err = attach_single(t, t->skel->progs.exit_one, "sys_exit_", name);
		if (err == 0)
			err = attach_single(t, t->skel->progs.enter_one, "sys_enter_", name);
	}
	if (err < 0)
		detach_singles(t);
	return err;
}

static int load_skeleton(struct tacho_syscall_tracer *t, const struct tacho_syscall_tracer_opts *o, bool singles, struct tacho_error *e)
{
	int err;

	syscalls_bpf__destroy(t->skel);
	t->skel = syscalls_bpf__open();
	if (!t->skel)
		return libbpf_error(-errno, e);
	bpf_program__set_autoload(t->skel->progs.enter_one, singles);
	bpf_program__set_autoload(t->skel->progs.exit_one, singles);
	bpf_program__set_autoload(t->skel->progs.sys_enter, !singles);
	bpf_program__set_autoload(t->skel->progs.sys_exit, !singles);
	err = configure(t->skel, o, e);
	if (err < 0)
		return err;
	err = syscalls_bpf__load(t->skel);
	return err < 0 ? libbpf_error(err, e) : 0;
}

/* The kernel may have no tracepoints of single calls; then the general ones are used. */
static int load_programs(struct tacho_syscall_tracer *t, const struct tacho_syscall_tracer_opts *o, struct tacho_error *e)
{
	uint32_t numbers[MAX_SINGLE_CALLS];
	size_t n = single_calls(o, numbers);
	int err = load_skeleton(t, o, n > 0, e);

	if (n && (err < 0 || attach_singles(t, numbers, n) < 0))
		err = load_skeleton(t, o, false, e);
	return err;
}

static int load(struct tacho_syscall_tracer *t, const struct tacho_syscall_tracer_opts *o, struct tacho_error *e)
{
	int err;

	err = load_programs(t, o, e);
	if (err < 0)
		return err;
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
	detach_singles(t);
	ring_buffer__free(t->ring);
	syscalls_bpf__destroy(t->skel);
	free(t);
}

int tacho_syscall_tracer_add_task(struct tacho_syscall_tracer *t, int tid)
{
	const struct task_state none = { 0 };

	return bpf_map_update_elem(bpf_map__fd(t->skel->maps.tasks), &tid, &none, BPF_NOEXIST);
}

int tacho_syscall_tracer_add_command(struct tacho_syscall_tracer *t, int tid)
{
	const struct task_state state = { .waits_for_exec = 1 };

	return bpf_map_update_elem(bpf_map__fd(t->skel->maps.tasks), &tid, &state, BPF_ANY);
}

int tacho_syscall_tracer_fd(const struct tacho_syscall_tracer *t)
{
	return ring_buffer__epoll_fd(t->ring);
}

int tacho_syscall_tracer_drain(struct tacho_syscall_tracer *t, tacho_syscall_event_fn *fn, void *arg)
{
	t->fn = fn;
	t->arg = arg;
	t->skel->data->reader_waits = 1;
	return ring_buffer__consume(t->ring);
}

static int lost_sum(const struct tacho_syscall_tracer *t, uint32_t what, uint64_t *sum)
{
	int n = libbpf_num_possible_cpus(), err;
	uint64_t *values;

	*sum = 0;
	if (n < 0)
		return n;
	values = calloc((size_t)n, sizeof(*values));
	if (!values)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(t->skel->maps.lost), &what, values);
	for (int i = 0; !err && i < n; i++)
		*sum += values[i];
	free(values);
	return err;
}

int tacho_syscall_tracer_lost(const struct tacho_syscall_tracer *t, uint64_t *events, uint64_t *tasks)
{
	int err = lost_sum(t, 0, events);

	return err < 0 ? err : lost_sum(t, 1, tasks);
}

int tacho_syscall_tracer_pending(struct tacho_syscall_tracer *t, tacho_syscall_event_fn *fn, void *arg)
{
	int fd = bpf_map__fd(t->skel->maps.tasks), err = 0;
	uint32_t key, *before = NULL;
	struct task_state state;

	for (; err == 0 && bpf_map_get_next_key(fd, before, &key) == 0; before = &key) {
		struct tacho_syscall_event ev = { .size = sizeof(ev), .type = TACHO_SYSCALL_ENTRY, .tid = key };

		if (bpf_map_lookup_elem(fd, &key, &state) < 0 || !state.in_call || state.recorded)
			continue;
		ev.nr = state.nr;
		ev.compat = state.compat;
		ev.time_ns = state.entry_ns;
		memcpy(ev.v, state.args, sizeof(ev.v));
		err = fn(arg, &ev);
	}
	return err;
}

static void set_count_key(struct tacho_syscall_count *c, const struct count_key *key)
{
	*c = (struct tacho_syscall_count){ .size = sizeof(*c), .tid = (uint32_t)key->id, .serial = (uint32_t)(key->id >> 32),
		.cgroup = key->id, .nr = key->nr & 0x7fffffff, .compat = key->nr >> 31 };
}

static int read_counts(struct tacho_syscall_tracer *t, tacho_syscall_count_fn *fn, void *arg)
{
	int fd = bpf_map__fd(t->skel->maps.counts), err = 0;
	struct count_key key, *before = NULL;
	struct tacho_syscall_count c;
	struct call_count n;

	for (; err == 0 && bpf_map_get_next_key(fd, before, &key) == 0; before = &key) {
		if (bpf_map_lookup_elem(fd, &key, &n) < 0)
			continue;
		set_count_key(&c, &key);
		c.calls = n.calls;
		c.errors = n.errors;
		c.sum_ns = n.sum_ns;
		c.min_ns = n.min_ns;
		c.max_ns = n.max_ns;
		c.sum_of_squares = (double)n.squares_high * 0x1p64 + (double)n.squares_low;
		if (n.calls)
			err = fn(arg, &c);
	}
	return err;
}

static int read_error_counts(struct tacho_syscall_tracer *t, tacho_syscall_count_fn *fn, void *arg)
{
	int fd = bpf_map__fd(t->skel->maps.error_counts), err = 0;
	struct count_key key, *before = NULL;
	struct tacho_syscall_count c;
	uint64_t n;

	for (; err == 0 && bpf_map_get_next_key(fd, before, &key) == 0; before = &key) {
		if (bpf_map_lookup_elem(fd, &key, &n) < 0)
			continue;
		set_count_key(&c, &key);
		c.error = (int)key.cpu_or_error;
		c.calls = n;
		err = fn(arg, &c);
	}
	return err;
}

int tacho_syscall_tracer_counts(struct tacho_syscall_tracer *t, tacho_syscall_count_fn *fn, void *arg, uint64_t *lost)
{
	int err = read_counts(t, fn, arg);

	if (err == 0)
		err = read_error_counts(t, fn, arg);
	return err < 0 ? err : lost_sum(t, 2, lost);
}
