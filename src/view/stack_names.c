/*
 * See stack_names.h.
 */
#include "view/stack_names.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

#define MAX_RECORD_BYTES (256u << 20)

static bool describes_code(uint32_t type)
{
	return type == TACHO_RECORD_MMAP || type == TACHO_RECORD_MMAP2 || type == TACHO_RECORD_COMM || type == TACHO_RECORD_FORK ||
	       type == TACHO_RECORD_EXIT || type == TACHO_RECORD_KSYMBOL;
}

#define KERNEL_PID UINT32_MAX		/* of the kernel's mappings */

static bool is_of_kernel(const struct tacho_sideband *s)
{
	return s->type == TACHO_RECORD_KSYMBOL ||
	       ((s->type == TACHO_RECORD_MMAP || s->type == TACHO_RECORD_MMAP2) && s->mmap.pid == KERNEL_PID);
}

int stack_names_feed(struct stack_names *n, const struct tacho_record *rec, const struct tacho_sideband *s)
{
	if (!n->records)
		return tacho_symbols_feed(n->symbols, s);
	if (describes_code(rec->type) && n->records->n < MAX_RECORD_BYTES)
		buf_put(n->records, rec->bytes, rec->size);
	if (buf_failed(n->records))
		return -ENOMEM;
	return is_of_kernel(s) ? tacho_symbols_feed(n->symbols, s) : 0;
}

/* A tacho_bytes_fn */
static int feed_records(void *arg, const void *bytes, size_t size)
{
	struct stack_names *n = arg;
	struct tacho_record_iter it = { .at = bytes, .end = (const uint8_t *)bytes + size };
	struct tacho_record rec;
	struct tacho_sideband s;
	int err = 0;

	while (err == 0 && tacho_record_next(&it, &rec) > 0) {
		n->scratch->used = 0;
		if (rec.type != TACHO_RECORD_SAMPLE && tacho_sideband_decode(&s, &rec, &n->layout, n->scratch) == 0)
			err = stack_names_feed(n, &rec, &s);
	}
	return err;
}

static int open_own(struct stack_names *n, struct tacho *t, struct tacho_error *e)
{
	struct tacho_sampler_opts o = { .size = sizeof(o), .period = 1, .use_clockid = true, .clockid = CLOCK_MONOTONIC,
		.no_bpf = true, .no_build_ids = true, .no_samples = true,
		.target = TACHO_OPTS(tacho_evset_opts, .all_cpus = true) };
	int err = tacho_sampler_new(&n->own, t);

	if (err == 0)
		err = tacho_sampler_add(n->own, "dummy", e);
	if (err >= 0)
		err = tacho_sampler_open(n->own, &o, e);
	return min_of(err, 0);
}

int stack_names_init(struct stack_names *n, struct tacho *t, struct tacho_sampler *sampler, bool with_processes,
		     struct buf *records, struct tacho_error *e)
{
	struct tacho_symbols_opts o = { .size = sizeof(o), .live = true };
	unsigned what = TACHO_SYNTH_KERNEL | (with_processes ? TACHO_SYNTH_TASK | TACHO_SYNTH_MMAP : 0);
	uint64_t attr[32] = { 0 };
	int err;

	*n = (struct stack_names){ .scratch = calloc(1, sizeof(*n->scratch)), .records = records };
	err = n->scratch ? tacho_symbols_new(&n->symbols, &o, e) : error_nomem(e);
	if (err == 0 && !sampler)
		err = open_own(n, t, e);
	if (err < 0)
		return err;
	if (!sampler)
		sampler = n->own;
	err = tacho_sampler_attr(sampler, tacho_sampler_size(sampler) - 1, attr, sizeof(attr), NULL);
	if (err == 0)
		err = tacho_layout_init(&n->layout, attr, sizeof(attr));
	return err < 0 ? err : tacho_sampler_synthesize(sampler, what, feed_records, n, e);
}

void stack_names_done(struct stack_names *n)
{
	tacho_symbols_free(n->symbols);
	tacho_sampler_free(n->own);
	free(n->scratch);
	arena_done(&n->texts);
	map_done(&n->interned);
}

int stack_names_update(struct stack_names *n)
{
	int64_t got = n->own ? tacho_sampler_look(n->own) : 0;

	if (n->own && got >= 0)
		got = tacho_sampler_drain(n->own, feed_records, n);
	return got < 0 ? (int)got : 0;
}

static const char *intern(struct stack_names *n, const struct buf *text)
{
	const uint64_t *known = map_get(&n->interned, buf_view(text));
	char *copy;

	if (known)
		return (const char *)(uintptr_t)*known;
	copy = arena_text(&n->texts, buf_view(text));
	if (!copy || map_put(&n->interned, str_n(copy, text->n), (uintptr_t)copy) < 0)
		return NULL;
	return copy;
}

/* A function without a name is shown by its place in the object: "libfoo.so+0x1234". */
const char *stack_names_get(struct stack_names *n, uint32_t pid, bool is_kernel, uint64_t ip, bool is_caller)
{
	scoped(buf_done) struct buf text = { 0 };
	struct tacho_object_info object = { .size = sizeof(object) };
	struct tacho_frame f;
	int found = tacho_symbols_resolve(n->symbols, pid, is_kernel ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER, ip - is_caller, &f);

	if (found < 0)
		return NULL;
	if (found)
		buf_puts(&text, tacho_symbols_name(n->symbols, f.symbol));
	else if (f.object && tacho_symbols_object(n->symbols, f.object, &object) == 0)
		buf_printf(&text, "%s+%#llx", object.short_name, (unsigned long long)f.object_address);
	else
		buf_puts(&text, "[unknown]");
	return buf_failed(&text) ? NULL : intern(n, &text);
}
