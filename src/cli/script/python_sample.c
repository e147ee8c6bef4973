/*
 * Samples as messages for python/runner.py: tuples whose first element is the name of the runner's function.
 */
#include <endian.h>
#include <inttypes.h>

#include "cli/script/marshal.h"
#include "cli/script/mem_fields.h"
#include "cli/script/python.h"

#define DYNAMIC_WORD_BYTES 4u		/* position and length of a dynamic field */
#define DATA_SRC_NONE 0x5080021ull	/* every part not available */

/* ---- events ---- */

/* "sched__sched_switch" of "sched:sched_switch"; NULL: not a tracepoint. */
static void put_handler_name(const struct script_event *ev, struct buf *out)
{
	const char *name = ev->trace ? tacho_trace_name(ev->trace) : ev->file->name, *colon = strchr(name, ':');
	scoped(buf_done) struct buf text = { 0 };

	if (ev->attr->type != PERF_TYPE_TRACEPOINT) {
		marshal_none(out);
		return;
	}
	buf_printf(&text, "%.*s__%s", colon ? (int)(colon - name) : 0, name, colon ? colon + 1 : name);
	marshal_text(out, buf_view(&text));
	out->bad = out->bad || text.bad;
}

static bool is_common(const struct tacho_trace_field *f)
{
	return strncmp(f->name, "common_", 7) == 0;
}

static void put_field_names(const struct script_event *ev, struct buf *out)
{
	size_t at = marshal_begin_list(out), n = 0;

	for (size_t i = 0; ev->trace && i < tacho_trace_n_fields(ev->trace); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev->trace, i);

		if (is_common(f))
			continue;
		marshal_string(out, f->name);
		n++;
	}
	marshal_end_list(out, at, n);
}

/* Events are numbered in the order of their messages. */
static void put_events(struct script *s, struct buf *out)
{
	for (; s->n_python_events < s->events.n; s->n_python_events++) {
		struct script_event *ev = &s->events.v[s->n_python_events];
		struct str format = { NULL, 0 };

		if (ev->attr->type == PERF_TYPE_TRACEPOINT && !ev->trace)
			script_trace(s, ev);
		if (ev->trace)
			format.s = tacho_trace_print_format(ev->trace, &format.n);
		marshal_tuple(out, 6);
		marshal_string(out, "add_event");
		marshal_string(out, ev->file->name);
		marshal_bytes(out, ev->attr, ev->file->attr_size);
		put_handler_name(ev, out);
		marshal_text(out, format);
		put_field_names(ev, out);
	}
}

/* ---- fields of tracepoints ---- */

static uint64_t read_number(const uint8_t *at, uint32_t size, bool swapped)
{
	uint64_t v = 0;

	size = min_of(size, 8u);
	for (uint32_t i = 0; i < size; i++) {
		bool little = (__BYTE_ORDER == __LITTLE_ENDIAN) != swapped;

		v |= (uint64_t)at[i] << 8 * (little ? i : size - 1 - i);
	}
	return v;
}

/* As perf reads them: only numbers of eight bytes have a sign. */
static void put_number(const struct tacho_trace_field *f, const uint8_t *at, uint32_t size, bool swapped, struct buf *out)
{
	uint64_t v = read_number(at, size, swapped);

	if (f->is_signed && size == 8)
		marshal_i64(out, (int64_t)v);
	else
		marshal_u64(out, v);
}

static bool is_printable(const uint8_t *at, size_t n)
{
	if (!n || at[n - 1])
		return false;
	for (size_t i = 0; i + 1 < n && at[i]; i++)
		if ((at[i] < ' ' || at[i] > '~') && !(at[i] >= '\t' && at[i] <= '\r'))
			return false;
	return true;
}

/* Where the field's data is; dynamic fields have a word with position and length. False: outside of the sample. */
static bool find_data(const struct tacho_trace_field *f, const struct tacho_sample *x, bool swapped, const uint8_t **at,
		      uint32_t *n)
{
	uint64_t offset = f->offset;

	*n = f->is_dynamic ? DYNAMIC_WORD_BYTES : f->size;
	if (offset + *n > x->n_raw)
		return false;
	if (f->is_dynamic) {
		uint64_t word = read_number(x->raw + offset, DYNAMIC_WORD_BYTES, swapped);

		offset = (word & 0xffff) + (f->is_relative ? offset + 4 : 0);
		*n = (uint32_t)(word >> 16);
	}
	*at = x->raw + offset;
	return offset + *n <= x->n_raw;
}

