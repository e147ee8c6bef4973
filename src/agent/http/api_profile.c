/*
 * The API's pages of the continuous profile: the stored windows, the flame graph of a range (or the
 * profile in another format), and the heat map.
 */
#include "agent/http/request.h"

#include <errno.h>

#include "agent/http/flame_tree.h"
#include "agent/profiler/profiler_internal.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/num.h"

#include <tacho/output.h>

#define SECOND 1000000000ll
#define RANGE_MAX (31 * 86400 * SECOND)
#define HEATMAP_MAX (6 * 3600 * SECOND)
#define HEATMAP_ROWS 50u
#define MIN_SHARE 0.0005

struct range {
	int64_t from_ns, to_ns;
};

/* False: the error has been answered. */
static bool check_range(struct request *q, const struct range *r, int64_t max_ns, const char *what)
{
	if (r->to_ns <= r->from_ns || r->from_ns < 0)
		request_fail(q, 400, "%s must begin before it ends", what);
	else if (r->to_ns - r->from_ns > max_ns)
		request_fail(q, 400, "%s is too long: the maximum is %lld hours", what,
			     (long long)(max_ns / SECOND / 3600));
	else
		return true;
	return false;
}

static bool parse_range(struct request *q, int64_t max_ns, struct range *out)
{
	int64_t now = clock_wall_ns();

	return request_time(q, "to", now, &out->to_ns) &&
	       request_time(q, "from", out->to_ns - 3600 * SECOND, &out->from_ns) &&
	       check_range(q, out, max_ns, "the range");
}

/* The filter from the arguments: ?comm=&pid=&cpu= */
static struct tacho_profile_opts parse_filter(struct request *q)
{
	struct tacho_profile_opts o = { .size = sizeof(o), .join_threads = true };

	o.comms = request_arg(q, "comm");
	o.pids = request_arg(q, "pid");
	o.cpus = request_arg(q, "cpu");
	o.comms = o.comms && *o.comms ? o.comms : NULL;
	o.pids = o.pids && *o.pids ? o.pids : NULL;
	o.cpus = o.cpus && *o.cpus ? o.cpus : NULL;
	return o;
}

static void begin_json(struct request *q, struct json *j, const char *schema)
{
	*j = (struct json){ .out = &q->out };
	json_begin(j, '{');
	json_member(j, "schema", str, schema);
}

static void end_json(struct request *q, struct json *j)
{
	json_end(j);
	buf_putc(&q->out, '\n');
}

/* ---- windows ---- */

static int put_window(void *arg, int64_t from_ns, int64_t to_ns, uint64_t samples, struct str blob)
{
	struct json *j = arg;

	(void)blob;
	json_begin(j, '{');
	json_member(j, "from", i64, from_ns / 1000000);
	json_member(j, "to", i64, to_ns / 1000000);
	json_member(j, "samples", u64, samples);
	json_end(j);
	return 0;
}

void page_profiles(struct request *q)
{
	struct tacho_error e = { .column = -1 };
	struct range r;
	struct json j;
	int err;

	if (!parse_range(q, RANGE_MAX, &r))
		return;
	begin_json(q, &j, "tacho.profiles.v1");
	json_key(&j, "windows");
	json_begin(&j, '[');
	err = profiler_windows(q->agent, r.from_ns, r.to_ns, put_window, &j, &e);
	if (err < 0) {
		request_error(q, &e);
		return;
	}
	json_end(&j);
	end_json(q, &j);
}

/* ---- flame graphs ---- */

struct flame_request {
	struct range range, base_range;
	bool with_base;
	double min;
	struct tacho_profile_opts filter;
	struct tacho_profile *profile, *base;
};

static void flame_request_done(struct flame_request *f)
{
	tacho_profile_free(f->profile);
	tacho_profile_free(f->base);
}

static bool parse_flame_args(struct request *q, struct flame_request *f)
{
	const char *min = request_arg(q, "min");
	const char *base = request_arg(q, "base_from");

	f->min = MIN_SHARE;
	if (min && (num_double(str_of(min), &f->min) < 0 || !(f->min >= 0 && f->min <= 1))) {
		request_fail(q, 400, "'min' must be a share from 0 to 1");
		return false;
	}
	f->filter = parse_filter(q);
	if (!parse_range(q, RANGE_MAX, &f->range))
		return false;
	f->with_base = base && *base;
	return !f->with_base ||
	       (request_time(q, "base_from", 0, &f->base_range.from_ns) &&
		request_time(q, "base_to", f->range.from_ns, &f->base_range.to_ns) &&
		check_range(q, &f->base_range, RANGE_MAX, "the range to compare with"));
}

