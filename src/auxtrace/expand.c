/*
 * Writes a recording with the samples that its trace decodes to. The recording is read twice: first to find the AUXTRACE
 * records, then in the order of time. Before a record of time T takes effect (a map, a context switch), all queues are
 * decoded up to T:
 *
 *	records   mmap t=5 ........ switch t=9 ........ mmap t=12
 *	queue 0        instructions up to 9      up to 12
 *	queue 1        instructions up to 9      up to 12
 *
 * The samples of a queue are in the order of time; FINISHED_ROUND records between them let the reader merge the queues in
 * bounded memory.
 */
#include "auxtrace/auxtrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sized_opts.h"

#define ROUND_BYTES (16u << 20)
#define FIRST_ID_STEP 1000000000ULL	/* as perf: far from the ids of the recording */

struct expander {
	struct expansion x;
	const struct tacho_auxtrace_opts *opts;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_scratch *scratch;
	const struct trace_decoder_kind *kind;
	struct { struct decoder_slot { struct trace_decoder *d; } *v; size_t n, cap; } decoders;
};

static void expander_done(struct expander *x)
{
	for (size_t i = 0; i < x->decoders.n; i++)
		x->decoders.v[i].d->kind->close(x->decoders.v[i].d);
	vec_done(&x->decoders);
	trace_list_done(&x->x.traces);
	trace_code_done(&x->x.code);
	call_stacks_done(&x->x.stacks);
	task_tracker_done(&x->x.tasks);
	buf_done(&x->x.synth.record);
	tacho_writer_free(x->x.synth.out);
	tacho_symbols_free(x->symbols);
	tacho_perfdata_close(x->pd);
	free(x->scratch);
	if (x->x.fd >= 0)
		close(x->x.fd);
}

/* ---- preparing ---- */

static int open_recording(struct expander *x, const char *path, struct tacho_error *e)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .force = x->opts->force };
	struct stat st;
	int err;

	x->x.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (x->x.fd < 0 || fstat(x->x.fd, &st) < 0)
		return error_set(e, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(e, -EOPNOTSUPP, "'%s' is not a file: hardware traces are read from a single file", path);
	x->x.traces.file_size = (uint64_t)st.st_size;
	err = tacho_perfdata_open(&x->pd, path, &opts, e);
	if (err < 0)
		return err;
	if (tacho_perfdata_swapped(x->pd))
		return error_set(e, -EOPNOTSUPP, "traces in a recording of a machine with the other byte order cannot be decoded");
	err = trace_list_read(&x->x.traces, x->pd, e);
	tacho_perfdata_close(take(x->pd));
	if (err < 0)
		return err;
	if (!x->x.traces.info.kind)
		return error_set(e, -ENOENT, "'%s' has no hardware trace", path);
	x->kind = x->x.traces.info.kind == TRACE_INTEL_PT ? &pt_decoder_kind : &spe_decoder_kind;
	opts.ordered = true;
	return tacho_perfdata_open(&x->pd, path, &opts, e);
}

static const struct perf_event_attr *attr_at(const struct expander *x, size_t i)
{
	return tacho_perfdata_event(x->pd, i)->attr;
}

