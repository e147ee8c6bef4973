/*
 * Makes a profile of a view with stacks: writes a perf.data in memory, with the records of mappings and tasks that the tracker
 * has seen and a sample per sum at the time when its stack was first seen, and loads it. So addresses are resolved by the
 * mappings of that time.
 */
#include "view/view_internal.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/sized_opts.h"
#include "base/vec.h"
#include "record/callchain_markers.h"

#include <tacho/perfdata.h>
#include <tacho/recorder.h>

#define OFF_CPU_NAME "offcpu-time"
#define SAMPLE_ID UINT64_C(0x7461636800000001)	/* the tracker's are small numbers */
#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
		     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT)
#define MAX_CHAIN (VIEW_STACKS * VIEW_STACK + VIEW_STACKS + 1)
#define WAKERS UINT64_C(0xfffffffff0000000)	/* addresses that stand for the names of wakers */

struct timed_record {
	uint64_t time;
	size_t at, n;			/* in `bytes` */
};

struct profile_builder {
	struct tacho_view *v;
	struct tacho_layout layout;	/* of the tracker's records */
	struct buf bytes;
	struct { struct timed_record *v; size_t n, cap; } records;
	struct map wakers;		/* name -> number */
	struct arena names;
	int err;
};

static void add_record(struct profile_builder *b, uint64_t time, const void *bytes, size_t n)
{
	struct timed_record *r = vec_next(&b->records);

	if (!r) {
		b->err = -ENOMEM;
		return;
	}
	*r = (struct timed_record){ time, b->bytes.n, n };
	buf_put(&b->bytes, bytes, n);
}

static void add_tracked(struct profile_builder *b)
{
	struct tacho_record_iter it = { .at = (const uint8_t *)b->v->records.bytes,
					.end = (const uint8_t *)b->v->records.bytes + b->v->records.n };
	struct tacho_record rec;

	while (!b->err && tacho_record_next(&it, &rec) > 0) {
		uint64_t time = tacho_record_time(&rec, &b->layout);

		add_record(b, time == UINT64_MAX ? 0 : time, rec.bytes, rec.size);
	}
}

/* The trailer of a record, as the tracker's records have it. */
static void put_trailer(const struct profile_builder *b, struct buf *out, uint64_t time)
{
	const uint64_t zero = 0;

	if (b->layout.sample_type & PERF_SAMPLE_TID)
		buf_put(out, &zero, sizeof(zero));
	if (b->layout.sample_type & PERF_SAMPLE_TIME)
		buf_put(out, &time, sizeof(time));
	for (uint64_t bit = PERF_SAMPLE_ID; bit <= PERF_SAMPLE_IDENTIFIER; bit <<= 1)
		if (b->layout.sample_type & bit & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))
			buf_put(out, &zero, sizeof(zero));
}

/* A KSYMBOL record that gives an address the name of a waker. */
static void name_waker(struct profile_builder *b, uint64_t address, const char *name)
{
	scoped(buf_done) struct buf r = { 0 };
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t addr;
		uint32_t len;
		uint16_t kind, flags;
	} head = { .type = TACHO_RECORD_KSYMBOL, .addr = address, .len = 16, .kind = 1 };

	buf_put(&r, &head, sizeof(head));
	buf_printf(&r, "waker %s", name);
	buf_pad(&r, '\0', 8 - r.n % 8);
	put_trailer(b, &r, 1);
	head.size = (uint16_t)r.n;
	if (buf_failed(&r)) {
		b->err = -ENOMEM;
		return;
	}
	memcpy(r.bytes, &head, sizeof(head));
	add_record(b, 1, r.bytes, r.n);
}

/* The address that stands for a waker. */
static uint64_t waker_address(struct profile_builder *b, const char *name)
{
	const uint64_t *known = map_get(&b->wakers, str_of(name));
	uint64_t address = WAKERS + b->wakers.n * 16;
	char *copy;

	if (known)
		return *known;
	copy = arena_str(&b->names, str_of(name));
	if (!copy || map_put(&b->wakers, str_of(copy), address) < 0) {
		b->err = -ENOMEM;
		return 0;
	}
	name_waker(b, address, name);
	return address;
}

