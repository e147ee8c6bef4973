/*
 * Readers: the rings of samples are divided among several threads, by CPU. Layouts:
 *
 *	cpu, core, package, numa	one reader per CPU, core, package or node that has rings
 *	0,2-4/2-4:1,5-7/5		one reader per part: CPUs of its rings / CPUs its thread runs on
 *
 * The tracker's rings stay with the caller's thread, which alone maintains the hitmap. Each
 * reader has its own sample counts; tacho_sampler_stats() adds them up.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>

#include "base/vec.h"
#include "sys/topology.h"

#define READERS_MAX 4096

/* A number that is equal for the CPUs that share a reader in the named layout, or -EINVAL. */
static int cpu_group(const struct topology_cpu *c, const char *layout, struct tacho_error *e)
{
	if (strcmp(layout, "cpu") == 0)
		return c->cpu;
	if (strcmp(layout, "core") == 0)
		return (c->socket << 16 | (c->die & 15) << 12) + c->core;
	if (strcmp(layout, "package") == 0)
		return c->socket;
	if (strcmp(layout, "numa") == 0)
		return max_of(c->node, 0);
	error_set(e, -EINVAL, "'%s' is not a thread layout", layout);
	error_hint(e, "use cpu, core, package, numa, or CPUS/CPUS:CPUS/CPUS...: CPUs whose rings are read / "
		   "CPUs to run on");
	return -EINVAL;
}

struct reader_layout {
	struct {
		struct sampler_reader *v;
		size_t n, cap;
	} readers;
	struct cpuset cpus, pinned;	/* union over all readers, to detect CPUs given twice */
};

static struct sampler_reader *add_reader(struct reader_layout *l)
{
	struct sampler_reader *r = l->readers.n < READERS_MAX ? vec_add(&l->readers) : NULL;

	if (r)
		*r = (struct sampler_reader){ .epoll = -1 };
	return r;
}

static void layout_done(struct reader_layout *l)
{
	for (size_t i = 0; i < l->readers.n; i++) {
		cpuset_done(&l->readers.v[i].cpus);
		cpuset_done(&l->readers.v[i].pinned);
	}
	vec_done(&l->readers);
	cpuset_done(&l->cpus);
	cpuset_done(&l->pinned);
}

/* Layouts cpu, core, package and numa: CPUs of the same group share a reader. */
static int layout_named(struct reader_layout *l, const struct topology *t, const char *name,
			struct tacho_error *e)
{
	scoped(freep) int *groups = calloc(t->n + 1, sizeof(*groups));

	if (!groups)
		return error_nomem(e);
	for (size_t i = 0; i < t->n; i++) {
		int group = cpu_group(&t->cpus[i], name, e);
		struct sampler_reader *r;
		size_t at = 0;

		if (group < 0)
			return -EINVAL;
		while (at < l->readers.n && groups[at] != group)
			at++;
		r = at < l->readers.n ? &l->readers.v[at] : add_reader(l);
		if (!r)
			return error_nomem(e);
		groups[at] = group;
		if (cpuset_add(&r->cpus, t->cpus[i].cpu) < 0 || cpuset_add(&r->pinned, t->cpus[i].cpu) < 0)
			return error_nomem(e);
	}
	return 0;
}

/* Parses one CPU list of a mask. CPUs that are offline are ignored; at least one must be online. */
static int parse_mask(const struct topology *t, struct str text, struct cpuset *all,
		      struct cpuset *out, struct tacho_error *e)
{
	scoped(cpuset_done) struct cpuset named = { 0 };
	int err = cpuset_parse(&named, text);

	if (err == -ENOMEM)
		return error_nomem(e);
	if (err < 0 || cpuset_empty(&named))
		return error_set(e, -EINVAL, "'%.*s' is not a list of CPUs", STR(text));
	for (size_t i = 0; err == 0 && i < t->n; i++) {
		int cpu = t->cpus[i].cpu;

		if (!cpuset_has(&named, cpu))
			continue;
		if (cpuset_has(all, cpu))
			return error_set(e, -EINVAL, "CPU %d is in two masks", cpu);
		err = cpuset_add(all, cpu);
		if (err == 0)
			err = cpuset_add(out, cpu);
	}
	if (err < 0)
		return error_nomem(e);
	if (cpuset_empty(out))
		return error_set(e, -EINVAL, "no CPU of '%.*s' is online", STR(text));
	return 0;
}

