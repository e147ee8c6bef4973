/* The encoders of agent/export/: contents of the bodies, with difficult values and names. */
#include "agent/export/exporter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "agent/export/http_client.h"
#include "agent/export/snappy.h"
#include "agent_support.h"
#include "base/error.h"

/* The variant for builds without libsnappy is tested as well. */
int snappy_plain(struct str in, struct buf *out);
#define snappy_block snappy_plain
#include "agent/export/snappy_none.c"
#undef snappy_block

static const struct metric switches = {
	.event = "context-switches", .name = "perf_context_switches", .unit = "", .help = "switches",
	.kind = METRIC_COUNTER, .scale = 1,
}, clock_s = {
	.event = "task-clock", .name = "perf_task_clock", .unit = "seconds", .help = "time",
	.kind = METRIC_COUNTER, .scale = 1e-9,
}, ipc = {
	.event = "ipc", .name = "perf_ipc", .unit = "ratio", .help = "ipc", .kind = METRIC_GAUGE, .scale = 1,
};

/* ---- an exporter, open ---- */

struct bench {
	struct agent_config *config;
	const struct exporter_type *type;
	void *x;
	struct registry registry;
	struct exporter_env env;
	struct buf body;
};

static void set_up(struct bench *b, const char *export)
{
	struct tacho_error e = { .column = -1 };
	char text[2000];

	*b = (struct bench){ 0 };
	snprintf(text, sizeof(text), "[agent]\nlabels = { rack = \"r 1\", cpu = \"mine\" }\n[[export]]\n%s", export);
	if (load_with(&b->config, text, NULL, &e) < 0)
		fail_msg("%s", e.message);
	assert_int_equal(registry_init(&b->registry), 0);
	b->env = (struct exporter_env){ .registry = &b->registry, .config = b->config, .host = "me.example" };
	b->type = b->config->exports[0].type;
	if (b->type->open(&b->x, b->config->exports[0].settings, &b->env, &e) < 0)
		fail_msg("%s", e.message);
}

static void tear_down(struct bench *b)
{
	b->type->close(b->x);
	buf_done(&b->body);
	registry_done(&b->registry);
	config_free(b->config);
}

static uint32_t add(struct bench *b, const struct metric *like, const char *cpu)
{
	struct label labels[] = { { "source", "sys" }, { "cpu", (char *)cpu } };
	int64_t id = registry_add(&b->registry, &(struct series_desc){ registry_metric(&b->registry, like), "sys", labels, 2, 0, 7 });

	assert_true(id > 0);
	return (uint32_t)id;
}

/* One batch with this point, also applied to the registry. */
static int64_t encode(struct bench *b, int64_t time_ns, struct point p)
{
	struct point_batch batch = { .source = "sys", .time_ns = time_ns, .points = &p, .n_points = 1 };

	registry_apply(&b->registry, &batch);
	return b->type->encode(b->x, &batch, 1, &b->body);
}

static int64_t encode_count(struct bench *b, uint32_t id, int64_t time_ns, uint64_t count)
{
	return encode(b, time_ns, (struct point){ .series = id, .count = count, .raw = count,
						  .value = (double)count });
}

static int64_t encode_value(struct bench *b, uint32_t id, double value)
{
	return encode(b, 1500000000, (struct point){ .series = id, .value = value });
}

/* ---- text ---- */