static void put_field(const struct tacho_trace_field *f, const struct tacho_sample *x, bool swapped, struct buf *out)
{
	uint32_t n, each = f->element_size ? f->element_size : f->size;
	const uint8_t *at;

	if (!find_data(f, x, swapped, &at, &n)) {
		marshal_none(out);
	} else if (f->is_string) {
		if (is_printable(at, n))
			marshal_text(out, str_of((const char *)at));
		else
			marshal_bytes(out, at, n);
	} else if (f->is_array || f->is_dynamic) {
		each = each >= 1 && each <= 8 ? each : 1;
		marshal_list(out, n / each);
		for (uint32_t i = 0; i < n / each; i++)
			put_number(f, at + i * each, each, swapped, out);
	} else {
		put_number(f, at, n, swapped, out);
	}
}

static uint64_t common_number(const struct script_event *ev, const struct tacho_sample *x, const char *name, bool swapped)
{
	for (size_t i = 0; i < tacho_trace_n_fields(ev->trace); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev->trace, i);
		const uint8_t *at;
		uint32_t n;

		if (strcmp(f->name, name) == 0 && find_data(f, x, swapped, &at, &n))
			return read_number(at, n, swapped);
	}
	return 0;
}

static void put_trace(const struct script *s, const struct script_event *ev, const struct tacho_sample *x, struct buf *out)
{
	static const char *const common[] = { "common_pid", "common_flags", "common_preempt_count", "common_lock_depth" };
	bool swapped = s->trace_opts.swapped;
	size_t at, n = 0;

	if (!ev->trace || !x->raw) {
		marshal_none(out);
		return;
	}
	marshal_tuple(out, countof(common) + 1);
	for (size_t i = 0; i < countof(common); i++)
		marshal_u64(out, common_number(ev, x, common[i], swapped));
	at = marshal_begin_list(out);
	for (size_t i = 0; i < tacho_trace_n_fields(ev->trace); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev->trace, i);

		if (is_common(f))
			continue;
		put_field(f, x, swapped, out);
		n++;
	}
	marshal_end_list(out, at, n);
}

/* ---- places ---- */

static bool find_object(const struct script *s, const struct tacho_frame *f, struct tacho_object_info *info)
{
	*info = (struct tacho_object_info){ .size = sizeof(*info) };
	return f->object && tacho_symbols_object(s->symbols, f->object, info) >= 0;
}

/* Six elements: address, symbol, its start and end, offset, object. */
static void put_place(struct script *s, uint64_t ip, const struct tacho_frame *f, struct buf *out)
{
	struct tacho_object_info info;
	uint64_t start = 0, length = 0;

	marshal_u64(out, ip);
	if (f->symbol)
		tacho_symbols_range(s->symbols, f, &start, &length);
	marshal_string(out, f->symbol ? tacho_symbols_name(s->symbols, f->symbol) : NULL);
	marshal_u64(out, start);
	marshal_u64(out, start + length);
	marshal_u64(out, f->symbol_offset);
	marshal_string(out, find_object(s, f, &info) ? info.path : NULL);
}

static void put_ip(struct script *s, const struct tacho_sample *x, const struct line_head *head, struct buf *out)
{
	scoped(buf_done) struct buf id = { 0 };
	struct tacho_object_info info;
	struct tacho_frame frame;

	if (!(x->type & PERF_SAMPLE_IP) ||
	    tacho_symbols_resolve(s->symbols, head->pid, head->misc & 7, x->ip, &frame) < 0)
		frame = (struct tacho_frame){ 0 };
	marshal_tuple(out, 7);
	put_place(s, x->ip, &frame, out);
	if (find_object(s, &frame, &info))
		for (size_t i = 0; i < info.n_build_id; i++)
			buf_printf(&id, "%02x", info.build_id[i]);
	marshal_text(out, buf_view(&id));
}

struct python_chain {
	struct script *s;
	struct buf *out;
	uint32_t pid;
	size_t n;
};

