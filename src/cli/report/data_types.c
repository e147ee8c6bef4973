#include "cli/report/data_types.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "cli/annotate/disasm.h"
#include "cli/core/app.h"

#include <tacho/datatype.h>

#define INSN_BYTES_MAX 16u

static struct {
	struct tacho_data_types *types;
	bool no_disassembler, no_debug_library;
} state;

static int find_in_debug_data(struct tacho_symbols *s, const struct tacho_frame *f, const struct insn_operand *op,
			      struct tacho_data_type *out)
{
	const struct tacho_memory_operand operand = {
		.size = sizeof(operand), .base = op->base[0] ? op->base : NULL, .index = op->index[0] ? op->index : NULL,
		.offset = op->offset, .is_static = op->is_static, .address = op->address,
	};
	int found = state.types ? 0 : tacho_data_types_new(&state.types);

	if (found == 0)
		found = tacho_data_types_find(state.types, s, f, &operand, out);
	state.no_debug_library |= found == -EOPNOTSUPP;
	return found == -EOPNOTSUPP ? 0 : found;
}

/* What the instruction at the frame's address accesses. */
static int find_access(struct tacho_symbols *s, const struct tacho_frame *f, struct tacho_data_type *out)
{
	struct tacho_code_view code = { .size = sizeof(code) };
	struct insn_operand operand;

	if (tacho_symbols_code(s, f, INSN_BYTES_MAX, &code) < 0)
		return 0;
	if (disasm_operand(&code, &operand) < 0) {
		state.no_disassembler = true;
		return 0;
	}
	if (operand.access == ACCESS_STACK) {
		out->name = "(stack operation)";
		return 1;
	}
	return operand.access == ACCESS_MEMORY ? find_in_debug_data(s, f, &operand, out) : 0;
}

/* ---- the instruction before ---- */

#define FUNCTION_BYTES_MAX (64u << 10)
#define FUSED_MAX 8u

struct previous_search {
	uint64_t address;		/* of the instruction after it */
	uint64_t previous;		/* 0: not found yet */
	bool may_fuse;
};

/* CPUs execute some pairs of instructions as one, whose samples have the address of the second. */
static bool may_fuse(const char *text)
{
	static const char *const first[] = { "cmp", "test", "add", "sub", "and", "inc", "dec", "or", "xor" };

	for (size_t i = 0; i < countof(first); i++)
		if (strncmp(text, first[i], strlen(first[i])) == 0 && !str_starts(str_of(text), "cmpxchg"))
			return true;
	return false;
}

static int look_at(void *arg, const struct disasm_insn *in)
{
	struct previous_search *p = arg;

	if (in->address < p->address) {
		p->previous = in->address;
		p->may_fuse = may_fuse(in->text);
		return 0;
	}
	p->may_fuse = p->may_fuse && in->address == p->address && strncmp(in->text, "jmp", 3) != 0;
	return -ECANCELED;
}

/* Sets *out to the frame of the instruction before, if both may have been executed as one. */
static bool find_previous(struct tacho_symbols *s, const struct tacho_frame *f, struct tacho_frame *out)
{
	struct tacho_code_view code = { .size = sizeof(code) };
	struct previous_search p = { .address = f->object_address };
	const struct disasm_opts opts = { 0 };
	uint64_t start, length;

	*out = *f;
	if (tacho_symbols_range(s, f, &start, &length) < 0 || f->object_address - start > FUNCTION_BYTES_MAX)
		return false;
	out->object_address = start;
	if (tacho_symbols_code(s, out, f->object_address - start + INSN_BYTES_MAX, &code) < 0)
		return false;
	disasm_capstone(&code, &opts, true, look_at, &p);
	out->object_address = p.previous;
	return p.previous && p.may_fuse;
}

static int find_data_type(void *arg, struct tacho_symbols *s, const struct tacho_frame *f, struct tacho_data_type *out)
{
	struct tacho_frame at = *f, previous;
	int found = find_access(s, f, out);

	(void)arg;
	for (unsigned i = 0; i < FUSED_MAX && !found && find_previous(s, &at, &previous); i++) {
		at = previous;
		found = find_access(s, &at, out);
	}
	return found;
}

void data_types_use(struct tacho_profile_opts *opts)
{
	if (!(opts->keep & TACHO_KEEP_DATA_TYPE))
		return;
	opts->data_type = find_data_type;
}

void data_types_finish(const char *command)
{
	tacho_data_types_free(take(state.types));
	if (state.no_disassembler)
		message_text(command, "data types are unknown: instructions are decoded by libcapstone, which cannot be loaded, "
			     "and only those of x86-64 and arm64");
	else if (state.no_debug_library)
		message_text(command, "data types are unknown: debug data is read by libdw, which cannot be loaded");
}
