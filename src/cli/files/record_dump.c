/*
 * The form is that of perf:
 *
 *	0xe10@perf.data [0x40]: event: 4
 *	.
 *	. ... raw event: size 64 bytes
 *	.  0000:  04 00 00 00 00 00 40 00 8f 4e 00 00 8e 4e 00 00  ......@..N...N..
 *	...
 *	1 734255672544 0xe10 [0x40]: PERF_RECORD_EXIT(20111:20111):(20110:20110)
 *
 * The last line begins with the CPU and the time. A field that some other event has is -1.
 */
#include "cli/files/record_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/files/build_id_table.h"
#include "cli/files/sideband_text.h"
#include "cli/files/trace_dump.h"
#include "record/perf_abi.h"

typedef unsigned long long ull;

#define MISC_CPUMODE 7u
#define BYTES_PER_LINE 16u

static const char *const tool_names[] = {	/* from TACHO_RECORD_HEADER_ATTR on */
	"ATTR", "EVENT_TYPE", "TRACING_DATA", "BUILD_ID", "FINISHED_ROUND", "ID_INDEX",
	"AUXTRACE_INFO", "AUXTRACE", "AUXTRACE_ERROR", "THREAD_MAP", "CPU_MAP", "STAT_CONFIG", "STAT",
	"STAT_ROUND", "EVENT_UPDATE", "TIME_CONV", "FEATURE", "COMPRESSED", "FINISHED_INIT",
	"COMPRESSED2", "BPF_METADATA", "SCHEDSTAT_CPU", "SCHEDSTAT_DOMAIN",
};

const char *record_kind_name(uint32_t type)
{
	const char *name = tacho_record_name(type);

	if (type >= TACHO_RECORD_HEADER_ATTR && type - TACHO_RECORD_HEADER_ATTR < countof(tool_names))
		return tool_names[type - TACHO_RECORD_HEADER_ATTR];
	return name ? name + strlen("PERF_RECORD_") : "UNKNOWN";
}

int record_dump_init(struct record_dump *d, const char *input, struct tacho_perfdata *pd, struct tacho_error *e)
{
	const struct tacho_symbols_opts opts = { .size = sizeof(opts) };
	int err;

	*d = (struct record_dump){ .path = tacho_perfdata_is_pipe(pd) ? "pipe" : input, .pd = pd };
	d->scratch = malloc(sizeof(*d->scratch));
	if (!d->scratch)
		return error_nomem(e);
	err = tacho_symbols_new(&d->symbols, &opts, e);
	if (err == 0 && file_build_ids_feed(pd, d->symbols) < 0)
		err = error_nomem(e);
	return err;
}

void record_dump_done(struct record_dump *d)
{
	tacho_symbols_free(d->symbols);
	free(d->scratch);
	*d = (struct record_dump){ 0 };
}

/* In a stream, events come between the other records. */
static void look_at_events(struct record_dump *d)
{
	for (; d->n_events < tacho_perfdata_n_events(d->pd); d->n_events++) {
		const struct tacho_layout *layout = &tacho_perfdata_event(d->pd, d->n_events)->layout;

		d->sample_types |= layout->sample_type;
		d->sample_id_all |= layout->sample_id_all;
	}
}

static void put_bytes(struct buf *out, const struct tacho_record *rec)
{
	for (size_t at = 0; at < rec->size; at += BYTES_PER_LINE) {
		size_t n = min_of((size_t)rec->size - at, (size_t)BYTES_PER_LINE);

		buf_printf(out, ".  %04zx: ", at);
		for (size_t i = 0; i < n; i++)
			buf_printf(out, " %02x", rec->bytes[at + i]);
		buf_pad(out, ' ', 2 + 3 * (BYTES_PER_LINE - n));
		for (size_t i = 0; i < n; i++) {
			uint8_t c = rec->bytes[at + i];

			buf_putc(out, c >= ' ' && c < 0x7f ? (char)c : '.');
		}
		buf_pad(out, ' ', BYTES_PER_LINE - n);
		buf_putc(out, '\n');
	}
}

/* CPU, time, offset and length. `type`: the fields that this record has. */
static void put_head(const struct record_dump *d, struct buf *out, const struct tacho_record *rec, uint64_t type,
		     uint32_t cpu, uint64_t time)
{
	if (rec->type != TACHO_RECORD_SAMPLE && !d->sample_id_all) {
		buf_puts(out, "-1 -1 ");
	} else {
		if (d->sample_types & PERF_SAMPLE_CPU)
			buf_printf(out, "%u ", type & PERF_SAMPLE_CPU ? cpu : UINT32_MAX);
		if (d->sample_types & PERF_SAMPLE_TIME)
			buf_printf(out, "%llu ", type & PERF_SAMPLE_TIME ? (ull)time : (ull)UINT64_MAX);
	}
	buf_printf(out, "%#llx [%#x]: PERF_RECORD_%s", (ull)rec->offset, rec->size, record_kind_name(rec->type));
}

