/*
 * Decoded instructions are cached, because the hot addresses of a recording occur again and again. When an address is
 * not in the cache, the code that follows it is decoded as well: it is likely to be asked for next.
 */
#include "cli/script/insn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/annotate/disasm.h"
#include "cli/annotate/source_file.h"

#define CACHE_SLOTS 16384u		/* a power of two */
#define WINDOW_BYTES 512u		/* of code that is decoded at once */

void script_insns_done(struct script_insns *s)
{
	vec_done(&s->cache);
	if (s->sources)
		source_files_done(s->sources);
	free(s->sources);
}

static struct script_insn *slot_of(struct script_insns *s, uint32_t object, uint64_t address)
{
	return &s->cache.v[((address ^ object) * 0x9e3779b97f4a7c15ULL >> 32) & (CACHE_SLOTS - 1)];
}

/* Whether the instruction never continues with the next one. Of the names of x86 and Arm, only jumps with a condition
 * are longer than these. */
static bool leaves(const struct disasm_insn *in)
{
	static const char *const names[] = { "jmp", "jmpq", "ljmp", "b", "br", "syscall", "sysenter", "int", "int3" };
	struct str name = str_n(in->text, strcspn(in->text, " "));

	for (size_t i = 0; i < countof(names); i++)
		if (str_is(name, names[i]))
			return true;
	return in->flow == FLOW_CALL || in->flow == FLOW_RETURN;
}

struct decoding {
	struct script_insns *insns;
	const struct tacho_code_view *code;
	uint32_t object;
};

static int store_insn(void *arg, const struct disasm_insn *in)
{
	const struct decoding *d = arg;
	struct script_insn *slot = slot_of(d->insns, d->object, in->address);

	/* The instruction that was asked for is the first one; a later one must not replace it. */
	if (in->n_bytes > MAX_INSN_BYTES || (in->address != d->code->start && slot == slot_of(d->insns, d->object, d->code->start)))
		return -ECANCELED;
	*slot = (struct script_insn){ .address = in->address, .object = d->object, .n = (uint8_t)in->n_bytes,
				      .readable = true, .leaves = leaves(in) };
	memcpy(slot->bytes, d->code->bytes + (in->address - d->code->start), in->n_bytes);
	snprintf(slot->text, sizeof(slot->text), "%s", in->text);
	return 0;
}

static void decode(struct script_insns *s, const struct tacho_frame *frame, struct script_insn *slot)
{
	struct tacho_code_view view = { .size = sizeof(view) };
	const struct disasm_opts opts = { 0 };
	struct decoding d = { s, &view, frame->object };

	*slot = (struct script_insn){ .address = frame->object_address, .object = frame->object };
	if (tacho_symbols_code(s->symbols, frame, WINDOW_BYTES, &view) < 0)
		return;
	slot->readable = true;
	s->no_library |= disasm_capstone(&view, &opts, false, store_insn, &d) == -EOPNOTSUPP;
}

const struct script_insn *script_insn_at(struct script_insns *s, const struct tacho_frame *frame)
{
	struct script_insn *slot;

	if (!frame->object || s->no_library)
		return NULL;
	if (!s->cache.v) {
		s->cache.v = calloc(CACHE_SLOTS, sizeof(*s->cache.v));
		if (!s->cache.v)
			return NULL;
		s->cache.n = s->cache.cap = CACHE_SLOTS;
	}
	slot = slot_of(s, frame->object, frame->object_address);
	if (slot->object != frame->object || slot->address != frame->object_address)
		decode(s, frame, slot);
	return slot->readable && !s->no_library ? slot : NULL;
}

void script_source_put(struct script_insns *s, const struct tacho_frame *frame, struct buf *out)
{
	const struct source_file *source;
	const char *file, *text;
	uint32_t line;

	if (!s->sources && !(s->sources = calloc(1, sizeof(*s->sources))))
		return;
	if (tacho_symbols_srcline(s->symbols, frame, &file, &line) <= 0 || !file ||
	    (file == s->last_file && line == s->last_line))
		return;
	s->last_file = file;
	s->last_line = line;
	source = source_file_get(s->sources, file);
	text = source ? source_line(source, line) : NULL;
	if (text)
		buf_printf(out, "\n|%-8u %s", line, text);
}

void script_insn_bytes(const struct script_insn *insn, struct buf *out)
{
	for (size_t i = 0; i < insn->n; i++)
		buf_printf(out, " %02x", insn->bytes[i]);
}

void script_insn_put(struct script_insns *s, const struct tacho_frame *frame, struct buf *out)
{
	bool decodes = s->fields & (CODE_BYTES | CODE_LENGTH | CODE_TEXT);
	const struct script_insn *insn = decodes ? script_insn_at(s, frame) : NULL;

	if (s->fields & CODE_LENGTH)
		buf_printf(out, " ilen: %u", insn ? insn->n : 0);
	if (!insn || !insn->n)
		return;
	if (s->fields & CODE_BYTES) {
		buf_puts(out, " insn:");
		script_insn_bytes(insn, out);
	}
	if (s->fields & CODE_TEXT) {
		buf_puts(out, "\t\t");
		buf_text(out, str_of(insn->text));
	}
}
