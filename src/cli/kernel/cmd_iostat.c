/*
 * `tacho iostat`: requests to block devices and their latency, from a recording of their tracepoints.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/core/app.h"
#include "cli/kernel/input.h"
#include "cli/kernel/record.h"
#include "cli/kernel/source.h"

#include <tacho/blockio.h>

#define MINOR_BITS 20

struct iostat_opts {
	struct kernel_source_opts source;
	bool json;
};

static const struct option_row iostat_rows[] = {
	KERNEL_INPUT_ROWS(struct iostat_opts),
	KERNEL_TIME_ROW(struct iostat_opts),
	{ OPT_FLAG, 0, "json", offsetof(struct iostat_opts, json), NULL, "write JSON (schema tacho.iostat/1)" },
	{ .kind = OPT_END },
};

static const struct { const char *name; double percent; } percentiles[] = {
	{ "p50", 50 }, { "p90", 90 }, { "p99", 99 },
};

static const char *op_name(char op)
{
	return op == 'R' ? "read" : op == 'W' ? "write" : op == 'D' ? "discard" : op == 'F' ? "flush" : "other";
}

static void put_device(const struct tacho_blockio_row *row, char out[32])
{
	snprintf(out, 32, "%" PRIu32 ",%" PRIu32, row->device >> MINOR_BITS, row->device & ((1u << MINOR_BITS) - 1));
}

static void put_text(const struct tacho_blockio *b, struct buf *out)
{
	const struct tacho_blockio_row *row;
	char device[32];

	buf_puts(out, "device      op          requests           kB   avg us   p50 us   p90 us   p99 us     max us\n");
	for (size_t i = 0; (row = tacho_blockio_row(b, i)) != NULL; i++) {
		put_device(row, device);
		buf_printf(out, "%-11s %-8s %11" PRIu64 " %12" PRIu64 " %8.0f", device, op_name(row->op), row->n, row->bytes / 1024,
			   row->n ? (double)row->sum_ns / (double)row->n / 1000 : 0.0);
		for (size_t p = 0; p < countof(percentiles); p++)
			buf_printf(out, " %8.0f", (double)tacho_blockio_percentile(b, i, percentiles[p].percent) / 1000);
		buf_printf(out, " %10.0f\n", (double)row->max_ns / 1000);
	}
}

static void put_json(const struct tacho_blockio *b, struct buf *out)
{
	struct json j = { .out = out };
	const struct tacho_blockio_row *row;
	char device[32];

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.iostat/1");
	json_member(&j, "lost", u64, tacho_blockio_totals(b)->lost);
	json_key(&j, "rows");
	json_begin(&j, '[');
	for (size_t i = 0; (row = tacho_blockio_row(b, i)) != NULL; i++) {
		put_device(row, device);
		json_begin(&j, '{');
		json_member(&j, "device", str, device);
		json_member(&j, "op", str, op_name(row->op));
		json_member(&j, "requests", u64, row->n);
		json_member(&j, "bytes", u64, row->bytes);
		json_member(&j, "unknown", u64, row->n_unknown);
		json_member(&j, "sum_ns", u64, row->sum_ns);
		json_member(&j, "max_ns", u64, row->max_ns);
		json_key(&j, "percentiles_ns");
		json_begin(&j, '{');
		for (size_t p = 0; row->n && p < countof(percentiles); p++)
			json_member(&j, percentiles[p].name, u64, tacho_blockio_percentile(b, i, percentiles[p].percent));
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static int report(const struct iostat_opts *o)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_blockio *b = NULL;
	struct kernel_source source;
	struct buf out = { 0 };
	int status = EXIT_FAILED, err;

	if (kernel_source_open(&source, "iostat", &o->source, false) < 0)
		return EXIT_FAILED;
	err = tacho_blockio_new(&b, source.pd, source.time.from_ns, source.time.to_ns, &e);
	if (b) {
		int damage;

		(o->json ? put_json : put_text)(b, &out);
		status = print_out("iostat", &out);
		damage = kernel_status("iostat", tacho_blockio_totals(b), err, &e);
		status = max_of(status, damage);
	} else {
		message_error("iostat", NULL, NULL, &e);
	}
	tacho_blockio_free(b);
	kernel_source_done(&source);
	return status;
}

static int iostat_run(void *opts, int argc, char **argv)
{
	static const struct kernel_record_event events[] = { { "block:block_rq_issue" }, { "block:block_rq_complete" }, { 0 } };
	static const char *const args[] = { "-a", "-R", "-c", "1", NULL };

	if (argc && !strcmp(argv[0], "record"))
		return kernel_record(args, events, argc - 1, argv + 1);
	if (argc) {
		message_text("iostat", "'%s' is not expected here: 'iostat record' records, 'iostat' shows", argv[0]);
		return EXIT_USAGE;
	}
	return report(opts);
}

const struct command cmd_iostat = {
	.name = "iostat", .summary = "show requests to block devices and their latency", .args = "[record] [OPTIONS]",
	.rows = iostat_rows, .opts_size = sizeof(struct iostat_opts), .run = iostat_run, .stops_at_non_option = true,
	.complete_args = "record",
};
