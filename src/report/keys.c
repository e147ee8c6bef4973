/*
 * The sort keys and columns: what they are called, what an entry shows in them, and in which order
 * two entries stand when their values are equal.
 */
#include "report/report.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "report/detail_keys.h"

#define FIELD_NAME_MAX 128

static const struct { const char *name, *other, *title; } columns[COL_COUNT] = {
	[COL_OVERHEAD] = { "overhead", NULL, "Overhead" },
	[COL_CHILDREN] = { "overhead_children", NULL, "Children" },
	[COL_SAMPLES] = { "sample", "samples", "Samples" },
	[COL_PERIOD] = { "period", NULL, "Period" },
	[COL_SYS] = { "overhead_sys", NULL, "sys" },
	[COL_US] = { "overhead_us", NULL, "usr" },
	[COL_GUEST_SYS] = { "overhead_guest_sys", NULL, "guest sys" },
	[COL_GUEST_US] = { "overhead_guest_us", NULL, "guest usr" },
	[COL_LATENCY] = { "latency", NULL, "Latency" },
	[COL_LATENCY_CHILDREN] = { "latency_children", NULL, "Latency" },
	[COL_COMM] = { "comm", NULL, "Command" },
	[COL_COMM_NODIGIT] = { "comm_nodigit", NULL, "CommandNoDigit" },
	[COL_PID] = { "pid", NULL, "    Pid:Command" },
	[COL_TGID] = { "tgid", NULL, "   Tgid:Command" },
	[COL_TID] = { "tid", NULL, "Tid" },
	[COL_CPU] = { "cpu", NULL, "CPU" },
	[COL_SOCKET] = { "socket", NULL, "Socket" },
	[COL_TIME] = { "time", NULL, "Time" },
	[COL_CGROUP] = { "cgroup", NULL, "Cgroup" },
	[COL_CGROUP_ID] = { "cgroup_id", NULL, "cgroup id" },
	[COL_PARENT] = { "parent", NULL, "Parent symbol" },
	[COL_LOCAL_WEIGHT] = { "local_weight", NULL, "Local Weight" },
	[COL_WEIGHT] = { "weight", NULL, "Weight" },
	[COL_LOCAL_INS_LAT] = { "local_ins_lat", NULL, "Local INSTR Latency" },
	[COL_INS_LAT] = { "ins_lat", NULL, "INSTR Latency" },
	[COL_LOCAL_STAGE_CYC] = { "local_p_stage_cyc", "local_retire_lat", "Local Pipeline Stage Cycle" },
	[COL_STAGE_CYC] = { "p_stage_cyc", "retire_lat", "Pipeline Stage Cycle" },
	[COL_TRANSACTION] = { "transaction", NULL, "Transaction                " },
	[COL_CODE_PAGE_SIZE] = { "code_page_size", NULL, "Code Page Size" },
	[COL_ADDR] = { "addr", NULL, "Address" },
	[COL_TRACE] = { "trace", NULL, "Trace output" },
	[COL_PARALLELISM] = { "parallelism", NULL, "Parallelism" },
	[COL_DSO_FROM] = { "dso_from", NULL, "Source Shared Object" },
	[COL_DSO_TO] = { "dso_to", NULL, "Target Shared Object" },
	[COL_SYMBOL_FROM] = { "symbol_from", "sym_from", "Source Symbol" },
	[COL_SYMBOL_TO] = { "symbol_to", "sym_to", "Target Symbol" },
	[COL_MISPREDICT] = { "mispredict", NULL, "Branch Mispredicted" },
	[COL_ABORT] = { "abort", NULL, "Transaction abort" },
	[COL_IN_TX] = { "in_tx", NULL, "Branch in transaction" },
	[COL_CYCLES] = { "cycles", NULL, "Basic Block Cycles" },
	[COL_SRCLINE_FROM] = { "srcline_from", NULL, "From Source:Line" },
	[COL_SRCLINE_TO] = { "srcline_to", NULL, "To Source:Line" },
	[COL_ADDR_FROM] = { "addr_from", NULL, "Source Address" },
	[COL_ADDR_TO] = { "addr_to", NULL, "Target Address" },
	[COL_SYMBOL_DADDR] = { "symbol_daddr", NULL, "Data Symbol" },
	[COL_DSO_DADDR] = { "dso_daddr", NULL, "Data Object" },
	[COL_LOCKED] = { "locked", NULL, "Locked" },
	[COL_TLB] = { "tlb", NULL, "TLB access" },
	[COL_MEM] = { "mem", NULL, "Memory access" },
	[COL_SNOOP] = { "snoop", NULL, "Snoop" },
	[COL_DCACHELINE] = { "dcacheline", NULL, "Data Cacheline" },
	[COL_SYMBOL_IADDR] = { "symbol_iaddr", NULL, "Code Symbol" },
	[COL_PHYS_DADDR] = { "phys_daddr", NULL, "Data Physical Address" },
	[COL_DATA_PAGE_SIZE] = { "data_page_size", NULL, "Data Page Size" },
	[COL_BLOCKED] = { "blocked", NULL, "Blocked" },
	[COL_DSO] = { "dso", NULL, "Shared Object" },
	[COL_SYMBOL] = { "symbol", "sym", "Symbol" },
	[COL_SRCLINE] = { "srcline", NULL, "Source:Line" },
	[COL_SRCFILE] = { "srcfile", NULL, "Source File" },
	[COL_SYMBOL_OFFSET] = { "symoff", NULL, "Symbol Offset" },
};