static void influxdb_lines(void **state)
{
	struct bench b;

	set_up(&b, "type = \"influxdb\"\nurl = \"http://localhost:1\"\ndatabase = \"d\"\n");
	assert_int_equal(encode_count(&b, add(&b, &switches, "0"), 1000000001, 42), 1);
	assert_int_equal(encode_count(&b, add(&b, &switches, "a b,c=d\\x2d\\\n"), 2, 1ull << 63 | 5), 1);
	assert_int_equal(encode_count(&b, add(&b, &switches, "2\\"), 2, (1ull << 53) + 1), 1);
	assert_int_equal(encode(&b, 3, (struct point){ .series = add(&b, &clock_s, ""), .value = 0.5, .count = 5,
						      .state = TACHO_SCALED, .enabled_ns = 2000000000,
						      .running_ns = 1000000000 }), 1);
	assert_int_equal(encode_value(&b, add(&b, &ipc, "0"), NAN), 0);
	assert_int_equal(encode_value(&b, add(&b, &ipc, "0"), INFINITY), 0);
	assert_int_equal(encode_value(&b, add(&b, &ipc, "0"), -1), 1);
	assert_int_equal(encode(&b, 3, (struct point){ .series = 1, .state = TACHO_NOT_COUNTED }), 0);
	assert_int_equal(encode_count(&b, 99, 3, 1), 0);
	assert_string_equal(b.body.bytes,
		"perf_context_switches,cpu=0,host=me.example,rack=r\\ 1,source=sys value=42i 1000000001\n"
		"perf_context_switches,cpu=a\\ b\\,c\\=d\\x2d\\_,host=me.example,rack=r\\ 1,source=sys value=5i 2\n"
		"perf_context_switches,cpu=2_,host=me.example,rack=r\\ 1,source=sys value=9007199254740993i 2\n"
		"perf_task_clock_seconds,cpu=mine,host=me.example,rack=r\\ 1,source=sys value=0.5,"
		"enabled_seconds=2,running_seconds=1 3\n"
		"perf_ipc_ratio,cpu=0,host=me.example,rack=r\\ 1,source=sys value=-1 1500000000\n");
	tear_down(&b);
}

static void graphite_lines(void **state)
{
	struct point same[2];
	struct bench b;

	set_up(&b, "type = \"graphite\"\naddress = \"[::1]:1\"\n");
	assert_int_equal(encode_count(&b, add(&b, &switches, "a.b c"), 5000000000, UINT64_MAX), 1);
	assert_int_equal(encode_value(&b, add(&b, &ipc, "0"), NAN), 0);
	same[0] = (struct point){ .series = 1, .count = 1 };
	same[1] = (struct point){ .series = 1, .count = 2 };
	assert_int_equal(
		b.type->encode(
			b.x,
			(struct point_batch[]){
				{ .time_ns = 6000000000, .points = &same[0], .n_points = 1 },
				{ .time_ns = 6900000000, .points = &same[1], .n_points = 1 } },
			2, &b.body),
		1);
	assert_string_equal(b.body.bytes,
		"tacho.me_example.perf_context_switches.cpu_a_b_c.rack_r_1.source_sys 18446744073709551615 5\n"
		"tacho.me_example.perf_context_switches.cpu_a_b_c.rack_r_1.source_sys 2 6\n");
	tear_down(&b);
	set_up(&b, "type = \"graphite\"\naddress = \"localhost:1\"\nstyle = \"tags\"\nprefix = \"\"\n");
	assert_int_equal(encode_value(&b, add(&b, &ipc, "a;b"), 0.25), 1);
	assert_string_equal(b.body.bytes, "perf_ipc_ratio;cpu=a_b;host=me.example;rack=r_1;source=sys 0.25 1\n");
	tear_down(&b);
}

static void statsd_lines(void **state)
{
	struct bench b;
	uint32_t id, second;

	set_up(&b, "type = \"statsd\"\nstyle = \"datadog\"\n");
	id = add(&b, &switches, "0");
	second = add(&b, &clock_s, "1");
	encode_count(&b, id, 1, (1ull << 60) + 1);
	encode_count(&b, id, 2, (1ull << 60) + 4);	/* all digits count */
	encode(&b, 1, (struct point){ .series = second, .value = 0.5, .count = 1 });
	encode(&b, 2, (struct point){ .series = second, .value = 0.75, .count = 2 });
	assert_int_equal(encode_value(&b, add(&b, &ipc, "0"), -2.5), 1);
	assert_int_equal(encode_value(&b, add(&b, &ipc, "0"), NAN), 0);
	assert_string_equal(b.body.bytes,
		"tacho.perf_context_switches:1152921504606846977|c|#cpu:0,host:me.example,rack:r_1,source:sys\n"
		"tacho.perf_context_switches:3|c|#cpu:0,host:me.example,rack:r_1,source:sys\n"
		"tacho.perf_task_clock_seconds:0.5|c|#cpu:1,host:me.example,rack:r_1,source:sys\n"
		"tacho.perf_task_clock_seconds:0.25|c|#cpu:1,host:me.example,rack:r_1,source:sys\n"
		"tacho.perf_ipc_ratio:0|g|#cpu:0,host:me.example,rack:r_1,source:sys\n"
		"tacho.perf_ipc_ratio:-2.5|g|#cpu:0,host:me.example,rack:r_1,source:sys\n");
	tear_down(&b);
}