/* The event whose trace is in the recording: the one of the PMU in AUXTRACE_INFO. */
static int find_traced_event(struct expander *x, struct tacho_error *e)
{
	const struct trace_info *info = &x->x.traces.info;
	uint64_t pmu = info->kind == TRACE_INTEL_PT ? info->pt.pmu_type : info->spe.pmu_type;
	const char *name = trace_kind_name(info->kind);
	size_t n = tacho_perfdata_n_events(x->pd), found = n;

	for (size_t i = 0; i < n; i++) {
		const struct perf_event_attr *attr = attr_at(x, i);

		if (!(attr->sample_type & PERF_SAMPLE_IDENTIFIER)) {
			error_set(e, -EOPNOTSUPP, "the events of the recording have no common identifier (PERF_SAMPLE_IDENTIFIER), "
					 "so samples of a trace cannot be added to it");
			return -EOPNOTSUPP;
		}
		if (found == n && (attr->type == pmu || strncmp(tacho_perfdata_event(x->pd, i)->name, name, strlen(name)) == 0))
			found = i;
		x->x.synth.first_id = max_of(x->x.synth.first_id, tacho_perfdata_event(x->pd, i)->n_ids ?
					     tacho_perfdata_event(x->pd, i)->ids[0] : 0);
	}
	if (found == n) {
		error_set(e, -EBADMSG, "the recording has a trace of %s, but no such event", name);
		return -EBADMSG;
	}
	x->x.attr = attr_at(x, found);
	if (!x->x.attr) {
		error_set(e, -EBADMSG, "the event %s of the trace has no attr", name);
		return -EBADMSG;
	}
	x->x.pt_config = x->x.attr->config;
	x->x.synth.first_id += FIRST_ID_STEP;
	x->x.tasks.switch_event = -1;
	for (size_t i = 0; i < n; i++)
		if (strcmp(tacho_perfdata_event(x->pd, i)->name, "sched:sched_switch") == 0)
			x->x.tasks.switch_event = (int32_t)i;
	return 0;
}

static bool has_times(const struct expander *x)
{
	const struct trace_info *info = &x->x.traces.info;

	if (x->x.synth.want.no_time || !(x->x.attr->sample_type & PERF_SAMPLE_TIME) || !x->x.traces.time.known)
		return false;
	return info->kind != TRACE_INTEL_PT || (x->x.attr->config & info->pt.tsc_bit);
}

/* Traces of threads do not tell the CPU. */
static bool has_cpus(const struct expander *x)
{
	for (size_t i = 0; i < x->x.traces.queues.n; i++)
		if (x->x.traces.queues.v[i].cpu >= 0)
			return true;
	return false;
}

static int copy_header(struct expander *x, struct tacho_error *e)
{
	struct tacho_perfdata_writer *out = x->x.synth.out;
	int err = 0;

	for (size_t i = 0; i < tacho_perfdata_n_events(x->pd) && !err; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(x->pd, i);

		err = tacho_writer_event(out, ev->name, ev->attr, ev->attr_size, ev->ids, ev->n_ids);
	}
	if (err)
		return error_set(e, err, "cannot copy the events: %s", strerror(-err));
	err = synth_events_add(&x->x.synth, x->x.attr, x->kind->kind, x->x.has_time, has_cpus(x), e);
	for (unsigned f = 1; f < TACHO_FEATURE_MAX && !err; f++) {
		size_t n = 0;
		const void *payload = tacho_perfdata_feature(x->pd, f, &n);

		if (!payload || f == TACHO_FEATURE_EVENT_DESC || f == TACHO_FEATURE_COMPRESSED || f == TACHO_FEATURE_AUXTRACE ||
		    f == TACHO_FEATURE_DIR_FORMAT)
			continue;
		err = tacho_writer_feature(out, f, payload, n);
		if (err)
			error_set(e, err, "cannot copy the features: %s", strerror(-err));
	}
	return err ? err : tacho_writer_begin(out, e);
}

