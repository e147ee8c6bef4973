/*
 * `stat record`: writes the counters of an event set to a perf.data file. perf's reader has requirements:
 * THREAD_MAP and CPU_MAP must precede the first STAT, and STAT records name their event by its ID. An
 * event without any STAT record is shown as not supported by the machine, as intended.
 */
#include "cli/stat/file.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cpuset.h"
#include "record/perf_abi.h"

#define COMM_BYTES 16
#define ANY_CPU 0xffffu
#define RECORD_MAX 0xfff8u

static const enum tacho_per numbers_old[] = {	/* numbers before perf 6.5 */
	TACHO_PER_CPU, TACHO_PER_TOTAL, TACHO_PER_SOCKET, TACHO_PER_DIE, TACHO_PER_CORE,
	TACHO_PER_THREAD, TACHO_PER_TOTAL, TACHO_PER_NODE,
};
static const enum tacho_per numbers_cache[] = {	/* numbers of perf 6.5 to 6.8 */
	TACHO_PER_CPU, TACHO_PER_TOTAL, TACHO_PER_SOCKET, TACHO_PER_DIE, TACHO_PER_CACHE,
	TACHO_PER_CORE, TACHO_PER_THREAD, TACHO_PER_TOTAL, TACHO_PER_NODE,
};
static const enum tacho_per numbers_new[] = {
	TACHO_PER_CPU, TACHO_PER_TOTAL, TACHO_PER_SOCKET, TACHO_PER_DIE, TACHO_PER_CLUSTER,
	TACHO_PER_CACHE, TACHO_PER_CORE, TACHO_PER_THREAD, TACHO_PER_TOTAL, TACHO_PER_NODE,
};

int stat_aggr_number(enum tacho_per per)
{
	for (size_t i = 0; i < countof(numbers_old); i++)
		if (numbers_old[i] == per)
			return (int)i;
	return -1;
}

enum tacho_per stat_aggr_per(uint64_t number, const char *version)
{
	unsigned long major = 0, minor = 0;
	char *end;

	if (version) {
		major = strtoul(version, &end, 10);
		minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	}
	if (major > 6 || (major == 6 && minor >= 9))
		return number < countof(numbers_new) ? numbers_new[number] : TACHO_PER_TOTAL;
	if (major == 6 && minor >= 5)
		return number < countof(numbers_cache) ? numbers_cache[number] : TACHO_PER_TOTAL;
	return number < countof(numbers_old) ? numbers_old[number] : TACHO_PER_TOTAL;
}

static bool is_pipe(const struct stat_file *f)
{
	return strcmp(f->path, "-") == 0;
}

/* ---- records ---- */

static void put16(struct buf *b, uint16_t v) { buf_put(b, &v, sizeof(v)); }
static void put32(struct buf *b, uint32_t v) { buf_put(b, &v, sizeof(v)); }
static void put64(struct buf *b, uint64_t v) { buf_put(b, &v, sizeof(v)); }

static size_t open_record(struct buf *b, uint32_t type)
{
	size_t at = b->n;

	put32(b, type);
	put32(b, 0);
	return at;
}

/* Pads the record and fills in its size. -E2BIG if it is too long for a record. */
static int close_record(struct buf *b, size_t at)
{
	uint16_t size;

	buf_pad(b, '\0', -(b->n - at) & 7);
	if (buf_failed(b))
		return -ENOMEM;
	if (b->n - at > RECORD_MAX)
		return -E2BIG;
	size = (uint16_t)(b->n - at);
	memcpy(b->bytes + at + 6, &size, sizeof(size));
	return 0;
}

static void put_cpu_list(struct buf *b, const struct cpuset *cpus, bool any)
{
	put16(b, CPU_MAP_LIST);
	put16(b, (uint16_t)(cpuset_count(cpus) + any));
	if (any)
		put16(b, ANY_CPU);
	for (int cpu = cpuset_next(cpus, -1); cpu >= 0; cpu = cpuset_next(cpus, cpu))
		put16(b, (uint16_t)cpu);
}

static int put_update(struct stat_file *f, uint64_t kind, uint64_t id, const void *bytes, size_t n)
{
	size_t at = open_record(&f->records, TACHO_RECORD_EVENT_UPDATE);

	put64(&f->records, kind);
	put64(&f->records, id);
	buf_put(&f->records, bytes, n);
	return close_record(&f->records, at);
}

