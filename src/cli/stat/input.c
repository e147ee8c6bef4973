/*
 * Reads a perf.data file with counts: the maps, the configuration, and the values of each counter, one round
 * at a time. The values in the file are totals since the start. The count of a round is the difference to the
 * previous round, scaled by that round's enabled and running times, as in the live display.
 */
#include "cli/stat/file.h"

#include <errno.h>

#include "base/cpuset.h"
#include "base/error.h"
#include "base/num.h"

static int by_id(const void *pa, const void *pb)
{
	const struct stat_counter *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

static int index_counters(struct stat_input *in)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(in->pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(in->pd, i);

		/* An event that perf could not open has no ID, but still gets a row. */
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

/* ---- CPU topology: core and socket of each CPU, and in newer files the die ---- */

static int read_topology(struct stat_input *in)
{
	struct tacho_cpu_position at;
	struct tacho_cpu_topology t;

	if (tacho_perfdata_topology(in->pd, &t) < 0)
		return 0;
	for (uint32_t cpu = 0; tacho_topology_cpu(&t, cpu, &at); cpu++) {
		struct stat_cpu_place *place = vec_add(&in->cpus);

		if (!place)
			return -ENOMEM;
		*place = (struct stat_cpu_place){ at.core, at.socket, at.die, -1 };
	}
	return 0;
}

static int read_nodes(struct stat_input *in)
{
	struct tacho_feature_list list;
	struct tacho_numa_node node;

	if (tacho_perfdata_list(in->pd, TACHO_FEATURE_NUMA_TOPOLOGY, &list) < 0)
		return 0;
	while (tacho_numa_node_next(&list, &node) > 0) {
		scoped(cpuset_done) struct cpuset cpus = { 0 };

		if (cpuset_parse(&cpus, str_n(node.cpus.s, node.cpus.n)) == -ENOMEM)
			return -ENOMEM;
		for (int cpu = cpuset_next(&cpus, -1); cpu >= 0; cpu = cpuset_next(&cpus, cpu))
			if ((size_t)cpu < in->cpus.n)
				in->cpus.v[cpu].node = (int32_t)node.node;
	}
	return 0;
}

/* What the head says was counted: the recorder's command line; for streams 'pipe', as with perf. */
static int make_title(struct stat_input *in)
{
	struct tacho_feature_list list = { 0 };
	struct tacho_text arg;
	struct buf b = { 0 };

	if (tacho_perfdata_is_pipe(in->pd)) {
		in->title = strdup("'pipe'");
		return in->title ? 0 : -ENOMEM;
	}
	tacho_perfdata_list(in->pd, TACHO_FEATURE_CMDLINE, &list);
	buf_putc(&b, '\'');
	while (tacho_text_next(&list, &arg) > 0) {
		if (b.n > 1)
			buf_putc(&b, ' ');
		buf_text(&b, str_n(arg.s, arg.n));
	}
	buf_putc(&b, '\'');
	in->title = buf_take(&b);
	return in->title ? 0 : -ENOMEM;
}

/* ---- records ---- */

static int read_threads(struct stat_input *in, const struct tacho_record *rec)
{
	struct tacho_thread_map_entry thread;
	struct tacho_feature_list list;
	int err = tacho_record_list(rec, &list);

	if (err < 0)
		return err;
	free(take(in->comms));
	free(take(in->tids));
	in->n_threads = 0;
	in->comms = calloc(list.left + 1, sizeof(*in->comms));
	in->tids = calloc(list.left + 1, sizeof(*in->tids));
	if (!in->comms || !in->tids)
		return -ENOMEM;
	while ((err = tacho_thread_map_next(&list, &thread)) > 0) {
		in->tids[in->n_threads] = (int32_t)thread.tid;
		memcpy(in->comms[in->n_threads], thread.comm.s, thread.comm.n);
		str_make_printable(in->comms[in->n_threads++], thread.comm.n);
	}
	return err;
}

static int read_config(struct stat_input *in, const struct tacho_record *rec)
{
	struct tacho_stat_config config;
	struct tacho_feature_list list;
	int err = tacho_record_list(rec, &list);

	while (err >= 0 && (err = tacho_stat_config_next(&list, &config)) > 0)
		if (config.tag == STAT_CONFIG_AGGR)
			in->per = stat_aggr_per(config.value, tacho_perfdata_string(in->pd, TACHO_FEATURE_VERSION));
		else if (config.tag == STAT_CONFIG_INTERVAL)
			in->interval_ms = config.value;
		else if (config.tag == STAT_CONFIG_SCALE)
			in->scale = config.value;
	return err;
}

static int read_stat(struct stat_input *in, const struct tacho_record *rec)
{
	struct stat_counter key = { 0 }, *c = NULL;
	struct tacho_stat_value v;

	if (tacho_stat_value_decode(rec, &v) < 0)
		return -EBADMSG;
	key.id = v.id;
	if (in->counters.n)
		c = bsearch(&key, in->counters.v, in->counters.n, sizeof(*c), by_id);
	if (!c && v.id == 0)
		return 0;		/* perf's tool events (duration_time) have no ID */
	if (!c || v.id == UINT64_MAX)
		return -EBADMSG;
	c->cpu = v.cpu;
	c->thread = v.thread;
	c->raw = v.value;
	c->enabled_ns = v.enabled_ns;
	c->running_ns = v.running_ns;
	c->seen = in->has_stats = true;
	return 0;
}

/* Computes what the round added to each counter; a value that decreased counts as no change. */
static void finish_round(struct stat_input *in)
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

int stat_input_record(struct stat_input *in, const struct tacho_record *rec, enum stat_round_kind *kind,
		      uint64_t *time_ns, struct tacho_error *e)
{
	int bad = 0;
	bool final;

	if (!in->counters.n && index_counters(in) < 0)
		return error_nomem(e);
	if (rec->type == TACHO_RECORD_THREAD_MAP)
		bad = read_threads(in, rec);
	else if (rec->type == TACHO_RECORD_STAT_CONFIG)
		bad = read_config(in, rec);
	else if (rec->type == TACHO_RECORD_STAT)
		bad = read_stat(in, rec);
	if (bad == -ENOMEM)
		return error_nomem(e);
	if (bad < 0)
		return error_set(e, bad, "byte %#llx: a record (type %u) is truncated, or refers to an unknown event",
				 (unsigned long long)rec->offset, rec->type);
	if (rec->type != TACHO_RECORD_STAT_ROUND)
		return 0;
	if (tacho_stat_round_decode(rec, &final, time_ns) < 0)
		return error_set(e, -EBADMSG, "byte %#llx: a STAT_ROUND record of %u bytes",
				 (unsigned long long)rec->offset, rec->size);
	*kind = final ? STAT_ROUND_FINAL : STAT_ROUND_INTERVAL;
	finish_round(in);
	return 1;
}

int stat_input_round(struct stat_input *in, enum stat_round_kind *kind, uint64_t *time_ns,
		     struct tacho_error *e)
{
	struct tacho_record rec;
	bool pending = false;
	int err;

	while ((err = tacho_perfdata_next(in->pd, &rec, e)) > 0) {
		int ended = stat_input_record(in, &rec, kind, time_ns, e);

		if (ended)
			return ended;
		pending |= rec.type == TACHO_RECORD_STAT;
	}
	if (err < 0 || !pending || in->interval_ms)
		return err;
	finish_round(in);		/* the recorder was killed between the counts and STAT_ROUND */
	*kind = STAT_ROUND_FINAL;
	*time_ns = 0;
	return 1;
}

void stat_input_init(struct stat_input *in, struct tacho_perfdata *pd)
{
	*in = (struct stat_input){ .pd = pd, .scale = true, .per = TACHO_PER_TOTAL };
}

int stat_input_open(struct stat_input *in, const char *path, bool force, struct tacho_error *e)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .force = force };
	struct tacho_perfdata *pd;
	int err = tacho_perfdata_open(&pd, path, &opts, e);

	if (err < 0)
		return err;
	stat_input_init(in, pd);
	if (index_counters(in) < 0 || read_topology(in) < 0 || read_nodes(in) < 0 || make_title(in) < 0)
		return error_nomem(e);
	return 0;
}

void stat_input_close(struct stat_input *in)
{
	tacho_perfdata_close(in->pd);
	stat_input_done(in);
}

void stat_input_done(struct stat_input *in)
{
	vec_done(&in->counters);
	vec_done(&in->cpus);
	free(in->events);
	free(in->comms);
	free(in->tids);
	free(in->title);
}
