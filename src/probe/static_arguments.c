/*
 * Operands of static probes. Each is SIZE@OPERAND, where SIZE is the number of bytes, negative if it is signed, with "f" for
 * floating point, and OPERAND is in assembler:
 *
 *	x86	-4@%eax  8@-16(%rbp)  4@$5  8@(%rdi)  8@counter(%rip)  4@8(%rdi,%rsi,4)
 *	arm64	8@x0  4@[sp, 20]  -4@[x1]  8@5
 *
 * The kernel reads registers, memory at an offset from a register, and constants. Memory relative to the program counter or
 * with an index register cannot be read by a probe.
 */
#include "probe/site.h"

#include <errno.h>
#include <inttypes.h>

#include "base/num.h"

struct operand {
	int size;			/* bytes, negative: signed; 0: not given */
	struct str text;
};

static const char *type_of(int size)
{
	switch (size) {
	case 1: return "u8";
	case 2: return "u16";
	case 4: return "u32";
	case 8: return "u64";
	case -1: return "s8";
	case -2: return "s16";
	case -4: return "s32";
	case -8: return "s64";
	default: return NULL;
	}
}

static bool put_memory(uint16_t machine, int64_t offset, struct str base, struct buf *out)
{
	unsigned bits;
	const char *reg = probe_register_alias(machine, base, &bits);

	if (!reg)
		return false;
	buf_printf(out, "%+" PRId64 "(%%%s)", offset, reg);
	return true;
}

/* "[sp, 20]" */
static bool put_bracketed(uint16_t machine, struct str text, struct buf *out)
{
	struct str base, rest = str_n(text.s + 1, text.n - 2);
	int64_t offset = 0;

	if (!str_cut(&rest, ',', &base))
		return false;
	rest = str_trim(rest);
	if (rest.n && rest.s[0] == '#')
		rest = str_n(rest.s + 1, rest.n - 1);
	if (rest.n && num_i64(rest, &offset) < 0)
		return false;
	return put_memory(machine, offset, str_trim(base), out);
}

/* "-16(%rbp)" */
static bool put_parenthesized(uint16_t machine, struct str text, size_t open, struct buf *out)
{
	struct str base = str_n(text.s + open + 1, text.n - open - 2);
	int64_t offset = 0;

	if (open && num_i64(str_n(text.s, open), &offset) < 0)
		return false;
	return put_memory(machine, offset, base, out);
}

static bool put_constant(struct str text, struct buf *out)
{
	int64_t value;

	if (text.n && text.s[0] == '$')
		text = str_n(text.s + 1, text.n - 1);
	if (num_i64(text, &value) < 0)
		return false;
	buf_printf(out, "\\%" PRId64, value);
	return true;
}

static bool put_operand(uint16_t machine, struct str text, struct buf *out)
{
	ptrdiff_t open = str_find(text, '(');
	const char *reg;
	unsigned bits;

	if (!text.n)
		return false;
	if (text.n > 2 && text.s[0] == '[' && text.s[text.n - 1] == ']')
		return put_bracketed(machine, text, out);
	if (open >= 0 && text.s[text.n - 1] == ')')
		return put_parenthesized(machine, text, (size_t)open, out);
	reg = probe_register_alias(machine, text, &bits);
	if (!reg)
		return put_constant(text, out);
	buf_printf(out, "%%%s", reg);
	return true;
}

/* Blanks within brackets belong to an operand of arm64. */
static bool next_operand(struct str *rest, struct operand *out)
{
	size_t end = 0, start;
	ptrdiff_t at;
	bool inside = false;

	*rest = str_trim(*rest);
	if (!rest->n)
		return false;
	for (; end < rest->n && (inside || rest->s[end] != ' '); end++)
		inside = rest->s[end] == '[' || (inside && rest->s[end] != ']');
	*out = (struct operand){ .text = str_n(rest->s, end) };
	*rest = str_n(rest->s + end, rest->n - end);
	at = str_find(out->text, '@');
	if (at < 0)
		return true;
	start = (size_t)at + 1;
	if (num_int(str_n(out->text.s, (size_t)at), &out->size) < 0)
		out->size = 99;		/* floating point: probes have no such type */
	out->text = str_n(out->text.s + start, out->text.n - start);
	return true;
}

int probe_static_arguments(uint16_t machine, const char *args, struct buf *out)
{
	struct str rest = str_of(args);
	struct operand op;

	for (unsigned number = 1; number <= REQUEST_ARGS_MAX && next_operand(&rest, &op); number++) {
		const char *type = type_of(op.size);
		size_t before = out->n;

		if (op.size && !type)
			continue;
		buf_printf(out, "%sarg%u=", out->n ? " " : "", number);
		if (!put_operand(machine, op.text, out)) {
			out->n = before;
			continue;
		}
		if (type)
			buf_printf(out, ":%s", type);
	}
	return buf_failed(out) ? -ENOMEM : 0;
}
