/*
 * Names of registers: in DWARF (numbers), in assembler, and as probes of the kernel know them (the members of struct pt_regs).
 */
#include "probe/site.h"

#include <stdio.h>

/* By DWARF number. */
static const char *const x86_64[] = {
	"ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};
static const char *const i386[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };
static const char *const arm64[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
	"x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr", "sp",
};
static const char *const riscv[] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
	"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

struct register_set {
	uint16_t machine;
	const char *const *names;
	size_t n;
};
static const struct register_set sets[] = {
	{ ELF_EM_X86_64, x86_64, countof(x86_64) },
	{ ELF_EM_386, i386, countof(i386) },
	{ ELF_EM_AARCH64, arm64, countof(arm64) },
	{ ELF_EM_RISCV, riscv, countof(riscv) },
};

static const struct register_set *set_of(uint16_t machine)
{
	for (size_t i = 0; i < countof(sets); i++)
		if (sets[i].machine == machine)
			return &sets[i];
	return NULL;
}

const char *probe_register_name(uint16_t machine, unsigned number)
{
	const struct register_set *s = set_of(machine);

	return s && number < s->n ? s->names[number] : NULL;
}

/* "rax" and "eax" are ax of 64 and 32 bits, "al" is ax of 8, "r8d" is r8 of 32; the high bytes (ah) cannot be read. */
static const char *x86_alias(const struct register_set *s, struct str name, unsigned *bits)
{
	size_t n = name.n;

	if (n < 2 || n > 5)
		return NULL;
	*bits = 64;
	for (size_t i = 0; i < s->n; i++) {
		const char *r = s->names[i];
		struct str known = str_of(r);
		static const struct { char suffix; unsigned bits; } widths[] = { { 'd', 32 }, { 'w', 16 }, { 'b', 8 } };

		if (str_eq(name, known)) {
			*bits = r[0] == 'r' ? 64 : 16;
			return r;
		}
		for (size_t k = 0; r[0] == 'r' && k < countof(widths); k++)
			if (n == known.n + 1 && memcmp(name.s, r, known.n) == 0 && name.s[n - 1] == widths[k].suffix) {
				*bits = widths[k].bits;
				return r;
			}
		if (r[0] == 'r')
			continue;
		if (n == 3 && (name.s[0] == 'r' || name.s[0] == 'e') && memcmp(name.s + 1, r, 2) == 0) {
			*bits = name.s[0] == 'r' ? 64 : 32;
			return r;
		}
		if (r[1] == 'x' ? n == 2 && name.s[0] == r[0] && name.s[1] == 'l' :
				  n == 3 && memcmp(name.s, r, 2) == 0 && name.s[2] == 'l') {
			*bits = 8;
			return r;
		}
	}
	return NULL;
}

static const char *arm64_alias(const struct register_set *s, struct str name, unsigned *bits)
{
	char wide[8];

	if (name.n < 2 || name.n > 3)
		return NULL;
	*bits = name.s[0] == 'w' ? 32 : 64;
	snprintf(wide, sizeof(wide), "%s%.*s", name.s[0] == 'w' ? "x" : "", STR(str_n(name.s + (name.s[0] == 'w'),
		 name.n - (name.s[0] == 'w'))));
	if (strcmp(wide, "x30") == 0)
		return "lr";
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->names[i], wide) == 0)
			return s->names[i];
	return NULL;
}

const char *probe_register_alias(uint16_t machine, struct str name, unsigned *bits)
{
	const struct register_set *s = set_of(machine);

	if (name.n && name.s[0] == '%')
		name = str_n(name.s + 1, name.n - 1);
	if (!s)
		return NULL;
	if (machine == ELF_EM_X86_64 || machine == ELF_EM_386)
		return x86_alias(s, name, bits);
	if (machine == ELF_EM_AARCH64)
		return arm64_alias(s, name, bits);
	*bits = 64;
	for (size_t i = 0; i < s->n; i++)
		if (str_is(name, s->names[i]))
			return s->names[i];
	return NULL;
}
