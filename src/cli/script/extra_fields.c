/*
 * Fields that few recordings have: data source and latency, branch stacks, registers, page sizes, BPF
 * output, time of day.
 */
#include "cli/script/script.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "cli/core/fast_format.h"
#include "cli/script/mem_fields.h"

typedef unsigned long long ull;

enum { BPF_PER_LINE = 8, BPF_OUTPUT_CONFIG = 10 };

static int read_clock(struct script *s, struct tacho_error *e)
{
	if (tacho_perfdata_clock(s->pd, &s->extra.clock) == 0)
		return 0;
	error_set(e, -EINVAL, "the recording has no reference to the time of day, so the field 'tod' cannot be shown");
	error_hint(e, "record with -k CLOCK, e.g. -k monotonic");
	return -EINVAL;
}

int extra_fields_init(struct script *s, struct tacho_error *e)
{
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.v[i].fields & FIELD_TOD)
			return read_clock(s, e);
	return 0;
}

void extra_fields_done(struct script_extra *r)
{
	for (size_t i = 0; i < r->cgroups.n; i++)
		free(r->cgroups.v[i].path);
	vec_done(&r->cgroups);
}

int extra_fields_add_cgroup(struct script_extra *r, const struct tacho_sideband *o)
{
	char *path = str_dup(str_of(o->cgroup.path));
	struct script_cgroup *at = path ? vec_add(&r->cgroups) : NULL;

	if (!at) {
		free(path);
		return -ENOMEM;
	}
	str_make_printable(path, strlen(path));
	*at = (struct script_cgroup){ o->cgroup.id, path };
	return 0;
}

/* Finds the newest entry with this ID, because the kernel may reuse IDs of deleted cgroups. */
static const char *cgroup_name(const struct script_extra *r, uint64_t id)
{
	for (size_t i = r->cgroups.n; i-- > 0;)
		if (r->cgroups.v[i].id == id)
			return r->cgroups.v[i].path;
	return "unknown";
}

char *put_time_of_day(const struct script *s, char *at, uint64_t time)
{
	uint64_t ns = s->extra.clock.wall_ns + (time - s->extra.clock.clock_ns);
	time_t seconds = (time_t)(ns / 1000000000u);
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return at;
	at += strftime(at, 32, "%Y-%m-%d %H:%M:%S", &tm);
	*at++ = '.';
	at = s->opts->ns ? format_dec(at, ns % 1000000000u, 9, '0') : format_dec(at, ns % 1000000000u / 1000, 6, '0');
	*at++ = ' ';
	return at;
}

/* Appends the data source, padded to the longest text so far, so that the next field is mostly aligned. */
static void put_data_src(struct script *s, struct buf *out, uint64_t word)
{
	size_t from = out->n;

	buf_printf(out, "%16llx ", (ull)word);
	data_src_text(out, word);
	if (buf_failed(out))
		return;
	s->extra.data_src_width = max_of(s->extra.data_src_width, out->n - from);
	buf_pad(out, ' ', s->extra.data_src_width - (out->n - from));
}

void extra_fields_before_ip(struct script *s, const struct script_event *ev, struct buf *out,
			    const struct tacho_sample *sample)
{
	if (ev->fields & FIELD_DATA_SRC)
		put_data_src(s, out, sample->data_src);
	if (ev->fields & FIELD_WEIGHT)
		buf_printf(out, "%16llu", (ull)sample->weight);
	if (ev->fields & FIELD_INS_LAT)
		buf_printf(out, "%16u", sample->weight2);
	if (ev->fields & FIELD_RETIRE_LAT)
		buf_printf(out, "%16u", sample->weight3);
	if (ev->fields & FIELD_CGROUP)
		buf_printf(out, " %s", cgroup_name(&s->extra, sample->cgroup));
}

static void put_regs(struct buf *out, const struct tacho_regs *regs, uint16_t machine)
{
	size_t at = 0;

	if (!regs->abi)
		return;
	buf_printf(out, " ABI:%llu ", (ull)regs->abi);
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = tacho_reg_name(machine, bit);

		if (!(regs->mask >> bit & 1) || at >= regs->values.n)
			continue;
		buf_printf(out, "%5s:0x%llx ", name ? name : "unknown", (ull)regs->values.v[at++]);
	}
}

static void put_branch_end(struct script *s, struct buf *out, uint32_t fields,
			   const struct line_head *head, uint64_t ip)
{
	struct tacho_frame frame;
	struct tacho_object_info info = { .size = sizeof(info) };

	if (tacho_symbols_resolve(s->symbols, head->pid, TACHO_SPACE_UNKNOWN, ip, &frame) < 0)
		frame = (struct tacho_frame){ 0 };
	if (fields & FIELD_BRSTACKSYM) {
		buf_puts(out, tacho_symbols_name(s->symbols, frame.symbol));
		if (frame.symbol)
			buf_printf(out, "+0x%llx", (ull)frame.symbol_offset);
	} else {
		if ((fields & FIELD_BRSTACKOFF) && frame.object)
			ip = frame.object_offset;
		buf_printf(out, "0x%llx", (ull)ip);
	}
	if ((fields & FIELD_DSO) && tacho_symbols_object(s->symbols, frame.object, &info) >= 0)
		buf_printf(out, " (%s)", info.path);
}