static void put_frames(void *arg, enum tacho_space space, const uint64_t *ips, size_t n)
{
	struct python_chain *c = arg;
	struct tacho_frame frame;

	for (size_t i = 0; i < n; i++) {
		if (tacho_symbols_resolve(c->s->symbols, c->pid, space, ips[i], &frame) < 0)
			frame = (struct tacho_frame){ 0 };
		marshal_tuple(c->out, 6);
		put_place(c->s, ips[i], &frame, c->out);
	}
	c->n += n;
}

static void put_chain(struct script *s, const struct script_event *ev, const struct tacho_sample *x,
		      const struct line_head *head, struct buf *out)
{
	struct python_chain c = { s, out, head->pid, 0 };
	size_t at = marshal_begin_list(out);

	if (ev->chains)
		script_walk_callchain(s, x, head, put_frames, &c);
	marshal_end_list(out, at, c.n);
}

/* ---- branches and registers ---- */

static void put_branch_end(struct script *s, uint32_t pid, uint64_t address, struct buf *object, struct buf *symbol)
{
	struct tacho_object_info info;
	struct tacho_frame f;

	/* Kernel addresses are in the upper half. */
	if (tacho_symbols_resolve(s->symbols, pid, address >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER, address, &f) < 0)
		f = (struct tacho_frame){ 0 };
	buf_puts(object, find_object(s, &f, &info) ? info.path : "");
	if (f.symbol)
		buf_printf(symbol, "%s+0x%" PRIx64, tacho_symbols_name(s->symbols, f.symbol), f.symbol_offset);
	else
		buf_puts(symbol, "");
}

static void put_branch(struct script *s, uint32_t pid, const struct tacho_branch *b, struct buf *out)
{
	scoped(buf_done) struct buf from = { 0 }, to = { 0 }, from_symbol = { 0 }, to_symbol = { 0 };

	put_branch_end(s, pid, b->from, &from, &from_symbol);
	put_branch_end(s, pid, b->to, &to, &to_symbol);
	marshal_tuple(out, 8);
	marshal_u64(out, b->from);
	marshal_u64(out, b->to);
	marshal_u64(out, b->flags & 15);
	marshal_u64(out, b->flags >> 4 & 0xffff);
	marshal_text(out, buf_view(&from));
	marshal_text(out, buf_view(&to));
	marshal_text(out, buf_view(&from_symbol));
	marshal_text(out, buf_view(&to_symbol));
}

/* "   AX:0x1    BX:0x2 " */
static void put_registers(const struct tacho_regs *r, uint16_t machine, struct buf *out)
{
	scoped(buf_done) struct buf text = { 0 };
	size_t at = 0;

	for (unsigned bit = 0; bit < 64 && at < r->values.n; bit++) {
		const char *name = tacho_reg_name(machine, bit);

		if (r->mask >> bit & 1)
			buf_printf(&text, "%5s:0x%" PRIx64 " ", name ? name : "unknown", r->values.v[at++]);
	}
	marshal_text(out, buf_view(&text));
}

/* ---- the sample ---- */

static void put_values(const struct tacho_sample *x, struct buf *out)
{
	size_t n = max_of(x->read.n, (size_t)1);

	marshal_list(out, n);
	for (size_t i = 0; i < n; i++) {
		struct tacho_read_value v = tacho_read_get(&x->read, i);

		marshal_tuple(out, 3);
		marshal_u64(out, v.id);
		marshal_u64(out, v.value);
		marshal_u64(out, v.lost);
	}
}

static void put_numbers(const struct tacho_sample *x, const struct line_head *head, struct buf *out)
{
	uint64_t source = x->type & PERF_SAMPLE_DATA_SRC ? x->data_src : DATA_SRC_NONE;
	scoped(buf_done) struct buf text = { 0 };

	data_src_text(&text, source);
	marshal_tuple(out, 14);
	marshal_u64(out, head->pid);
	marshal_u64(out, head->tid);
	marshal_u64(out, x->type & PERF_SAMPLE_CPU ? x->cpu : UINT32_MAX);
	marshal_u64(out, x->ip);
	marshal_u64(out, x->time);
	marshal_u64(out, x->period);
	marshal_u64(out, x->phys_addr);
	marshal_u64(out, x->addr);
	put_values(x, out);
	marshal_u64(out, x->weight);
	marshal_u64(out, x->transaction);
	marshal_u64(out, source);
	marshal_text(out, buf_view(&text));
	marshal_u64(out, head->misc & 7);
}

