/*
 * Where a variable is at an address. The kernel reads registers and memory at an offset from a register, so only locations
 * of these forms can be probed; others are named, so that messages can say why.
 *
 * The frame base of a function is usually the canonical frame address (CFA), which call frame information gives as an
 * offset from a register, too.
 */
#include "probe/dwarf_internal.h"

#include <errno.h>

#define FILE_BYTES_MAX (1u << 30)

/* The object's own file in memory: a separate debug file has no .eh_frame. */
static void read_frames(struct probe_dwarf *d)
{
	const struct libdw *l = d->lib;

	if (d->frames_read)
		return;
	d->frames_read = true;
	if (d->own->size <= FILE_BYTES_MAX && elf_read(d->own, 0, d->own->size, &d->own_file) == 0)
		d->own_elf = l->elf_memory(d->own_file.bytes, d->own_file.n);
	/* The addresses of a relocatable file's .eh_frame are not relocated. */
	d->frames[0] = d->own_elf && d->own->type != ELF_ET_REL ? l->dwarf_getcfi_elf(d->own_elf) : NULL;
	d->frames[1] = l->dwarf_getcfi(d->debug.dwarf);	/* owned by the Dwarf */
}

static bool from_register(struct probe_dwarf *d, unsigned number, struct variable_place *out, enum place_kind kind)
{
	out->base = probe_register_name(d->machine, number);
	out->kind = out->base ? kind : PLACE_UNSUPPORTED;
	out->why = "it is in a register that probes cannot read (floating point or vector)";
	return out->base != NULL;
}

static bool cfa_at(struct probe_dwarf *d, uint64_t address, struct variable_place *out)
{
	const struct libdw *l = d->lib;

	read_frames(d);
	for (size_t i = 0; i < countof(d->frames); i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t n;
		bool found;

		if (!d->frames[i] || l->dwarf_cfi_addrframe(d->frames[i], address, &frame) != 0)
			continue;
		found = l->dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 &&
			((ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) || ops->atom == DW_OP_bregx);
		if (found) {
			bool extended = ops->atom == DW_OP_bregx;
			unsigned number = extended ? (unsigned)ops->number : (unsigned)ops->atom - DW_OP_breg0;

			out->offset = (int64_t)(extended ? ops->number2 : ops->number);
			found = from_register(d, number, out, PLACE_MEMORY);
		}
		free(frame);
		if (found)
			return true;
	}
	return false;
}

/* The frame base of the function: a register, or the CFA. */
static bool frame_base(struct probe_dwarf *d, const struct location_context *at, struct variable_place *out)
{
	const struct libdw *l = d->lib;
	Dwarf_Die function = at->function;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!l->dwarf_attr_integrate(&function, DW_AT_frame_base, &attr) ||
	    l->dwarf_getlocation_addr(&attr, at->address, &ops, &n, 1) != 1 || n != 1)
		return false;
	if (ops->atom == DW_OP_call_frame_cfa)
		return cfa_at(d, at->address, out);
	if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		return from_register(d, ops->atom - DW_OP_reg0, out, PLACE_MEMORY);
	if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) {
		out->offset = (int64_t)ops->number;
		return from_register(d, ops->atom - DW_OP_breg0, out, PLACE_MEMORY);
	}
	return false;
}

static void unsupported(struct variable_place *out, const char *why)
{
	out->kind = PLACE_UNSUPPORTED;
	out->why = why;
}

/* DW_OP_entry_value: what a register contained when the function was entered, which is its value there. */
static void entry_value(struct probe_dwarf *d, Dwarf_Attribute *attr, const Dwarf_Op *op, const struct location_context *at,
			struct variable_place *out)
{
	Dwarf_Attribute inner;
	Dwarf_Op *ops;
	size_t n;

	out->kind = PLACE_ENTRY_VALUE;
	out->why = "only its value at the entry of the function is known";
	if (at->address != at->entry || d->lib->dwarf_getlocation_attr(attr, op, &inner) != 0 ||
	    d->lib->dwarf_getlocation(&inner, &ops, &n) != 0 || n != 1)
		return;
	if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		from_register(d, ops->atom - DW_OP_reg0, out, PLACE_REGISTER);
}

static bool constant_of(const Dwarf_Op *op, int64_t *out)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*out = op->atom - DW_OP_lit0;
		return true;
	}
	switch (op->atom) {
	case DW_OP_const1u: case DW_OP_const2u: case DW_OP_const4u: case DW_OP_const8u: case DW_OP_constu:
	case DW_OP_const1s: case DW_OP_const2s: case DW_OP_const4s: case DW_OP_const8s: case DW_OP_consts:
		*out = (int64_t)op->number;
		return true;
	default:
		return false;
	}
}