/* Appends a branch's flags: prediction, transaction, abort, cycles since the previous branch, type,
 * speculation. */
static void put_branch_flags(struct buf *out, uint64_t flags)
{
	static const char *const kinds[16] = {
		"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
		"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX", "",
	};
	static const char *const new_kinds[16] = {	/* if kind is PERF_BR_EXTEND_ABI */
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	};
	static const char *const spec[4] = {
		"-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH",
	};
	unsigned kind = (unsigned)(flags >> 20 & 15);
	const char *name = kind == 15 ? new_kinds[flags >> 26 & 15] : kinds[kind];

	buf_printf(out, "/%c/%c/%c/%u/%s/%s ", flags & 1 ? 'M' : flags & 2 ? 'P' : '-',
		   flags & 4 ? 'X' : '-', flags & 8 ? 'A' : '-', (unsigned)(flags >> 4 & 0xffff),
		   name ? name : "", spec[flags >> 24 & 3]);
}

static void put_branches(struct script *s, struct buf *out, uint32_t fields,
			 const struct tacho_sample *sample, const struct line_head *head)
{
	if (fields & FIELD_BRSTACK)
		fields &= ~(uint32_t)(FIELD_BRSTACKSYM | FIELD_BRSTACKOFF);
	else if (fields & FIELD_BRSTACKSYM)
		fields &= ~(uint32_t)FIELD_BRSTACKOFF;
	for (size_t i = 0; i < sample->n_branches; i++) {
		const struct tacho_branch *b = &sample->branches[i];

		if (!(fields & FIELD_BRSTACKSYM))
			buf_putc(out, ' ');
		put_branch_end(s, out, fields, head, b->from);
		buf_putc(out, '/');
		put_branch_end(s, out, fields, head, b->to);
		put_branch_flags(out, b->flags);
	}
}

/* Appends "4K", "2M". As in perf, a unit is used only from twice its size on: 1 MiB is "1024K". */
static void put_page_size(struct buf *out, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned u = 0;

	if (!bytes) {
		buf_puts(out, " N/A");
		return;
	}
	for (; bytes / 1024 > 1; bytes /= 1024)
		u++;
	buf_printf(out, " %llu%c", (ull)bytes, units[u]);
}

/* Whether the bytes are NUL-terminated printable text. */
static bool is_text(const uint8_t *raw, size_t n)
{
	if (!n || raw[n - 1])
		return false;
	for (size_t i = 0; i < n && raw[i]; i++)
		if (!isprint(raw[i]))
			return false;
	return true;
}

static void put_bpf_output(struct buf *out, const uint8_t *raw, size_t n)
{
	for (size_t at = 0; at < n; at += BPF_PER_LINE) {
		size_t here = min_of(n - at, (size_t)BPF_PER_LINE);

		buf_printf(out, "\n%17s %04zx: ", at ? "" : "BPF output:", at);
		for (size_t i = 0; i < BPF_PER_LINE; i++)
			if (i < here)
				buf_printf(out, "%02x ", raw[at + i]);
			else
				buf_puts(out, "   ");
		buf_putc(out, ' ');
		for (size_t i = 0; i < BPF_PER_LINE; i++)
			buf_putc(out, i >= here ? ' ' : isprint(raw[at + i]) ? (char)raw[at + i] : '.');
	}
	buf_putc(out, '\n');
	if (is_text(raw, n))
		buf_printf(out, "%17s \"%s\"\n", "BPF string:", (const char *)raw);
}

static bool is_bpf_output(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == BPF_OUTPUT_CONFIG;
}

bool extra_fields_has_after_ip(const struct script_event *ev)
{
	uint32_t fields = ev->fields & FIELDS_AFTER_IP;

	return is_bpf_output(ev->attr) ? fields : fields & ~(uint32_t)FIELD_BPF_OUTPUT;
}

void extra_fields_after_ip(struct script *s, const struct script_event *ev, struct buf *out,
			   const struct tacho_sample *sample, const struct line_head *head)
{
	uint32_t fields = ev->fields;

	if (fields & FIELD_IREGS)
		put_regs(out, &sample->regs_intr, ev->file->layout.machine);
	if (fields & FIELD_UREGS)
		put_regs(out, &sample->regs_user, ev->file->layout.machine);
	if (fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF))
		put_branches(s, out, fields, sample, head);
	if ((fields & FIELD_BPF_OUTPUT) && is_bpf_output(ev->attr) && sample->n_raw)
		put_bpf_output(out, sample->raw, sample->n_raw);
	if (fields & FIELD_PHYS_ADDR)
		buf_printf(out, "%16llx", (ull)sample->phys_addr);
	if (fields & FIELD_DATA_PAGE_SIZE)
		put_page_size(out, sample->data_page_size);
	if (fields & FIELD_CODE_PAGE_SIZE)
		put_page_size(out, sample->code_page_size);
}
