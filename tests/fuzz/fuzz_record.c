/*
 * Records from a stranger. The input begins with the layout, then come records:
 *
 *	0  flags: 1 the other byte order, 2 an odd address, 4 trailers
 *	1  read_format
 *	2  sample_type, four bytes	6  branch_type bits 16-23, and one byte of nothing
 *	8  regs_user, eight bytes	16  regs_intr, eight bytes
 *	24 records
 *
 * Every byte of every view is read, so that a view that leaves its record is seen; then the record
 * is shown in both ways.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/record.h>

enum { HEAD = 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;
static struct tacho_scratch scratch;

static void touch(const void *p, uint64_t n)
{
	const uint8_t *bytes = p;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += bytes[i];
	sink = sum;
}

static void touch_words(struct tacho_words w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w.n; i++)
		sum += w.v[i];
	sink = sum;
}

static void touch_read(const struct tacho_read *r)
{
	touch_words(r->words);
	for (size_t i = 0; i < r->n; i++)
		sink = tacho_read_get(r, i).value;
}

static void touch_sample(const struct tacho_sample *s)
{
	touch_read(&s->read);
	touch_words(s->chain);
	touch(s->raw, s->n_raw);
	for (size_t i = 0; i < s->n_branches; i++)
		sink = s->branches[i].from + s->branches[i].flags;
	touch_words(s->branch_counters);
	touch_words(s->regs_user.values);
	touch_words(s->regs_intr.values);
	touch(s->stack, s->n_stack);
	touch(s->stack, s->n_stack_used);
	touch(s->aux, s->n_aux);
}

static void touch_other(const struct tacho_sideband *o)
{
	switch (o->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
		touch(o->mmap.path, strlen(o->mmap.path));
		touch(o->mmap.build_id, o->mmap.n_build_id);
		break;
	case TACHO_RECORD_COMM:
		touch(o->comm.name, strlen(o->comm.name));
		break;
	case TACHO_RECORD_READ:
		touch_read(&o->read.read);
		break;
	case TACHO_RECORD_NAMESPACES:
		touch_words(o->namespaces.dev_inode);
		break;
	case TACHO_RECORD_KSYMBOL:
		touch(o->ksymbol.name, strlen(o->ksymbol.name));
		break;
	case TACHO_RECORD_CGROUP:
		touch(o->cgroup.path, strlen(o->cgroup.path));
		break;
	case TACHO_RECORD_TEXT_POKE:
		touch(o->text_poke.bytes, (uint64_t)o->text_poke.n_old + o->text_poke.n_new);
		break;
	case TACHO_RECORD_CALLCHAIN_DEFERRED:
		touch_words(o->deferred.chain);
		break;
	}
}

/* What a sample leaves behind is not seen in the next one. */
static void try_sample(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	static struct tacho_sample again;
	struct tacho_sample s;
	int err = tacho_sample_decode(&s, rec, lay, &scratch);

	if (err == 0)
		touch_sample(&s);
	if (tacho_sample_decode_again(&again, rec, lay, &scratch) != err ||
	    memcmp(&again, &s, sizeof(s)) != 0)
		abort();
}

static void try_record(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	struct tacho_sideband o;

	try_sample(rec, lay);
	if (tacho_sideband_decode(&o, rec, lay, &scratch) == 0)
		touch_other(&o);
	sink = tacho_record_id(rec, lay) + tacho_record_time(rec, lay);
	free(tacho_record_text(rec, lay));
	free(tacho_record_json(rec, lay));
	free(tacho_record_text(rec, NULL));
}

static struct tacho_layout layout_of(const uint8_t *head)
{
	struct tacho_layout lay = { .read_format = head[1], .period = 1, .machine = 62,
				    .sample_id_all = head[0] & 4 };
	uint32_t sample_type;

	memcpy(&sample_type, head + 2, sizeof(sample_type));
	lay.sample_type = sample_type;
	lay.branch_type = (uint64_t)head[6] << 16;
	memcpy(&lay.regs_user, head + 8, 8);
	memcpy(&lay.regs_intr, head + 16, 8);
	return lay;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_record_iter it;
	struct tacho_record rec;
	struct tacho_layout lay;
	uint8_t *block;
	size_t odd;

	if (size < HEAD)
		return 0;
	lay = layout_of(data);
	odd = data[0] & 2 ? 1 : 0;
	block = malloc(size - HEAD + odd);
	if (!block && size - HEAD + odd)
		return 0;
	if (size > HEAD)
		memcpy(block + odd, data + HEAD, size - HEAD);
	it = (struct tacho_record_iter){ block + odd, block + odd + (size - HEAD), 0, data[0] & 1 };
	while (tacho_record_next(&it, &rec) > 0)
		try_record(&rec, &lay);
	free(block);
	return 0;
}
