/*
 * Decoding sideband records, which are all records but samples. A table selects the decoder of each record
 * type. Each decodes the payload, which ends where the trailer begins; a name must be NUL-terminated within
 * the payload.
 */
#include "record/record.h"

#include <errno.h>

struct sideband_decoder {
	struct tacho_sideband *out;
	struct cursor c;
	struct tacho_scratch *scratch;
	const struct tacho_layout *lay;
};

/* The rest of the payload, as a NUL-terminated string. */
static const char *name_take(struct cursor *c)
{
	size_t left = c->bad ? 0 : (size_t)(c->end - c->at);
	const char *name = (const char *)c->at;

	if (!left || !memchr(name, '\0', left)) {
		c->bad = true;
		return NULL;
	}
	c->at = c->end;
	return name;
}

static void map_range_take(struct tacho_mmap *m, struct cursor *c)
{
	m->pid = cursor_u32(c);
	m->tid = cursor_u32(c);
	m->addr = cursor_u64(c);
	m->len = cursor_u64(c);
	m->pgoff = cursor_u64(c);
}

static void mmap_take(struct sideband_decoder *b)
{
	map_range_take(&b->out->mmap, &b->c);
	b->out->mmap.path = name_take(&b->c);
}

/* Layout: u8 length, three bytes of padding, 20 bytes of build ID. Returns false if the record has device
 * and inode numbers instead: kernels (seen in 6.18) sometimes set the BUILD_ID bit in misc although only
 * the event of another recorder asked for it. */
static bool build_id_take(struct tacho_mmap *m, struct cursor *c)
{
	struct cursor before = *c;
	const uint8_t *p = cursor_bytes(c, 4 + sizeof(m->build_id));

	if (!p)
		return true;
	if (p[0] > sizeof(m->build_id)) {
		*c = before;
		return false;
	}
	m->n_build_id = p[0];
	memcpy(m->build_id, p + 4, m->n_build_id);
	return true;
}

static void mmap2_take(struct sideband_decoder *b)
{
	struct tacho_mmap *m = &b->out->mmap;
	struct cursor *c = &b->c;

	map_range_take(m, c);
	if (!(b->out->misc & PERF_MISC_BIT14) || !build_id_take(m, c)) {
		m->major = cursor_u32(c);
		m->minor = cursor_u32(c);
		m->inode = cursor_u64(c);
		m->generation = cursor_u64(c);
	}
	m->prot = cursor_u32(c);
	m->flags = cursor_u32(c);
	m->path = name_take(c);
}

static void lost_take(struct sideband_decoder *b)
{
	b->out->lost.id = cursor_u64(&b->c);
	b->out->lost.lost = cursor_u64(&b->c);
}

static void lost_samples_take(struct sideband_decoder *b)
{
	b->out->lost.lost = cursor_u64(&b->c);
}

static void comm_take(struct sideband_decoder *b)
{
	b->out->comm.pid = cursor_u32(&b->c);
	b->out->comm.tid = cursor_u32(&b->c);
	b->out->comm.name = name_take(&b->c);
}

static void task_take(struct sideband_decoder *b)
{
	b->out->task.pid = cursor_u32(&b->c);
	b->out->task.ppid = cursor_u32(&b->c);
	b->out->task.tid = cursor_u32(&b->c);
	b->out->task.ptid = cursor_u32(&b->c);
	b->out->task.time = cursor_u64(&b->c);
}

static void throttle_take(struct sideband_decoder *b)
{
	b->out->throttle.time = cursor_u64(&b->c);
	b->out->throttle.id = cursor_u64(&b->c);
	b->out->throttle.stream_id = cursor_u64(&b->c);
}

static void read_record_take(struct sideband_decoder *b)
{
	b->out->read.pid = cursor_u32(&b->c);
	b->out->read.tid = cursor_u32(&b->c);
	if (!b->lay) {
		b->c.bad = true;
		return;
	}
	read_take(&b->out->read.read, &b->c, b->scratch, b->lay->read_format);
}

static void aux_take(struct sideband_decoder *b)
{
	b->out->aux.offset = cursor_u64(&b->c);
	b->out->aux.size = cursor_u64(&b->c);
	b->out->aux.flags = cursor_u64(&b->c);
}

static void task_id_take(struct sideband_decoder *b)
{
	b->out->task_id.pid = cursor_u32(&b->c);
	b->out->task_id.tid = cursor_u32(&b->c);
}

static void nothing_take(struct sideband_decoder *b)
{
	(void)b;
}

static void namespaces_take(struct sideband_decoder *b)
{
	uint64_t n;

	b->out->namespaces.pid = cursor_u32(&b->c);
	b->out->namespaces.tid = cursor_u32(&b->c);
	n = cursor_u64(&b->c);
	if (n > UINT16_MAX) {
		b->c.bad = true;
		return;
	}
	b->out->namespaces.n = n;
	b->out->namespaces.dev_inode = words_take(&b->c, b->scratch, n * 2);
}

