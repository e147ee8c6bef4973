/*
 * Prints a sample as text, in the format of perf script that flame graph tools and other programs parse:
 *
 *	            find   16721 [001]  3589.122477:     500000 cpu-clock:      7f165b48341b main+0x1b (/usr/bin/find)
 *
 * and with call chains:
 *
 *	find   16721 [001]  3589.122477:     500000 cpu-clock:
 *		ffffffff81360012 handle_softirqs+0x72 ([kernel.kallsyms])
 *		    7f165b48341b main+0x1b (/usr/bin/find)
 *
 * with a blank after the last colon, and an empty line after the last frame.
 */
#include "cli/script/script.h"

#include <stdio.h>

#include "cli/core/fast_format.h"

enum { COMM_WIDTH = 16, LATENCY_COMM_WIDTH = 8, TID_WIDTH = 7, PERIOD_WIDTH = 10 };
enum { MAX_HEAD = 512, TRACE_BYTES = 1024 };

static char *put_ids(char *at, uint32_t fields, const struct line_head *head)
{
	int32_t pid = (int32_t)head->pid, tid = (int32_t)head->tid;
	char *end;

	if (!(fields & (FIELD_PID | FIELD_TID)))
		return at;
	if (pid < 0 || tid < 0) {	/* -1: no task, or one that has exited */
		at += sprintf(at, "%*d", TID_WIDTH, fields & FIELD_PID ? pid : tid);
		if ((fields & FIELD_PID) && (fields & FIELD_TID))
			at += sprintf(at, "/%-*d", TID_WIDTH, tid);
		*at++ = ' ';
		return at;
	}
	at = format_dec(at, fields & FIELD_PID ? head->pid : head->tid, TID_WIDTH, ' ');
	if ((fields & FIELD_PID) && (fields & FIELD_TID)) {
		*at++ = '/';
		end = format_dec(at, head->tid, 0, ' ');
		at = end < at + TID_WIDTH ? format_blanks(end, (size_t)(at + TID_WIDTH - end)) : end;
	}
	*at++ = ' ';
	return at;
}

static uint64_t shown_time(struct script *s, uint64_t time)
{
	uint64_t shown = time;

	if (s->opts->reltime)
		shown = s->first_time && time > s->first_time ? time - s->first_time : 0;
	else if (s->opts->deltatime)
		shown = s->last_time && time > s->last_time ? time - s->last_time : 0;
	if (!s->first_time)
		s->first_time = time;
	s->last_time = time;
	return shown;
}

/* Appends the seconds, "  284.": formatted once per second, because thousands of samples share the text. */
static char *put_second(struct script *s, char *at, uint64_t second)
{
	if (second != s->second || !s->n_second) {
		char *end = format_dec(s->second_text, second, 5, ' ');

		*end++ = '.';
		s->n_second = (size_t)(end - s->second_text);
		s->second = second;
	}
	memcpy(at, s->second_text, sizeof(s->second_text));
	return at + s->n_second;
}

static char *put_time(struct script *s, char *at, uint64_t time)
{
	time = shown_time(s, time);
	at = put_second(s, at, time / 1000000000u);
	if (s->opts->ns)
		at = format_dec(at, time % 1000000000u, 9, '0');
	else
		at = format_dec6(at, time % 1000000000u / 1000);
	return format_bytes(at, ": ", 2);
}

/* Appends a letter for the CPU mode, and one for each bit of `misc` that is specific to the record's type. */
static char *put_misc(char *at, const struct line_head *head)
{
	static const char modes[] = "?KUHGg";
	char *from = at;
	bool bit13 = head->misc & (1u << 13), bit14 = head->misc & (1u << 14);
	unsigned mode = head->misc & 7;

	if (mode && mode < sizeof(modes) - 1)
		*at++ = modes[mode];
	if (bit13 && (head->type == TACHO_RECORD_MMAP || head->type == TACHO_RECORD_MMAP2))
		*at++ = 'M';
	if (bit13 && head->type == TACHO_RECORD_COMM)
		*at++ = 'E';
	if (bit13 && (head->type == TACHO_RECORD_SWITCH || head->type == TACHO_RECORD_SWITCH_CPU_WIDE)) {
		*at++ = 'S';
		if (bit14)
			*at++ = 'p';
	}
	return format_blanks(at, (size_t)(6 - (at - from)));
}