static bool load_profiles(struct request *q, struct flame_request *f)
{
	struct tacho_error e = { .column = -1 };
	int err = profiler_range(q->agent, f->range.from_ns, f->range.to_ns, &f->filter, &f->profile, &e);

	if (err == 0 && f->with_base)
		err = profiler_range(q->agent, f->base_range.from_ns, f->base_range.to_ns, &f->filter,
				     &f->base, &e);
	if (err < 0)
		request_error(q, &e);
	return err == 0;
}

/* The event with the most samples; there are several only if the configuration was changed within
 * the range. */
static const struct tacho_profile_event *find_main_event(const struct tacho_profile *p, uint32_t *id)
{
	const struct tacho_profile_event *best = NULL;

	*id = 0;
	for (size_t i = 0; i < tacho_profile_n_events(p); i++) {
		const struct tacho_profile_event *ev = tacho_profile_event(p, i);

		if (ev->samples && (!best || ev->samples > best->samples)) {
			best = ev;
			*id = (uint32_t)i;
		}
	}
	return best;
}

static uint32_t find_event(const struct tacho_profile *p, const char *name)
{
	for (size_t i = 0; i < tacho_profile_n_events(p); i++)
		if (!strcmp(tacho_profile_event(p, i)->name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

static int put_flame(struct request *q, const struct flame_request *f, struct flame_tree *t)
{
	uint32_t id, base_id = UINT32_MAX;
	const struct tacho_profile_event *ev = find_main_event(f->profile, &id), *base = NULL;
	struct json j;
	int err = ev ? flame_tree_add(t, f->profile, id, false) : 0;

	if (f->with_base && ev)
		base_id = find_event(f->base, ev->name);
	else if (f->with_base)
		base = find_main_event(f->base, &base_id);
	if (base_id != UINT32_MAX)
		base = tacho_profile_event(f->base, base_id);
	if (err == 0 && base)
		err = flame_tree_add(t, f->base, base_id, true);
	if (err < 0)
		return err;
	begin_json(q, &j, "tacho.flame.v1");
	json_member(&j, "event", str, ev ? ev->name : base ? base->name : NULL);
	json_member(&j, "unit", str, "samples");
	json_member(&j, "total", u64, ev ? ev->samples : 0);
	json_key(&j, "base_total");
	if (f->with_base)
		json_u64(&j, base ? base->samples : 0);
	else
		json_null(&j);
	err = flame_tree_json(t, f->with_base, f->min, &j);
	end_json(q, &j);
	return err;
}

static void flame_json(struct request *q, const struct flame_request *f)
{
	struct flame_tree t;
	int err = flame_tree_init(&t);

	if (err == 0)
		err = put_flame(q, f, &t);
	flame_tree_done(&t);
	if (err == -E2BIG)
		request_fail(q, 400,
			     "the range has too many different stacks for one flame graph: use a "
			     "shorter range");
	else if (err < 0)
		request_fail(q, 500, "out of memory");
}

/* ---- files ---- */

static const struct {
	const char *format, *type, *filename;
} formats[] = {
	{ "svg", "image/svg+xml", "tacho-flame.svg" },
	{ "html", "text/html; charset=utf-8", "tacho-flame.html" },
	{ "folded", "text/plain; charset=utf-8", "tacho-stacks.folded" },
	{ "pprof", "application/octet-stream", "tacho-profile.pb.gz" },
	{ "speedscope", "application/json", "tacho-profile.speedscope.json" },
	{ "json", "application/json", "tacho-profile.json" },
};

static int put_bytes(void *arg, const void *bytes, size_t n)
{
	struct buf *b = arg;

	buf_put(b, bytes, n);
	return buf_failed(b) ? -ENOMEM : 0;
}

static void flame_file(struct request *q, struct flame_request *f, size_t file)
{
	const struct tacho_format *format = tacho_format_find(formats[file].format);
	struct tacho_output_opts opts = { .size = sizeof(opts), .weight = TACHO_WEIGHT_SAMPLES };
	struct tacho_error e = { .column = -1 };
	uint32_t id;
	const struct tacho_profile_event *ev;
	int err;

	f->filter.join_threads = false;
	tacho_format_wants(format, &f->filter);
	if (!load_profiles(q, f))
		return;
	ev = find_main_event(f->profile, &id);
	if (!ev) {
		request_fail(q, 404, "there are no samples in this range");
		return;
	}
	opts.event = format->one_event ? ev->name : NULL;
	opts.before = f->base;
	opts.title = q->agent->host;
	err = tacho_output_write(format, f->profile, &opts, put_bytes, &q->out, &e);
	if (err < 0) {
		request_error(q, &e);
		return;
	}
	q->type = formats[file].type;
	q->filename = formats[file].filename;
}

void page_flame(struct request *q)
{
	scoped(flame_request_done) struct flame_request f = { 0 };
	const char *format = request_arg(q, "format");

	if (!parse_flame_args(q, &f))
		return;
	for (size_t i = 0; format && *format && i < countof(formats); i++)
		if (!strcmp(format, formats[i].format)) {
			flame_file(q, &f, i);
			return;
		}
	if (format && *format)
		request_fail(q, 400,
			     "there is no format '%.40s'; the formats are svg, html, folded, "
			     "pprof, speedscope and json",
			     format);
	else if (load_profiles(q, &f))
		flame_json(q, &f);
}

/* ---- the heat map ---- */

struct heatmap_counts {
	struct tacho_profile_opts filter;
	struct range range;
	int64_t first_s;
	size_t n_seconds;
	uint64_t n_rows;		/* divides HEATMAP_ROWS */
	uint32_t (*counts)[HEATMAP_ROWS];
	struct tacho_error *error;
};

static void count_samples(struct heatmap_counts *h, const struct tacho_profile *p)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(p);

	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		size_t second = (size_t)((int64_t)(rows[i].time / SECOND) - h->first_s);

		if (second < h->n_seconds)
			h->counts[second][rows[i].time % SECOND * h->n_rows / SECOND] +=
				(uint32_t)rows[i].samples;
	}
}

static int add_window_to_heatmap(void *arg, int64_t from_ns, int64_t to_ns, uint64_t samples,
				 struct str blob)
{
	struct heatmap_counts *h = arg;
	struct tacho_unpack_opts range = { .size = sizeof(range), .from_ns = (uint64_t)h->range.from_ns,
					   .to_ns = (uint64_t)h->range.to_ns };
	struct tacho_profile *p;
	int err = tacho_profile_new(&p, &h->filter, h->error);

	(void)from_ns, (void)to_ns, (void)samples;
	if (err < 0)
		return err;
	err = tacho_profile_unpack(p, blob.s, blob.n, &range, h->error);
	if (err == 0)
		count_samples(h, p);
	tacho_profile_free(p);
	return err == -EBADMSG || err == -EPROTO ? 0 : err;
}

static void put_heatmap(struct request *q, const struct heatmap_counts *h)
{
	uint32_t most = 0;
	struct json j;

	begin_json(q, &j, "tacho.heatmap.v1");
	json_member(&j, "rows", u64, h->n_rows);
	json_member(&j, "from", i64, h->range.from_ns / 1000000);
	json_key(&j, "columns");
	json_begin(&j, '[');
	for (size_t i = 0; i < h->n_seconds; i++) {
		uint32_t in_column = 0;

		for (size_t k = 0; k < h->n_rows; k++)
			in_column = max_of(in_column, h->counts[i][k]);
		most = max_of(most, in_column);
		if (!in_column)
			continue;
		json_begin(&j, '[');
		json_i64(&j, (h->first_s + (int64_t)i) * 1000);
		json_begin(&j, '[');
		for (size_t k = 0; k < h->n_rows; k++)
			json_u64(&j, h->counts[i][k]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_member(&j, "max", u64, most);
	end_json(q, &j);
}

void page_heatmap(struct request *q)
{
	struct tacho_error e = { .column = -1 };
	struct heatmap_counts h = { .error = &e };
	int err;

	if (!parse_range(q, HEATMAP_MAX, &h.range) || !request_u64(q, "rows", HEATMAP_ROWS, &h.n_rows))
		return;
	if (!h.n_rows || HEATMAP_ROWS % h.n_rows) {
		request_fail(q, 400, "'rows' must divide %u", HEATMAP_ROWS);
		return;
	}
	h.filter = parse_filter(q);
	h.filter.per_time = true;
	h.first_s = h.range.from_ns / SECOND;
	h.n_seconds = (size_t)((h.range.to_ns - 1) / SECOND - h.first_s + 1);
	h.counts = calloc(h.n_seconds, sizeof(*h.counts));
	if (!h.counts) {
		request_fail(q, 500, "out of memory");
		return;
	}
	err = profiler_windows(q->agent, h.range.from_ns, h.range.to_ns, add_window_to_heatmap, &h, &e);
	if (err < 0)
		request_error(q, &e);
	else
		put_heatmap(q, &h);
	free(h.counts);
}
