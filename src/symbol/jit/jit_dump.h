/*
 * The functions of one jitdump file as an object: a symbol is at the offset of its code in the file, so each function has
 * an address range of its own, also if several used the same memory one after another. Where a function was in memory,
 * and from when on, is a list of events.
 */
#ifndef SYMBOL_JIT_DUMP_H
#define SYMBOL_JIT_DUMP_H

#include "symbol/dwarf_line.h"
#include "symbol/jit/jitdump.h"
#include "symbol/symbol_table.h"

#include "base/int_map.h"

#define JIT_EVENTS_MAX (4u << 20)	/* functions of one dump */
#define JIT_NAMES_MAX (256u << 20)
#define JIT_NO_CODE (1ull << 56)	/* offsets of functions whose bytes are not in the file begin here */

struct jit_event {			/* from `time` on a function is at addr */
	uint64_t time, addr, size, offset;
	uint64_t index;			/* number of the function */
	bool fixed;			/* no other function used this memory before: the time does not matter */
};

struct jit_unwinding {			/* unwinding data of a function */
	uint64_t code_offset, code_size;
	uint64_t offset, n;		/* of .eh_frame in the file */
};

struct jit_dump {
	struct jitdump_reader reader;
	struct { struct jit_event *v; size_t n, cap; } events;
	struct { struct jit_unwinding *v; size_t n, cap; } unwinding;
	struct int_map by_index;	/* number of a function -> its last event */
	struct dwarf_lines lines;
	uint64_t next_free;		/* next offset of a function without bytes */
	uint64_t first_time;		/* of the first record; 0: none yet */
	/* Debug and unwinding records come before the function they belong to. */
	size_t first_row;		/* of lines.rows: rows from here on have no function yet */
	uint64_t rows_addr;		/* address of the function of these rows */
	struct jit_unwinding next_unwinding;	/* n 0: none */
};

/* Opens the file. 0 or a negative errno, see jitdump_open(). */
int jit_dump_open(struct jit_dump *d, const char *path, uid_t owner, bool force);
/* Reads the records that have been appended since the last call, and adds their functions to the table. Returns the
 * number of new events, or -ENOMEM, -EIO. The events are in the order of time. */
int jit_dump_read(struct jit_dump *d, struct symbol_table *table);
void jit_dump_done(struct jit_dump *d);

#endif
