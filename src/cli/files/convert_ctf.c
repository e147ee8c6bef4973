/*
 * Writes a recording as a trace in the Common Trace Format: an event class per event of the recording, and
 * with --all one for each type of comm, fork, exit and mmap record.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/files/ctf.h"

struct ctf_out {
	int dir;
	bool made_dir, finished;
	struct ctf_streams streams;
	int64_t offset_s;		/* difference between the sample clock and UTC: */
	uint32_t offset_ns;		/* seconds rounded down, and nanoseconds */
	uint64_t lost_records, lost_samples;	/* sums of the LOST and of the LOST_SAMPLES records */
};

static const char *ctf_path(const struct data_opts *o)
{
	return o->ctf;
}

static int failed(const struct convert *c, int err, struct tacho_error *e)
{
	if (err == -ENOMEM)
		return error_nomem(e);
	return error_set(e, err, "cannot write into '%s': %s", c->opts->ctf, strerror(-err));
}

static int read_clock(struct convert *c, struct ctf_out *out, struct tacho_error *e)
{
	struct tacho_file_clock clock;
	int64_t difference;

	if (tacho_perfdata_clock(c->pd, &clock) < 0) {
		error_set(e, -EINVAL, "--tod needs a reference to the time of day, which the recording does not have");
		error_hint(e, "record with -k CLOCK, e.g. -k monotonic");
		return -EINVAL;
	}
	difference = (int64_t)(clock.wall_ns - clock.clock_ns);
	out->offset_s = difference / 1000000000;
	if (difference % 1000000000 < 0)
		out->offset_s--;		/* the clock is ahead of UTC, like CLOCK_TAI */
	out->offset_ns = (uint32_t)(difference - out->offset_s * 1000000000);
	return 0;
}

static int make_dir(struct convert *c, struct ctf_out *out, struct tacho_error *e)
{
	const char *path = c->opts->ctf;

	out->made_dir = mkdir(path, 0777) == 0;
	if (!out->made_dir && errno == EEXIST && !c->opts->force) {
		error_set(e, -EEXIST, "'%s' exists already", path);
		error_hint(e, "--force overwrites a trace in it");
		return -EEXIST;
	}
	out->dir = out->made_dir || errno == EEXIST ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (out->dir < 0)
		return failed(c, -errno, e);
	ctf_remove(out->dir);
	return 0;
}

static int ctf_open(struct convert *c, struct tacho_error *e)
{
	struct ctf_out *out = calloc(1, sizeof(*out));
	int err = 0;

	if (!out)
		return error_nomem(e);
	c->out = out;
	out->dir = -1;
	if (c->opts->tod)
		err = read_clock(c, out, e);
	if (err == 0)
		err = make_dir(c, out, e);
	if (err < 0)
		return err;
	out->streams.dir = out->dir;
	if (getrandom(out->streams.uuid, sizeof(out->streams.uuid), 0) != sizeof(out->streams.uuid))
		return failed(c, -errno, e);
	return 0;
}

static int ctf_sample(struct convert *c, size_t event, const struct tacho_record *rec,
		      const struct tacho_sample *s, struct tacho_error *e)
{
	struct ctf_out *out = c->out;
	uint32_t cpu = s->type & PERF_SAMPLE_CPU ? s->cpu : 0;
	struct buf *b = ctf_event(&out->streams, cpu, s->time, (uint32_t)event);
	int err;

	if (!b)
		return error_nomem(e);
	ctf_put_sample(b, &c->events.v[event], s, rec->swapped);
	err = ctf_flush_full(&out->streams, cpu);
	return err < 0 ? failed(c, err, e) : 0;
}

/* ---- sideband records ---- */

enum sideband_field { SIDEBAND_PID, SIDEBAND_PPID, SIDEBAND_TID, SIDEBAND_PTID, SIDEBAND_TIME, SIDEBAND_START, SIDEBAND_COMM,
		   SIDEBAND_FILENAME, SIDEBAND_END };

static const struct {
	const char *name;
	unsigned bits;			/* 0: a string */
	bool hex;
} sideband_fields[] = {
	[SIDEBAND_PID] = { "pid", 32, false }, [SIDEBAND_PPID] = { "ppid", 32, false },
	[SIDEBAND_TID] = { "tid", 32, false }, [SIDEBAND_PTID] = { "ptid", 32, false },
	[SIDEBAND_TIME] = { "time", 64, false }, [SIDEBAND_START] = { "start", 64, true },
	[SIDEBAND_COMM] = { "comm", 0, false }, [SIDEBAND_FILENAME] = { "filename", 0, false },
};

