/*
 * Names of the bits of perf_event_attr.branch_sample_type.
 */
#include "record/branch_type.h"

#define PRIVILEGES 7u
#define ANY (1u << 3)

uint64_t branch_type_bit(struct str name)
{
	static const struct { const char *name; uint64_t bit; } kinds[] = {
		{ "u", 1 << 0 },	  { "k", 1 << 1 },	    { "hv", 1 << 2 },
		{ "any", ANY },		  { "any_call", 1 << 4 },   { "any_ret", 1 << 5 },
		{ "ind_call", 1 << 6 },	  { "abort_tx", 1 << 7 },   { "in_tx", 1 << 8 },
		{ "no_tx", 1 << 9 },	  { "cond", 1 << 10 },	    { "stack", 1 << 11 },
		{ "call_stack", 1 << 11 }, { "ind_jmp", 1 << 12 },  { "call", 1 << 13 },
		{ "no_flags", 1 << 14 },  { "no_cycles", 1 << 15 }, { "save_type", 1 << 16 },
		{ "type_save", 1 << 16 }, { "hw_index", 1 << 17 },  { "priv", 1 << 18 },
		{ "counter", 1 << 19 },
	};

	for (size_t i = 0; i < countof(kinds); i++)
		if (str_is(name, kinds[i].name))
			return kinds[i].bit;
	return 0;
}

uint64_t branch_types_or_any(uint64_t named)
{
	return named & ~(uint64_t)PRIVILEGES ? named : named | ANY;
}