/* The text of the column WAKER; NULL: there is none. */
static const char *waker_of(struct tacho_view *v, const struct view_key *key)
{
	for (size_t i = 0; i < v->plan.n_columns; i++)
		if (v->plan.columns[i].part.source == VIEW_SLOT_COMM) {
			view_rows_of_key(&v->rows, key);
			return v->rows.values[i].text;
		}
	return NULL;
}

static size_t put_ips(uint64_t *to, uint64_t marker, const uint64_t *ips, uint32_t n)
{
	if (!n)
		return 0;
	to[0] = marker;
	memcpy(to + 1, ips, n * sizeof(*ips));
	return n + 1;
}

/* Innermost first: the waker's name and its stack from the outermost function, the kernel, user space. */
static size_t put_chain(struct profile_builder *b, const struct view_key *key, const struct view_stacks *s, uint64_t out[MAX_CHAIN])
{
	const char *waker = waker_of(b->v, key);
	size_t n = 0;

	if (waker && waker[0]) {
		out[n++] = CONTEXT_KERNEL;
		out[n++] = waker_address(b, waker);
		for (uint32_t i = s->n[2]; i--;)
			out[n++] = s->ips[2][i];
		memcpy(out + n, s->ips[0], s->n[0] * sizeof(*out));
		n += s->n[0];
	} else {
		n += put_ips(out + n, CONTEXT_KERNEL, s->ips[0], s->n[0]);
	}
	return n + put_ips(out + n, CONTEXT_USER, s->ips[1], s->n[1]);
}

struct sample_head {
	uint32_t type;
	uint16_t misc, size;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, period, n_chain;
};

/* One sample, whose weight is the number of events. */
static void add_sample(struct profile_builder *b, struct sample_head *head, const uint64_t *chain, uint64_t count)
{
	uint64_t bytes[sizeof(*head) / 8 + MAX_CHAIN + 1];
	size_t n = sizeof(*head) / 8;

	memcpy(bytes + n, chain, head->n_chain * 8);
	n += head->n_chain;
	bytes[n++] = count;
	head->size = (uint16_t)(n * 8);
	memcpy(bytes, head, sizeof(*head));
	add_record(b, head->time, bytes, n * 8);
}

static int on_sum(void *arg, const struct view_key *key, const struct view_sum *sum)
{
	struct profile_builder *b = arg;
	struct view_stacks stacks;
	uint64_t chain[MAX_CHAIN];
	struct sample_head head = { .type = TACHO_RECORD_SAMPLE, .id = SAMPLE_ID, .time = sum->first_ns, .tid = (uint32_t)sum->first_tid };
	int err = view_stacks_read(b->v, key, &stacks);

	if (err < 0 || !sum->count)
		return err;
	head.n_chain = put_chain(b, key, &stacks, chain);
	head.pid = stacks.pid;
	head.ip = head.n_chain > 1 ? chain[1] : 0;
	head.misc = head.n_chain && chain[0] == CONTEXT_KERNEL ? 1 : 2;
	head.period = sum->sum;
	add_sample(b, &head, chain, sum->count);
	return b->err;
}

