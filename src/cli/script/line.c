/*
 * A sample as text, in the shape that flame graph tools, profilers and twenty years of one-liners
 * expect:
 *
 *	            find   16721 [001]  3589.122477:     500000 cpu-clock:      7f165b48341b main+0x1b (/usr/bin/find)
 *
 * and with call chains:
 *
 *	find   16721 [001]  3589.122477:     500000 cpu-clock:
 *		ffffffff81360012 handle_softirqs+0x72 ([kernel.kallsyms])
 *		    7f165b48341b main+0x1b (/usr/bin/find)
 *
 * with a blank after the last colon, and an empty line behind the last frame.
 */
#include "cli/script/script.h"

#include <stdio.h>

#include "cli/core/fast_format.h"

enum { COMM_WIDTH = 16, TID_WIDTH = 7, PERIOD_WIDTH = 10 };
enum { START_ROOM = 512, TRACE_ROOM = 1024, FLAGS_WIDTH = 24 };

static char *put_ids(char *at, uint32_t fields, const struct script_who *who)
{
	int32_t pid = (int32_t)who->pid, tid = (int32_t)who->tid;
	char *end;

	if (!(fields & (FIELD_PID | FIELD_TID)))
		return at;
	if (pid < 0 || tid < 0) {	/* -1: nobody, or one that is dead */
		at += sprintf(at, "%*d", TID_WIDTH, fields & FIELD_PID ? pid : tid);
		if ((fields & FIELD_PID) && (fields & FIELD_TID))
			at += sprintf(at, "/%-*d", TID_WIDTH, tid);
		*at++ = ' ';
		return at;
	}
	at = put_dec(at, fields & FIELD_PID ? who->pid : who->tid, TID_WIDTH, ' ');
	if ((fields & FIELD_PID) && (fields & FIELD_TID)) {
		*at++ = '/';
		end = put_dec(at, who->tid, 0, ' ');
		at = end < at + TID_WIDTH ? put_blanks(end, (size_t)(at + TID_WIDTH - end)) : end;
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

/* "  284.": thousands of samples have the same. */
static char *put_second(struct script *s, char *at, uint64_t second)
{
	if (second != s->second || !s->n_second) {
		char *end = put_dec(s->second_text, second, 5, ' ');

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
		at = put_dec(at, time % 1000000000u, 9, '0');
	else
		at = put_dec6(at, time % 1000000000u / 1000);
	return put_bytes(at, ": ", 2);
}

/* One letter for where the CPU was, and what the record's own bits say. */
static char *put_misc(char *at, const struct script_who *who)
{
	static const char where[] = "?KUHGg";
	char *from = at;
	bool bit13 = who->misc & (1u << 13), bit14 = who->misc & (1u << 14);
	unsigned mode = who->misc & 7;

	if (mode && mode < sizeof(where) - 1)
		*at++ = where[mode];
	if (bit13 && (who->type == TACHO_RECORD_MMAP || who->type == TACHO_RECORD_MMAP2))
		*at++ = 'M';
	if (bit13 && who->type == TACHO_RECORD_COMM)
		*at++ = 'E';
	if (bit13 && (who->type == TACHO_RECORD_SWITCH || who->type == TACHO_RECORD_SWITCH_CPU_WIDE)) {
		*at++ = 'S';
		if (bit14)
			*at++ = 'p';
	}
	return put_blanks(at, (size_t)(6 - (at - from)));
}

/* Who it is about, and where that ran. */
static char *put_who(char *at, const struct script_event *ev, const struct script_who *who)
{
	size_t n_comm = min_of(who->n_comm, (size_t)START_ROOM / 2);
	uint32_t fields = ev->fields;

	if (fields & FIELD_COMM) {
		if (!(ev->chains && (fields & FIELD_IP)) && n_comm < COMM_WIDTH)
			at = put_blanks(at, COMM_WIDTH - n_comm);
		at = put_bytes(at, who->comm, n_comm);
		*at++ = ' ';
	}
	at = put_ids(at, fields, who);
	if (fields & FIELD_CPU) {
		*at++ = '[';
		at = who->cpu == NO_CPU ? put_bytes(at, "-01", 3) : put_dec(at, who->cpu, 3, '0');
		at = put_bytes(at, "] ", 2);
	}
	return at;
}

/* The same, as the thread's last sample had it where nothing has changed. */
static char *put_who_again(char *at, const struct script_event *ev, const struct script_who *who)
{
	struct recent *r = who->recent;
	size_t n;

	if (r->who_ev == ev && r->who_cpu == who->cpu && r->who_tid == who->tid && r->who_pid == who->pid)
		return put_bytes(at, r->who, sizeof(r->who)) - sizeof(r->who) + r->n_who;
	n = (size_t)(put_who(at, ev, who) - at);
	if (n <= sizeof(r->who)) {
		memcpy(r->who, at, n);
		r->n_who = n;
		r->who_ev = ev;
		r->who_pid = who->pid;
		r->who_tid = who->tid;
		r->who_cpu = who->cpu;
	}
	return at + n;
}

void line_start(struct script *s, const struct script_event *ev, struct buf *out,
		const struct script_who *who)
{
	char *from = buf_reserve(out, START_ROOM), *at = from;

	if (!from)
		return;
	at = who->recent ? put_who_again(at, ev, who) : put_who(at, ev, who);
	if (ev->fields & FIELD_MISC)
		at = put_misc(at, who);
	if (ev->fields & FIELD_TOD)
		at = rest_tod(s, at, who->time);
	if (ev->fields & FIELD_TIME)
		at = put_time(s, at, who->time);
	out->n += (size_t)(at - from);
}

/* ---- frames ---- */

static inline __attribute__((always_inline)) char *
put_frame_text(char *at, const struct frame_text *t, const struct tacho_spot *spot)
{
	at = put_roomy(at, t->bytes, t->n);
	if (!t->n_behind)
		return at;
	at = put_hex_short(at, spot->offset - t->base);
	return put_roomy(at, t->bytes + t->n, t->n_behind);
}

/* What nearly every line has room in. */
enum { LINE_ROOM = 256, TEXT_ROOM = LINE_ROOM - 17 - 16 };	/* but for the address and the number */

/* Room for `lines`, of which the first has the text, behind what was put until `at`. */
static char *more_room(struct buf *out, const char *at, size_t lines, const struct frame_text *text)
{
	out->n = (size_t)(at - out->bytes);
	return buf_reserve(out, lines * LINE_ROOM + PUT_SLACK + text->n + text->n_behind);
}

/* Tells in `starts` where each line begins. */
static void put_run(struct buf *out, const struct frame_run *run, size_t *starts)
{
	char *at = buf_reserve(out, run->n * LINE_ROOM + PUT_SLACK);

	for (size_t i = 0; i < run->n && at; i++) {
		const struct frame_text *t = run->texts[i];

		if (t->n > TEXT_ROOM / 2 || t->n_behind > TEXT_ROOM / 2) {
			at = more_room(out, at, run->n - i, t);
			if (!at)
				break;
		}
		starts[i] = (size_t)(at - out->bytes);
		*at = '\t';
		put_address16(at + 1, run->ips[i]);
		at = put_frame_text(at + 17, t, &run->spots[i]);
	}
	if (at)
		out->n = (size_t)(at - out->bytes);
}

/* The lines of the chain's outermost words, once more. */
static void put_again(struct buf *out, struct recent *r, size_t shared)
{
	size_t *starts = r->starts + RECENT_WORDS - shared, n = r->end - starts[0], moved;
	char *at = buf_reserve(out, n);

	if (!at)
		return;
	memcpy(at, out->bytes + starts[0], n);
	out->n += n;
	moved = out->n - r->end;
	for (size_t i = 0; i < shared; i++)
		starts[i] += moved;
}

static void put_chain(struct buf *out, const struct shown *x)
{
	const struct tacho_words *chain = &x->sample.chain;
	struct recent *r = x->who.recent;
	size_t first = RECENT_WORDS - chain->n;

	for (size_t i = 0; i < x->n_runs; i++)
		put_run(out, &x->runs[i], &r->starts[first + (size_t)(x->runs[i].ips - chain->v)]);
	if (x->shared)
		put_again(out, r, x->shared);
	r->end = out->n;
}

/* ---- the same, run by run ---- */

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
		struct frame_run run = { ips + i, min_of(n - i, (size_t)FRAMES_AT_ONCE), space, c->pid,
					 c->fields, spots, hashes, texts };

		if (frame_runs_look_up(c->s, &run, 1) < 0)
			c->out->bad = true;
		else
			put_run(c->out, &run, starts);
	}
}

static void put_place(struct script *s, struct buf *out, uint32_t fields,
		      const struct script_who *who, enum tacho_space space, uint64_t ip)
{
	struct tacho_spot spot;
	uint32_t hash;
	const struct frame_text *text = NULL;
	struct frame_run run = { &ip, 1, space, who->pid, fields, &spot, &hash, &text };
	char *from, *at;

	if ((fields & (FIELD_SYM | FIELD_DSO)) && frame_runs_look_up(s, &run, 1) < 0) {
		out->bad = true;
		return;
	}
	from = at = buf_reserve(out, LINE_ROOM + PUT_SLACK + (text ? (size_t)text->n + text->n_behind : 0));
	if (!from)
		return;
	if (fields & (FIELD_IP | FIELD_ADDR))
		at = put_address16(at, ip);
	if (text)
		at = put_frame_text(at, text, &spot) - 1;	/* without the '\n' */
	out->n += (size_t)(at - from);
}

/* ---- addresses ---- */

static void put_addr(struct script *s, const struct script_event *ev, struct buf *out,
		     const struct tacho_sample *sample, const struct script_who *who)
{
	/* The address of a fault is one of the program; others need not be addresses at all. */
	bool known = ev->attr->type == PERF_TYPE_SOFTWARE && ev->attr->config >= PERF_COUNT_SW_PAGE_FAULTS &&
		     ev->attr->config <= PERF_COUNT_SW_PAGE_FAULTS_MAJ &&
		     ev->attr->config != PERF_COUNT_SW_CONTEXT_SWITCHES &&
		     ev->attr->config != PERF_COUNT_SW_CPU_MIGRATIONS;
	uint32_t fields = known ? ev->fields | FIELD_ADDR : FIELD_ADDR;

	put_place(s, out, fields, who, TACHO_SPACE_UNKNOWN, sample->addr);
}

static void put_trace(struct script *s, const struct script_event *ev, struct buf *out,
		      const struct tacho_sample *sample)
{
	size_t room = TRACE_ROOM;
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
	if (n < 0)
		out->bad = true;
	else
		out->n += (size_t)n;
}

/* The period, which is often that of the sample before, and the event's name. */
static void put_event(struct script_event *ev, struct buf *out, uint64_t period)
{
	char *from = buf_reserve(out, ev->n_label + PUT_SLACK + 64), *at = from;

	if (!from)
		return;
	if (ev->n_put && ev->put_period == period) {
		memcpy(at, ev->put, sizeof(ev->put));
		out->n += ev->n_put;
		return;
	}
	if (ev->fields & FIELD_PERIOD) {
		at = put_dec(at, period, PERIOD_WIDTH, ' ');
		*at++ = ' ';
	}
	if (ev->fields & FIELD_EVENT)
		at = put_roomy(at, ev->label, ev->n_label);
	ev->n_put = (size_t)(at - from);
	out->n += ev->n_put;
	if (ev->n_put > sizeof(ev->put))
		ev->n_put = 0;
	memcpy(ev->put, from, ev->n_put);
	ev->put_period = period;
}

static inline void put_char(struct buf *out, char c)
{
	char *at = buf_reserve(out, 1);

	if (at) {
		*at = c;
		out->n++;
	}
}

static void put_frames(struct script *s, const struct shown *x)
{
	struct chain_out c = { s, &x->ev->sink->out, x->ev->fields, x->who.pid };

	put_char(c.out, x->ev->chains ? '\n' : ' ');
	if (!x->ev->chains)
		put_place(s, c.out, c.fields, &x->who, x->who.misc & 7, x->sample.ip);
	else if (x->looked_up)
		put_chain(c.out, x);
	else
		script_walk(s, &x->sample, &x->who, chain_frames, &c);
}

/* What few events have between their names and their frames. */
#define FIELDS_BETWEEN (FIELD_FLAGS | FIELD_TRACE | FIELD_ADDR | FIELDS_BEFORE_IP)

static void put_between(struct script *s, const struct shown *x)
{
	const struct script_event *ev = x->ev;
	struct buf *out = &ev->sink->out;

	if (ev->fields & FIELD_FLAGS)
		buf_pad(out, ' ', FLAGS_WIDTH);	/* only traces of hardware would have some */
	if (ev->fields & FIELD_TRACE)
		put_trace(s, ev, out, &x->sample);
	if (ev->fields & FIELD_ADDR)
		put_addr(s, ev, out, &x->sample, &x->who);
	if (ev->fields & FIELDS_BEFORE_IP)
		rest_before_ip(s, ev, out, &x->sample);
}

void line_sample(struct script *s, const struct shown *x)
{
	struct script_event *ev = x->ev;
	struct buf *out = &ev->sink->out;

	line_start(s, ev, out, &x->who);
	put_event(ev, out, x->sample.period);
	if (ev->fields & FIELDS_BETWEEN)
		put_between(s, x);
	if (ev->fields & FIELD_IP)
		put_frames(s, x);
	if (ev->behind)
		rest_behind_ip(s, ev, out, &x->sample, &x->who);
	put_char(out, '\n');
}