static int layout_masks(struct reader_layout *l, const struct topology *t, const char *text,
			struct tacho_error *e)
{
	struct str rest = str_of(text), part, cpus;
	int err = 0;

	while (err == 0 && str_cut(&rest, ':', &part)) {
		struct sampler_reader *r;

		if (!str_cut(&part, '/', &cpus) || !part.s) {
			error_set(e, -EINVAL, "'%.*s' has no '/'", STR(cpus));
			error_hint(e, "a mask is CPUS/CPUS: CPUs whose rings are read / CPUs the thread runs on");
			return -EINVAL;
		}
		r = add_reader(l);
		if (!r)
			return error_nomem(e);
		err = parse_mask(t, cpus, &l->cpus, &r->cpus, e);
		if (err == 0)
			err = parse_mask(t, part, &l->pinned, &r->pinned, e);
	}
	return err;
}

static bool has_rings(const struct tacho_sampler *s, const struct sampler_reader *r)
{
	for (size_t i = 0; i < s->rings.n; i++)
		if (!s->rings.v[i].tracker && cpuset_has(&r->cpus, s->rings.v[i].cpu))
			return true;
	return false;
}

static int open_reader(const struct tacho_sampler *s, struct sampler_reader *r)
{
	pthread_mutex_init(&r->busy, NULL);
	r->counts = calloc(s->n_counts + 1, sizeof(*r->counts));
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!r->counts)
		return -ENOMEM;
	return r->epoll < 0 ? -errno : 0;
}

/* Moves rings from the sampler's epoll to those of their readers. Rings without a reader are not moved. */
static int move_rings_to_readers(struct tacho_sampler *s)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];

		for (size_t k = 0; k < s->n_readers && !r->tracker && !r->reader; k++)
			if (cpuset_has(&s->readers[k].cpus, r->cpu))
				r->reader = &s->readers[k];
		if (!r->reader)
			continue;
		if (r->polled_fd >= 0)
			epoll_ctl(s->epoll, EPOLL_CTL_DEL, r->polled_fd, NULL);
		r->next = 0;
		if (!rings_watch(s, i))
			return -errno;
		s->n_watched--;
	}
	return 0;
}

/* Installs the readers that have at least one ring. */
static int install_readers(struct tacho_sampler *s, struct reader_layout *l, struct tacho_error *e)
{
	int err = 0;

	s->readers = calloc(l->readers.n + 1, sizeof(*s->readers));
	if (!s->readers)
		return error_nomem(e);
	for (size_t i = 0; err == 0 && i < l->readers.n; i++) {
		struct sampler_reader *r = &l->readers.v[i];

		if (!has_rings(s, r))
			continue;
		s->readers[s->n_readers] = *r;
		r->cpus = r->pinned = (struct cpuset){ 0 };
		err = open_reader(s, &s->readers[s->n_readers++]);
	}
	if (err == 0)
		err = move_rings_to_readers(s);
	if (err < 0)
		return error_set(e, err, "cannot divide the ring buffers among threads: %s", strerror(-err));
	return (int)s->n_readers;
}

int tacho_sampler_split(struct tacho_sampler *s, const char *layout, struct tacho_error *e)
{
	scoped(topology_done) struct topology t = { 0 };
	scoped(layout_done) struct reader_layout l = { 0 };
	int err = sampler_check_open(s);

	if (err < 0 || s->n_readers)
		return error_set(e, err < 0 ? err : -EBUSY, "rings can be split once, after the sampler was opened "
				 "and by the process that opened it");
	for (size_t i = 0; i < s->rings.n; i++)
		if (s->rings.v[i].overwrite)
			return error_set(e, -EINVAL, "overwrite rings cannot be split");
	err = topology_read(&t, &s->t->sys);
	if (err < 0)
		return error_set(e, err, "cannot read the CPU topology: %s", strerror(-err));
	if (!layout || !*layout)
		layout = "cpu";
	err = strchr(layout, '/') ? layout_masks(&l, &t, layout, e) : layout_named(&l, &t, layout, e);
	return err < 0 ? err : install_readers(s, &l, e);
}

