/*
 * Rewriting of attrs and records without the original addresses:
 *
 *	kept		instruction pointers, call chains, branches and data addresses, as moved addresses
 *	left out	registers and copies of the stack
 *
 * Samples whose main content may reveal addresses in ways that cannot be replaced (data of tracepoints,
 * physical addresses, hardware traces) are left out, as are records of unknown types.
 */
#include "cli/files/anonymize.h"

#include "base/error.h"
#include "record/callchain_markers.h"
#include "record/perf_abi.h"

#include <errno.h>

#define MISC_CPUMODE 7u
#define MISC_BIT13 (1u << 13)		/* COMM: exec; FORK: of a thread that inherits no mappings */

#define STRIPPED_FIELDS (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR)
#define DROPPED_FIELDS (PERF_SAMPLE_RAW | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX)
#define KNOWN_FIELDS (PERF_SAMPLE_WEIGHT_STRUCT * 2 - 1)

int anonymizer_init(struct anonymizer *a)
{
	*a = (struct anonymizer){ .scratch = malloc(sizeof(*a->scratch)) };
	remap_init(&a->map);
	return a->scratch ? 0 : -ENOMEM;
}

void anonymizer_done(struct anonymizer *a)
{
	remap_done(&a->map);
	buf_done(&a->record);
	free(take(a->scratch));
}

bool anonymize_keeps_feature(enum tacho_feature f)
{
	return f != TACHO_FEATURE_TRACING_DATA && f != TACHO_FEATURE_BPF_PROG_INFO &&
	       f != TACHO_FEATURE_AUXTRACE;
}

int anonymize_attr(const struct tacho_file_event *ev, struct buf *out, struct tacho_error *e)
{
	struct perf_event_attr attr = { 0 };

	if (ev->layout.sample_type & ~KNOWN_FIELDS)
		return error_set(e, -EOPNOTSUPP, "the samples of '%s' have fields of a newer kernel", ev->name);
	memcpy(&attr, ev->attr, min_of(ev->attr_size, sizeof(attr)));
	attr.sample_type &= ~STRIPPED_FIELDS;
	attr.sample_regs_user = attr.sample_regs_intr = 0;
	attr.sample_stack_user = 0;
	if (attr.type == PERF_TYPE_BREAKPOINT)
		attr.bp_addr = 0;
	buf_clear(out);
	buf_put(out, &attr, min_of(ev->attr_size, sizeof(attr)));
	if (ev->attr_size > sizeof(attr))
		buf_put(out, (const char *)ev->attr + sizeof(attr), ev->attr_size - sizeof(attr));
	return buf_failed(out) ? -ENOMEM : 0;
}