/* Words of the command line that are no key: fields of tracepoints, as the file will show. */
static struct { char name[FIELD_NAME_MAX]; } field_names[TACHO_FIELDS_MAX];
static const char *field_list[TACHO_FIELDS_MAX];
static size_t n_fields;

static bool is_field(enum hist_column c)
{
	return c >= COL_FIELD && c <= COL_FIELD_LAST;
}

size_t hist_n_fields(void)
{
	return n_fields;
}

const char *const *hist_fields(void)
{
	return field_list;
}

static bool is_column(enum hist_column c, struct str name)
{
	if (is_field(c))
		return (size_t)c - COL_FIELD < n_fields && str_is(name, field_list[c - COL_FIELD]);
	return str_is(name, columns[c].name) || (columns[c].other && str_is(name, columns[c].other));
}

int hist_unknown_key(const char *text, struct str name, struct tacho_error *e)
{
	struct str_nearest near = { .word = name };
	struct buf list = { 0 };

	for (int c = 0; c < COL_COUNT; c++)
		if (!is_field((enum hist_column)c))
			str_nearest_try(&near, str_of(columns[c].name));
	error_set(e, -EINVAL, "there is no key '%.*s'", STR(name));
	error_at(e, (size_t)(name.s - text), name.n);
	for (int c = 0; c < COL_COUNT; c++)
		if (!is_field((enum hist_column)c) && !hist_column_of_branch((enum hist_column)c) &&
		    !hist_column_of_memory((enum hist_column)c))
			buf_printf(&list, "%s%s", list.n ? " " : "", columns[c].name);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(e, "keys are %s, fields of tracepoints, and in tacho-report(1) those of branches and memory", list.bytes ? list.bytes : "...");
	buf_done(&list);
	return -EINVAL;
}

/* The column of a word that is no key, or -1. Names with a dot or a letter at the start may be
 * fields; whether they are, the file tells. */
static int field_add(struct str name)
{
	if (name.n >= FIELD_NAME_MAX || !name.n)
		return -1;
	memcpy(field_names[n_fields].name, name.s, name.n);
	field_list[n_fields] = field_names[n_fields].name;
	return COL_FIELD + (int)n_fields++;
}