static void csv_and_json_lines(void **state)
{
	char text[PATH_MAX + 64];
	struct bench b;
	uint32_t id;

	snprintf(text, sizeof(text), "type = \"csv\"\npath = \"%s\"\n", in_dir("a.csv"));
	set_up(&b, text);
	id = add(&b, &switches, "x,\"y\"\n");
	encode_count(&b, id, 1000000002, UINT64_MAX);
	registry_set_state(&b.registry, id, TACHO_NOT_PERMITTED, "ask, \"root\"");
	assert_int_equal(
		b.type->encode(b.x,
			       &(struct point_batch){
				       .time_ns = 1,
				       .points = &(struct point){ .series = id,
								  .state = TACHO_NOT_PERMITTED },
				       .n_points = 1 },
			       1, &b.body),
		1);
	encode_value(&b, add(&b, &ipc, "0"), NAN);
	assert_string_equal(b.body.bytes,
		"1970-01-01T00:00:01.000000002Z,sys,context-switches,perf_context_switches,,\"cpu=x,\"\"y\"\"\n;rack=r 1\","
		"18446744073709551615,18446744073709551615,18446744073709551615,0,0,counting,\n"
		"1970-01-01T00:00:00.000000001Z,sys,context-switches,perf_context_switches,,\"cpu=x,\"\"y\"\"\n;rack=r 1\","
		",,,,,not permitted,\"ask, \"\"root\"\"\"\n"
		"1970-01-01T00:00:01.500000000Z,sys,ipc,perf_ipc,ratio,cpu=0;rack=r 1,,,,,,counting,\n");
	tear_down(&b);

	snprintf(text, sizeof(text), "type = \"jsonl\"\npath = \"%s\"\n", in_dir("a.jsonl"));
	set_up(&b, text);
	encode_count(&b, add(&b, &switches, "\""), 1000000002, UINT64_MAX);
	encode_value(&b, add(&b, &ipc, "0"), NAN);
	assert_string_equal(b.body.bytes,
		"{\"time\": \"1970-01-01T00:00:01.000000002Z\", \"source\": \"sys\", \"event\": \"context-switches\", "
		"\"metric\": \"perf_context_switches\", \"unit\": \"\", \"labels\": {\"cpu\": \"\\\"\", \"rack\": \"r 1\"}, "
		"\"value\": 18446744073709551615, \"count\": 18446744073709551615, \"raw\": 18446744073709551615, "
		"\"enabled_ns\": 0, \"running_ns\": 0, \"state\": \"counting\"}\n"
		"{\"time\": \"1970-01-01T00:00:01.500000000Z\", \"source\": \"sys\", \"event\": \"ipc\", "
		"\"metric\": \"perf_ipc\", \"unit\": \"ratio\", \"labels\": {\"cpu\": \"0\", \"rack\": \"r 1\"}, "
		"\"value\": null, \"state\": \"counting\"}\n");
	tear_down(&b);
}

/* ---- protobuf ---- */

struct field {
	unsigned number, type;
	uint64_t value;			/* varint or 8 bytes */
	struct str bytes;
};

static uint64_t varint(struct str *s)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned char c;

		assert_true(s->n > 0 && shift < 70);
		c = (unsigned char)*s->s;
		*s = str_n(s->s + 1, s->n - 1);
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return v;
	}
}

static bool next_field(struct str *s, struct field *f)
{
	uint64_t key, n;

	if (!s->n)
		return false;
	key = varint(s);
	*f = (struct field){ .number = (unsigned)(key >> 3), .type = key & 7 };
	n = f->type == 1 ? 8 : varint(s);
	if (f->type == 0) {
		f->value = n;
		return true;
	}
	assert_true((f->type == 1 || f->type == 2) && n <= s->n);
	f->bytes = str_n(s->s, n);
	for (unsigned i = 0; f->type == 1 && i < 8; i++)
		f->value |= (uint64_t)(unsigned char)s->s[i] << (8 * i);
	*s = str_n(s->s + n, s->n - n);
	return true;
}