static void put_u32(struct buf *b, uint32_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_u64(struct buf *b, uint64_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_words(struct buf *b, const struct tacho_words *w)
{
	if (w->n)
		buf_put(b, w->v, w->n * sizeof(*w->v));
}

static uint64_t moved_in(const struct anonymizer *a, enum tacho_space space, uint32_t pid, uint64_t address)
{
	if (space == TACHO_SPACE_USER)
		return remap_user(&a->map, pid, address);
	return space == TACHO_SPACE_KERNEL ? remap_kernel(&a->map, address) : 0;
}

/* For addresses of unknown space: those of the kernel are in the upper half on all 64-bit machines. */
static uint64_t moved(const struct anonymizer *a, uint32_t pid, uint64_t address)
{
	return moved_in(a, address >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER, pid, address);
}

/* Without its copy of the stack, a sample in user space has a call chain of one function. */
static void put_leaf(const struct anonymizer *a, struct buf *b, const struct tacho_sample *s)
{
	put_u64(b, 2);
	put_u64(b, CONTEXT_USER);
	put_u64(b, remap_user(&a->map, s->pid, s->ip));
}

static void put_chain(const struct anonymizer *a, struct buf *b, const struct tacho_sample *s)
{
	enum tacho_space space = TACHO_SPACE_USER;
	bool known = true;

	put_u64(b, s->chain.n);
	for (size_t i = 0; i < s->chain.n; i++) {
		uint64_t word = s->chain.v[i];

		if (word >= CONTEXT_FIRST)
			known = context_space(word, &space);
		else
			word = known ? moved_in(a, space, s->pid, word) : 0;
		put_u64(b, word);
	}
}

static void put_branches(const struct anonymizer *a, struct buf *b, const struct tacho_sample *s,
			 const struct tacho_layout *lay)
{
	put_u64(b, s->n_branches);
	if (lay->branch_type & PERF_BRANCH_HW_INDEX)
		put_u64(b, s->branch_hw_index);
	for (size_t i = 0; i < s->n_branches; i++) {
		put_u64(b, moved(a, s->pid, s->branches[i].from));
		put_u64(b, moved(a, s->pid, s->branches[i].to));
		put_u64(b, s->branches[i].flags);
	}
	if (lay->branch_type & PERF_BRANCH_COUNTERS)
		put_words(b, &s->branch_counters);
}

/* The fields up to PERIOD. */
static void put_leading(const struct anonymizer *a, struct buf *b, const struct tacho_sample *s, uint16_t misc)
{
	if (s->type & PERF_SAMPLE_IDENTIFIER)
		put_u64(b, s->id);
	if (s->type & PERF_SAMPLE_IP)
		put_u64(b, moved_in(a, misc & MISC_CPUMODE, s->pid, s->ip));
	if (s->type & PERF_SAMPLE_TID) {
		put_u32(b, s->pid);
		put_u32(b, s->tid);
	}
	if (s->type & PERF_SAMPLE_TIME)
		put_u64(b, s->time);
	if (s->type & PERF_SAMPLE_ADDR)
		put_u64(b, moved(a, s->pid, s->addr));
	if (s->type & PERF_SAMPLE_ID)
		put_u64(b, s->id);
	if (s->type & PERF_SAMPLE_STREAM_ID)
		put_u64(b, s->stream_id);
	if (s->type & PERF_SAMPLE_CPU)
		put_u64(b, s->cpu);
	if (s->type & PERF_SAMPLE_PERIOD)
		put_u64(b, s->period);
}

static void put_weight(struct buf *b, const struct tacho_sample *s)
{
	uint64_t w = s->weight;

	if (s->type & PERF_SAMPLE_WEIGHT_STRUCT)
		w = (uint32_t)w | (uint64_t)s->weight2 << 32 | (uint64_t)s->weight3 << 48;
	put_u64(b, w);
}

static void put_sample(const struct anonymizer *a, struct buf *b, const struct tacho_sample *s,
		       const struct tacho_layout *lay, uint16_t misc)
{
	put_leading(a, b, s, misc);
	if (s->type & PERF_SAMPLE_READ)
		put_words(b, &s->read.words);
	if ((s->type & PERF_SAMPLE_CALLCHAIN) && s->n_stack && !s->chain.n)
		put_leaf(a, b, s);
	else if (s->type & PERF_SAMPLE_CALLCHAIN)
		put_chain(a, b, s);
	if (s->type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(a, b, s, lay);
	if (s->type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put_weight(b, s);
	if (s->type & PERF_SAMPLE_DATA_SRC)
		put_u64(b, s->data_src);
	if (s->type & PERF_SAMPLE_TRANSACTION)
		put_u64(b, s->transaction);
	if (s->type & PERF_SAMPLE_CGROUP)
		put_u64(b, s->cgroup);
	if (s->type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_u64(b, s->data_page_size);
	if (s->type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_u64(b, s->code_page_size);
}

/* Begins the new record with the header of the old one. */
static void start_record(struct anonymizer *a, const struct tacho_record *rec)
{
	buf_clear(&a->record);
	put_u32(&a->record, rec->type);
	put_u32(&a->record, rec->misc);		/* and the size, which is not known yet */
}

static int finish_record(struct anonymizer *a, struct tacho_record *rec)
{
	uint16_t size = (uint16_t)a->record.n;

	if (buf_failed(&a->record))
		return -ENOMEM;
	if (a->record.n > UINT16_MAX)
		return -EBADMSG;
	memcpy(a->record.bytes + 6, &size, sizeof(size));
	rec->bytes = (const uint8_t *)a->record.bytes;
	rec->size = size;
	return 1;
}

static const struct tacho_layout *layout_of(const struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(pd, rec);

	return i < 0 ? NULL : &tacho_perfdata_event(pd, (size_t)i)->layout;
}

static int rewrite_sample(struct anonymizer *a, const struct tacho_perfdata *pd, struct tacho_record *rec)
{
	const struct tacho_layout *lay = layout_of(pd, rec);
	struct tacho_sample s;
	int err;

	if (!lay || (lay->sample_type & DROPPED_FIELDS)) {
		a->n_dropped++;
		return 0;
	}
	a->scratch->used = 0;
	err = tacho_sample_decode(&s, rec, lay, a->scratch);
	if (err < 0)
		return err;
	start_record(a, rec);
	put_sample(a, &a->record, &s, lay, rec->misc);
	return finish_record(a, rec);
}

/* Copies the record and overwrites the word at offset `at`. */
static int replace_word(struct anonymizer *a, struct tacho_record *rec, size_t at, uint64_t word)
{
	if (rec->bytes != (const uint8_t *)a->record.bytes) {
		buf_clear(&a->record);
		buf_put(&a->record, rec->bytes, rec->size);
	}
	if (buf_failed(&a->record))
		return -ENOMEM;
	memcpy(a->record.bytes + at, &word, sizeof(word));
	rec->bytes = (const uint8_t *)a->record.bytes;
	return 1;
}

/* Whether pgoff is an offset in an object. In other mappings it is derived from the address. */
static bool has_file_offset(const char *path)
{
	return strcmp(path, "[vdso]") == 0 || (path[0] != '[' && strncmp(path, "//", 2) != 0);
}

static int rewrite_mmap(struct anonymizer *a, const struct tacho_sideband *other, struct tacho_record *rec)
{
	enum { ADDR_AT = 16, PGOFF_AT = 32 };
	const struct tacho_mmap *m = &other->mmap;
	bool kernel = (rec->misc & MISC_CPUMODE) == TACHO_SPACE_KERNEL;
	uint64_t start;
	int err;

	if (kernel)
		err = remap_add_kernel(&a->map, m->addr, m->len, &start);
	else
		err = remap_add(&a->map, m->pid, m->addr, m->len, &start);
	if (err < 0 || !start)
		return err;
	err = replace_word(a, rec, ADDR_AT, start);
	/* The offset of the kernel's text is the address of a reference symbol. Zero: it was hidden. */
	if (err > 0 && m->pgoff && (kernel || !has_file_offset(m->path ? m->path : "")))
		err = replace_word(a, rec, PGOFF_AT, start + (m->pgoff - m->addr));
	return err;
}

static int rewrite_ksymbol(struct anonymizer *a, const struct tacho_sideband *other, struct tacho_record *rec)
{
	enum { ADDR_AT = 8, UNREGISTER = 1 };
	uint64_t start = remap_kernel(&a->map, other->ksymbol.addr);
	int err;

	if (!(other->ksymbol.flags & UNREGISTER)) {
		err = remap_add_kernel(&a->map, other->ksymbol.addr, other->ksymbol.len, &start);
		if (err < 0)
			return err;
	}
	return start ? replace_word(a, rec, ADDR_AT, start) : 0;
}

/* Other records of the kernel: those that move mappings, and those without addresses. */
static int rewrite_other(struct anonymizer *a, const struct tacho_perfdata *pd, struct tacho_record *rec)
{
	const struct tacho_layout *lay = layout_of(pd, rec);
	struct tacho_sideband other;
	int err = 0;

	if (!lay && tacho_perfdata_n_events(pd))
		lay = &tacho_perfdata_event(pd, 0)->layout;
	a->scratch->used = 0;
	if (tacho_sideband_decode(&other, rec, lay, a->scratch) < 0)
		return 0;
	switch (rec->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
		return rewrite_mmap(a, &other, rec);
	case TACHO_RECORD_KSYMBOL:
		return rewrite_ksymbol(a, &other, rec);
	case TACHO_RECORD_COMM:
		err = rec->misc & MISC_BIT13 ? remap_exec(&a->map, other.comm.pid) : 0;
		break;
	case TACHO_RECORD_FORK:
		if (!(rec->misc & MISC_BIT13))
			err = remap_fork(&a->map, other.task.ppid, other.task.pid);
		break;
	case TACHO_RECORD_LOST:
	case TACHO_RECORD_EXIT:
	case TACHO_RECORD_THROTTLE:
	case TACHO_RECORD_UNTHROTTLE:
	case TACHO_RECORD_READ:
	case TACHO_RECORD_LOST_SAMPLES:
	case TACHO_RECORD_SWITCH:
	case TACHO_RECORD_SWITCH_CPU_WIDE:
	case TACHO_RECORD_NAMESPACES:
	case TACHO_RECORD_BPF_EVENT:
	case TACHO_RECORD_CGROUP:
		break;
	default:
		return 0;
	}
	return err < 0 ? err : 1;
}

int anonymize_record(struct anonymizer *a, const struct tacho_perfdata *pd, struct tacho_record *rec)
{
	if (rec->type == TACHO_RECORD_SAMPLE)
		return rewrite_sample(a, pd, rec);
	if (rec->type < TACHO_RECORD_HEADER_ATTR)
		return rewrite_other(a, pd, rec);
	return rec->type != TACHO_RECORD_AUXTRACE_INFO && rec->type != TACHO_RECORD_AUXTRACE &&
	       rec->type != TACHO_RECORD_AUXTRACE_ERROR;
}
