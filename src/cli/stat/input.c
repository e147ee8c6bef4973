/*
 * Reading a file of counts: maps, configuration, and round by round what each counter had counted.
 * A counter's values are those since the start; what a round added is the difference, scaled by
 * its own share of the time, as the live display does it.
 */
#include "cli/stat/file.h"

#include <errno.h>

#include "base/cpuset.h"
#include "base/error.h"
#include "base/num.h"
#include "cli/files/feature_payload.h"

#define COMM_BYTES 16

static int by_id(const void *pa, const void *pb)
{
	const struct stat_counter *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

static int index_counters(struct stat_input *in)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(in->pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(in->pd, i);

		/* perf gives an event that could not be opened no id; it still has its row. */
		for (size_t k = 0; k < max_of(ev->n_ids, (size_t)1); k++) {
			struct stat_counter *c = vec_add(&in->counters);

			if (!c)
				return -ENOMEM;
			*c = (struct stat_counter){ .id = ev->n_ids ? ev->ids[k] : UINT64_MAX,
						    .event = (uint32_t)i, .cpu = -1 };
		}
	}
	if (in->counters.n)
		qsort(in->counters.v, in->counters.n, sizeof(*in->counters.v), by_id);
	return 0;
}

/* ---- where CPUs are: (core, socket) of each, and in newer files the die ---- */

static void skip_list(struct payload *p)
{
	for (uint32_t n = payload_u32(p); n && !p->bad; n--)
		payload_str(p);
}

static int read_topology(struct stat_input *in)
{
	struct payload p = payload_of(in->pd, TACHO_FEATURE_NRCPUS), dies;
	uint32_t n = payload_u32(&p);

	p = payload_of(in->pd, TACHO_FEATURE_CPU_TOPOLOGY);
	skip_list(&p);
	skip_list(&p);
	dies = p;
	payload_bytes(&dies, (size_t)n * 8);
	skip_list(&dies);
	for (uint32_t i = 0; i < n && !p.bad; i++) {
		int32_t core = (int32_t)payload_u32(&p), socket = (int32_t)payload_u32(&p);
		uint32_t die = payload_u32(&dies);
		struct stat_cpu_place *at = p.bad ? NULL : vec_add(&in->cpus);

		if (!at)
			return p.bad ? 0 : -ENOMEM;
		*at = (struct stat_cpu_place){ core, socket, dies.bad ? 0 : (int32_t)die, -1 };
	}
	return 0;
}

static int read_nodes(struct stat_input *in)
{
	struct payload p = payload_of(in->pd, TACHO_FEATURE_NUMA_TOPOLOGY);

	for (uint32_t n = payload_u32(&p); n && !p.bad; n--) {
		scoped(cpuset_done) struct cpuset cpus = { 0 };
		int32_t node = (int32_t)payload_u32(&p);

		payload_u64(&p);
		payload_u64(&p);
		if (cpuset_parse(&cpus, payload_str(&p)) == -ENOMEM)
			return -ENOMEM;
		for (int cpu = cpuset_next(&cpus, -1); cpu >= 0; cpu = cpuset_next(&cpus, cpu))
			if ((size_t)cpu < in->cpus.n)
				in->cpus.v[cpu].node = node;
	}
	return 0;
}

static int make_title(struct stat_input *in)
{
	struct payload p = payload_of(in->pd, TACHO_FEATURE_CMDLINE);
	uint32_t n = payload_u32(&p);
	struct buf b = { 0 };

	buf_putc(&b, '\'');
	for (uint32_t i = 0; i < n && !p.bad; i++) {
		if (i)
			buf_putc(&b, ' ');
		buf_str(&b, payload_str(&p));
	}
	buf_putc(&b, '\'');
	in->title = buf_take(&b);
	return in->title ? 0 : -ENOMEM;
}

/* ---- records ---- */

static int read_threads(struct stat_input *in, const struct tacho_record *rec)
{
	struct payload p = payload_of_record(rec);
	uint64_t n = payload_u64(&p);

	if (p.bad || n > (size_t)(p.end - p.at) / (8 + COMM_BYTES))
		return -EBADMSG;
	free(take(in->comms));
	free(take(in->tids));
	in->n_threads = 0;
	in->comms = calloc(n + 1, sizeof(*in->comms));
	in->tids = calloc(n + 1, sizeof(*in->tids));
	if (!in->comms || !in->tids)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		in->tids[i] = (int32_t)payload_u64(&p);
		memcpy(in->comms[i], payload_bytes(&p, COMM_BYTES), COMM_BYTES);
	}
	in->n_threads = n;
	return 0;
}