/* As text: labels in order, then samples: "a=b c=d | 5@7". */
static void show_series(struct str series, struct buf *out)
{
	struct field f, g;

	while (next_field(&series, &f)) {
		struct str part = f.bytes;

		while (next_field(&part, &g)) {
			if (f.number == 1)
				buf_printf(out, g.number == 1 ? "%.*s=" : "%.*s ", STR(g.bytes));
			else if (g.number == 1 && (g.value >> 52 & 0x7ff) == 0x7ff)
				buf_printf(out, "| %llx", (unsigned long long)g.value);
			else if (g.number == 1) {
				double v;

				memcpy(&v, &g.value, sizeof(v));
				buf_printf(out, "| %g", v);
			} else
				buf_printf(out, "@%llu ", (unsigned long long)g.value);
		}
	}
	buf_putc(out, '\n');
}

/* Decompresses literals and copies according to the format's description. */
static void unpack(struct str in, struct buf *out)
{
	uint64_t whole = varint(&in);

	while (in.n) {
		unsigned char tag = (unsigned char)in.s[0];
		size_t n, from = 0, extra = 0;

		in = str_n(in.s + 1, in.n - 1);
		if ((tag & 3) == 0) {
			extra = tag >> 2 >= 60 ? (tag >> 2) - 59u : 0;
			n = tag >> 2;
			if (extra)
				n = 0;
			for (size_t i = 0; i < extra; i++)
				n |= (size_t)(unsigned char)in.s[i] << (8 * i);
			n++;
			buf_put(out, in.s + extra, n);
			in = str_n(in.s + extra + n, in.n - extra - n);
			continue;
		}
		extra = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;
		n = (tag & 3) == 1 ? (tag >> 2 & 7) + 4u : (tag >> 2) + 1u;
		for (size_t i = 0; i < extra; i++)
			from |= (size_t)(unsigned char)in.s[i] << (8 * i);
		if ((tag & 3) == 1)
			from |= (size_t)(tag >> 5) << 8;
		in = str_n(in.s + extra, in.n - extra);
		assert_true(from && from <= out->n);
		for (size_t i = 0; i < n; i++)
			buf_putc(out, out->bytes[out->n - from]);
	}
	assert_int_equal(out->n, whole);
}

static void both_snappies_unpack(void **state)
{
	static const size_t sizes[] = { 0, 1, 59, 60, 61, 255, 256, 257, 65535, 65536, 65537, 200001 };

	for (size_t i = 0; i < 2 * countof(sizes); i++) {
		struct buf in = { 0 }, packed = { 0 }, out = { 0 };

		for (size_t n = 0; n < sizes[i / 2]; n++)
			buf_putc(&in, (char)(n * n >> 5));
		assert_int_equal((i % 2 ? snappy_plain : snappy_block)(buf_view(&in), &packed), 0);
		unpack(buf_view(&packed), &out);
		assert_int_equal(out.n, in.n);
		if (in.n)
			assert_memory_equal(out.bytes, in.bytes, in.n);
		buf_done(&in);
		buf_done(&packed);
		buf_done(&out);
	}
}

static const char *show_request(struct bench *b, unsigned *n_metadata)
{
	static struct buf out;
	struct buf plain = { 0 };
	struct field f;
	struct str rest;

	unpack(buf_view(&b->body), &plain);
	rest = buf_view(&plain);
	buf_clear(&out);
	*n_metadata = 0;
	while (next_field(&rest, &f))
		if (f.number == 1)
			show_series(f.bytes, &out);
		else
			++*n_metadata;
	buf_done(&plain);
	buf_clear(&b->body);
	return out.bytes;
}