/* ---- threads, IDs, events ---- */

static int thread_index(struct stat_file *f, int32_t tid)
{
	int32_t *at;

	/* Readings are sorted by thread, so it is usually the next one. */
	for (size_t i = 0; i < f->tids.n; i++) {
		size_t k = (f->next_thread + i) % f->tids.n;

		if (f->tids.v[k] == tid) {
			f->next_thread = k + 1;
			return (int)k;
		}
	}
	at = vec_add(&f->tids);
	if (!at)
		return -ENOMEM;
	*at = tid;
	return (int)f->tids.n - 1;
}

/* Counter k has the ID k + 1; events without counters get the following IDs. */
static int number_counters(struct stat_file *f, struct tacho_evset *set)
{
	size_t n, total;

	tacho_evset_readings(set, &n);
	total = n + tacho_evset_size(set);
	f->ids = calloc(total + 1, sizeof(*f->ids));
	for (size_t i = 0; f->ids && i < total; i++)
		f->ids[i] = i + 1;
	return f->ids ? 0 : -ENOMEM;
}

struct reading_range {		/* the readings of one event */
	size_t first, n;
};

static struct reading_range event_readings(struct tacho_evset *set, size_t event, size_t from)
{
	size_t n, i;
	const struct tacho_reading *r = tacho_evset_readings(set, &n);

	for (i = from; i < n && r[i].event == event;)
		i++;
	return (struct reading_range){ from, i - from };
}

static int write_event(struct stat_file *f, struct tacho_evset *set, size_t i, struct reading_range span)
{
	const struct tacho_event *ev = tacho_evset_event(set, i);
	struct perf_event_attr attr = { 0 };
	size_t n, n_ids = max_of(span.n, (size_t)1);
	int err = tacho_evset_attr(set, i, &attr, sizeof(attr));

	tacho_evset_readings(set, &n);
	if (err < 0)
		return err;
	if (ev->kind == TACHO_EVENT_TOOL) {	/* tacho's own event, not the kernel's */
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
	}
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;	/* STAT records name their event by its id */
	attr.size = attr.size ? attr.size : PERF_ATTR_SIZE_VER0;
	return tacho_writer_event(f->writer, ev->name, &attr, attr.size,
				  f->ids + (span.n ? span.first : n + i), n_ids);
}

static int write_events(struct stat_file *f, struct tacho_evset *set)
{
	size_t at = 0;
	int err = number_counters(f, set);

	for (size_t i = 0; err == 0 && i < tacho_evset_size(set); i++) {
		struct reading_range span = event_readings(set, i, at);

		at += span.n;
		err = write_event(f, set, i, span);
	}
	for (size_t i = 0; err == 0 && i < tacho_evset_size(set); i++) {
		const struct tacho_event *ev = tacho_evset_event(set, i);

		if (ev->group_size > 1 && ev->leader == i)
			err = tacho_writer_group(f->writer, "{anon_group}", (uint32_t)i, ev->group_size);
	}
	return err;
}

static int write_features(struct stat_file *f)
{
	scoped(strlist_done) struct strlist args = { 0 };
	int err = tacho_writer_host(f->writer, NULL, NULL);

	if (err == 0)
		err = tacho_writer_string(f->writer, TACHO_FEATURE_VERSION, tacho_version());
	if (err == 0)
		err = file_cmdline(&args);
	if (err == 0)
		err = tacho_writer_cmdline(f->writer, (const char *const *)args.v, args.n);
	if (err == 0)
		err = tacho_writer_feature(f->writer, TACHO_FEATURE_STAT, "", 0);
	return err;
}

/* Adds the CPUs of the readings to `out`. Returns whether one of the counters is not bound to a CPU. */
static bool collect_cpus(struct tacho_evset *set, struct reading_range span, struct cpuset *out, int *err)
{
	size_t n;
	const struct tacho_reading *r = tacho_evset_readings(set, &n);
	bool any = false;

	for (size_t i = span.first; i < span.first + span.n && i < n; i++) {
		if (r[i].cpu < 0)
			any = true;
		else if (*err == 0)
			*err = cpuset_add(out, r[i].cpu);
	}
	return any;
}

