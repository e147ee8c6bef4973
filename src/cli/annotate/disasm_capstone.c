/*
 * Disassembles with libcapstone, in objdump's syntax. The library is loaded when the first function is
 * annotated, and stays loaded.
 */
#include "cli/annotate/disasm.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>

#include "base/num.h"
#include "base/str.h"
#include "base/shared_library.h"

#define NAME_(major) "libcapstone.so." #major
#define NAME(major) NAME_(major)

enum { EM_I386 = 3, EM_PPC64 = 21, EM_S390X = 22, EM_ARM32 = 40, EM_AMD64 = 62, EM_ARM64 = 183 };

static struct {
	void *library;
	__typeof__(&cs_open) open;
	__typeof__(&cs_option) option;
	__typeof__(&cs_disasm_iter) next;
	__typeof__(&cs_malloc) new;
	__typeof__(&cs_free) free;
	__typeof__(&cs_close) close;
	__typeof__(&cs_insn_group) is_in;
	__typeof__(&cs_reg_name) reg_name;
} cs;

#define LOAD(field, name) (*(void **)&cs.field = shared_library_find(cs.library, name))

static bool load_library(void)
{
	if (cs.library)
		return true;
	cs.library = shared_library_open(NAME(CS_API_MAJOR));
	if (!cs.library)
		return false;
	if (LOAD(open, "cs_open") && LOAD(option, "cs_option") && LOAD(next, "cs_disasm_iter") &&
	    LOAD(new, "cs_malloc") && LOAD(free, "cs_free") && LOAD(close, "cs_close") &&
	    LOAD(is_in, "cs_insn_group") && LOAD(reg_name, "cs_reg_name"))
		return true;
	shared_library_close(cs.library);
	cs.library = NULL;
	return false;
}

static bool find_machine(const struct tacho_code_view *c, cs_arch *arch, cs_mode *mode)
{
	static const struct { uint32_t machine; cs_arch arch; int mode; } known[] = {
		{ EM_I386, CS_ARCH_X86, CS_MODE_32 }, { EM_AMD64, CS_ARCH_X86, CS_MODE_64 },
		{ EM_ARM32, CS_ARCH_ARM, CS_MODE_ARM }, { EM_ARM64, CS_ARCH_ARM64, CS_MODE_ARM },
		{ EM_PPC64, CS_ARCH_PPC, CS_MODE_64 }, { EM_S390X, CS_ARCH_SYSZ, CS_MODE_ARM },
	};

	for (size_t i = 0; i < countof(known); i++)
		if (known[i].machine == c->machine) {
			*arch = known[i].arch;
			*mode = (cs_mode)((unsigned)known[i].mode |
					  (c->big_endian ? (unsigned)CS_MODE_BIG_ENDIAN : 0));
			return true;
		}
	return false;
}

/* Returns the last operand of a jump or call if it is an address, else 0. */
static uint64_t target_of(csh handle, const cs_insn *in)
{
	const char *last = strrchr(in->op_str, ' ');
	uint64_t target;

	if (!cs.is_in(handle, in, CS_GRP_JUMP) && !cs.is_in(handle, in, CS_GRP_CALL))
		return 0;
	last = last ? last + 1 : in->op_str;
	last += *last == '#';
	return strncmp(last, "0x", 2) == 0 && num_u64(str_of(last), &target) == 0 ? target : 0;
}

/* As objdump writes it: no blank after a comma. */
static void join_operands(char *operands)
{
	char *to = operands;

	for (const char *at = operands; *at; at++) {
		*to++ = *at;
		if (at[0] == ',' && at[1] == ' ')
			at++;
	}
	*to = '\0';
}

static enum disasm_flow flow_of(csh handle, const cs_insn *in)
{
	return cs.is_in(handle, in, CS_GRP_CALL) ? FLOW_CALL : cs.is_in(handle, in, CS_GRP_RET) ? FLOW_RETURN :
	       cs.is_in(handle, in, CS_GRP_JUMP) ? FLOW_JUMP : FLOW_NEXT;
}