static int feed_build_ids(struct expander *x)
{
	struct tacho_feature_list list;
	struct tacho_file_build_id id;
	int err = tacho_perfdata_list(x->pd, TACHO_FEATURE_BUILD_ID, &list);

	if (err < 0)
		return 0;
	while (tacho_build_id_next(&list, &id) > 0) {
		err = tacho_symbols_set_build_id(x->symbols, id.path, id.id, id.n, id.kernel);
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

static int prepare(struct expander *x, int fd, struct tacho_error *e)
{
	struct tacho_writer_opts writer_opts = { .size = sizeof(writer_opts), .pipe = x->opts->pipe };
	int err = find_traced_event(x, e);

	if (err)
		return err;
	x->x.has_time = has_times(x);
	x->x.cpuid = tacho_perfdata_string(x->pd, TACHO_FEATURE_CPUID);
	x->scratch = malloc(sizeof(*x->scratch));
	if (!x->scratch)
		return error_nomem(e);
	err = tacho_symbols_new(&x->symbols, x->opts->symbols, e);
	if (err)
		return err;
	tacho_symbols_set_monotonic(x->symbols, tacho_perfdata_is_monotonic(x->pd));
	if (feed_build_ids(x) < 0 || trace_code_init(&x->x.code, x->symbols) < 0)
		return error_nomem(e);
	for (size_t i = 0; i < x->x.traces.queues.n && !err; i++) {
		struct decoder_slot *slot = vec_add(&x->decoders);

		err = slot ? x->kind->open(&slot->d, &x->x, &x->x.traces.queues.v[i], e) : error_nomem(e);
		if (err && slot)
			x->decoders.n--;
	}
	if (!err)
		err = tacho_writer_open(&x->x.synth.out, fd, &writer_opts, e);
	return err ? err : copy_header(x, e);
}

/* ---- the records, in the order of time ---- */

static int put_round(struct expander *x, struct tacho_error *e)
{
	const uint32_t round[2] = { TACHO_RECORD_FINISHED_ROUND, 8u << 16 };

	x->x.synth.bytes_in_round = 0;
	return tacho_writer_records(x->x.synth.out, round, sizeof(round), e);
}

static int decode_until(struct expander *x, uint64_t time, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; i < x->decoders.n && !err; i++)
		err = x->decoders.v[i].d->kind->decode_until(x->decoders.v[i].d, time, e);
	return !err && x->x.synth.bytes_in_round > ROUND_BYTES ? put_round(x, e) : err;
}

/* Whether the record changes what the next instructions mean. */
static bool changes_state(uint32_t type)
{
	switch (type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
	case TACHO_RECORD_COMM:
	case TACHO_RECORD_FORK:
	case TACHO_RECORD_EXIT:
	case TACHO_RECORD_KSYMBOL:
	case TACHO_RECORD_TEXT_POKE:
	case TACHO_RECORD_ITRACE_START:
	case TACHO_RECORD_SWITCH:
	case TACHO_RECORD_SWITCH_CPU_WIDE:
	case TACHO_RECORD_AUX: return true;
	default: return false;
	}
}

/* AUX records with lost data: the tracing unit could not write. */
static int lost_data(struct expander *x, const struct tacho_sideband *rec, struct tacho_error *e)
{
	const struct synth_error lost = {
		.code = SYNTH_ERROR_LOST, .cpu = rec->id.cpu, .pid = rec->id.pid, .tid = rec->id.tid, .time = rec->id.time,
		.offset = UINT64_MAX, .resumed = UINT64_MAX,
	};

	return rec->aux.flags & 1 ? synth_put_error(&x->x.synth, &lost, e) : 0;	/* PERF_AUX_FLAG_TRUNCATED */
}

static int apply(struct expander *x, const struct tacho_record *rec, const struct tacho_layout *layout, struct tacho_error *e)
{
	struct tacho_sideband decoded;

	x->scratch->used = 0;
	if (tacho_sideband_decode(&decoded, rec, layout, x->scratch) < 0)
		return 0;		/* damaged: the reader of the result reports it */
	if (x->x.has_time && decoded.id.time) {
		int err = decode_until(x, decoded.id.time, e);

		if (err)
			return err;
	}
	if (decoded.type == TACHO_RECORD_AUX)
		return lost_data(x, &decoded, e);
	if (decoded.type != TACHO_RECORD_SWITCH && decoded.type != TACHO_RECORD_SWITCH_CPU_WIDE)
		trace_code_invalidate(&x->x.code);
	if (tacho_symbols_feed(x->symbols, &decoded) == -ENOMEM || task_tracker_record(&x->x.tasks, &decoded) == -ENOMEM)
		return error_nomem(e);
	return 0;
}

static int apply_switch(struct expander *x, const struct tacho_record *rec, size_t event, struct tacho_error *e)
{
	struct tacho_sample sample;
	int err;

	x->scratch->used = 0;
	if (tacho_sample_decode(&sample, rec, &tacho_perfdata_event(x->pd, event)->layout, x->scratch) < 0)
		return 0;
	err = x->x.has_time ? decode_until(x, sample.time, e) : 0;
	if (!err && task_tracker_sched_switch(&x->x.tasks, &sample) == -ENOMEM)
		err = error_nomem(e);
	return err;
}

/* The writer makes these itself, or they belong to the trace. */
static bool is_dropped(uint32_t type)
{
	switch (type) {
	case TACHO_RECORD_HEADER_ATTR:
	case TACHO_RECORD_EVENT_TYPE:
	case TACHO_RECORD_TRACING_DATA:
	case TACHO_RECORD_BUILD_ID:
	case TACHO_RECORD_HEADER_FEATURE:
	case TACHO_RECORD_COMPRESSED:
	case TACHO_RECORD_COMPRESSED2:
	case TACHO_RECORD_FINISHED_ROUND:
	case TACHO_RECORD_ID_INDEX:
	case TACHO_RECORD_AUXTRACE_INFO:
	case TACHO_RECORD_AUXTRACE: return true;
	default: return false;
	}
}

static int process_record(struct expander *x, const struct tacho_record *rec, struct tacho_error *e)
{
	int event = tacho_perfdata_event_of(x->pd, rec), err = 0;
	const struct tacho_layout *layout = &tacho_perfdata_event(x->pd, event < 0 ? 0 : (size_t)event)->layout;

	if (is_dropped(rec->type))
		return 0;
	if (changes_state(rec->type))
		err = apply(x, rec, layout, e);
	else if (rec->type == TACHO_RECORD_SAMPLE && event >= 0 && event == x->x.tasks.switch_event)
		err = apply_switch(x, rec, (size_t)event, e);
	x->x.synth.bytes_in_round += rec->size;
	return err ? err : tacho_writer_records(x->x.synth.out, rec->bytes, rec->size, e);
}

/* Damage of the recording ends it early; the trace is decoded up to its end all the same. */
static int process_all(struct expander *x, struct tacho_error *e)
{
	struct tacho_error damage = { 0 };
	struct tacho_record rec;
	int err, bad = 0;

	while ((err = tacho_perfdata_next(x->pd, &rec, &damage)) > 0 && !bad)
		bad = process_record(x, &rec, e);
	if (bad)
		return bad;
	if (!x->x.has_time) {		/* samples without a time: after all other records */
		bad = put_round(x, e);
		bad = bad ? bad : put_round(x, e);
	}
	bad = bad ? bad : decode_until(x, UINT64_MAX, e);
	bad = bad ? bad : put_round(x, e);
	bad = bad ? bad : tacho_writer_finish(x->x.synth.out, e);
	if (!bad && err < 0 && e)
		*e = damage;
	return bad ? bad : err;
}

static void fill_result(const struct expander *x, struct tacho_auxtrace_result *result)
{
	size_t size = result->size ? min_of(result->size, sizeof(*result)) : sizeof(*result);
	struct tacho_auxtrace_result r = {
		.size = size, .n_samples = x->x.synth.n_samples, .n_errors = x->x.synth.n_errors,
		.n_bytes = x->x.traces.n_bytes, .n_lost_bytes = x->x.n_lost_bytes,
	};
	const char *name = trace_kind_name(x->x.traces.info.kind);

	if (name)
		memcpy(r.kind, name, strlen(name) + 1);
	memcpy(result, &r, size);
}

int tacho_auxtrace_expand(const char *path, int fd, const struct tacho_auxtrace_opts *opts,
			  struct tacho_auxtrace_result *result, struct tacho_error *e)
{
	struct tacho_auxtrace_opts o;
	struct expander x = { .x.fd = -1, .opts = &o };
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	if (o.itrace)
		x.x.synth.want = *o.itrace;
	else
		tacho_itrace_default(&x.x.synth.want, false);
	err = open_recording(&x, path, e);
	if (!err)
		err = prepare(&x, fd, e);
	if (!err)
		err = process_all(&x, e);
	if (result)
		fill_result(&x, result);
	expander_done(&x);
	return err;
}

int tacho_auxtrace_packets(uint32_t kind, const uint8_t *bytes, size_t n, int (*fn)(void *arg, const char *line, size_t n),
			   void *arg)
{
	switch (kind) {
	case TRACE_INTEL_PT: return pt_packets(bytes, n, fn, arg);
	case TRACE_ARM_SPE: return spe_packets(bytes, n, fn, arg);
	default: return -EOPNOTSUPP;
	}
}