static int by_time(const void *pa, const void *pb)
{
	const struct timed_record *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static struct tacho_sampler *tracker_of(const struct tacho_view *v)
{
	return v->sampled ? sampled_view_sampler(v->sampled) : v->names.own;
}

static int add_events(struct profile_builder *b, struct tacho_perfdata_writer *w)
{
	struct tacho_sampler *s = tracker_of(b->v);
	struct perf_event_attr attr = b->v->sampled_attr, tracker = { 0 };
	const uint64_t *ids = NULL, id = SAMPLE_ID;
	size_t last = tacho_sampler_size(s) - 1, n_ids = 0;
	const char *name = b->v->sampled_name;
	int err = tacho_sampler_attr(s, last, &tracker, sizeof(tracker), NULL);

	if (!name[0]) {
		name = OFF_CPU_NAME;
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	}
	attr.size = sizeof(attr);
	attr.sample_type = SAMPLE_TYPE;
	attr.flags |= PERF_ATTR_SAMPLE_ID_ALL;
	if (err == 0)
		err = tacho_layout_init(&b->layout, &tracker, sizeof(tracker));
	if (err == 0)
		err = tacho_sampler_ids(s, last, &ids, &n_ids);
	if (err == 0)
		err = tacho_writer_event(w, name, &attr, sizeof(attr), &id, 1);
	return err < 0 ? err : tacho_writer_event(w, "dummy", &tracker, sizeof(tracker), ids, n_ids);
}

static int write_records(struct profile_builder *b, struct tacho_perfdata_writer *w, struct tacho_error *e)
{
	int err;

	add_tracked(b);
	err = b->err ? b->err : view_each_sum(b->v, on_sum, b);
	if (err == 0 && buf_failed(&b->bytes))
		err = -ENOMEM;
	if (err < 0)
		return err == -ENOMEM ? error_nomem(e) : err;
	if (b->records.n)
		qsort(b->records.v, b->records.n, sizeof(*b->records.v), by_time);
	for (size_t i = 0; err == 0 && i < b->records.n; i++)
		err = tacho_writer_records(w, b->bytes.bytes + b->records.v[i].at, b->records.v[i].n, e);
	return err;
}

static int write_file(struct profile_builder *b, int fd, struct tacho_error *e)
{
	struct tacho_perfdata_writer *w = NULL;
	int err = tacho_writer_open(&w, fd, TACHO_OPTS(tacho_writer_opts), e);

	if (err == 0)
		err = add_events(b, w);
	if (err == 0)
		err = tacho_writer_begin(w, e);
	if (err == 0)
		err = write_records(b, w, e);
	if (err == 0)
		err = tacho_writer_finish(w, e);
	tacho_writer_free(w);
	return err;
}

/* The symbols know only the kernel so far. */
static int load_file(struct tacho_view *v, int fd, const struct tacho_profile_opts *opts, struct tacho_profile **out,
		     struct tacho_error *e)
{
	struct tacho_profile_opts counted = { .size = sizeof(counted) };
	struct tacho_profile *p = NULL;
	struct tacho_perfdata *pd = NULL;
	char path[40];
	int err = opts_copy(&counted, sizeof(counted), opts, e);

	counted.size = sizeof(counted);
	counted.weight_is_count = true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (err == 0)
		err = tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = true), e);
	if (err == 0)
		err = tacho_profile_new(&p, &counted, e);
	if (err == 0)
		err = tacho_profile_load_next(p, pd, v->names.symbols, e);
	tacho_perfdata_close(pd);
	if (err < 0)
		tacho_profile_free(p);
	else
		*out = p;
	return err;
}

int tacho_view_profile(struct tacho_view *v, const struct tacho_profile_opts *opts, struct tacho_profile **out,
		       struct tacho_error *e)
{
	struct profile_builder b = { .v = v };
	int fd, err;

	if (!v->has_names || !v->opts.keeps_maps)
		return error_set(e, -EINVAL, "%s has no stacks, or its maps were not kept", v->def.info.name);
	err = stack_names_update(&v->names);
	fd = memfd_create("tacho-view", MFD_CLOEXEC);
	if (err == 0 && fd < 0)
		err = error_set(e, -errno, "a file in memory cannot be made: %s", strerror(errno));
	if (err == 0)
		err = write_file(&b, fd, e);
	buf_done(&b.bytes);
	vec_done(&b.records);
	map_done(&b.wakers);
	arena_done(&b.names);
	if (err == 0)
		err = load_file(v, fd, opts, out, e);
	if (fd >= 0)
		close(fd);
	return err;
}
