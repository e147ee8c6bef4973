/*
 * The fields brstackinsn, brstackinsnlen, brstackdisasm and brcntr: the code that ran between the branches of a sample,
 * oldest first, in perf's format:
 *
 *		main+6:
 *		0000000000401026	insn: e8 d5 ff ff ff          	# PRED 2 cycles [2]
 *		work:
 *		0000000000401000	insn: 31 c0
 *		0000000000401002	insn: 75 f9                   	# MISPRED 20 cycles [22] 0.10 IPC
 *
 * A block begins where a branch went and ends with the next branch. The first branch is printed alone, because it is not
 * known where its block began; the last block ends at the sample's address.
 *
 * Each line begins with a line break, like those of other fields that have lines of their own.
 */
#include "cli/script/script.h"

#include "base/num.h"

#define MAX_BLOCK_BYTES 16384u		/* as in perf: larger blocks are not printed */
#define AFTER_LAST_BRANCH 128u		/* bytes printed if the sample is before the last branch's target */
#define INSN_WIDTH 30			/* of an instruction before the notes on its branch */
#define MAX_COUNTERS 64u
#define MAX_LETTERS 32u			/* of one counter; CPUs count up to 3, but a recording says how large its counters are */

typedef unsigned long long ull;

struct code_printer {
	struct script *script;
	const struct script_event *ev;
	const struct tacho_sample *sample;
	struct buf *out;
	uint32_t object;		/* of the last function that was named */
	uint64_t function, function_end;
	unsigned cycles;		/* of all branches so far */
};

struct code_block {
	uint64_t start, end;		/* address of the last instruction */
};

static const struct script_insn *look_up(struct code_printer *p, uint64_t ip, struct tacho_frame *frame)
{
	if (tacho_symbols_resolve(p->script->symbols, p->sample->pid, TACHO_SPACE_UNKNOWN, ip, frame) < 0)
		return NULL;
	return script_insn_at(&p->script->insns, frame);
}

static bool is_readable(struct code_printer *p, uint64_t ip)
{
	struct tacho_frame frame;

	return look_up(p, ip, &frame) != NULL;
}

/* ---- lines ---- */

static void put_srcline(struct code_printer *p, const char *before, const struct tacho_frame *frame)
{
	const char *file, *slash;
	uint32_t line;

	if (tacho_symbols_srcline(p->script->symbols, frame, &file, &line) <= 0 || !file)
		return;
	slash = p->script->opts->full_paths ? NULL : strrchr(file, '/');
	buf_printf(p->out, "%s%s:%u", before, slash ? slash + 1 : file, line);
}

/* Appends a line with the function's name, if it is not the one that was named last. */
static void name_function(struct code_printer *p, const struct tacho_frame *frame)
{
	uint64_t start, length;

	if (frame->object == p->object && frame->object_address - p->function < p->function_end - p->function)
		return;
	if (tacho_symbols_range(p->script->symbols, frame, &start, &length) < 0)
		return;
	p->object = frame->object;
	p->function = start;
	p->function_end = start + length;
	buf_printf(p->out, "\n\t%s", tacho_symbols_name(p->script->symbols, frame->symbol));
	if (frame->symbol_offset)
		buf_printf(p->out, "+%llu", (ull)frame->symbol_offset);
	buf_putc(p->out, ':');
	if (p->ev->fields & FIELD_SRCLINE)
		put_srcline(p, "\t", frame);
}

/* Appends a line up to the text of the instruction. Returns how long this text is. */
static size_t put_insn(struct code_printer *p, const struct script_insn *insn, uint64_t ip)
{
	size_t from;

	buf_printf(p->out, "\n\t%016llx\t", (ull)ip);
	from = p->out->n;
	if (!insn->n) {
		buf_puts(p->out, "<bad>");
	} else if (p->script->insns.fields & CODE_BLOCK_TEXT) {
		buf_text(p->out, str_of(insn->text));
	} else {
		buf_puts(p->out, "insn:");
		script_insn_bytes(insn, p->out);
		buf_putc(p->out, ' ');
	}
	return p->out->n - from;
}

static void put_plain_line(struct code_printer *p, const struct script_insn *insn, uint64_t ip)
{
	put_insn(p, insn, ip);
	if (p->script->insns.fields & CODE_BLOCK_LENGTHS)
		buf_printf(p->out, "\tilen: %u", insn->n);
}

static void put_source(struct code_printer *p, const struct tacho_frame *frame)
{
	if (p->script->insns.fields & CODE_SOURCE)
		script_source_put(&p->script->insns, frame, p->out);
}

/* ---- counts of events between branches ---- */

static bool has_counters(const struct tacho_file_event *ev)
{
	return ev->layout.branch_type & PERF_BRANCH_COUNTERS;
}