size_t tacho_sampler_n_rings(const struct tacho_sampler *s)
{
	size_t n = 0;

	for (size_t i = 0; s && i < s->rings.n; i++)
		n += s->rings.v[i].reader != NULL;
	return n;
}

int tacho_sampler_reader_fd(const struct tacho_sampler *s, size_t k)
{
	return s && k < s->n_readers ? s->readers[k].epoll : -EINVAL;
}

int tacho_sampler_reader_pin(const struct tacho_sampler *s, size_t k)
{
	cpu_set_t *set;
	size_t bytes;
	int last = 0, err;

	if (!s || k >= s->n_readers)
		return -EINVAL;
	for (int c = cpuset_next(&s->readers[k].pinned, -1); c >= 0;
	     c = cpuset_next(&s->readers[k].pinned, c))
		last = c;
	set = CPU_ALLOC((size_t)last + 1);
	if (!set)
		return -ENOMEM;
	bytes = CPU_ALLOC_SIZE((size_t)last + 1);
	CPU_ZERO_S(bytes, set);
	for (int c = cpuset_next(&s->readers[k].pinned, -1); c >= 0;
	     c = cpuset_next(&s->readers[k].pinned, c))
		CPU_SET_S((size_t)c, bytes, set);
	err = sched_setaffinity(0, bytes, set) < 0 ? -errno : 0;
	CPU_FREE(set);
	return err;
}

/* Adapts a tacho_ring_bytes_fn, which also takes the ring's number, to tacho_bytes_fn. */
struct ring_bytes_fn {
	tacho_ring_bytes_fn *fn;
	void *arg;
	size_t ring;
};

static int put_with_ring_number(void *arg, const void *bytes, size_t n)
{
	const struct ring_bytes_fn *to = arg;

	return to->fn(to->arg, to->ring, bytes, n);
}

int64_t tacho_sampler_reader_drain(struct tacho_sampler *s, size_t k, tacho_ring_bytes_fn *fn,
				   void *arg)
{
	struct sampler_reader *me = s && k < s->n_readers ? &s->readers[k] : NULL;
	struct ring_bytes_fn to = { .fn = fn, .arg = arg };
	struct drainer d = { .s = s };
	int64_t sum = 0;

	if (!me)
		return -EINVAL;
	sum = sampler_check_open(s);
	if (sum < 0)
		return sum;
	d.counts = me->counts;
	d.bounce = &me->bounce;
	rings_check_ended(s, me->epoll);
	pthread_mutex_lock(&me->busy);
	for (size_t i = 0; sum >= 0 && i < s->rings.n; i++) {
		int64_t got = 0;

		if (s->rings.v[i].reader == me)
			got = sampler_drain_ring(&d, i, put_with_ring_number, &to);
		sum = got < 0 ? got : sum + got;
		to.ring += s->rings.v[i].reader != NULL;
	}
	pthread_mutex_unlock(&me->busy);
	return sum;
}

static void add_counts(struct sampler_count *sum, const struct sampler_count *more)
{
	struct tacho_sampler_stats *to = &sum->stats;
	const struct tacho_sampler_stats *from = &more->stats;

	sum->lost_in_records += more->lost_in_records;
	if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns))
		to->first_ns = from->first_ns;
	to->last_ns = max_of(to->last_ns, from->last_ns);
	to->samples += from->samples;
	to->throttled += from->throttled;
}

struct sampler_count readers_sum(const struct tacho_sampler *s, size_t i)
{
	struct sampler_count sum = s->counts[i];

	for (size_t k = 0; k < s->n_readers; k++) {
		struct sampler_reader *r = &s->readers[k];

		pthread_mutex_lock(&r->busy);
		add_counts(&sum, &r->counts[i]);
		pthread_mutex_unlock(&r->busy);
	}
	return sum;
}

void readers_close(struct tacho_sampler *s)
{
	for (size_t k = 0; k < s->n_readers; k++) {
		struct sampler_reader *r = &s->readers[k];

		if (r->epoll >= 0)
			close(r->epoll);
		pthread_mutex_destroy(&r->busy);
		cpuset_done(&r->cpus);
		cpuset_done(&r->pinned);
		buf_done(&r->bounce);
		free(r->counts);
	}
	free(s->readers);
	s->readers = NULL;
	s->n_readers = 0;
}