static const struct sideband_class {
	uint32_t type;
	const char *name;
	enum sideband_field fields[6];
} sideband_classes[] = {
	{ TACHO_RECORD_COMM, "perf_comm", { SIDEBAND_PID, SIDEBAND_TID, SIDEBAND_COMM, SIDEBAND_END } },
	{ TACHO_RECORD_EXIT, "perf_exit",
	  { SIDEBAND_PID, SIDEBAND_PPID, SIDEBAND_TID, SIDEBAND_PTID, SIDEBAND_TIME, SIDEBAND_END } },
	{ TACHO_RECORD_FORK, "perf_fork",
	  { SIDEBAND_PID, SIDEBAND_PPID, SIDEBAND_TID, SIDEBAND_PTID, SIDEBAND_TIME, SIDEBAND_END } },
	{ TACHO_RECORD_MMAP, "perf_mmap", { SIDEBAND_PID, SIDEBAND_TID, SIDEBAND_START, SIDEBAND_FILENAME, SIDEBAND_END } },
	{ TACHO_RECORD_MMAP2, "perf_mmap2", { SIDEBAND_PID, SIDEBAND_TID, SIDEBAND_START, SIDEBAND_FILENAME, SIDEBAND_END } },
};

static uint64_t sideband_value(const struct tacho_sideband *o, enum sideband_field field)
{
	bool task = o->type == TACHO_RECORD_FORK || o->type == TACHO_RECORD_EXIT;
	bool comm = o->type == TACHO_RECORD_COMM;

	switch (field) {
	case SIDEBAND_PID: return task ? o->task.pid : comm ? o->comm.pid : o->mmap.pid;
	case SIDEBAND_TID: return task ? o->task.tid : comm ? o->comm.tid : o->mmap.tid;
	case SIDEBAND_PPID: return o->task.ppid;
	case SIDEBAND_PTID: return o->task.ptid;
	case SIDEBAND_TIME: return o->task.time;
	default: return o->mmap.addr;
	}
}

static void put_sideband(struct buf *b, const struct sideband_class *cl, const struct tacho_sideband *o)
{
	for (const enum sideband_field *f = cl->fields; *f != SIDEBAND_END; f++) {
		uint64_t v;
		const char *text = *f == SIDEBAND_COMM ? o->comm.name : o->mmap.path;

		if (!sideband_fields[*f].bits) {
			ctf_put_string(b, text, strlen(text));
			continue;
		}
		v = sideband_value(o, *f);
		if (sideband_fields[*f].bits == 32)
			buf_put(b, &(uint32_t){ (uint32_t)v }, 4);
		else
			buf_put(b, &v, 8);
	}
}

/* Returns the ID of a sideband event class. These IDs count down from the maximum, because sample events
 * use 0, 1, 2 ... and a recording from a pipe may add events at any time. */
static uint32_t sideband_id(size_t i)
{
	return UINT32_MAX - (uint32_t)i;
}

/* LOST records report losses as they happen; LOST_SAMPLES at the end report the same losses per event. The
 * larger sum is used. */
static int count_lost(struct ctf_out *out, uint32_t cpu, const struct tacho_sideband *o)
{
	uint64_t before = max_of(out->lost_records, out->lost_samples);

	*(o->type == TACHO_RECORD_LOST ? &out->lost_records : &out->lost_samples) += o->lost.lost;
	return ctf_lost(&out->streams, cpu, max_of(out->lost_records, out->lost_samples) - before);
}

static int ctf_sideband(struct convert *c, const struct tacho_sideband *o, struct tacho_error *e)
{
	struct ctf_out *out = c->out;
	uint32_t cpu = o->id.type & PERF_SAMPLE_CPU ? o->id.cpu : 0;
	int err = 0;

	if (o->type == TACHO_RECORD_LOST || o->type == TACHO_RECORD_LOST_SAMPLES)
		err = count_lost(out, cpu, o);
	for (size_t i = 0; i < countof(sideband_classes) && c->opts->all && err == 0; i++) {
		struct buf *b;

		if (sideband_classes[i].type != o->type)
			continue;
		b = ctf_event(&out->streams, cpu, o->id.time, sideband_id(i));
		if (!b)
			return error_nomem(e);
		put_sideband(b, &sideband_classes[i], o);
		c->sideband_events++;
		err = ctf_flush_full(&out->streams, cpu);
	}
	return err < 0 ? failed(c, err, e) : 0;
}

/* ---- the metadata ---- */

static void describe_int(struct buf *b, unsigned bits, const char *name)
{
	ctf_describe_int(b, bits, false, false, name);
}