int hist_parse_keys(const char *text, enum hist_column *out, size_t *n, struct tacho_error *e)
{
	struct str rest = str_of(text), name;
	bool any = false;

	while (str_cut(&rest, ',', &name)) {
		int c = 0;
		bool twice = false;

		name = str_trim(name);
		any = any || name.n;
		if (!name.n && (any || rest.n))		/* a comma too many */
			continue;
		while (c < COL_COUNT && !is_column((enum hist_column)c, name))
			c++;
		if (c == COL_COUNT && n_fields == TACHO_FIELDS_MAX)
			return error_set(e, -EINVAL, "more than %d fields of tracepoints; '%.*s' is one too many",
					 TACHO_FIELDS_MAX, STR(name));
		if (c == COL_COUNT)
			c = field_add(name);
		if (c < 0)
			return hist_unknown_key(text, name, e);
		for (size_t i = 0; i < *n; i++)
			twice = twice || (int)out[i] == c;
		if (twice)
			continue;
		if (*n == HIST_KEYS_MAX)
			return error_set(e, -EINVAL, "more than %d keys", HIST_KEYS_MAX);
		out[(*n)++] = (enum hist_column)c;
	}
	return 0;
}

const char *hist_column_title(enum hist_column c)
{
	const char *dot;

	if (is_field(c)) {
		dot = strrchr(hist_column_name(c), '.');
		return dot ? dot + 1 : hist_column_name(c);
	}
	return columns[c].title;
}

const char *hist_title(const struct hist_opts *o, enum hist_column c)
{
	return c == COL_OVERHEAD && o->own_is_self ? "Self" : hist_column_title(c);
}

const char *hist_column_name(enum hist_column c)
{
	if (is_field(c))
		return field_list[c - COL_FIELD] ? field_list[c - COL_FIELD] : "";
	return columns[c].name;
}

bool hist_column_padded(enum hist_column c)
{
	switch (c) {
	case COL_SYMBOL:
	case COL_SRCLINE:
	case COL_SRCFILE:
	case COL_SYMBOL_OFFSET:
	case COL_TRACE:
	case COL_SYMBOL_FROM:
	case COL_SYMBOL_TO:
	case COL_SYMBOL_DADDR:
	case COL_SYMBOL_IADDR:
	case COL_ADDR_FROM:
	case COL_ADDR_TO:
	case COL_DCACHELINE:
	case COL_LOCKED:
	case COL_BLOCKED:
		return false;
	default:
		return true;
	}
}

bool hist_column_right(enum hist_column c)
{
	return is_field(c) || c == COL_PARALLELISM;
}

bool hist_column_of_branch(enum hist_column c)
{
	return c >= COL_FIRST_OF_BRANCH && c < COL_FIRST_OF_MEMORY;
}

bool hist_column_of_memory(enum hist_column c)
{
	return c >= COL_FIRST_OF_MEMORY && c < COL_FIELD;
}

size_t hist_key_index(const struct hist *h, enum hist_column key)
{
	size_t at = 0;

	for (size_t i = 0; i < h->opts->n_keys && h->opts->keys[i] != key; i++)
		at++;
	return at;
}

/* The first caller, from the leaf on, whose name matches. */
static uint64_t parent_of(const struct hist *h, uint32_t node)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(h->profile);

	for (; node; node = nodes[node].parent) {
		const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, nodes[node].frame);

		if (f && f->known && h->opts->parent &&
		    regexec(h->opts->parent, f->code->name, 0, NULL, 0) == 0)
			return (uint64_t)nodes[node].frame + 1;
	}
	return 0;
}

static int32_t socket_of(const struct hist *h, int32_t cpu)
{
	return cpu >= 0 && (size_t)cpu < h->opts->n_sockets ? h->opts->sockets[cpu] : -1;
}

uint64_t hist_row_value(const struct hist *h, enum hist_column key, const struct tacho_profile_row *r)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(h->profile, r->thread);

	if (key >= COL_FIRST_OF_DETAIL)
		return hist_detail_value(h, key, r->detail);
	switch (key) {
	case COL_SOCKET:
		return (uint64_t)(int64_t)socket_of(h, r->cpu);
	case COL_COMM:
		return (uintptr_t)t->comm;	/* equal text is one pointer */
	case COL_COMM_NODIGIT:
		return h->first_comm[r->thread];
	case COL_PID:
	case COL_TID:
		return (uint64_t)(int32_t)t->tid;	/* -1: one that is dead */
	case COL_TGID:
		return (uint64_t)(int32_t)t->pid;
	case COL_CPU:
		return (uint64_t)(int64_t)r->cpu;
	case COL_TIME:
		return h->opts->quantum_ns ? r->time / h->opts->quantum_ns * h->opts->quantum_ns : r->time;
	case COL_CGROUP:
	case COL_CGROUP_ID:
		return hist_detail_value(h, key, r->detail);
	case COL_PARENT:
		return parent_of(h, r->node);
	default:
		return 0;
	}
}