static void remote_write_requests(void **state)
{
	unsigned metadata;
	struct bench b;
	uint32_t id, gauge;

	set_up(&b, "type = \"remote_write\"\nurl = \"http://localhost:1\"\n");
	id = add(&b, &clock_s, "0");
	gauge = add(&b, &ipc, "0");
	encode(&b, 1000000000, (struct point){ .series = id, .value = 5, .count = 5, .state = TACHO_SCALED,
					       .enabled_ns = 4000000000, .running_ns = 1000000000 });
	assert_string_equal(show_request(&b, &metadata),
		"__name__=perf_task_clock_seconds_total cpu=0 instance=me.example job=tacho rack=r 1 source=sys | 5@1000 \n"
		"__name__=perf_task_clock_seconds_enabled_seconds_total cpu=0 instance=me.example job=tacho rack=r 1 "
		"source=sys | 4@1000 \n"
		"__name__=perf_task_clock_seconds_running_seconds_total cpu=0 instance=me.example job=tacho rack=r 1 "
		"source=sys | 1@1000 \n");
	assert_int_equal(metadata, 1);
	/* Any NaN is written as one that is not mistaken for a stale marker. */
	encode_value(&b, gauge, -NAN);
	assert_string_equal(show_request(&b, &metadata),
		"__name__=perf_ipc_ratio cpu=0 instance=me.example job=tacho rack=r 1 source=sys | 7ff8000000000001@1500 \n");
	/* Both series end; the marker is sent once, and for the times as well. */
	registry_end(&b.registry, id);
	registry_end(&b.registry, gauge);
	encode_count(&b, add(&b, &switches, "1"), 9000000000, 0);
	assert_string_equal(show_request(&b, &metadata),
		"__name__=perf_task_clock_seconds_total cpu=0 instance=me.example job=tacho rack=r 1 source=sys "
		"| 7ff0000000000002@1001 \n"
		"__name__=perf_task_clock_seconds_enabled_seconds_total cpu=0 instance=me.example job=tacho rack=r 1 "
		"source=sys | 7ff0000000000002@1001 \n"
		"__name__=perf_task_clock_seconds_running_seconds_total cpu=0 instance=me.example job=tacho rack=r 1 "
		"source=sys | 7ff0000000000002@1001 \n"
		"__name__=perf_ipc_ratio cpu=0 instance=me.example job=tacho rack=r 1 source=sys | 7ff0000000000002@1501 \n"
		"__name__=perf_context_switches_total cpu=1 instance=me.example job=tacho rack=r 1 source=sys | 0@9000 \n");
	encode_count(&b, 3, 9500000000, 1ull << 60);
	assert_string_equal(show_request(&b, &metadata),
		"__name__=perf_context_switches_total cpu=1 instance=me.example job=tacho rack=r 1 source=sys "
		"| 1.15292e+18@9500 \n");
	assert_int_equal(metadata, 0);
	tear_down(&b);
}

/* The comm of a process may contain any bytes; one label must not invalidate the whole body. */
static void any_bytes_may_be_a_label(void **state)
{
	unsigned metadata;
	struct bench b;

	set_up(&b, "type = \"remote_write\"\nurl = \"http://localhost:1\"\njob = \"\"\n");
	encode_count(&b, add(&b, &switches, "a\xff\xc3\xa4\xc3\n"), 1000000, 1);
	assert_string_equal(show_request(&b, &metadata),
		"__name__=perf_context_switches_total cpu=a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\n instance=me.example "
		"rack=r 1 source=sys | 1@1 \n");
	tear_down(&b);
	set_up(&b, "type = \"otlp\"\nurl = \"http://localhost:1\"\ngzip = false\n");
	encode_count(&b, add(&b, &switches, "a\xff\xc3\xa4\xc3\n"), 1000000, 1);
	assert_non_null(memmem(b.body.bytes, b.body.n, "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\n", 10));
	tear_down(&b);
	set_up(&b, "type = \"textfile\"\npath = \"/x.prom\"\n");
	encode_count(&b, add(&b, &switches, "a\xff\xc3\xa4\xc3\n\"\\"), 1000000, 1);
	assert_non_null(strstr(b.body.bytes, "\nperf_context_switches_total{cpu=\"a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd"
			       "\\n\\\"\\\\\",rack=\"r 1\",source=\"sys\"} 1\n"));
	tear_down(&b);
}

