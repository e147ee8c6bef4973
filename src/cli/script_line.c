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
#include "cli/script.h"

#include <stdio.h>

#include "cli/put.h"

enum { COMM_WIDTH = 16, TID_WIDTH = 7, TIME_WIDTH = 12, PERIOD_WIDTH = 10, IP_WIDTH = 16 };
enum { START_ROOM = 512, TRACE_ROOM = 1024, FLAGS_WIDTH = 24 };

static char *put_ids(char *at, uint32_t fields, const struct script_who *who)
{
	int32_t pid = (int32_t)who->pid, tid = (int32_t)who->tid;
	char *end;

	if (!(fields & (FIELD_PID | FIELD_TID)))
		return at;
	if (pid < 0 || tid < 0)		/* -1: nobody */
		return at + sprintf(at, "%*d ", TID_WIDTH, fields & FIELD_PID ? pid : tid);
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

static char *put_time(struct script *s, char *at, uint64_t time)
{
	char *from = at, *end;
	size_t n;

	time = shown_time(s, time);
	end = put_dec(at, time / 1000000000u, 5, ' ');
	*end++ = '.';
	if (s->opts->ns) {
		end = put_dec(end, time % 1000000000u, 9, '0');
	} else {
		end = put_dec(end, time % 1000000000u / 1000, 6, '0');
		n = (size_t)(end - from);
		if (n < TIME_WIDTH) {
			memmove(from + TIME_WIDTH - n, from, n);
			put_blanks(from, TIME_WIDTH - n);
			end = from + TIME_WIDTH;
		}
	}
	return put_bytes(end, ": ", 2);
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

void line_start(struct script *s, const struct script_event *ev, struct buf *out,
		const struct script_who *who)
{
	size_t n_comm = strnlen(who->comm, START_ROOM / 2);
	char *from = buf_grow(out, START_ROOM), *at = from;
	uint32_t fields = ev->fields;

	if (!from)
		return;
	if (fields & FIELD_COMM) {
		if (!(ev->chains && (fields & FIELD_IP)) && n_comm < COMM_WIDTH)
			at = put_blanks(at, COMM_WIDTH - n_comm);
		at = put_bytes(at, who->comm, n_comm);
		*at++ = ' ';
	}
	at = put_ids(at, fields, who);
	if (fields & FIELD_CPU) {
		*at++ = '[';
		at = put_dec(at, who->cpu, 3, '0');
		at = put_bytes(at, "] ", 2);
	}
	if (fields & FIELD_MISC)
		at = put_misc(at, who);
	if (fields & FIELD_TOD)
		at = rest_tod(s, at, who->time);
	if (fields & FIELD_TIME)
		at = put_time(s, at, who->time);
	out->n += (size_t)(at - from);
}

/* ---- frames ---- */

struct chain_out {
	struct script *s;
	struct buf *out;
	uint32_t fields, pid;
};

static char *put_frame(char *at, uint64_t ip, uint32_t fields, const struct frame_recent *text)
{
	if (fields & (FIELD_IP | FIELD_ADDR))
		at = put_hex(at, ip, IP_WIDTH);
	return text->n ? put_steps(at, text->text, text->n) : at;
}

static void chain_frame(void *arg, enum tacho_space space, uint64_t ip)
{
	struct chain_out *c = arg;
	const struct frame_recent *text = frame_at(c->s, c->pid, space, ip, c->fields);
	char *at = text ? buf_grow(c->out, text->n + 64 + PUT_SLACK) : NULL, *from = at;

	if (!at) {
		c->out->bad = true;
		return;
	}
	*at++ = '\t';
	at = put_frame(at, ip, c->fields, text);
	*at++ = '\n';
	c->out->n += (size_t)(at - from);
}

static void put_place(struct script *s, struct buf *out, uint32_t fields,
		      const struct script_who *who, enum tacho_space space, uint64_t ip)
{
	static const struct frame_recent bare;
	const struct frame_recent *text =
		fields & (FIELD_SYM | FIELD_DSO) ? frame_at(s, who->pid, space, ip, fields) : &bare;
	char *at = text ? buf_grow(out, text->n + 64 + PUT_SLACK) : NULL;

	if (at)
		out->n += (size_t)(put_frame(at, ip, fields, text) - at);
	else
		out->bad = true;
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

	if (!ev->trace)
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

static void put_event(const struct script_event *ev, struct buf *out,
		      const struct tacho_sample *sample)
{
	char *from = buf_grow(out, ev->n_label + 64), *at = from;

	if (!from)
		return;
	if (ev->fields & FIELD_PERIOD) {
		at = put_dec(at, sample->period, PERIOD_WIDTH, ' ');
		*at++ = ' ';
	}
	if (ev->fields & FIELD_EVENT)
		at = put_bytes(at, ev->label, ev->n_label);
	out->n += (size_t)(at - from);
}

void line_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample,
		 const struct script_who *who)
{
	struct chain_out c = { s, &ev->sink->out, ev->fields, who->pid };
	struct buf *out = &ev->sink->out;

	line_start(s, ev, out, who);
	put_event(ev, out, sample);
	if (ev->fields & FIELD_FLAGS)
		buf_pad(out, ' ', FLAGS_WIDTH);	/* only traces of hardware would have some */
	if (ev->fields & FIELD_TRACE)
		put_trace(s, ev, out, sample);
	if (ev->fields & FIELD_ADDR)
		put_addr(s, ev, out, sample, who);
	if (ev->fields & FIELDS_BEFORE_IP)
		rest_before_ip(s, ev, out, sample);
	if (ev->fields & FIELD_IP) {
		buf_putc(out, ev->chains ? '\n' : ' ');
		if (ev->chains)
			script_walk(s, sample, who, chain_frame, &c);
		else
			put_place(s, out, ev->fields, who, who->misc & 7, sample->ip);
	}
	if (ev->fields & FIELDS_BEHIND_IP)
		rest_behind_ip(s, ev, out, sample, who);
	buf_putc(out, '\n');
}