void python_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample, const struct line_head *head)
{
	uint16_t machine = ev->file->layout.machine;
	struct buf *out = &s->sink.out;

	put_events(s, out);
	marshal_tuple(out, 10);
	marshal_string(out, "on_sample");
	marshal_u64(out, (uint64_t)(ev - s->events.v));
	put_numbers(sample, head, out);
	marshal_bytes(out, sample->raw, sample->raw ? sample->n_raw : 0);
	marshal_string(out, head->comm);
	put_ip(s, sample, head, out);
	put_chain(s, ev, sample, head, out);
	marshal_list(out, sample->n_branches);
	for (size_t i = 0; i < sample->n_branches; i++)
		put_branch(s, head->pid, &sample->branches[i], out);
	marshal_tuple(out, 2);
	put_registers(&sample->regs_intr, machine, out);
	put_registers(&sample->regs_user, machine, out);
	put_trace(s, ev, sample, out);
}

/* ---- other records ---- */

#define MISC_SWITCH_OUT (1u << 13)
#define MISC_SWITCH_PREEMPT (1u << 14)

/* context_switch(time, cpu, pid, tid, next or previous pid, tid, machine's pid, out, preempted) */
static void put_switch(const struct tacho_sideband *r, struct buf *out)
{
	bool wide = r->type == TACHO_RECORD_SWITCH_CPU_WIDE;

	marshal_tuple(out, 10);
	marshal_string(out, "on_switch");
	marshal_u64(out, r->id.time);
	marshal_i64(out, r->id.type & PERF_SAMPLE_CPU ? (int64_t)r->id.cpu : -1);
	marshal_i64(out, (int32_t)r->id.pid);
	marshal_i64(out, (int32_t)r->id.tid);
	marshal_i64(out, wide ? (int32_t)r->task_id.pid : -1);
	marshal_i64(out, wide ? (int32_t)r->task_id.tid : -1);
	marshal_i64(out, -1);
	marshal_u64(out, r->misc & MISC_SWITCH_OUT ? 1 : 0);
	marshal_u64(out, r->misc & MISC_SWITCH_PREEMPT ? 1 : 0);
}

void python_sideband(struct script *s, const struct tacho_sideband *r)
{
	struct buf *out = &s->sink.out;

	if (r->type == TACHO_RECORD_SWITCH || r->type == TACHO_RECORD_SWITCH_CPU_WIDE) {
		put_switch(r, out);
	} else if (r->type == TACHO_RECORD_THROTTLE || r->type == TACHO_RECORD_UNTHROTTLE) {
		marshal_tuple(out, 6);
		marshal_string(out, "on_throttle");
		marshal_string(out, r->type == TACHO_RECORD_THROTTLE ? "throttle" : "unthrottle");
		marshal_u64(out, r->throttle.time);
		marshal_i64(out, r->id.type & PERF_SAMPLE_CPU ? (int64_t)r->id.cpu : -1);
		marshal_i64(out, (int32_t)r->id.pid);
		marshal_i64(out, (int32_t)r->id.tid);
	}
}

/* "stat__cycles_u" of "cycles:u" */
void python_count(struct script *s, const struct python_count *c)
{
	scoped(buf_done) struct buf name = { 0 };
	struct buf *out = &s->sink.out;

	buf_puts(&name, "stat__");
	for (const char *at = c->event; *at; at++)
		buf_putc(&name, *at == ':' ? '_' : *at);
	marshal_tuple(out, 8);
	marshal_string(out, "on_stat");
	marshal_text(out, buf_view(&name));
	marshal_i64(out, c->cpu);
	marshal_i64(out, c->thread);
	marshal_u64(out, c->time);
	marshal_u64(out, c->value);
	marshal_u64(out, c->enabled);
	marshal_u64(out, c->running);
}

void python_interval(struct script *s, uint64_t time)
{
	marshal_tuple(&s->sink.out, 3);
	marshal_string(&s->sink.out, "on_stat");
	marshal_string(&s->sink.out, "stat__interval");
	marshal_u64(&s->sink.out, time);
}