static void names_of_other_tools_are_made_fit(void **state)
{
	struct metric odd = switches;
	struct bench b;

	odd.name = "1 my\nname:x";
	odd.naming = NAMING_ALUMET;
	set_up(&b, "type = \"graphite\"\naddress = \"localhost:1\"\nstyle = \"tags\"\nprefix = \"\"\n");
	encode_count(&b, add(&b, &odd, "0"), 1000000000, 5);
	assert_string_equal(b.body.bytes, "_1_my_name_x;cpu=0;host=me.example;rack=r_1;source=sys 5 1\n");
	tear_down(&b);
}

static void samples_of_a_series_stand_together(void **state)
{
	struct point points[4];
	struct point_batch batches[2];
	unsigned metadata;
	struct bench b;

	set_up(&b, "type = \"remote_write\"\nurl = \"http://localhost:1\"\njob = \"\"\n");
	for (unsigned i = 0; i < 4; i++)
		points[i] = (struct point){ .series = i % 2 + 1, .value = i };
	add(&b, &switches, "0");
	add(&b, &switches, "1");
	batches[0] = (struct point_batch){ .time_ns = 1000000, .points = points, .n_points = 2 };
	batches[1] = (struct point_batch){ .time_ns = 2000000, .points = points + 2, .n_points = 2 };
	assert_int_equal(b.type->encode(b.x, batches, 2, &b.body), 4);
	assert_string_equal(show_request(&b, &metadata),
		"__name__=perf_context_switches_total cpu=0 instance=me.example rack=r 1 source=sys | 0@1 | 2@2 \n"
		"__name__=perf_context_switches_total cpu=1 instance=me.example rack=r 1 source=sys | 1@1 | 3@2 \n");
	batches[1].time_ns = 1999999;	/* the same millisecond: the later point is used */
	assert_int_equal(b.type->encode(b.x, batches, 2, &b.body), 2);
	assert_non_null(strstr(show_request(&b, &metadata), "cpu=0 instance=me.example rack=r 1 source=sys | 2@1 \n"));
	tear_down(&b);
}

/* ---- HTTP ---- */

static void answers_have_their_meaning(void **state)
{
	static const struct { long status; enum send_result result; } rows[] = {
		{ 200, SEND_DONE }, { 204, SEND_DONE }, { 302, SEND_RETRY }, { 399, SEND_RETRY }, { 400, SEND_DROP },
		{ 401, SEND_DROP }, { 404, SEND_DROP }, { 408, SEND_RETRY }, { 413, SEND_DROP },
		{ 429, SEND_RETRY }, { 500, SEND_RETRY }, { 503, SEND_RETRY }, { 599, SEND_RETRY },
	};

	for (size_t i = 0; i < countof(rows); i++)
		assert_int_equal(http_status_result(rows[i].status), rows[i].result);
}

static void urls_get_their_path(void **state)
{
	static const char *const rows[][2] = {
		{ "http://h", "http://h/p" }, { "http://h:1/", "http://h:1/p" }, { "https://h/own", "https://h/own" },
	};
	struct buf out = { 0 };

	for (size_t i = 0; i < countof(rows); i++) {
		buf_clear(&out);
		url_with_path(&out, rows[i][0], "/p");
		assert_string_equal(out.bytes, rows[i][1]);
	}
	buf_clear(&out);
	url_escape(&out, STR_LIT("a b&c={\"\xff\"}~"));
	assert_string_equal(out.bytes, "a%20b%26c%3D%7B%22%FF%22%7D~");
	buf_done(&out);
}

struct server {
	int fd, port;
	char request[4096];
	pthread_t thread;
};

static void *serve_one(void *arg)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	struct server *s = arg;
	int fd = accept(s->fd, NULL, NULL);
	size_t n = 0;

	while (n < sizeof(s->request) - 1 && !strstr(s->request, "\r\n\r\nPPROF")) {
		ssize_t got = read(fd, s->request + n, sizeof(s->request) - 1 - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	(void)!write(fd, answer, sizeof(answer) - 1);
	close(fd);
	return NULL;
}

static void start_server(struct server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);

	*s = (struct server){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s->fd, 1), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &n), 0);
	s->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, serve_one, s), 0);
}