static int read_config(struct stat_input *in, const struct tacho_record *rec)
{
	struct payload p = payload_of_record(rec);

	for (uint64_t n = payload_u64(&p); n && !p.bad; n--) {
		uint64_t tag = payload_u64(&p), value = payload_u64(&p);

		if (p.bad)
			return -EBADMSG;
		if (tag == STAT_CONFIG_AGGR)
			in->per = stat_aggr_per(value, tacho_perfdata_string(in->pd, TACHO_FEATURE_VERSION));
		else if (tag == STAT_CONFIG_INTERVAL)
			in->interval_ms = value;
		else if (tag == STAT_CONFIG_SCALE)
			in->scale = value;
	}
	return p.bad ? -EBADMSG : 0;
}

static int read_stat(struct stat_input *in, const struct tacho_record *rec)
{
	struct payload p = payload_of_record(rec);
	struct stat_counter key = { .id = payload_u64(&p) }, *c = NULL;

	key.cpu = (int32_t)payload_u32(&p);
	key.thread = payload_u32(&p);
	key.raw = payload_u64(&p);
	key.enabled_ns = payload_u64(&p);
	key.running_ns = payload_u64(&p);
	if (in->counters.n)
		c = bsearch(&key, in->counters.v, in->counters.n, sizeof(*c), by_id);
	if (!p.bad && !c && key.id == 0)
		return 0;		/* perf's own clocks (duration_time) have no id */
	if (p.bad || !c || key.id == UINT64_MAX)
		return -EBADMSG;
	c->cpu = key.cpu;
	c->thread = key.thread;
	c->raw = key.raw;
	c->enabled_ns = key.enabled_ns;
	c->running_ns = key.running_ns;
	c->seen = in->has_stats = true;
	return 0;
}

/* What this round added; a counter that was read out of order has added nothing. */
static void close_round(struct stat_input *in)
{
	for (size_t i = 0; i < in->counters.n; i++) {
		struct stat_counter *c = &in->counters.v[i];
		uint64_t raw = c->raw > c->before[0] ? c->raw - c->before[0] : 0;
		uint64_t enabled = c->enabled_ns > c->before[1] ? c->enabled_ns - c->before[1] : 0;
		uint64_t running = c->running_ns > c->before[2] ? c->running_ns - c->before[2] : 0;

		c->round.raw = raw;
		c->round.scaled = running < enabled ? num_muldiv(raw, enabled, running) : raw;
		c->round.enabled_ns = enabled;
		c->round.running_ns = running;
		c->scaled += c->round.scaled;
		c->before[0] = c->raw;
		c->before[1] = c->enabled_ns;
		c->before[2] = c->running_ns;
	}
}

int stat_input_round(struct stat_input *in, enum stat_round_kind *kind, uint64_t *time_ns,
		     struct tacho_error *e)
{
	struct tacho_record rec;
	bool pending = false;
	int err;

	while ((err = tacho_perfdata_next(in->pd, &rec, e)) > 0) {
		struct payload p = payload_of_record(&rec);
		int bad = 0;

		if (!in->counters.n && index_counters(in) < 0)
			return error_nomem(e);
		if (rec.type == TACHO_RECORD_THREAD_MAP)
			bad = read_threads(in, &rec);
		else if (rec.type == TACHO_RECORD_STAT_CONFIG)
			bad = read_config(in, &rec);
		else if (rec.type == TACHO_RECORD_STAT)
			bad = read_stat(in, &rec);
		pending |= rec.type == TACHO_RECORD_STAT;
		if (bad == -ENOMEM)
			return error_nomem(e);
		if (bad < 0)
			return error_set(e, bad, "byte %#llx: a record (type %u) that is cut short or of no event here",
					 (unsigned long long)rec.offset, rec.type);
		if (rec.type != TACHO_RECORD_STAT_ROUND)
			continue;
		*kind = payload_u64(&p) & 0xff ? STAT_ROUND_FINAL : STAT_ROUND_INTERVAL;
		*time_ns = payload_u64(&p);
		close_round(in);
		return 1;
	}
	if (err < 0 || !pending || in->interval_ms)
		return err;
	close_round(in);		/* the recorder died between the counts and their round */
	*kind = STAT_ROUND_FINAL;
	*time_ns = 0;
	return 1;
}

int stat_input_open(struct stat_input *in, const char *path, bool force, struct tacho_error *e)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .force = force };
	int err = tacho_perfdata_open(&in->pd, path, &opts, e);

	if (err < 0)
		return err;
	in->scale = true;
	in->per = TACHO_PER_TOTAL;
	if (index_counters(in) < 0 || read_topology(in) < 0 || read_nodes(in) < 0 || make_title(in) < 0)
		return error_nomem(e);
	return 0;
}

void stat_input_close(struct stat_input *in)
{
	tacho_perfdata_close(in->pd);
	vec_done(&in->counters);
	vec_done(&in->cpus);
	free(in->events);
	free(in->comms);
	free(in->tids);
	free(in->title);
}
