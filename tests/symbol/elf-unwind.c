/*
 * elf-unwind FILE [DEBUG-FILE]: prints the unwind table of an ELF file, a line "ADDRESS CFA FP RA" per row; rules are
 * named as by readelf -wF. With --stats FILE: sizes and build time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "unwind/arch.h"
#include "unwind/build_table.h"

#define BUILDS 5

static void print_register(const struct unwind_arch *a, unsigned reg)
{
	static const char *const x86[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
					   "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip" };

	if (!a->ra_in_register)
		printf("%s", reg < sizeof(x86) / sizeof(*x86) ? x86[reg] : "?");
	else if (reg == a->sp)
		printf("sp");
	else
		printf("x%u", reg);
}

static void print_value(const struct unwind_arch *a, unsigned kind, unsigned reg, int offset)
{
	putchar(' ');
	switch (kind) {
	case UNWIND_SAME:
		putchar('s');
		break;
	case UNWIND_UNDEFINED:
		putchar('u');
		break;
	case UNWIND_AT_CFA:
		printf("c%+d", offset);
		break;
	case UNWIND_CFA_PLUS:
		printf("v%+d", offset);
		break;
	case UNWIND_IN_REGISTER:
		print_register(a, reg);
		break;
	default:
		printf("exp");
	}
}

static void print_rule(const struct unwind_arch *a, const struct unwind_rule *r)
{
	if (r->cfa == UNWIND_CFA_GAP) {
		printf(" gap\n");
		return;
	}
	putchar(' ');
	if (r->cfa == UNWIND_CFA_REGISTER) {
		print_register(a, r->cfa_reg);
		printf("%+d", r->cfa_offset);
	} else {
		printf("exp");
	}
	print_value(a, r->fp, r->fp_reg, r->fp_offset);
	print_value(a, r->ra, r->ra_reg, r->ra_offset);
	putchar('\n');
}

static void print_rows(const struct unwind_table *t)
{
	const struct unwind_arch *a = unwind_arch_of(t->machine);

	for (size_t page = 0; page + 1 < t->pages.n; page++)
		for (size_t i = t->pages.v[page]; i < t->pages.v[page + 1]; i++) {
			uint64_t address = t->base + ((uint64_t)page << UNWIND_PAGE_BITS) + t->rows.v[i].low;

			printf("%" PRIx64, address);
			print_rule(a, &t->rules.v[t->rows.v[i].rule]);
		}
}

/* "ROWS RULES BYTES IRREGULAR NANOSECONDS", the time being that of the fastest build. */
static int print_stats(const struct elf *e)
{
	size_t rows = 0, rules = 0, bytes = 0, irregular = 0;
	double best = 1e18;

	for (int i = 0; i < BUILDS; i++) {
		struct unwind_table t;
		struct timespec from, to;
		double ns;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		if (unwind_table_build(&t, e, NULL) < 0)
			return 1;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
		best = ns < best ? ns : best;
		rows = t.rows.n;
		rules = t.rules.n;
		bytes = rows * sizeof(*t.rows.v) + t.pages.n * sizeof(*t.pages.v) + rules * sizeof(*t.rules.v);
		irregular = 0;
		for (size_t k = 0; k < rows; k++) {
			const struct unwind_rule *r = &t.rules.v[t.rows.v[k].rule];

			irregular += r->cfa == UNWIND_CFA_IRREGULAR || r->fp == UNWIND_VALUE_IRREGULAR ||
				     r->ra == UNWIND_VALUE_IRREGULAR;
		}
		unwind_table_done(&t);
	}
	printf("%zu %zu %zu %zu %.0f\n", rows, rules, bytes, irregular, best);
	return 0;
}

int main(int argc, char **argv)
{
	int stats = argc > 1 && strcmp(argv[1], "--stats") == 0, err;
	struct elf own, debug;
	struct unwind_table t;

	if (argc < 2 + stats || elf_open(&own, argv[1 + stats]) < 0)
		return 2;
	if (stats) {
		err = print_stats(&own);
		elf_close(&own);
		return err;
	}
	if (argc > 2 && elf_open(&debug, argv[2]) < 0)
		return 2;
	err = unwind_table_build(&t, &own, argc > 2 ? &debug : NULL);
	if (err == 0)
		print_rows(&t);
	unwind_table_done(&t);
	elf_close(&own);
	if (argc > 2)
		elf_close(&debug);
	return err == 0 ? 0 : 1;
}