static int put_event_updates(struct stat_file *f, struct tacho_evset *set, size_t i,
			     struct reading_range span, const struct cpuset *all)
{
	const struct tacho_event *ev = tacho_evset_event(set, i);
	scoped(cpuset_done) struct cpuset own = { 0 };
	scoped(buf_done) struct buf list = { 0 };
	size_t n;
	uint64_t id;
	int err = 0;
	bool any = collect_cpus(set, span, &own, &err);

	tacho_evset_readings(set, &n);
	id = span.n ? f->ids[span.first] : f->ids[n + i];
	if (err == 0 && ev->unit && ev->unit[0])
		err = put_update(f, UPDATE_UNIT, id, ev->unit, strlen(ev->unit) + 1);
	if (err == 0 && ev->scale != 1)
		err = put_update(f, UPDATE_SCALE, id, &ev->scale, sizeof(ev->scale));
	if (err == 0 && is_pipe(f))	/* a file has the names in its header */
		err = put_update(f, UPDATE_NAME, id, ev->name, strlen(ev->name) + 1);
	if (err < 0 || any || !span.n || cpuset_count(&own) == cpuset_count(all))
		return err;
	put_cpu_list(&list, &own, false);	/* an uncore event: it counts on some of the CPUs only */
	return buf_failed(&list) ? -ENOMEM : put_update(f, UPDATE_CPUS, id, list.bytes, list.n);
}

static const char *comm_of(const struct tacho_sum *sums, int n, int32_t tid)
{
	for (int i = 0; i < n; i++)
		if (sums[i].place.tid == tid)
			return sums[i].place.comm;
	return NULL;
}

static int put_threads(struct stat_file *f, struct tacho_evset *set, enum tacho_per per)
{
	size_t n, at = open_record(&f->records, TACHO_RECORD_THREAD_MAP);
	const struct tacho_reading *r = tacho_evset_readings(set, &n);
	const struct tacho_sum *sums = NULL;
	int n_sums = 0;

	for (size_t i = 0; i < n; i++)
		if (thread_index(f, r[i].tid) < 0)
			return -ENOMEM;
	if (!f->tids.n && thread_index(f, -1) < 0)
		return -ENOMEM;
	if (per == TACHO_PER_THREAD)
		n_sums = tacho_evset_sums(set, TACHO_OPTS(tacho_sums_opts, .per = per), &sums);
	put64(&f->records, f->tids.n);
	for (size_t i = 0; i < f->tids.n; i++) {
		const char *comm = comm_of(sums, n_sums, f->tids.v[i]);
		char name[COMM_BYTES] = "";

		if (comm)
			memcpy(name, comm, strnlen(comm, COMM_BYTES - 1));
		put64(&f->records, (uint64_t)(int64_t)f->tids.v[i]);
		buf_put(&f->records, name, sizeof(name));
	}
	return close_record(&f->records, at);
}

static int put_config(struct stat_file *f, enum tacho_per per)
{
	const uint64_t pairs[][2] = {
		{ STAT_CONFIG_AGGR, (uint64_t)stat_aggr_number(per) },
		{ STAT_CONFIG_INTERVAL, f->opts->interval_ms },
		{ STAT_CONFIG_SCALE, !f->opts->no_scale },
	};
	size_t at = open_record(&f->records, TACHO_RECORD_STAT_CONFIG);

	put64(&f->records, countof(pairs));
	buf_put(&f->records, pairs, sizeof(pairs));
	return close_record(&f->records, at);
}

static int put_head_records(struct stat_file *f, struct tacho_evset *set, enum tacho_per per)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	size_t n, at = 0;
	int err = 0;
	bool any;

	tacho_evset_readings(set, &n);
	any = collect_cpus(set, (struct reading_range){ 0, n }, &cpus, &err) || !n;
	f->any_cpu = cpuset_next(&cpus, -1);	/* events without a CPU (clocks): the first, like perf */
	any &= f->any_cpu < 0;
	for (size_t i = 0; err == 0 && i < tacho_evset_size(set); i++) {
		struct reading_range span = event_readings(set, i, at);

		at += span.n;
		err = put_event_updates(f, set, i, span, &cpus);
	}
	if (err == 0)
		err = put_threads(f, set, per);
	if (err < 0)
		return err;
	at = open_record(&f->records, TACHO_RECORD_CPU_MAP);
	put_cpu_list(&f->records, &cpus, any);
	err = close_record(&f->records, at);
	return err < 0 ? err : put_config(f, per);
}

