/*
 * How samples of hardware traces are printed: branches as "ip => addr", their flags, calls indented by their depth, packets of
 * power events and ptwrite as text, errors as lines of their own. All in perf's form, which scripts parse.
 */
#include "cli/script/script.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"

enum { FLAGS_WIDTH = 21, MAX_INDENT = 64 };
#define PERF_TYPE_SYNTH 0x80000000u

int hwtrace_options(struct script *s, struct tacho_error *e)
{
	const struct script_opts *o = s->opts;
	const char *fields = NULL;

	if (o->insn_trace && strcmp(o->insn_trace, "disasm") == 0)
		fields = "+disasm,-event,-period";
	else if (o->insn_trace && strcmp(o->insn_trace, "raw") == 0)
		fields = "+insn,-event,-period";
	else if (o->insn_trace)
		return error_set(e, -EINVAL, "--insn-trace: '%s' is neither raw nor disasm", o->insn_trace);
	else if (o->call_ret_trace)
		fields = "-ip,-addr,-event,-period,+flags,+callindent";
	else if (o->call_trace)
		fields = "-ip,-addr,-event,-period,+callindent";
	if (fields && !o->fields.n)
		return fields_parse(&s->fields, fields, e);
	return 0;
}

void hwtrace_event(const struct script_fields *f, struct script_event *ev)
{
	const struct perf_event_attr *attr = ev->attr;
	enum script_type type = fields_type(attr);
	bool drops_addr = f->hwtrace & HWTRACE_CALLINDENT;

	ev->branches = attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS &&
		       attr->sample_period == 1 && (attr->sample_type & PERF_SAMPLE_ADDR);
	ev->arrow = ev->branches && !drops_addr && ((ev->fields & FIELD_ADDR) || !f->given[type]);
	ev->synth = attr->type == PERF_TYPE_SYNTH && (f->hwtrace & HWTRACE_SYNTH);
	if (attr->type == PERF_TYPE_SYNTH)
		ev->fields &= ~(uint32_t)FIELD_BPF_OUTPUT;
	if (attr->type == PERF_TYPE_SYNTH && !f->given[type])
		ev->fields &= ~(uint32_t)FIELD_PERIOD;
}

void hwtrace_flags(const struct batch_sample *x, struct buf *out)
{
	char text[64];

	buf_printf(out, "  %-*s ", FLAGS_WIDTH, x->note.flags ? tacho_insn_flags_text(x->note.flags, text) : "");
}

void hwtrace_synth(const struct batch_sample *x, struct buf *out)
{
	char text[160];

	buf_put(out, text, tacho_synth_text(x->ev->attr->config, x->sample.raw, x->sample.n_raw, text, sizeof(text)));
}

/* The called function, or the one that returns, indented by the depth of calls. */
void hwtrace_callindent(struct script *s, const struct batch_sample *x, struct buf *out)
{
	uint32_t flags = x->note.flags;
	bool arrives = flags & (TACHO_BRANCH_CALL | TACHO_BRANCH_TRACE_BEGIN);
	uint64_t ip = arrives ? x->sample.addr : x->sample.ip;
	size_t depth = min_of((size_t)x->note.depth + !!(flags & TACHO_BRANCH_RETURN), (size_t)MAX_INDENT), n;
	struct tacho_object_info info = { .size = sizeof(info) };
	struct tacho_frame frame;

	if (tacho_symbols_resolve(s->symbols, x->head.pid, ip >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER, ip, &frame) < 0) {
		out->bad = true;
		return;
	}
	if ((x->ev->fields & FIELD_DSO) && !(x->ev->fields & (FIELD_IP | FIELD_ADDR)))
		buf_printf(out, "(%s)\t", tacho_symbols_object(s->symbols, frame.object, &info) >= 0 && frame.object ?
			   info.path : "[unknown]");
	n = out->n;
	if (frame.symbol)
		buf_printf(out, "%*s%s", (int)depth * 4, "", tacho_symbols_name(s->symbols, frame.symbol));
	else if (ip)
		buf_printf(out, "%*s%16llx", (int)depth * 4, "", (unsigned long long)ip);
	n = out->n - n;
	/* The width changes rarely, so that what follows is mostly aligned. */
	if (n > s->indent_width || (n && n + 52 < s->indent_width))
		s->indent_width = (n + 4 + 31) / 32 * 32;
	if (n < s->indent_width)
		buf_pad(out, ' ', s->indent_width - n);
}

void hwtrace_error(const struct tacho_record *rec, struct buf *out)
{
	const uint8_t *b = rec->bytes + 8;
	uint32_t words[6];
	uint64_t ip, time;
	char text[65] = { 0 };

	if (rec->size < 8 + sizeof(words) + 16 + 64 || rec->swapped)
		return;
	memcpy(words, b, sizeof(words));
	memcpy(&ip, b + 24, sizeof(ip));
	memcpy(&time, b + 32, sizeof(time));
	memcpy(text, b + 40, 64);
	str_make_printable(text, strlen(text));
	buf_printf(out, " instruction trace error type %u", words[0]);
	if (words[5])
		buf_printf(out, " time %llu.%09llu", (unsigned long long)(time / 1000000000u), (unsigned long long)(time % 1000000000u));
	buf_printf(out, " cpu %d pid %d tid %d ip %#llx code %u: %s\n", (int)words[2], (int)words[3], (int)words[4],
		   (unsigned long long)ip, words[1], text);
}
