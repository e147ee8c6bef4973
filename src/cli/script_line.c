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

enum { COMM_WIDTH = 16, TID_WIDTH = 7, PERIOD_WIDTH = 10 };
enum { START_ROOM = 512, TRACE_ROOM = 1024 };

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
	time = shown_time(s, time);
	at = put_dec(at, time / 1000000000u, 5, ' ');
	*at++ = '.';
	if (s->opts->ns)
		at = put_dec(at, time % 1000000000u, 9, '0');
	else
		at = put_dec(at, time % 1000000000u / 1000, 6, '0');
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
		at = put_dec(at, who->cpu, 3, '0');
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
	char *from = buf_room(out, START_ROOM), *at = from;

	if (!from)
		return;
	at = who->recent ? put_who_again(at, ev, who) : put_who(at, ev, who);
	if (ev->fields & FIELD_MISC)
		at = put_misc(at, who);
	if (ev->fields & FIELD_TIME)
		at = put_time(s, at, who->time);
	out->n += (size_t)(at - from);
}

/* ---- frames ---- */

/* What the texts' lengths do not count: the number, and what is written further than it counts. */
enum { TEXT_ROOM = 16 + PUT_SLACK };

static inline __attribute__((always_inline)) char *put_frame_text(char *at, const struct frame_text *t, const struct tacho_spot *spot)
{
	at = put_roomy(at, t->bytes, t->n);
	if (t->split)
		at = put_hex_short(at, spot->offset - t->base);
	return put_roomy(at, t->bytes + t->n, t->n_behind);
}

/* `starts`: where the lines are to be told by their words' places in the chain, or NULL. */
static void put_run(struct buf *out, const struct frame_run *run, uint32_t *starts, size_t index,
		    size_t from)
{
	for (size_t i = 0; i < run->n; i++, index--) {
		const struct frame_text *t = run->texts[i];
		char *at = buf_room(out, (size_t)t->n + t->n_behind + 17 + TEXT_ROOM), *end;

		if (!at)
			return;
		if (starts && index < RECENT_WORDS)
			starts[index] = (uint32_t)(out->n - from);
		*at = '\t';
		put_address16(at + 1, run->ips[i]);
		end = put_frame_text(at + 17, t, &run->spots[i]);
		out->n += (size_t)(end - at);
	}
}

/* The lines of the chain's outermost words, once more. */
static void put_again(struct buf *out, const struct recent *r, size_t shared)
{
	size_t n = r->back[shared - 1];
	char *at = buf_room(out, n);

	if (!at)
		return;
	memcpy(at, out->bytes + r->end - n, n);
	out->n += n;
}

static void put_chain(struct buf *out, const struct shown *x)
{
	const struct tacho_words *chain = &x->sample.chain;
	struct recent *r = x->who.recent;
	size_t from = out->n, bytes;

	for (size_t i = 0; i < x->n_runs; i++)
		put_run(out, &x->runs[i], r->back, recent_index(chain, x->runs[i].ips), from);
	if (x->shared)
		put_again(out, r, x->shared);
	bytes = out->n - from;
	r->end = out->n;
	for (size_t i = x->shared; i < min_of(chain->n, (size_t)RECENT_WORDS); i++)
		r->back[i] = (uint32_t)bytes - r->back[i];
}

/* ---- the same, run by run ---- */

enum { FRAMES_AT_ONCE = 64 };

struct chain_out {
	struct script *s;
	struct buf *out;
	uint32_t fields, pid;
};

static int look_up(struct script *s, struct frame_run *run)
{
	int err = frame_run_spots(s, run);

	return err ? err : frame_run_texts(s, run);
}

static void chain_frames(void *arg, enum tacho_space space, const uint64_t *ips, size_t n)
{
	struct chain_out *c = arg;
	struct tacho_spot spots[FRAMES_AT_ONCE];
	const struct frame_text *texts[FRAMES_AT_ONCE];

	for (size_t i = 0; i < n; i += FRAMES_AT_ONCE) {
		struct frame_run run = { ips + i, min_of(n - i, (size_t)FRAMES_AT_ONCE), space, c->pid,
					 c->fields, spots, texts };

		if (look_up(c->s, &run) < 0)
			c->out->bad = true;
		else
			put_run(c->out, &run, NULL, 0, 0);
	}
}

static void put_place(struct script *s, struct buf *out, uint32_t fields,
		      const struct script_who *who, enum tacho_space space, uint64_t ip)
{
	struct tacho_spot spot;
	const struct frame_text *text = NULL;
	struct frame_run run = { &ip, 1, space, who->pid, fields, &spot, &text };
	char *from, *at;

	if ((fields & (FIELD_SYM | FIELD_DSO)) && look_up(s, &run) < 0) {
		out->bad = true;
		return;
	}
	from = at = buf_room(out, (text ? (size_t)text->n + text->n_behind : 0) + 16 + TEXT_ROOM);
	if (!from)
		return;
	if (fields & (FIELD_IP | FIELD_ADDR))
		at = put_address16(at, ip);
	if (text)
		at = put_frame_text(at, text, &spot) - 1;	/* without the '\n' */
	out->n += (size_t)(at - from);
}

/* ---- the rarer fields ---- */

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