void hist_frame_text(const struct tacho_profile_frame *f, struct buf *out)
{
	if (f->known)
		buf_puts(out, f->code->name);
	else
		buf_printf(out, "%#" PRIx64, f->offset);
}

static char level_of(const struct tacho_profile_frame *f)
{
	static const char letters[] = { '.', 'k', '.', 'H', 'g', 'u' };

	return (size_t)f->space < sizeof(letters) ? letters[f->space] : '.';
}

/* Eight hex digits at once, a byte each: the highest is the first to be written. */
static uint64_t digits_of(uint32_t v)
{
	uint64_t x = v, letters;

	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return htobe64(x + 0x3030303030303030 + letters * ('a' - '0' - 10));
}

char *hist_address_text(const struct tacho_profile_frame *f, char *at)
{
	uint64_t address = f ? f->offset : 0;
	uint64_t upper = digits_of((uint32_t)(address >> 32)), lower = digits_of((uint32_t)address);
	const char start[] = { '[', f ? level_of(f) : '.', ']', ' ', '0', 'x' };

	memcpy(at, start, sizeof(start));
	at += address ? sizeof(start) : sizeof(start) - 2;
	memcpy(at, &upper, sizeof(upper));
	memcpy(at + 8, &lower, sizeof(lower));
	return at + 16;
}

static void put_address(const struct tacho_profile_frame *f, struct buf *out)
{
	char *at = buf_reserve(out, HIST_ADDRESS_MAX);

	if (!at)
		return;
	at = hist_address_text(f, at);
	*at = '\0';
	out->n = (size_t)(at - out->bytes);
}

void hist_symbol_text(const struct tacho_profile_frame *f, struct buf *out)
{
	if (!f || !f->known) {
		put_address(f, out);
		return;
	}
	buf_putc(out, '[');
	buf_putc(out, level_of(f));
	buf_puts(out, "] ");
	buf_puts(out, f->code->name);
}

/* Where there is no line: how far behind its function, or the place in the object. */
void hist_srcline_text(const struct hist *h, const struct tacho_profile_frame *f, struct buf *out)
{
	const char *slash = f && f->code->srcfile ? strrchr(f->code->srcfile, '/') : NULL;

	if (f && f->code->srcfile)
		buf_printf(out, "%s:%u", slash && !h->opts->full_paths ? slash + 1 : f->code->srcfile, f->srcline);
	else if (f && f->known)
		buf_printf(out, "%s+%" PRIu64, f->code->name, f->offset);
	else if (f)
		buf_printf(out, "%s[%" PRIx64 "]", f->code->object_name, f->offset);
	else
		buf_puts(out, "??:0");
}

static void srcfile_text(const struct hist *h, const struct tacho_profile_frame *f, struct buf *out)
{
	const char *slash = f && f->code->srcfile ? strrchr(f->code->srcfile, '/') : NULL;

	if (f && f->code->srcfile)
		buf_puts(out, slash && !h->opts->full_paths ? slash + 1 : f->code->srcfile);
}

/* Where no symbol is known, as many digits as the title leaves room for, as perf has it. */
static void symbol_offset_text(const struct tacho_profile_frame *f, struct buf *out)
{
	if (f && f->known) {
		hist_symbol_text(f, out);
		buf_printf(out, "+0x%" PRIx64, f->offset);
	} else {
		buf_printf(out, "[%c] %#.9" PRIx64, f ? level_of(f) : '.', f ? f->offset : 0);
	}
}