/* ---- the file ---- */

static int report_write_error(const struct stat_file *f, int err, const struct tacho_error *e)
{
	message_text("stat", "cannot write '%s': %s", f->path,
		     err == -E2BIG ? "too many threads or CPUs for this format"
				   : e && e->message[0] ? e->message : strerror(-err));
	return err;
}

static int send_records(struct stat_file *f, struct tacho_error *e)
{
	int err = buf_failed(&f->records) ? -ENOMEM : 0;

	if (err == 0)
		err = tacho_writer_records(f->writer, f->records.bytes, f->records.n, e);
	if (err == 0)
		err = tacho_writer_flush(f->writer, e);
	buf_clear(&f->records);
	return err;
}

static int open_file(struct stat_file *f)
{
	int err;

	if (is_pipe(f)) {
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return f->fd < 0 ? report_write_error(f, -errno, NULL) : 0;
	}
	err = output_file_create(&f->out, "stat", f->path, false);
	f->fd = f->out.fd;
	return err;
}

int stat_file_begin(struct stat_file *f, struct tacho_evset *set, enum tacho_per per)
{
	struct tacho_writer_opts opts = { .size = sizeof(opts), .pipe = is_pipe(f) };
	struct tacho_error e = { .column = -1 };
	int err = open_file(f);

	if (err < 0)
		return err;
	err = tacho_writer_open(&f->writer, f->fd, &opts, &e);
	if (err == 0)
		err = write_events(f, set);
	if (err == 0)
		err = write_features(f);
	if (err == 0)
		err = tacho_writer_begin(f->writer, &e);
	if (err == 0)
		err = put_head_records(f, set, per);
	if (err == 0)
		err = send_records(f, &e);
	return err < 0 ? report_write_error(f, err, &e) : 0;
}

int stat_file_take_name(struct stat_file *f)
{
	int err = output_file_take_name(&f->out, "stat", false);

	f->named = err == 0;
	return err;
}

int stat_file_round(struct stat_file *f, struct tacho_evset *set, enum stat_round_kind kind,
		    double time_s)
{
	struct tacho_error e = { .column = -1 };
	size_t n, at;
	const struct tacho_reading *r = tacho_evset_readings(set, &n);
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i++) {
		if (r[i].state > TACHO_NOT_COUNTED)
			continue;
		at = open_record(&f->records, TACHO_RECORD_STAT);
		put64(&f->records, f->ids[i]);
		put32(&f->records, (uint32_t)(r[i].cpu < 0 ? f->any_cpu : r[i].cpu));
		put32(&f->records, (uint32_t)thread_index(f, r[i].tid));
		put64(&f->records, r[i].raw);
		put64(&f->records, r[i].enabled_ns);
		put64(&f->records, r[i].running_ns);
		err = close_record(&f->records, at);
	}
	at = open_record(&f->records, TACHO_RECORD_STAT_ROUND);
	put64(&f->records, kind);
	put64(&f->records, (uint64_t)(time_s * 1e9 + 0.5));
	if (err == 0)
		err = close_record(&f->records, at);
	if (err == 0)
		err = send_records(f, &e);
	return err < 0 ? report_write_error(f, err, &e) : 0;
}

int stat_file_finish(struct stat_file *f)
{
	struct tacho_error e = { .column = -1 };
	int err = f->writer ? tacho_writer_finish(f->writer, &e) : 0;

	if (err == 0 && f->fd >= 0 && close(take_fd(f->fd)) < 0)
		err = -errno;
	if (f->fd < 0)
		f->out.fd = -1;
	return err < 0 ? report_write_error(f, err, &e) : 0;
}

void stat_file_done(struct stat_file *f)
{
	struct tacho_error e;

	if (f->fd >= 0 && f->named)
		tacho_writer_finish(f->writer, &e);	/* its errors have already been reported */
	tacho_writer_free(f->writer);
	if (f->fd != f->out.fd)			/* the duplicate of stdout */
		closep(&f->fd);
	if (f->named)
		output_file_done(&f->out);
	else
		output_file_discard(&f->out);
	vec_done(&f->tids);
	free(f->ids);
	buf_done(&f->records);
}