static char *put_comm(char *at, const struct script_event *ev, const struct line_head *head, bool latency)
{
	size_t n = min_of(head->n_comm, latency ? (size_t)LATENCY_COMM_WIDTH : (size_t)MAX_HEAD / 2);
	size_t width = latency ? LATENCY_COMM_WIDTH : ev->chains && (ev->fields & FIELD_IP) ? 0 : COMM_WIDTH;

	if (n < width)
		at = format_blanks(at, width - n);
	at = format_bytes(at, head->comm, n);
	*at++ = ' ';
	return at;
}

static char *put_cpu(char *at, uint32_t cpu, bool latency)
{
	if (latency)
		return at + sprintf(at, "%3d ", (int)cpu);
	*at++ = '[';
	at = cpu == NO_CPU ? format_bytes(at, "-01", 3) : format_dec(at, cpu, 3, '0');
	return format_bytes(at, "] ", 2);
}

/* Appends the fields comm, pid, tid and cpu; `latency`: in the form of -L. */
static char *put_task_and_cpu(char *at, const struct script_event *ev, const struct line_head *head, bool latency)
{
	if (ev->fields & FIELD_COMM)
		at = put_comm(at, ev, head, latency);
	at = put_ids(at, ev->fields, head);
	return ev->fields & FIELD_CPU ? put_cpu(at, head->cpu, latency) : at;
}

/* Like put_task_and_cpu(), but copies the text of the thread's last sample if all four fields are
 * unchanged. */
static char *put_cached_task_and_cpu(char *at, const struct script_event *ev, const struct line_head *head, bool latency)
{
	struct thread_lines *r = head->thread_lines;
	size_t n;

	if (r->head_ev == ev && r->head_cpu == head->cpu && r->head_tid == head->tid && r->head_pid == head->pid)
		return format_bytes(at, r->head, sizeof(r->head)) - sizeof(r->head) + r->n_head;
	n = (size_t)(put_task_and_cpu(at, ev, head, latency) - at);
	if (n <= sizeof(r->head)) {
		memcpy(r->head, at, n);
		r->n_head = n;
		r->head_ev = ev;
		r->head_pid = head->pid;
		r->head_tid = head->tid;
		r->head_cpu = head->cpu;
	}
	return at + n;
}

void line_put_head(struct script *s, const struct script_event *ev, struct buf *out,
		const struct line_head *head)
{
	char *from = buf_reserve(out, MAX_HEAD), *at = from;

	if (!from)
		return;
	at = head->thread_lines ? put_cached_task_and_cpu(at, ev, head, s->opts->latency) :
				  put_task_and_cpu(at, ev, head, s->opts->latency);
	if (ev->fields & FIELD_MISC)
		at = put_misc(at, head);
	if (ev->fields & FIELD_TOD)
		at = put_time_of_day(s, at, head->time);
	if (ev->fields & FIELD_TIME)
		at = put_time(s, at, head->time);
	out->n += (size_t)(at - from);
}

/* ---- frames ---- */

/* Appends a text without an offset: of several lines, if functions are inlined at the address. */
static __attribute__((noinline)) char *put_whole_text(char *at, const struct frame_text *t, uint64_t ip)
{
	const char *line = t->bytes;

	if (!t->base)
		return format_bytes_slack(at, t->bytes, t->n);
	for (uint64_t i = 0; i < t->base; i++) {
		size_t n = strlen(line);

		if (i) {
			*at++ = '\t';
			at = format_address16(at, ip);
		}
		at = format_bytes(at, line, n);
		line += n + 1;
	}
	return at;
}