void hist_nodigit_text(const char *comm, struct buf *out)
{
	while (*comm) {
		size_t n = strspn(comm, "0123456789");

		if (n)
			buf_puts(out, "<N>");
		else
			buf_putc(out, *comm);
		comm += n ? n : 1;
	}
}

static void time_text(const struct hist *h, uint64_t ns, struct buf *out)
{
	if (h->opts->nanoseconds)
		buf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	else
		buf_printf(out, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
}

/* Of all events of a group together. */
static uint64_t samples_of(const struct hist *h, const struct hist_entry *e)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < h->n_events && h->opts->samples; i++)
		sum += hist_value(h, e, COL_SAMPLES, i);
	return sum;
}

void hist_key_text(const struct hist *h, const struct hist_entry *e, enum hist_column key,
		   struct buf *out)
{
	const struct hist_group *g = &h->groups.v[e->group];
	const struct tacho_profile_thread *t = tacho_profile_thread(h->profile, g->thread);
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, e->frame);
	uint64_t v = key < COL_FIRST_OF_FRAME ? g->v[hist_key_index(h, key)] : 0;
	const char *path;

	if (key >= COL_FIRST_OF_DETAIL && key < COL_FIRST_OF_FRAME) {
		hist_detail_text(h, key, g->detail, samples_of(h, e), out);
		return;
	}
	switch (key) {
	case COL_COMM:
		buf_puts(out, t->comm);
		return;
	case COL_COMM_NODIGIT:
		hist_nodigit_text(t->comm, out);
		return;
	case COL_PID:
	case COL_TGID:
		buf_printf(out, "%7" PRId64 ":%s", (int64_t)v, key == COL_PID ? t->last : t->process);
		return;
	case COL_TID:
		buf_printf(out, "%" PRId64, (int64_t)v);
		return;
	case COL_CPU:
		buf_printf(out, "%.3" PRId64, (int64_t)v);
		return;
	case COL_SOCKET:
		buf_printf(out, "%6.3" PRId64, (int64_t)v);
		return;
	case COL_SRCLINE:
		hist_srcline_text(h, f, out);
		return;
	case COL_SRCFILE:
		srcfile_text(h, f, out);
		return;
	case COL_SYMBOL_OFFSET:
		symbol_offset_text(f, out);
		return;
	case COL_TIME:
		time_text(h, v, out);
		return;
	case COL_CGROUP:
		path = tacho_profile_cgroup(h->profile, v);
		buf_puts(out, path ? path : v ? "unknown" : "N/A");
		return;
	case COL_PARENT:
		buf_puts(out, v ? tacho_profile_frame(h->profile, v - 1)->code->name : "[other]");
		return;
	case COL_DSO:
		buf_puts(out, f ? f->code->object_name : "[unknown]");
		return;
	case COL_SYMBOL:
		hist_symbol_text(f, out);
		return;
	default:
		buf_printf(out, "%" PRIu64, v);
	}
}

/* As perf: an address in place of a name has room for its 0x, even 0, which has none; and the object
 * has as much room as its digits. */
#define ADDRESS_WIDTH 16
#define UNKNOWN_SYMBOL_WIDTH (4 + 2 + ADDRESS_WIDTH)

size_t hist_symbol_width(const struct tacho_profile_frame *f)
{
	return f && f->known ? strlen(f->code->name) + 4 : UNKNOWN_SYMBOL_WIDTH;
}

size_t hist_object_width(const struct hist *h, const struct tacho_profile_frame *f)
{
	size_t n = strlen(f ? f->code->object_name : "[unknown]");

	return h->opts->wide_objects && !(f && f->known) ? max_of(n, (size_t)ADDRESS_WIDTH) : n;
}