static int put_all(csh handle, const struct tacho_code_view *c, disasm_put *put, void *arg)
{
	const uint8_t *at = c->bytes;
	size_t n = c->n_bytes;
	uint64_t address = c->start;
	cs_insn *in = cs.new(handle);
	int err = 0;

	if (!in)
		return -ENOMEM;
	while (err == 0 && n && cs.next(handle, &at, &n, &address, in)) {
		char text[sizeof(in->mnemonic) + sizeof(in->op_str) + 16];
		struct disasm_insn insn = { .address = in->address, .n_bytes = in->size, .text = text,
					    .target = target_of(handle, in), .flow = flow_of(handle, in) };

		join_operands(in->op_str);
		snprintf(text, sizeof(text), in->op_str[0] ? "%-6s %s" : "%s%s", in->mnemonic, in->op_str);
		err = put(arg, &insn);
	}
	cs.free(in, 1);
	return err == 0 && n ? -EILSEQ : err;
}

int disasm_capstone(const struct tacho_code_view *code, const struct disasm_opts *opts, bool skip, disasm_put *put, void *arg)
{
	cs_arch arch;
	cs_mode mode;
	csh handle;
	int err;

	if (!find_machine(code, &arch, &mode) || !load_library() || cs.open(arch, mode, &handle) != CS_ERR_OK)
		return -EOPNOTSUPP;
	if (arch == CS_ARCH_X86 && !opts->intel)
		cs.option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	cs.option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (skip)
		cs.option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	err = put_all(handle, code, put, arg);
	cs.close(&handle);
	return err;
}

/* ---- operands ---- */

/* The kernel's name of a register, "ax" for rax, which debug data is compared with. */
static void name_register(csh handle, unsigned reg, char out[8])
{
	const char *name = reg ? cs.reg_name(handle, reg) : NULL;

	if (name && name[0] == 'r' && name[1] >= 'a')
		name++;
	snprintf(out, 8, "%s", name ? name : "");
}

static bool starts_with(const cs_insn *in, const char *name)
{
	return strncmp(in->mnemonic, name, strlen(name)) == 0;
}

static void read_x86_operand(csh handle, const cs_insn *in, struct insn_operand *out)
{
	const cs_x86 *x = &in->detail->x86;
	const x86_op_mem *m = NULL;

	if (starts_with(in, "lea") || starts_with(in, "nop") || starts_with(in, "endbr"))
		return;
	if (starts_with(in, "push") || (starts_with(in, "pop") && !starts_with(in, "popcnt")) || starts_with(in, "call") ||
	    starts_with(in, "ret")) {
		out->access = ACCESS_STACK;
		return;
	}
	for (unsigned i = 0; i < x->op_count && !m; i++)
		if (x->operands[i].type == X86_OP_MEM)
			m = &x->operands[i].mem;
	if (!m || m->segment == X86_REG_FS || m->segment == X86_REG_GS)
		return;
	out->access = ACCESS_MEMORY;
	out->offset = m->disp;
	out->is_static = m->base == X86_REG_RIP || !m->base;
	out->address = (uint64_t)m->disp + (m->base == X86_REG_RIP ? in->address + in->size : 0);
	if (out->is_static)
		return;
	name_register(handle, m->base, out->base);
	name_register(handle, m->index, out->index);
}

static void read_arm64_operand(csh handle, const cs_insn *in, struct insn_operand *out)
{
	const cs_arm64 *a = &in->detail->arm64;

	for (unsigned i = 0; i < a->op_count; i++) {
		if (a->operands[i].type != ARM64_OP_MEM)
			continue;
		out->access = ACCESS_MEMORY;
		out->offset = a->operands[i].mem.disp;
		name_register(handle, a->operands[i].mem.base, out->base);
		name_register(handle, a->operands[i].mem.index, out->index);
		return;
	}
}

int disasm_operand(const struct tacho_code_view *code, struct insn_operand *out)
{
	const uint8_t *at = code->bytes;
	uint64_t address = code->start;
	size_t n = code->n_bytes;
	cs_arch arch;
	cs_mode mode;
	cs_insn *in;
	csh handle;

	*out = (struct insn_operand){ .access = ACCESS_NONE };
	if (!find_machine(code, &arch, &mode) || (arch != CS_ARCH_X86 && arch != CS_ARCH_ARM64) || !load_library() ||
	    cs.open(arch, mode, &handle) != CS_ERR_OK)
		return -EOPNOTSUPP;
	cs.option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	in = cs.new(handle);
	if (in && cs.next(handle, &at, &n, &address, in)) {
		if (arch == CS_ARCH_X86)
			read_x86_operand(handle, in, out);
		else
			read_arm64_operand(handle, in, out);
	}
	if (in)
		cs.free(in, 1);
	cs.close(&handle);
	return 0;
}