/* The first operation of a location, as far as it is of a form that the kernel can read. */
static void start_place(struct probe_dwarf *d, Dwarf_Attribute *attr, const Dwarf_Op *op, const struct location_context *at,
			struct variable_place *out)
{
	int64_t constant;

	if (op->atom == DW_OP_addr || op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index) {
		Dwarf_Attribute inner;
		Dwarf_Addr address = op->number;

		out->kind = PLACE_STATIC;
		if (op->atom != DW_OP_addr && (d->lib->dwarf_getlocation_attr(attr, op, &inner) != 0 ||
					       d->lib->dwarf_formaddr(&inner, &address) != 0))
			unsupported(out, "its address cannot be found in the debug data");
		out->address = address;
	} else if (op->atom == DW_OP_fbreg) {
		if (!frame_base(d, at, out))
			unsupported(out, "the frame of the function cannot be found");
		out->offset += (int64_t)op->number;
	} else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		from_register(d, op->atom - DW_OP_reg0, out, PLACE_REGISTER);
	} else if (op->atom == DW_OP_regx) {
		from_register(d, (unsigned)op->number, out, PLACE_REGISTER);
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		out->offset = (int64_t)op->number;
		from_register(d, op->atom - DW_OP_breg0, out, PLACE_MEMORY);
	} else if (op->atom == DW_OP_bregx) {
		out->offset = (int64_t)op->number2;
		from_register(d, (unsigned)op->number, out, PLACE_MEMORY);
	} else if (op->atom == DW_OP_entry_value || op->atom == DW_OP_GNU_entry_value) {
		entry_value(d, attr, op, at, out);
	} else if (constant_of(op, &constant)) {
		out->kind = PLACE_CONSTANT;
		out->offset = constant;
	} else if (op->atom == DW_OP_implicit_value) {
		Dwarf_Block block;

		unsupported(out, "its constant value is not an integer");
		if (d->lib->dwarf_getlocation_implicit_value(attr, op, &block) == 0 && block.length <= 8) {
			memcpy(&out->offset, block.data, block.length);
			out->kind = PLACE_CONSTANT;
		}
	} else {
		unsupported(out, op->atom == DW_OP_implicit_pointer || op->atom == DW_OP_GNU_implicit_pointer ?
			    "it is a pointer to a variable that was optimized out" :
			    "its value is computed by an expression that probes cannot evaluate");
	}
}

static void follow_ops(struct probe_dwarf *d, Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t n,
		       const struct location_context *at, struct variable_place *out)
{
	start_place(d, attr, &ops[0], at, out);
	for (size_t i = 1; i < n; i++) {
		if (ops[i].atom == DW_OP_plus_uconst && out->kind == PLACE_MEMORY)
			out->offset += (int64_t)ops[i].number;
		else if (ops[i].atom == DW_OP_stack_value && i + 1 == n && out->kind == PLACE_MEMORY)
			out->kind = PLACE_SUM;
		else if (ops[i].atom == DW_OP_stack_value && i + 1 == n)
			continue;	/* a constant or an entry value */
		else if (ops[i].atom == DW_OP_piece || ops[i].atom == DW_OP_bit_piece)
			unsupported(out, "it is split over several registers");
		else if (out->kind != PLACE_UNSUPPORTED)
			unsupported(out, "its value is computed by an expression that probes cannot evaluate");
	}
	if (out->kind == PLACE_CONSTANT && ops[n - 1].atom != DW_OP_stack_value && ops[0].atom != DW_OP_implicit_value)
		unsupported(out, "its address is computed by an expression that probes cannot evaluate");
}

void dwarf_locate(struct probe_dwarf *d, Dwarf_Die *variable, const struct location_context *at, struct variable_place *out)
{
	const struct libdw *l = d->lib;
	Dwarf_Attribute attr;
	Dwarf_Sword value;
	Dwarf_Op *ops;
	size_t n;

	*out = (struct variable_place){ 0 };
	if (l->dwarf_attr_integrate(variable, DW_AT_const_value, &attr)) {
		out->kind = l->dwarf_formsdata(&attr, &value) == 0 ? PLACE_CONSTANT : PLACE_UNSUPPORTED;
		out->offset = out->kind == PLACE_CONSTANT ? value : 0;
		out->why = "its constant value is not an integer";
		return;
	}
	if (!l->dwarf_attr_integrate(variable, DW_AT_location, &attr) ||
	    l->dwarf_getlocation_addr(&attr, at->address, &ops, &n, 1) != 1 || !n)
		return;
	follow_ops(d, &attr, ops, n, at, out);
}