size_t hist_key_width(const struct hist *h, const struct hist_entry *e, enum hist_column key)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, e->frame);
	struct buf text = { 0 };
	size_t n;

	if (key == COL_SYMBOL)
		return hist_symbol_width(f);
	if (key == COL_DSO)
		return hist_object_width(h, f);
	if (key == COL_COMM)
		return strlen(tacho_profile_thread(h->profile, h->groups.v[e->group].thread)->comm);
	hist_key_text(h, e, key, &text);
	n = text.n;
	buf_done(&text);
	return key >= COL_FIRST_OF_DETAIL ? max_of(n, hist_detail_width(h, key, h->groups.v[e->group].detail)) :
					    n;
}

static int cmp_texts(const struct buf *a, const struct buf *b)
{
	return strcmp(a->bytes ? a->bytes : "", b->bytes ? b->bytes : "");
}

/* By their text, in reverse, as perf has it. */
static int cmp_sources(const struct hist *h, enum hist_column key, const struct tacho_profile_frame *a,
		       const struct tacho_profile_frame *b)
{
	struct buf ta = { 0 }, tb = { 0 };
	int c;

	if (key == COL_SRCLINE) {
		hist_srcline_text(h, a, &ta);
		hist_srcline_text(h, b, &tb);
	} else {
		srcfile_text(h, a, &ta);
		srcfile_text(h, b, &tb);
	}
	c = cmp_texts(&ta, &tb);
	buf_done(&ta);
	buf_done(&tb);
	return c;
}

static int cmp_frames(const struct hist *h, enum hist_column key, const struct tacho_profile_frame *a,
		      const struct tacho_profile_frame *b)
{
	if (!a || !b)
		return !a - !b;
	if (key == COL_DSO) {
		if (!a->code->object || !b->code->object)
			return !a->code->object - !b->code->object;
		return strcmp(a->code->object_name, b->code->object_name);
	}
	if (key == COL_SRCFILE || key == COL_SRCLINE)
		return cmp_sources(h, key, a, b);
	if (!a->known || !b->known) {
		if (a->known != b->known)
			return a->known ? -1 : 1;
		return (a->offset > b->offset) - (a->offset < b->offset);
	}
	if (key == COL_SYMBOL_OFFSET && a->code->symbol == b->code->symbol)
		return (a->offset > b->offset) - (a->offset < b->offset);
	return strcmp(a->code->name, b->code->name);
}

static int cmp_without_digits(const char *a, const char *b)
{
	struct buf ta = { 0 }, tb = { 0 };
	int c;

	hist_nodigit_text(a, &ta);
	hist_nodigit_text(b, &tb);
	c = cmp_texts(&ta, &tb);
	buf_done(&ta);
	buf_done(&tb);
	return c;
}

/* [other] is the last. */
static int cmp_parents(const struct hist *h, uint64_t a, uint64_t b)
{
	if (!a || !b)
		return a ? -1 : 1;
	return strcmp(tacho_profile_frame(h->profile, a - 1)->code->name,
		      tacho_profile_frame(h->profile, b - 1)->code->name);
}

int hist_key_cmp(const struct hist *h, enum hist_column key, const struct hist_entry *a,
		 const struct hist_entry *b)
{
	const struct hist_group *ga = &h->groups.v[a->group], *gb = &h->groups.v[b->group];
	uint64_t va, vb;

	if (key >= COL_FIRST_OF_FRAME)
		return cmp_frames(h, key, tacho_profile_frame(h->profile, a->frame),
				  tacho_profile_frame(h->profile, b->frame));
	if (key >= COL_FIRST_OF_DETAIL)
		return hist_detail_cmp(h, key, ga->detail, gb->detail);
	va = ga->v[hist_key_index(h, key)];
	vb = gb->v[hist_key_index(h, key)];
	if (key == COL_COMM && va != vb)
		return strcmp(tacho_profile_thread(h->profile, ga->thread)->comm,
			      tacho_profile_thread(h->profile, gb->thread)->comm);
	if (key == COL_COMM_NODIGIT && va != vb)
		return cmp_without_digits(tacho_profile_thread(h->profile, ga->thread)->comm,
					  tacho_profile_thread(h->profile, gb->thread)->comm);
	if (key == COL_PARENT && va != vb)
		return cmp_parents(h, va, vb);
	return (va > vb) - (va < vb);
}
