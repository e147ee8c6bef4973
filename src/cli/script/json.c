/*
 * Prints a sample as one JSON object on one line. Times are integers in nanoseconds and addresses are
 * hexadecimal strings: JSON readers that use doubles would round large addresses.
 */
#include "cli/script/script.h"

#include "base/json.h"
#include "cli/core/fast_format.h"

static void put_address(struct json *j, const char *key, uint64_t v)
{
	char text[24] = "0x";

	*format_hex(text + 2, v, 0) = 0;
	json_member(j, key, str, text);
}

struct json_chain {
	struct script *s;
	struct json *j;
	uint32_t pid;
};

static bool wants_source_lines(const struct script *s)
{
	for (int t = 0; t < N_TYPES; t++)
		if (s->fields.set[t] & FIELD_SRCLINE)
			return true;
	return false;
}

static void put_place(struct script *s, struct json *j, const char *file, uint32_t line)
{
	if (!wants_source_lines(s) || !file)
		return;
	json_member(j, "file", str, file);
	json_member(j, "line", u64, line);
}

static const char *source_line(struct script *s, const struct tacho_frame *f, uint32_t *line)
{
	const char *file;

	return wants_source_lines(s) && tacho_symbols_srcline(s->symbols, f, &file, line) > 0 ? file : NULL;
}

static void put_function(struct script *s, struct json *j, uint64_t ip, const struct tacho_frame *f)
{
	struct tacho_object_info info = { .size = sizeof(info) };

	put_address(j, "ip", ip);
	if (f->symbol) {
		json_member(j, "symbol", str, tacho_symbols_name(s->symbols, f->symbol));
		json_member(j, "symbol_offset", u64, f->symbol_offset);
	}
	if (f->object && tacho_symbols_object(s->symbols, f->object, &info) >= 0) {
		json_member(j, "object", str, info.path);
		put_address(j, "object_offset", f->object_offset);
	}
}

static void put_frame(struct script *s, struct json *j, uint64_t ip, const struct tacho_frame *f)
{
	uint32_t line = 0;
	const char *file = source_line(s, f, &line);

	put_function(s, j, ip, f);
	put_place(s, j, file, line);
}

/* The frames of an address: inlined functions first. */
static void put_frames(struct script *s, struct json *j, uint64_t ip, const struct tacho_frame *f, bool is_caller)
{
	struct tacho_inline v[TACHO_INLINES_MAX];
	uint32_t line = 0;
	const char *file = source_line(s, f, &line);
	int n = s->opts->no_inline ? 0 : tacho_symbols_inlines(s->symbols, f, is_caller, true, v, countof(v));

	for (int i = 0; i < n; i++) {
		json_begin(j, '{');
		put_address(j, "ip", ip);
		json_member(j, "symbol", str, tacho_symbols_name(s->symbols, v[i].symbol));
		json_member(j, "inlined", bool, true);
		put_place(s, j, file, line);
		json_end(j);
		file = v[i].call_file;
		line = v[i].call_line;
	}
	json_begin(j, '{');
	put_function(s, j, ip, f);
	put_place(s, j, file, line);
	json_end(j);
}

static void chain_frames(void *arg, enum tacho_space space, const uint64_t *ips, size_t n)
{
	struct json_chain *c = arg;
	struct tacho_frame frame;

	for (size_t i = 0; i < n; i++) {
		if (tacho_symbols_resolve(c->s->symbols, c->pid, space, ips[i], &frame) < 0)
			frame = (struct tacho_frame){ .space = space };
		put_frames(c->s, c->j, ips[i], &frame, i > 0);
	}
}

static void put_trace(struct script *s, const struct script_event *ev, struct json *j,
		      const struct tacho_sample *sample)
{
	char text[4096];
	ptrdiff_t n = tacho_trace_print(ev->trace, sample->raw, sample->n_raw, &s->trace_opts, text,
					sizeof(text));

	if (n >= 0)
		json_member(j, "trace", str, text);
	json_key(j, "trace_fields");
	json_begin(j, '{');
	for (size_t i = 0; i < tacho_trace_n_fields(ev->trace); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev->trace, i);

		if (strncmp(f->name, "common_", 7) == 0 ||
		    tacho_trace_print_field(ev->trace, i, sample->raw, sample->n_raw, &s->trace_opts, text,
					    sizeof(text)) < 0)
			continue;
		json_member(j, f->name, str, text);
	}
	json_end(j);
}

static void put_task_and_cpu(struct json *j, uint64_t type, const struct line_head *head)
{
	if (type & PERF_SAMPLE_TID) {
		json_member(j, "comm", str, head->comm);
		json_member(j, "pid", i64, (int32_t)head->pid);
		json_member(j, "tid", i64, (int32_t)head->tid);
	}
	if (type & PERF_SAMPLE_CPU)
		json_member(j, "cpu", u64, head->cpu);
	if (type & PERF_SAMPLE_TIME)
		json_member(j, "time_ns", u64, head->time);
}

void json_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample,
		 const struct line_head *head)
{
	struct json j = { .out = &ev->sink->out };
	struct json_chain chain = { s, &j, head->pid };
	struct tacho_frame frame;

	json_begin(&j, '{');
	json_member(&j, "type", str, "sample");
	json_member(&j, "event", str, ev->file->name);
	put_task_and_cpu(&j, sample->type, head);
	json_member(&j, "period", u64, sample->period);
	if (sample->type & PERF_SAMPLE_IP) {
		if (tacho_symbols_resolve(s->symbols, head->pid, head->misc & 7, sample->ip, &frame) < 0)
			frame = (struct tacho_frame){ 0 };
		put_frame(s, &j, sample->ip, &frame);
	}
	if (sample->type & PERF_SAMPLE_ADDR)
		put_address(&j, "addr", sample->addr);
	if (ev->trace && sample->raw)
		put_trace(s, ev, &j, sample);
	if (ev->chains) {
		json_key(&j, "callchain");
		json_begin(&j, '[');
		script_walk_callchain(s, sample, head, chain_frames, &chain);
		json_end(&j);
	}
	json_end(&j);
	buf_putc(&ev->sink->out, '\n');
}