static void put_regs(struct buf *out, const struct tacho_regs *regs, uint16_t machine)
{
	size_t at = 0;

	buf_printf(out, " ABI:%llu ", (unsigned long long)regs->abi);
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = tacho_reg_name(machine, bit);

		if (!(regs->mask >> bit & 1) || at >= regs->values.n)
			continue;
		buf_printf(out, "%5s:0x%llx ", name ? name : "unknown",
			   (unsigned long long)regs->values.v[at++]);
	}
}

static void put_branch_end(struct script *s, struct buf *out, uint32_t fields,
			   const struct script_who *who, uint64_t ip)
{
	struct tacho_frame frame;
	struct tacho_object_info info = { .size = sizeof(info) };

	if (tacho_symbols_resolve(s->symbols, who->pid, TACHO_SPACE_UNKNOWN, ip, &frame) < 0)
		frame = (struct tacho_frame){ 0 };
	if (fields & FIELD_BRSTACKSYM) {
		buf_puts(out, tacho_symbols_name(s->symbols, frame.symbol));
		if (frame.symbol)
			buf_printf(out, "+0x%llx", (unsigned long long)frame.symbol_offset);
	} else {
		if ((fields & FIELD_BRSTACKOFF) && frame.object)
			ip = frame.object_offset;
		buf_printf(out, "0x%llx", (unsigned long long)ip);
	}
	if ((fields & FIELD_DSO) && tacho_symbols_object(s->symbols, frame.object, &info) >= 0)
		buf_printf(out, "(%s)", info.path);
}

static void put_branches(struct script *s, struct buf *out, uint32_t fields,
			 const struct tacho_sample *sample, const struct script_who *who)
{
	static const char *const kinds[16] = {
		"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
		"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX", "",
	};

	for (size_t i = 0; i < sample->n_branches; i++) {
		const struct tacho_branch *b = &sample->branches[i];
		uint64_t flags = b->flags;

		buf_putc(out, ' ');
		put_branch_end(s, out, fields, who, b->from);
		buf_putc(out, '/');
		put_branch_end(s, out, fields, who, b->to);
		buf_printf(out, "/%c/%c/%c/%u/%s/- ", flags & 1 ? 'M' : flags & 2 ? 'P' : '-',
			   flags & 4 ? 'X' : '-', flags & 8 ? 'A' : '-',
			   (unsigned)(flags >> 4 & 0xffff), kinds[flags >> 20 & 15]);
	}
}

static void put_page_size(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G" };
	unsigned u = 0;

	if (!bytes) {
		buf_puts(out, " N/A");
		return;
	}
	while (u < 3 && bytes % 1024 == 0) {
		bytes /= 1024;
		u++;
	}
	buf_printf(out, " %llu%s", (unsigned long long)bytes, units[u]);
}

static void put_rest(struct script *s, const struct script_event *ev, struct buf *out,
		     const struct tacho_sample *sample, const struct script_who *who)
{
	uint32_t fields = ev->fields;

	if (fields & FIELD_IREGS)
		put_regs(out, &sample->regs_intr, ev->file->layout.machine);
	if (fields & FIELD_UREGS)
		put_regs(out, &sample->regs_user, ev->file->layout.machine);
	if (fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF))
		put_branches(s, out, fields, sample, who);
	if (fields & FIELD_PHYS_ADDR)
		buf_printf(out, "%16llx", (unsigned long long)sample->phys_addr);
	if (fields & FIELD_DATA_PAGE_SIZE)
		put_page_size(out, sample->data_page_size);
	if (fields & FIELD_CODE_PAGE_SIZE)
		put_page_size(out, sample->code_page_size);
	if (fields & FIELD_CGROUP)
		buf_printf(out, " %llu", (unsigned long long)sample->cgroup);
	if (fields & FIELD_INS_LAT)
		buf_printf(out, "%16u", sample->weight2);
	if (fields & FIELD_RETIRE_LAT)
		buf_printf(out, "%16u", sample->weight3);
}

#define REST (FIELD_IREGS | FIELD_UREGS | FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF |      \
	      FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE | FIELD_CGROUP |         \
	      FIELD_INS_LAT | FIELD_RETIRE_LAT)

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
	char *from = buf_room(out, ev->n_label + PUT_SLACK + 64), *at = from;

	if (!from)
		return;
	if (ev->fields & FIELD_PERIOD) {
		at = put_dec(at, sample->period, PERIOD_WIDTH, ' ');
		*at++ = ' ';
	}
	if (ev->fields & FIELD_EVENT)
		at = put_roomy(at, ev->label, ev->n_label);
	out->n += (size_t)(at - from);
}

static inline void put_char(struct buf *out, char c)
{
	char *at = buf_room(out, 1);

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

void line_sample(struct script *s, const struct shown *x)
{
	const struct tacho_sample *sample = &x->sample;
	const struct script_event *ev = x->ev;
	struct buf *out = &ev->sink->out;

	line_start(s, ev, out, &x->who);
	put_event(ev, out, sample);
	if (ev->fields & FIELD_TRACE)
		put_trace(s, ev, out, sample);
	if (ev->fields & FIELD_ADDR)
		put_addr(s, ev, out, sample, &x->who);
	if (ev->fields & FIELD_WEIGHT)
		buf_printf(out, "%16llu", (unsigned long long)sample->weight);
	if (ev->fields & FIELD_IP)
		put_frames(s, x);
	if (ev->fields & REST)
		put_rest(s, ev, out, sample, &x->who);
	put_char(out, '\n');
}