static void put_uuid(struct buf *b, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		buf_printf(b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static void describe_trace(struct buf *b, const struct ctf_out *out)
{
	buf_puts(b, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	put_uuid(b, out->streams.uuid);
	buf_printf(b, "\";\n\tbyte_order = %s;\n\tpacket.header := struct {\n", ctf_byte_order);
	describe_int(b, 32, "magic");
	buf_puts(b, "\t\tinteger { size = 8; align = 8; signed = false; } uuid[16];\n");
	describe_int(b, 32, "stream_id");
	buf_puts(b, "\t};\n};\n\n");
}

static void put_env(struct buf *b, const struct convert *c, const char *key, enum tacho_feature f)
{
	const char *text = tacho_perfdata_string(c->pd, f);

	if (!text)
		return;
	buf_printf(b, "\t%s = ", key);
	ctf_quote(b, text);
	buf_puts(b, ";\n");
}

static void describe_host(struct buf *b, const struct convert *c, const struct ctf_out *out)
{
	buf_puts(b, "env {\n");
	put_env(b, c, "host", TACHO_FEATURE_HOSTNAME);
	buf_puts(b, "\tsysname = \"Linux\";\n");
	put_env(b, c, "release", TACHO_FEATURE_OSRELEASE);
	put_env(b, c, "version", TACHO_FEATURE_VERSION);
	put_env(b, c, "machine", TACHO_FEATURE_ARCH);
	buf_puts(b, "\tdomain = \"kernel\";\n\ttracer_name = \"tacho\";\n};\n\n"
		    "clock {\n\tname = perf_clock;\n\tdescription = \"perf clock\";\n\tfreq = 1000000000;\n"
		    "\tprecision = 10;\n");
	buf_printf(b, "\toffset_s = %lld;\n\toffset = %u;\n\tabsolute = FALSE;\n};\n\n",
		   (long long)out->offset_s, out->offset_ns);
}

static void describe_stream(struct buf *b)
{
	static const char *const context[] = { "timestamp_begin", "timestamp_end", "content_size",
					       "packet_size", "events_discarded" };

	buf_puts(b, "stream {\n\tid = 0;\n\tevent.header := struct {\n");
	describe_int(b, 32, "id");
	buf_printf(b, "\t\tinteger { size = 64; align = 8; signed = false; byte_order = %s; "
		   "map = clock.perf_clock.value; } timestamp;\n", ctf_byte_order);
	buf_puts(b, "\t};\n\tpacket.context := struct {\n");
	for (size_t i = 0; i < countof(context); i++) {
		if (i < 2)
			buf_printf(b, "\t\tinteger { size = 64; align = 8; signed = false; byte_order = %s; "
				   "map = clock.perf_clock.value; } %s;\n", ctf_byte_order, context[i]);
		else
			describe_int(b, 64, context[i]);
	}
	describe_int(b, 32, "cpu_id");
	buf_puts(b, "\t};\n};\n\n");
}

static void open_event(struct buf *b, uint32_t id, const char *name)
{
	buf_printf(b, "event {\n\tid = %u;\n\tname = ", id);
	ctf_quote(b, name);
	buf_puts(b, ";\n\tstream_id = 0;\n\tfields := struct {\n");
}

static void describe_events(struct buf *b, const struct convert *c)
{
	for (size_t i = 0; i < c->events.n; i++) {
		open_event(b, (uint32_t)i, c->events.v[i].file->name);
		ctf_describe_sample(b, &c->events.v[i]);
		buf_puts(b, "\t};\n};\n\n");
	}
	for (size_t i = 0; i < countof(sideband_classes) && c->opts->all; i++) {
		open_event(b, sideband_id(i), sideband_classes[i].name);
		for (const enum sideband_field *f = sideband_classes[i].fields; *f != SIDEBAND_END; f++)
			if (sideband_fields[*f].bits)
				ctf_describe_int(b, sideband_fields[*f].bits, false, sideband_fields[*f].hex,
						 sideband_fields[*f].name);
			else
				ctf_describe_string(b, sideband_fields[*f].name);
		buf_puts(b, "\t};\n};\n\n");
	}
}

static int write_metadata(struct convert *c, struct ctf_out *out)
{
	scoped(buf_done) struct buf b = { 0 };
	scoped(closep) int fd = -1;

	describe_trace(&b, out);
	describe_host(&b, c, out);
	describe_stream(&b);
	describe_events(&b, c);
	if (buf_failed(&b))
		return -ENOMEM;
	fd = openat(out->dir, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : io_write_all(fd, b.bytes, b.n);
}

static int ctf_finish(struct convert *c, struct tacho_error *e)
{
	struct ctf_out *out = c->out;
	int err = ctf_flush_all(&out->streams);

	if (err == 0)
		err = write_metadata(c, out);
	c->bytes = out->streams.bytes;
	out->finished = err == 0;
	return err < 0 ? failed(c, err, e) : 0;
}

static void ctf_close(struct convert *c)
{
	struct ctf_out *out = c->out;

	if (!out)
		return;
	if (!out->finished && out->dir >= 0)
		ctf_remove(out->dir);
	if (!out->finished && out->made_dir)
		rmdir(c->opts->ctf);
	closep(&out->dir);
	ctf_streams_done(&out->streams);
	free(out);
}

const struct convert_writer convert_ctf = {
	.name = "CTF", .path = ctf_path, .open = ctf_open, .sample = ctf_sample, .sideband = ctf_sideband,
	.finish = ctf_finish, .close = ctf_close,
};
