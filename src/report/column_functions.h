/*
 * The functions that rows of the table in columns.c name. columns.h says what each kind of them does.
 */
#ifndef REPORT_COLUMN_FUNCTIONS_H
#define REPORT_COLUMN_FUNCTIONS_H

#include "report/columns.h"

typedef const uint64_t *column_numbers(const struct report *r, size_t event, size_t *stride);
typedef uint64_t column_amount(const struct column *c, const struct report *r,
			       const struct tacho_profile_row *row);
typedef uint64_t column_value(const struct column *c, struct report *r,
			      const struct tacho_profile_row *row);
typedef void column_identity(const struct report *r, const struct tacho_profile_frame *f, struct buf *out);
typedef void column_print(const struct column *c, const struct report *r,
			  const struct report_cell *cell, struct buf *out);
typedef size_t column_width(const struct column *c, const struct report *r, const struct report_cell *cell);
typedef int column_compare(const struct column *c, const struct report *r,
			   const struct report_cell *a, const struct report_cell *b);

/* column_value.c */
column_numbers self_numbers, children_numbers;
column_amount amount_samples, amount_latency,
	      amount_in_space,		/* `part` is an enum tacho_space */
	      amount_weight;		/* `part`: which weight, from 1 to 3 */

/* column_thread.c: thread, CPU, time, cgroup, caller */
column_value value_comm, value_comm_nodigit, value_tid, value_pid, value_cpu, value_socket, value_time,
	     value_cgroup, value_parent;
column_print print_comm, print_thread, print_process, print_tid, print_cpu, print_socket, print_time,
	     print_cgroup, print_parent;
column_compare compare_comms, compare_parents;
/* Of values that text_intern() returned. */
column_print print_interned;
column_compare compare_interned;

/* column_detail.c: what a sample carries besides thread and stack */
enum { BRANCH_MISPREDICTED = 1, BRANCH_PREDICTED = 2, BRANCH_IN_TX = 4, BRANCH_ABORT = 8 };

column_value value_weight, value_ins_lat, value_stage_cyc, value_transaction, value_code_page_size,
	     value_data_page_size, value_trace, value_parallelism, value_data_type, value_data_offset,
	     value_data_line, value_tracepoint_field, value_data_src,
	     value_branch_cycles, value_physical_address, value_none,
	     value_branch_flags;	/* `part`: which flags */
column_print print_value_of_samples, print_transaction, print_page_size, print_trace, print_data_type,
	     print_data_offset, print_data_line, print_tracepoint_field,
	     print_mispredict, print_abort, print_in_tx, print_branch_cycles, print_data_src, print_simd, print_no_ipc;
column_width width_transaction, width_tracepoint_field;
column_compare compare_traces, compare_data_types, compare_tracepoint_fields;

/* column_place.c: addresses in code and data; `part` is one of these */
enum { PLACE_IP, PLACE_DATA, PLACE_FROM, PLACE_TO };

column_value value_address, value_place_object, value_place_symbol, value_place_frame, value_cache_line;
column_print print_plain_address, print_place_object, print_place_symbol, print_place_address,
	     print_place_srcline, print_data_symbol, print_cache_line, print_physical_address;
column_width width_place_object, width_data_object, width_data_symbol, width_cache_line;
column_compare compare_addresses, compare_place_objects, compare_place_symbols, compare_place_srclines;

/* column_frame.c: keys of a frame */
column_identity identity_object, identity_symbol, identity_symbol_offset, identity_srcline, identity_srcfile,
		identity_symbol_size, identity_object_size;
column_print print_object, print_symbol, print_symbol_offset, print_srcline, print_srcfile, print_symbol_size,
	     print_object_size;
column_compare compare_objects, compare_symbols, compare_symbol_offsets, compare_srclines, compare_srcfiles,
	       compare_symbol_sizes, compare_object_sizes;

/* The details with that id; all zero for 0. Never NULL. */
static inline const struct tacho_profile_detail *detail_of(const struct report *r, uint32_t id)
{
	static const struct tacho_profile_detail none;
	const struct tacho_profile_detail *d = tacho_profile_detail(r->profile, id);

	return d ? d : &none;
}

#endif