/* The events of the sampled event's group whose counts branches have; each is named by a letter. */
static size_t counted_events(const struct code_printer *p, const struct tacho_file_event **out)
{
	const struct tacho_perfdata *pd = p->script->pd;
	size_t n = 0;

	for (size_t i = 0; i < tacho_perfdata_n_events(pd) && n < MAX_COUNTERS; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);

		if (has_counters(ev) && ev->leader == p->ev->file->leader)
			out[n++] = ev;
	}
	return n;
}

/* Intel's CPUs that count events between branches have 2 bits for each of them. */
#define USUAL_COUNTER_BITS 2u

static unsigned width_in(struct tacho_feature_list caps)
{
	struct tacho_pmu_cap cap;
	uint32_t width = 0;

	while (tacho_pmu_cap_next(&caps, &cap) > 0)
		if (str_is(str_n(cap.name.s, cap.name.n), "branch_counter_width") &&
		    num_u32(str_n(cap.value.s, cap.value.n), &width) < 0)
			width = 0;
	return width;
}

unsigned branch_counter_bits(const struct tacho_perfdata *pd)
{
	struct tacho_feature_list list;
	struct tacho_pmu_caps pmu;
	unsigned width = 0;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_CPU_PMU_CAPS, &list) >= 0)
		width = width_in(list);
	if (!width && tacho_perfdata_list(pd, TACHO_FEATURE_PMU_CAPS, &list) >= 0)
		while (!width && tacho_pmu_caps_next(&list, &pmu) > 0)
			width = width_in(pmu.caps);
	return width && width < 64 ? width : USUAL_COUNTER_BITS;
}

static char letter_of(size_t counter)
{
	return counter < 26 ? (char)('A' + counter) : '?';
}

static void put_counts(struct code_printer *p, size_t branch)
{
	const struct tacho_file_event *events[MAX_COUNTERS];
	size_t n = counted_events(p, events), sum = 0;
	unsigned width = p->script->counter_bits;
	uint64_t counts = branch < p->sample->branch_counters.n ? p->sample->branch_counters.v[branch] : 0;
	uint64_t max = (1ull << width) - 1;

	buf_puts(p->out, "\t# br_cntr: ");
	for (size_t i = 0; i < n && i * width < 64; i++) {
		uint64_t count = counts >> (i * width) & max;
		const char *saturated = count == max ? "+" : "";

		sum += count;
		if (p->script->opts->verbose) {
			buf_printf(p->out, "%s %llu%s ", events[i]->name, (ull)count, saturated);
			continue;
		}
		buf_pad(p->out, letter_of(i), (size_t)min_of(count, (uint64_t)MAX_LETTERS));
		buf_puts(p->out, count > MAX_LETTERS ? "..." : saturated);
	}
	if (!sum && !p->script->opts->verbose)
		buf_putc(p->out, '-');
	buf_putc(p->out, ' ');
}