static void pyroscope_gets_profiles(void **state)
{
	struct export_body item = { STR_LIT("PPROF"), 5, 1999999999, 11000000001 };
	struct send_reply reply = { 0 };
	struct server s;
	struct bench b;
	char text[200];

	start_server(&s);
	snprintf(text, sizeof(text), "type = \"pyroscope\"\nurl = \"http://127.0.0.1:%d\"\ntenant = \"team a\"\n", s.port);
	set_up(&b, text);
	unsetenv("http_proxy");
	assert_int_equal(b.type->send_profile(b.x, &item, &reply), SEND_DONE);
	pthread_join(s.thread, NULL);
	close(s.fd);
	s.request[strcspn(s.request, "\r\n")] = ' ';
	assert_true(str_starts(str_of(s.request),
		"POST /ingest?name=tacho%7Bhost%3Dme.example%2Crack%3Dr%201%2Ccpu%3Dmine%7D&format=pprof&spyName=tacho"
		"&from=1&until=11 HTTP/1.1 "));
	assert_non_null(strstr(s.request, "\r\n\r\nPPROF"));
	assert_non_null(strstr(s.request, "X-Scope-OrgID: team a\r\n"));
	/* The receiver is gone: retry later. */
	assert_int_equal(b.type->send_profile(b.x, &item, &reply), SEND_RETRY);
	assert_true(reply.text[0]);
	tear_down(&b);
}

static void settings_that_do_not_fit_are_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "type = \"remote_write\"", "url" },
		{ "type = \"remote_write\"\nurl = \"ftp://x\"", "url" },
		{ "type = \"otlp\"\nurl = \"http://x\"\nuser = \"u\"", "user and password must be given together" },
		{ "type = \"otlp\"\nurl = \"http://x\"\ncert = \"c\"", "cert and key must be given together" },
		{ "type = \"otlp\"\nurl = \"http://x\"\nheaders = { \"a b\" = \"c\" }", "'a b'" },
		{ "type = \"otlp\"\nurl = \"http://x\"\nheaders = { a = \"c\\r\\nEvil: yes\" }", "'a'" },
		{ "type = \"otlp\"\nurl = \"http://x\"\ntoken = \"t\"\nuser = \"u\"\npassword = \"p\"", "not both" },
		{ "type = \"influxdb\"\nurl = \"http://x\"", "either database" },
		{ "type = \"influxdb\"\nurl = \"http://x\"\ndatabase = \"d\"\nbucket = \"b\"", "either database" },
		{ "type = \"graphite\"\naddress = \"nowhere\"", "not HOST:PORT" },
		{ "type = \"graphite\"\naddress = \"::1:2003\"", "not HOST:PORT" },
		{ "type = \"graphite\"\naddress = \"h:1\"\nprefix = \"a b\"", "prefix" },
		{ "type = \"statsd\"\naddress = \"h:99999\"", "not HOST:PORT" },
		{ "type = \"pyroscope\"\nurl = \"http://x\"\napplication = \"a{b\"", "brace" },
		{ "type = \"csv\"\npath = \"x\"\nsources = [\"none\"]", "no source 'none'" },
	};

	for (size_t i = 0; i < countof(rows); i++) {
		struct tacho_error e = { .column = -1 };
		struct agent_config *cfg = NULL;
		char text[500];

		snprintf(text, sizeof(text), "[[export]]\n%s\n", rows[i][0]);
		if (load_with(&cfg, text, NULL, &e) == 0)
			fail_msg("taken: %s", rows[i][0]);
		if (!strstr(e.message, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], e.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(influxdb_lines),
		cmocka_unit_test(graphite_lines),
		cmocka_unit_test(statsd_lines),
		cmocka_unit_test(csv_and_json_lines),
		cmocka_unit_test(both_snappies_unpack),
		cmocka_unit_test(remote_write_requests),
		cmocka_unit_test(any_bytes_may_be_a_label),
		cmocka_unit_test(names_of_other_tools_are_made_fit),
		cmocka_unit_test(samples_of_a_series_stand_together),
		cmocka_unit_test(answers_have_their_meaning),
		cmocka_unit_test(urls_get_their_path),
		cmocka_unit_test(pyroscope_gets_profiles),
		cmocka_unit_test(settings_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