static int put_sample(struct record_dump *d, const struct tacho_record *rec, const struct tacho_layout *layout,
		      struct buf *out)
{
	struct tacho_object_info object = { .size = sizeof(object) };
	int event = tacho_perfdata_event_of(d->pd, rec);
	struct tacho_frame frame;
	struct tacho_sample s;

	if (tacho_sample_decode(&s, rec, layout, d->scratch) < 0)
		return -EBADMSG;
	if (s.time >= tacho_symbols_next_change(d->symbols) && tacho_symbols_advance(d->symbols, s.time) < 0)
		return -ENOMEM;
	if (tacho_symbols_resolve(d->symbols, s.pid, rec->misc & MISC_CPUMODE, s.ip, &frame) < 0)
		return -ENOMEM;
	put_head(d, out, rec, s.type, s.cpu, s.time);
	buf_printf(out, "(IP, 0x%x): %d/%d: %#llx period: %llu addr: %#llx\n", rec->misc, (int)s.pid, (int)s.tid,
		   (ull)s.ip, (ull)s.period, (ull)s.addr);
	sample_dump(out, &s, layout, rec);
	if (s.raw && event >= 0)
		ibs_dump_put(d->pd, ((const struct perf_event_attr *)tacho_perfdata_event(d->pd, (size_t)event)->attr)->type, &s, out);
	buf_puts(out, " ... thread: ");
	buf_text(out, str_of(tacho_symbols_comm(d->symbols, s.pid, s.tid)));
	buf_printf(out, ":%d\n ...... dso: ", (int)s.tid);
	if (frame.object && tacho_symbols_object(d->symbols, frame.object, &object) >= 0)
		buf_text(out, str_of(object.path));
	else
		buf_puts(out, "<not found>");
	buf_putc(out, '\n');
	return 0;
}

static int put_sideband(struct record_dump *d, const struct tacho_record *rec, const struct tacho_layout *layout,
			struct buf *out)
{
	struct tacho_sideband r = { 0 };
	int err = tacho_sideband_decode(&r, rec, layout, d->scratch);

	if (err < 0 && err != -EOPNOTSUPP)
		return err;
	put_head(d, out, rec, err < 0 ? 0 : r.id.type, r.id.cpu, r.id.time);
	if (err == 0 && r.type == TACHO_RECORD_LOST)
		buf_printf(out, ": id:%llu: lost:%llu", (ull)r.lost.id, (ull)r.lost.lost);
	else if (err == 0 && r.type == TACHO_RECORD_LOST_SAMPLES)
		buf_printf(out, ": id:%llu: lost samples :%llu", (ull)r.id.id, (ull)r.lost.lost);
	else if (err == 0)
		sideband_text(out, &r);
	buf_putc(out, '\n');
	return err == 0 && tacho_symbols_feed(d->symbols, &r) == -ENOMEM ? -ENOMEM : 0;
}

int record_dump_put(struct record_dump *d, const struct tacho_record *rec, struct buf *out)
{
	int i = tacho_perfdata_event_of(d->pd, rec), err = 0;
	const struct tacho_layout *layout;

	look_at_events(d);
	buf_printf(out, "\n%#llx@", (ull)rec->offset);
	buf_text(out, str_of(d->path));
	buf_printf(out, " [%#x]: event: %u\n.\n. ... raw event: size %u bytes\n", rec->size, rec->type, rec->size);
	put_bytes(out, rec);
	buf_putc(out, '\n');
	if (rec->type >= TACHO_RECORD_HEADER_ATTR) {
		put_head(d, out, rec, PERF_SAMPLE_CPU | PERF_SAMPLE_TIME, 0, 0);
		err = trace_dump_put(rec, d->path, &d->trace_kind, out);
	} else if (d->n_events) {
		layout = &tacho_perfdata_event(d->pd, i < 0 ? 0 : (size_t)i)->layout;
		d->scratch->used = 0;
		err = (rec->type == TACHO_RECORD_SAMPLE ? put_sample : put_sideband)(d, rec, layout, out);
	}
	return buf_failed(out) ? -ENOMEM : err;
}