static inline __attribute__((always_inline)) char *
put_frame_text(char *at, const struct frame_text *t, const struct tacho_spot *spot, uint64_t ip)
{
	if (!t->n_after)
		return put_whole_text(at, t, ip);
	at = format_bytes_slack(at, t->bytes, t->n);
	at = format_hex_short(at, spot->offset - t->base);
	return format_bytes_slack(at, t->bytes + t->n, t->n_after);
}

/* Bytes reserved per frame line, enough for nearly all lines: 17 for the address, 16 for the offset. */
enum { LINE_BYTES = 256, MAX_LINE_TEXT = LINE_BYTES - 17 - 16 };
_Static_assert(MAX_LINE_TEXT / 2 < MAX_SHORT_LINE, "space for inlined functions is always reserved");

/* Ends the buffer at `at` and reserves space for `lines` more lines, the first of which has the long
 * `text`. */
static char *reserve_lines(struct buf *out, const char *at, size_t lines, const struct frame_text *text)
{
	out->n = (size_t)(at - out->bytes);
	return buf_reserve(out, lines * LINE_BYTES + FORMAT_SLACK + text->n + text->n_after);
}

/* Appends the run's lines; starts[i] is the position of line i in the buffer. */
static void put_run(struct buf *out, const struct frame_run *run, size_t *starts)
{
	char *at = buf_reserve(out, run->n * LINE_BYTES + FORMAT_SLACK);

	for (size_t i = 0; i < run->n && at; i++) {
		const struct frame_text *t = run->texts[i];

		if (t->n > MAX_LINE_TEXT / 2 || t->n_after > MAX_LINE_TEXT / 2) {
			at = reserve_lines(out, at, run->n - i, t);
			if (!at)
				break;
		}
		starts[i] = (size_t)(at - out->bytes);
		*at = '\t';
		format_address16(at + 1, run->ips[i]);
		at = put_frame_text(at + 17, t, &run->spots[i], run->ips[i]);
	}
	if (at)
		out->n = (size_t)(at - out->bytes);
}

/* Copies the lines of the chain's `shared` outermost entries, which are in the buffer already. */
static void put_cached_lines(struct buf *out, struct thread_lines *r, size_t shared)
{
	size_t *starts = r->line_starts + MAX_CACHED_CHAIN - shared, n = r->end - starts[0], moved;
	char *at = buf_reserve(out, n);

	if (!at)
		return;
	memcpy(at, out->bytes + starts[0], n);
	out->n += n;
	moved = out->n - r->end;
	for (size_t i = 0; i < shared; i++)
		starts[i] += moved;
}

static void put_chain(struct buf *out, const struct batch_sample *x)
{
	const struct tacho_words *chain = &x->sample.chain;
	struct thread_lines *r = x->head.thread_lines;
	size_t first = MAX_CACHED_CHAIN - chain->n;

	for (size_t i = 0; i < x->n_runs; i++)
		put_run(out, &x->runs[i], &r->line_starts[first + (size_t)(x->runs[i].ips - chain->v)]);
	if (x->shared)
		put_cached_lines(out, r, x->shared);
	r->end = out->n;
}

/* ---- chains that are not looked up in a batch ---- */

enum { FRAMES_AT_ONCE = 64 };

struct chain_out {
	struct script *s;
	struct buf *out;
	uint32_t fields, pid;
};

static void chain_frames(void *arg, enum tacho_space space, const uint64_t *ips, size_t n)
{
	struct chain_out *c = arg;
	struct tacho_spot spots[FRAMES_AT_ONCE] = { 0 };
	uint32_t hashes[FRAMES_AT_ONCE] = { 0 };
	size_t starts[FRAMES_AT_ONCE] = { 0 };
	const struct frame_text *texts[FRAMES_AT_ONCE] = { NULL };

	for (size_t i = 0; i < n; i += FRAMES_AT_ONCE) {
		struct frame_run run = {
			.ips = ips + i, .n = min_of(n - i, (size_t)FRAMES_AT_ONCE), .space = space, .pid = c->pid,
			.fields = c->fields, .inlines = !c->s->opts->no_inline, .exact = i == 0,
			.spots = spots, .hashes = hashes, .texts = texts,
		};

		if (frame_runs_look_up(c->s, &run, 1) < 0)
			c->out->bad = true;
		else
			put_run(c->out, &run, starts);
	}
}

