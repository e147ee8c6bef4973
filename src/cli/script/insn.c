/*
 * An instruction is found by disassembling its function from the start. The hot addresses of a recording occur again and
 * again, so instructions are cached in a table in which a new one replaces the one in its slot.
 */
#include "cli/script/insn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/annotate/disasm.h"
#include "cli/annotate/source_file.h"

#define MAX_INSN_BYTES 16u
#define MAX_OBJECTS 4096u
#define CACHE_SLOTS 4096u		/* a power of two */

struct object_code {
	uint32_t object;
	struct tacho_code *code;	/* NULL: it cannot be read */
};

struct decoded_insn {
	uint64_t address;
	uint32_t object;		/* 0: the slot is free */
	uint8_t n, bytes[MAX_INSN_BYTES];
	char text[96];
};

void script_insns_done(struct script_insns *s)
{
	for (size_t i = 0; i < s->objects.n; i++)
		tacho_code_free(s->objects.v[i].code);
	vec_done(&s->objects);
	vec_done(&s->cache);
	if (s->sources)
		source_files_done(s->sources);
	free(s->sources);
}

/* The code of the object's function at the address; NULL: it cannot be read. */
static struct tacho_code *code_at(struct script_insns *s, uint32_t object, uint64_t address)
{
	struct tacho_object_info info = { .size = sizeof(info) };
	struct object_code *c = NULL;
	struct tacho_object_id id;

	for (size_t i = 0; i < s->objects.n && !c; i++)
		c = s->objects.v[i].object == object ? &s->objects.v[i] : NULL;
	if (c)
		return c->code && tacho_code_move(c->code, address) == 0 ? c->code : NULL;
	if (s->objects.n >= MAX_OBJECTS || tacho_symbols_object(s->symbols, object, &info) < 0)
		return NULL;
	c = vec_add(&s->objects);
	if (!c)
		return NULL;
	*c = (struct object_code){ .object = object };
	id = (struct tacho_object_id){ info.path, info.build_id, info.n_build_id };
	if (tacho_code_new(&c->code, s->opts, &id, address, NULL) < 0)
		c->code = NULL;
	return c->code;
}

struct search {
	struct decoded_insn *insn;
	bool found;
	uint64_t end;
};

static int look(void *arg, const struct disasm_insn *in)
{
	struct search *f = arg;

	if (f->found) {
		f->end = in->address;
		return -ECANCELED;
	}
	if (in->address == f->insn->address) {
		f->found = true;
		snprintf(f->insn->text, sizeof(f->insn->text), "%s", in->text);
	}
	return in->address > f->insn->address ? -ENOENT : 0;
}

static void decode(struct script_insns *s, struct decoded_insn *insn)
{
	struct tacho_code *code = code_at(s, insn->object, insn->address);
	struct tacho_code_view view = { .size = sizeof(view) };
	const struct disasm_opts opts = { 0 };
	struct search f = { .insn = insn };

	if (!code)
		return;
	tacho_code_get(code, &view);
	f.end = view.start + view.n_bytes;
	s->no_library |= disasm_capstone(&view, &opts, false, look, &f) == -EOPNOTSUPP;
	if (!f.found || f.end - insn->address > MAX_INSN_BYTES)
		return;
	insn->n = (uint8_t)(f.end - insn->address);
	memcpy(insn->bytes, view.bytes + (insn->address - view.start), insn->n);
}

static const struct decoded_insn *insn_at(struct script_insns *s, uint32_t object, uint64_t address)
{
	struct decoded_insn *insn;

	if (!s->cache.v) {
		s->cache.v = calloc(CACHE_SLOTS, sizeof(*s->cache.v));
		if (!s->cache.v)
			return NULL;
		s->cache.n = s->cache.cap = CACHE_SLOTS;
	}
	insn = &s->cache.v[((address ^ object) * 0x9e3779b97f4a7c15ULL >> 32) & (CACHE_SLOTS - 1)];
	if (insn->object != object || insn->address != address) {
		*insn = (struct decoded_insn){ .address = address, .object = object };
		decode(s, insn);
	}
	return insn;
}

/* Appends the text of the source line, unless it is the one that was printed last. */
static void put_source(struct script_insns *s, const struct tacho_frame *frame, struct buf *out)
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

void script_insn_put(struct script_insns *s, const struct tacho_frame *frame, struct buf *out)
{
	bool decodes = s->fields & (INSN_BYTES | INSN_LENGTH | INSN_TEXT);
	const struct decoded_insn *insn = frame->object && decodes ? insn_at(s, frame->object, frame->object_address) : NULL;

	if (insn && (s->fields & INSN_LENGTH))
		buf_printf(out, " ilen: %u", insn->n);
	if (insn && insn->n && (s->fields & INSN_BYTES)) {
		buf_puts(out, " insn:");
		for (size_t i = 0; i < insn->n; i++)
			buf_printf(out, " %02x", insn->bytes[i]);
	}
	if (insn && insn->n && (s->fields & INSN_TEXT)) {
		buf_puts(out, "\t\t");
		buf_text(out, str_of(insn->text));
	}
	if (frame->object && (s->fields & INSN_SOURCE))
		put_source(s, frame, out);
}
