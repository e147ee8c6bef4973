/*
 * --call-graph and -k: the call chain of each system call. perf's tracepoint of a call's start samples it, with a copy of
 * the stack that is unwound here; the chain is stored with the thread until the call's line has been printed. Addresses
 * become code locations at once, because the mappings may be others when the call returns.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"

#define MAX_FRAMES 127
#define CONTEXT_FIRST ((uint64_t)-4095)		/* larger values are markers: what follows is in the kernel or in user space */
#define CONTEXT_KERNEL ((uint64_t)-128)
#define STACK_BYTES 16384u

static const struct { const char *name; enum tacho_chain chain; } modes[] = {
	{ "auto", TACHO_CHAIN_AUTO }, { "fp", TACHO_CHAIN_FP }, { "dwarf", TACHO_CHAIN_DWARF }, { "lbr", TACHO_CHAIN_LBR },
};

/* "dwarf,4096" */
int trace_chain_mode(const char *text, enum tacho_chain *chain, uint32_t *stack_bytes)
{
	struct str rest = str_of(text), mode, size;
	uint32_t bytes;

	str_cut(&rest, ',', &mode);
	*stack_bytes = 0;
	for (size_t i = 0; i < countof(modes); i++) {
		if (!str_is(mode, modes[i].name))
			continue;
		*chain = modes[i].chain;
		if (!str_cut(&rest, ',', &size))
			return 0;
		if (*chain != TACHO_CHAIN_DWARF || num_u32(size, &bytes) < 0 || !bytes || bytes > 65528)
			return -EINVAL;
		*stack_bytes = (bytes + 7) & ~7u;
		return 0;
	}
	return -EINVAL;
}

int trace_chains_plan(const struct trace *t, struct tacho_sampler_opts *opts)
{
	int err = trace_chain_mode(t->o->call_graph, &opts->chain, &opts->stack_bytes);

	if (!opts->stack_bytes && (opts->chain == TACHO_CHAIN_AUTO || opts->chain == TACHO_CHAIN_DWARF))
		opts->stack_bytes = STACK_BYTES;
	opts->chain_no_kernel = !t->o->kernel_chains;
	opts->unwound_here = true;
	if (!opts->ring_pages)
		opts->ring_pages = 4096;
	return err;
}

int trace_chains_open(struct trace *t, struct tacho_error *e)
{
	struct tacho_symbols_opts opts = { .size = sizeof(opts), .live = true };
	int err = tacho_symbols_new(&t->symbols, &opts, e);

	return err < 0 ? err : tacho_unwinder_new(&t->unwinder, t->symbols, 0, e);
}

void trace_chains_close(struct trace *t)
{
	tacho_unwinder_free(t->unwinder);
	tacho_symbols_free(t->symbols);
	t->unwinder = NULL;
	t->symbols = NULL;
}

void trace_chain_feed(struct trace *t, const struct tacho_sideband *s)
{
	if (t->symbols)
		tacho_symbols_feed(t->symbols, s);
}

static int store_frame(struct trace *t, struct trace_thread *th, enum tacho_space space, uint64_t ip)
{
	struct trace_frame *f = vec_add(&th->chain);

	if (!f)
		return -ENOMEM;
	f->ip = ip;
	f->space = space;
	return tacho_symbols_spots(t->symbols, (uint32_t)th->pid, space, &ip, 1, &f->spot);
}

int trace_chain_store(struct trace *t, struct trace_thread *th, const struct tacho_sample *s)
{
	enum tacho_space space = TACHO_SPACE_USER;
	struct tacho_words chain = s->chain;
	int err = tacho_unwinder_unwind(t->unwinder, s, &chain);

	th->chain.n = 0;
	for (size_t i = 0; err >= 0 && i < chain.n && th->chain.n < MAX_FRAMES; i++) {
		if (chain.v[i] >= CONTEXT_FIRST)
			space = chain.v[i] == CONTEXT_KERNEL ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER;
		else
			err = store_frame(t, th, space, chain.v[i]);
	}
	return min_of(err, 0);
}

static bool is_chain_shown(const struct trace *t, const struct trace_thread *th)
{
	return th->chain.n && th->chain.n >= t->o->min_stack;
}

static size_t shown_frames(const struct trace *t, const struct trace_thread *th)
{
	return t->o->max_stack ? min_of(th->chain.n, (size_t)t->o->max_stack) : th->chain.n;
}

struct chain_frame_text {
	const char *symbol, *object;
	uint64_t offset, address;	/* in the symbol, in the object */
};

static struct chain_frame_text describe(struct trace *t, const struct trace_frame *f)
{
	struct chain_frame_text out = { .address = f->ip };
	struct tacho_object_info info = { .size = sizeof(info) };
	struct tacho_frame frame;

	if (!f->spot.object || tacho_symbols_resolve_spot(t->symbols, f->space, &f->spot, &frame) < 0)
		return out;
	if (frame.symbol)
		out.symbol = tacho_symbols_name(t->symbols, frame.symbol);
	out.offset = frame.symbol_offset;
	out.address = frame.object_address;
	if (frame.object && tacho_symbols_object(t->symbols, frame.object, &info) == 0)
		out.object = info.path;
	return out;
}

/* As perf: "                                       __write (/usr/lib/x86_64-linux-gnu/libc.so.6)" */
void trace_print_chain_perf(struct trace *t, struct trace_thread *th)
{
	for (size_t i = 0; is_chain_shown(t, th) && i < shown_frames(t, th); i++) {
		struct chain_frame_text f = describe(t, &th->chain.v[i]);

		buf_putc(&t->out, '\n');
		buf_pad(&t->out, ' ', 39);
		if (f.symbol)
			buf_text(&t->out, str_of(f.symbol));
		else
			buf_printf(&t->out, "[%#llx]", (unsigned long long)f.address);
		buf_puts(&t->out, " (");
		buf_text(&t->out, str_of(f.object ? f.object : "[unknown]"));
		buf_putc(&t->out, ')');
	}
}

/* As strace -k: " > /usr/lib/x86_64-linux-gnu/libc.so.6(__write+0x14) [0xf7c30]" */
void trace_print_chain_strace(struct trace *t, struct trace_thread *th)
{
	for (size_t i = 0; is_chain_shown(t, th) && i < shown_frames(t, th); i++) {
		struct chain_frame_text f = describe(t, &th->chain.v[i]);

		buf_puts(&t->out, "\n > ");
		buf_text(&t->out, str_of(f.object ? f.object : "[unknown]"));
		buf_putc(&t->out, '(');
		if (f.symbol) {
			buf_text(&t->out, str_of(f.symbol));
			buf_printf(&t->out, "+%#llx", (unsigned long long)f.offset);
		}
		buf_printf(&t->out, ") [%#llx]", (unsigned long long)f.address);
	}
}

/* "stack": [{"symbol": ..., "offset": ..., "object": ..., "address": ...}] */
void trace_print_chain_json(struct trace *t, struct trace_thread *th, struct json *j)
{
	if (!is_chain_shown(t, th))
		return;
	json_key(j, "stack");
	json_begin(j, '[');
	for (size_t i = 0; i < shown_frames(t, th); i++) {
		struct chain_frame_text f = describe(t, &th->chain.v[i]);

		json_begin(j, '{');
		json_member(j, "symbol", str, f.symbol);
		json_member(j, "offset", u64, f.offset);
		json_member(j, "object", str, f.object);
		json_member(j, "address", u64, f.address);
		json_end(j);
	}
	json_end(j);
}