static void put_location(struct script *s, struct buf *out, uint32_t fields,
		      const struct line_head *head, enum tacho_space space, uint64_t ip)
{
	struct tacho_spot spot;
	uint32_t hash;
	const struct frame_text *text = NULL;
	struct frame_run run = { .ips = &ip, .n = 1, .space = space, .pid = head->pid, .fields = fields,
				 .spots = &spot, .hashes = &hash, .texts = &text };
	char *from, *at;

	if ((fields & (FIELD_SYM | FIELD_DSO | FIELD_SRCLINE)) && frame_runs_look_up(s, &run, 1) < 0) {
		out->bad = true;
		return;
	}
	from = at = buf_reserve(out, LINE_BYTES + FORMAT_SLACK + (text ? (size_t)text->n + text->n_after : 0));
	if (!from)
		return;
	if (fields & (FIELD_IP | FIELD_ADDR))
		at = format_address16(at, ip);
	if (text)
		at = put_frame_text(at, text, &spot, ip) - 1;	/* without the '\n' */
	out->n += (size_t)(at - from);
}

/* ---- addresses ---- */

static void put_addr(struct script *s, const struct script_event *ev, struct buf *out,
		     const struct tacho_sample *sample, const struct line_head *head)
{
	/* For page faults, addr is a data address of the task; for other events it need not be an address. */
	uint64_t config = ev->attr->config;
	bool is_fault_address = ev->attr->type == PERF_TYPE_SOFTWARE && config >= PERF_COUNT_SW_PAGE_FAULTS &&
				config <= PERF_COUNT_SW_PAGE_FAULTS_MAJ &&
				config != PERF_COUNT_SW_CONTEXT_SWITCHES &&
				config != PERF_COUNT_SW_CPU_MIGRATIONS;
	uint32_t fields = is_fault_address || ev->branches ? ev->fields | FIELD_ADDR : FIELD_ADDR;

	put_location(s, out, fields, head, TACHO_SPACE_UNKNOWN, sample->addr);
}

static void put_trace(struct script *s, const struct script_event *ev, struct buf *out,
		      const struct tacho_sample *sample)
{
	size_t room = TRACE_BYTES;
	ptrdiff_t n;
	char *at;

	if (!ev->trace || !sample->raw)
		return;
	for (;;) {
		at = buf_grow(out, room);
		n = at ? tacho_trace_print(ev->trace, sample->raw, sample->n_raw, &s->trace_opts, at, room) : -1;
		if (n < (ptrdiff_t)room)
			break;
		room = (size_t)n + 1;
	}
	if (n < 0) {
		out->bad = true;
		return;
	}
	out->n += (size_t)n;
	while (n && at[n - 1] == '\n')		/* the end of a line that a program wrote to trace_marker */
		n--;
	str_make_printable(at, (size_t)n);
}

/* Appends period and event name; copies both if the event's last sample had the same period. */
static void put_event(struct script_event *ev, struct buf *out, uint64_t period)
{
	char *from = buf_reserve(out, ev->n_label + FORMAT_SLACK + 64), *at = from;

	if (!from)
		return;
	if (ev->n_cached_label && ev->cached_period == period) {
		memcpy(at, ev->cached_label, sizeof(ev->cached_label));
		out->n += ev->n_cached_label;
		return;
	}
	if (ev->fields & FIELD_PERIOD) {
		at = format_dec(at, period, PERIOD_WIDTH, ' ');
		*at++ = ' ';
	}
	if (ev->fields & FIELD_EVENT)
		at = format_bytes_slack(at, ev->label, ev->n_label);
	ev->n_cached_label = (size_t)(at - from);
	out->n += ev->n_cached_label;
	if (ev->n_cached_label > sizeof(ev->cached_label))
		ev->n_cached_label = 0;
	memcpy(ev->cached_label, from, ev->n_cached_label);
	ev->cached_period = period;
}