static void ksymbol_take(struct sideband_decoder *b)
{
	b->out->ksymbol.addr = cursor_u64(&b->c);
	b->out->ksymbol.len = cursor_u32(&b->c);
	b->out->ksymbol.type = cursor_u16(&b->c);
	b->out->ksymbol.flags = cursor_u16(&b->c);
	b->out->ksymbol.name = name_take(&b->c);
}

static void bpf_take(struct sideband_decoder *b)
{
	const void *tag;

	b->out->bpf.type = cursor_u16(&b->c);
	b->out->bpf.flags = cursor_u16(&b->c);
	b->out->bpf.id = cursor_u32(&b->c);
	tag = cursor_bytes(&b->c, sizeof(b->out->bpf.tag));
	if (tag)
		memcpy(b->out->bpf.tag, tag, sizeof(b->out->bpf.tag));
}

static void cgroup_take(struct sideband_decoder *b)
{
	b->out->cgroup.id = cursor_u64(&b->c);
	b->out->cgroup.path = name_take(&b->c);
}

static void text_poke_take(struct sideband_decoder *b)
{
	b->out->text_poke.addr = cursor_u64(&b->c);
	b->out->text_poke.n_old = cursor_u16(&b->c);
	b->out->text_poke.n_new = cursor_u16(&b->c);
	b->out->text_poke.bytes = cursor_bytes(&b->c, (uint64_t)b->out->text_poke.n_old +
					       b->out->text_poke.n_new);
}

static void hw_id_take(struct sideband_decoder *b)
{
	b->out->hw_id.hw_id = cursor_u64(&b->c);
}

static void deferred_take(struct sideband_decoder *b)
{
	b->out->deferred.cookie = cursor_u64(&b->c);
	b->out->deferred.chain = words_take(&b->c, b->scratch, cursor_u64(&b->c));
}

static void (*const decoders[])(struct sideband_decoder *) = {
	[TACHO_RECORD_MMAP] = mmap_take,
	[TACHO_RECORD_LOST] = lost_take,
	[TACHO_RECORD_COMM] = comm_take,
	[TACHO_RECORD_EXIT] = task_take,
	[TACHO_RECORD_THROTTLE] = throttle_take,
	[TACHO_RECORD_UNTHROTTLE] = throttle_take,
	[TACHO_RECORD_FORK] = task_take,
	[TACHO_RECORD_READ] = read_record_take,
	[TACHO_RECORD_MMAP2] = mmap2_take,
	[TACHO_RECORD_AUX] = aux_take,
	[TACHO_RECORD_ITRACE_START] = task_id_take,
	[TACHO_RECORD_LOST_SAMPLES] = lost_samples_take,
	[TACHO_RECORD_SWITCH] = nothing_take,
	[TACHO_RECORD_SWITCH_CPU_WIDE] = task_id_take,
	[TACHO_RECORD_NAMESPACES] = namespaces_take,
	[TACHO_RECORD_KSYMBOL] = ksymbol_take,
	[TACHO_RECORD_BPF_EVENT] = bpf_take,
	[TACHO_RECORD_CGROUP] = cgroup_take,
	[TACHO_RECORD_TEXT_POKE] = text_poke_take,
	[TACHO_RECORD_AUX_OUTPUT_HW_ID] = hw_id_take,
	[TACHO_RECORD_CALLCHAIN_DEFERRED] = deferred_take,
};

static int decode(struct tacho_sideband *out, const struct tacho_record *rec, const struct tacho_layout *lay,
		  struct tacho_scratch *scratch)
{
	struct sideband_decoder b = { .out = out, .c = record_body(rec, rec->swapped), .scratch = scratch,
			  .lay = lay };

	memset(out, 0, sizeof(*out));
	out->type = rec->type;
	out->misc = rec->misc;
	if (rec->type >= countof(decoders) || !decoders[rec->type])
		return -EOPNOTSUPP;

	scratch->used = 0;
	if (lay && lay->sample_id_all)
		trailer_take(&out->id, &b.c, lay);
	decoders[rec->type](&b);
	if (!b.c.bad)
		return 0;
	memset(out, 0, sizeof(*out));
	return -EBADMSG;
}

int tacho_sideband_decode_sized(struct tacho_sideband *out, size_t size, const struct tacho_record *rec,
				const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	struct tacho_sideband all;
	int err;

	if (size == sizeof(*out))
		return decode(out, rec, lay, scratch);
	/* A program that was built with fewer or more members in its struct. */
	err = decode(&all, rec, lay, scratch);
	memset(out, 0, size);
	memcpy(out, &all, min_of(size, sizeof(all)));
	return err;
}