/* Appends what the letters mean. */
void branch_counters_legend(struct script *s, const struct script_event *ev, struct buf *out)
{
	const struct tacho_file_event *events[MAX_COUNTERS];
	const struct code_printer p = { .script = s, .ev = ev };
	size_t n = counted_events(&p, events);

	buf_puts(out, "# Branch counter abbr list:\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "# %s = %c\n", events[i]->name, letter_of(i));
	buf_puts(out, "# '-' No event occurs\n# '+' Event occurrences may be lost due to branch counter saturated\n");
}

/* ---- blocks ---- */

/* Appends the line of a branch: its instruction, how it was predicted, cycles since the previous branch, and instructions
 * per cycle if `n_insns` are known. */
static void put_branch_line(struct code_printer *p, size_t branch, const struct script_insn *insn,
			    const struct tacho_frame *frame, unsigned n_insns)
{
	const struct tacho_branch *b = &p->sample->branches[branch];
	unsigned cycles = b->flags >> 4 & 0xffff, fields = p->script->insns.fields;
	size_t n = put_insn(p, insn, b->from);

	buf_pad(p->out, ' ', n < INSN_WIDTH ? INSN_WIDTH - n : 0);
	buf_putc(p->out, '\t');
	if (fields & CODE_BLOCK_LENGTHS)
		buf_printf(p->out, "ilen: %u\t", insn->n);
	if (p->ev->fields & FIELD_SRCLINE) {
		put_srcline(p, " srcline: ", frame);
		buf_putc(p->out, '\t');
	}
	if (fields & CODE_COUNTERS)
		put_counts(p, branch);
	else
		buf_putc(p->out, '#');
	buf_printf(p->out, "%s%s%s%s", b->flags & 2 ? " PRED" : "", b->flags & 1 ? " MISPRED" : "",
		   b->flags & 4 ? " INTX" : "", b->flags & 8 ? " ABORT" : "");
	p->cycles += cycles;
	if (cycles)
		buf_printf(p->out, " %u cycles [%u]", cycles, p->cycles);
	if (cycles && n_insns)
		buf_printf(p->out, " %.2f IPC", (double)n_insns / cycles);
	put_source(p, frame);
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

static bool is_printable(struct code_printer *p, const struct code_block *b)
{
	return b->start && b->end && is_kernel(b->start) == is_kernel(b->end) &&
	       b->end - b->start <= MAX_BLOCK_BYTES - MAX_INSN_BYTES && is_readable(p, b->start);
}

/* Appends a block that ends with the branch. */
static void put_block(struct code_printer *p, const struct code_block *b, size_t branch)
{
	unsigned n_insns = 0;
	uint64_t ip = b->start;

	while (ip - b->start < b->end - b->start + MAX_INSN_BYTES) {
		struct tacho_frame frame;
		const struct script_insn *insn = look_up(p, ip, &frame);

		if (!insn)
			break;
		name_function(p, &frame);
		n_insns++;
		if (ip == b->end) {
			put_branch_line(p, branch, insn, &frame, n_insns);
			return;
		}
		put_plain_line(p, insn, ip);
		if (!insn->n)
			break;
		put_source(p, &frame);
		ip += insn->n;
	}
	if (ip != b->end)
		buf_puts(p->out, "\n\tmismatch of LBR data and executable");
}

static void put_first_branch(struct code_printer *p, size_t branch)
{
	struct tacho_frame frame;
	const struct script_insn *insn;
	uint64_t from = p->sample->branches[branch].from;

	insn = from ? look_up(p, from, &frame) : NULL;
	if (!insn)
		return;
	name_function(p, &frame);
	put_branch_line(p, branch, insn, &frame, 0);
}

static void put_blocks(struct code_printer *p, size_t n)
{
	const struct tacho_branch *branches = p->sample->branches;

	for (size_t i = n - 1; i-- > 0;) {
		struct code_block b = { branches[i + 1].to, branches[i].from };

		/* CPUs do not record the branch into the kernel if only user space is sampled: the block continues
		 * after the kernel's return. */
		if (i && b.start && b.end && is_kernel(b.start) != is_kernel(b.end))
			b.end = branches[--i].from;
		if (is_printable(p, &b))
			put_block(p, &b, i);
	}
}

/* Whether the code from the last branch to the sample cannot have run without a branch that was not recorded. */
static bool misses_branch(const struct code_printer *p, const struct script_insn *insn, uint64_t ip)
{
	uint64_t recorded = p->ev->attr->branch_sample_type;

	return (!recorded || (recorded & PERF_BRANCH_ANY)) && insn->leaves && ip != p->sample->ip;
}

/* Appends what ran from the last branch to the sample, or the sample's instruction if that is not known. */
static void put_last_block(struct code_printer *p)
{
	struct code_block b = { p->sample->branches[0].to, p->sample->ip };
	const struct script_insn *insn;
	struct tacho_frame frame;

	/* The newest branches may be missing. */
	if (b.end < b.start)
		b.end = b.start + AFTER_LAST_BRANCH;
	if (look_up(p, b.start, &frame))
		name_function(p, &frame);
	if (!is_printable(p, &b)) {
		b.end = p->sample->ip;
		insn = b.end ? look_up(p, b.end, &frame) : NULL;
		if (!insn)
			return;
		put_plain_line(p, insn, b.end);
		put_source(p, &frame);
		return;
	}
	for (uint64_t ip = b.start; ip - b.start <= b.end - b.start; ip += insn->n) {
		insn = look_up(p, ip, &frame);
		if (!insn)
			return;
		put_plain_line(p, insn, ip);
		if (!insn->n)
			return;
		if (misses_branch(p, insn, ip)) {
			buf_puts(p->out, "\n\t... not reaching sample ...");
			return;
		}
		put_source(p, &frame);
	}
}

void branch_code_put(struct script *s, const struct script_event *ev, struct buf *out, const struct tacho_sample *sample)
{
	struct code_printer p = { .script = s, .ev = ev, .sample = sample, .out = out };
	const struct tacho_branch *last = sample->branches;
	size_t n = sample->n_branches;

	if (!n)
		return;
	if (s->opts->max_blocks)
		n = min_of(n, (size_t)s->opts->max_blocks + 1);
	put_first_branch(&p, n - 1);
	put_blocks(&p, n);
	/* A sample on the last branch has not gone there yet. */
	if (last->from != sample->ip && !(last->flags & 8))
		put_last_block(&p);
	buf_putc(out, '\n');
}