static inline void put_char(struct buf *out, char c)
{
	char *at = buf_reserve(out, 1);

	if (at) {
		*at = c;
		out->n++;
	}
}

static void put_frames(struct script *s, const struct batch_sample *x)
{
	struct chain_out c = { s, &x->ev->sink->out, x->ev->fields, x->head.pid };

	put_char(c.out, x->ev->chains ? '\n' : ' ');
	if (!x->ev->chains)
		put_location(s, c.out, c.fields, &x->head, x->head.misc & 7, x->sample.ip);
	else if (x->looked_up)
		put_chain(c.out, x);
	else
		script_walk_callchain(s, &x->sample, &x->head, chain_frames, &c);
}

/* Rarely used fields between the event name and the frames. */
#define FIELDS_MIDDLE (FIELD_FLAGS | FIELD_TRACE | FIELD_ADDR | FIELDS_BEFORE_IP)

static void put_middle_fields(struct script *s, const struct batch_sample *x)
{
	struct script_event *ev = x->ev;
	struct buf *out = &ev->sink->out;

	if (ev->fields & FIELD_FLAGS)
		hwtrace_flags(x, out);
	if (ev->fields & FIELD_TRACE)
		put_trace(s, ev, out, &x->sample);
	if (s->fields.trace.n)
		trace_fields_put(s, ev, out, &x->sample);
	if ((ev->fields & FIELD_ADDR) && !ev->branches)
		put_addr(s, ev, out, &x->sample, &x->head);
	if (ev->fields & FIELDS_BEFORE_IP)
		extra_fields_before_ip(s, ev, out, &x->sample);
}

/* The instruction at the sample's address, the code between its branches, the source line. */
static void put_code(struct script *s, const struct batch_sample *x, struct buf *out)
{
	struct tacho_frame frame;
	bool known = (s->insns.fields & CODE_OF_SAMPLE) &&
		     tacho_symbols_resolve(s->symbols, x->head.pid, x->head.misc & 7, x->sample.ip, &frame) >= 0;

	if (known)
		script_insn_put(&s->insns, &frame, out);
	if (s->insns.fields & CODE_OF_BRANCHES)
		branch_code_put(s, x->ev, out, &x->sample);
	if (known && frame.object && (s->insns.fields & CODE_SOURCE))
		script_source_put(&s->insns, &frame, out);
}

void line_sample(struct script *s, const struct batch_sample *x)
{
	struct script_event *ev = x->ev;
	struct buf *out = &ev->sink->out;

	if ((s->insns.fields & CODE_COUNTERS) && !s->opts->verbose &&
	    (ev->file->layout.branch_type & PERF_BRANCH_COUNTERS))
		branch_counters_legend(s, ev, out);
	line_put_head(s, ev, out, &x->head);
	put_event(ev, out, x->sample.period);
	if ((ev->fields & FIELDS_MIDDLE) || s->fields.trace.n)
		put_middle_fields(s, x);
	if (ev->synth)
		hwtrace_synth(x, out);
	if ((s->fields.hwtrace & HWTRACE_CALLINDENT) && ev->branches)
		hwtrace_callindent(s, x, out);
	if (ev->fields & FIELD_IP)
		put_frames(s, x);
	if (ev->arrow) {
		buf_puts(out, " => ");
		put_addr(s, ev, out, &x->sample, &x->head);
	}
	if (ev->has_fields_after_ip)
		extra_fields_after_ip(s, ev, out, &x->sample, &x->head);
	if (s->insns.fields)
		put_code(s, x, out);
	put_char(out, '\n');
}
