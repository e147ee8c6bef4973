/*
 * The table of columns: all sort keys and values of a report.
 *
 * To add a key, add a row: its name and title, what the profile must keep for it, and functions that give its
 * value, print it and order it. The functions are in column_*.c; columns.h says what each of them does. Where
 * a row has no compare(), smaller values come first. Orders and minimal widths are those of perf.
 */
#include "report/columns.h"

#include "report/column_functions.h"

const struct column columns[] = {
	/* values */
	{ .pub = { "overhead", .title = "Overhead", .id = TACHO_COLUMN_OVERHEAD, .percent = true },
	  .numbers = self_numbers },
	{ .pub = { "overhead_children", .title = "Children", .id = TACHO_COLUMN_CHILDREN, .percent = true },
	  .numbers = children_numbers },
	{ .pub = { "sample", "samples", "Samples", .id = TACHO_COLUMN_SAMPLES },
	  .amount = amount_samples },
	{ .pub = { "period", .title = "Period", .id = TACHO_COLUMN_PERIOD },
	  .numbers = self_numbers },
	{ .pub = { "overhead_sys", .title = "sys", .id = TACHO_COLUMN_SYS, .percent = true },
	  .keep = TACHO_KEEP_SPACE, .amount = amount_in_space, .part = TACHO_SPACE_KERNEL },
	{ .pub = { "overhead_us", .title = "usr", .id = TACHO_COLUMN_USER, .percent = true },
	  .keep = TACHO_KEEP_SPACE, .amount = amount_in_space, .part = TACHO_SPACE_USER },
	{ .pub = { "overhead_guest_sys", .title = "guest sys", .id = TACHO_COLUMN_GUEST_SYS, .percent = true },
	  .keep = TACHO_KEEP_SPACE, .amount = amount_in_space, .part = TACHO_SPACE_GUEST_KERNEL },
	{ .pub = { "overhead_guest_us", .title = "guest usr", .id = TACHO_COLUMN_GUEST_USER, .percent = true },
	  .keep = TACHO_KEEP_SPACE, .amount = amount_in_space, .part = TACHO_SPACE_GUEST_USER },
	{ .pub = { "latency", .title = "Latency", .id = TACHO_COLUMN_LATENCY, .percent = true },
	  .keep = TACHO_KEEP_PARALLELISM, .amount = amount_latency },
	{ .pub = { "latency_children", .title = "Latency", .id = TACHO_COLUMN_LATENCY_CHILDREN, .percent = true },
	  .keep = TACHO_KEEP_PARALLELISM },

	/* keys of a row: thread, CPU, time */
	{ .pub = { "comm", .title = "Command", .kind = TACHO_REPORT_ROW_KEY, .id = TACHO_COLUMN_COMM },
	  .of_thread = true, .value = value_comm, .print = print_comm, .compare = compare_comms },
	{ .pub = { "comm_nodigit", .title = "CommandNoDigit", .kind = TACHO_REPORT_ROW_KEY },
	  .of_thread = true, .value = value_comm_nodigit, .print = print_interned, .compare = compare_interned },
	{ .pub = { "pid", .title = "    Pid:Command", .kind = TACHO_REPORT_ROW_KEY, .id = TACHO_COLUMN_PID },
	  .of_thread = true, .value = value_tid, .print = print_thread },
	{ .pub = { "tgid", .title = "   Tgid:Command", .kind = TACHO_REPORT_ROW_KEY, .id = TACHO_COLUMN_TGID },
	  .of_thread = true, .value = value_pid, .print = print_process },
	{ .pub = { "tid", .title = "Tid", .kind = TACHO_REPORT_ROW_KEY, .id = TACHO_COLUMN_TID },
	  .of_thread = true, .value = value_tid, .print = print_tid },
	{ .pub = { "cpu", .title = "CPU", .kind = TACHO_REPORT_ROW_KEY, .id = TACHO_COLUMN_CPU },
	  .needs = NEEDS_CPU, .value = value_cpu, .print = print_cpu },
	{ .pub = { "socket", .title = "Socket", .kind = TACHO_REPORT_ROW_KEY },
	  .needs = NEEDS_CPU, .value = value_socket, .print = print_socket },
	{ .pub = { "time", .title = "Time", .kind = TACHO_REPORT_ROW_KEY },
	  .needs = NEEDS_TIME, .value = value_time, .print = print_time },
	{ .pub = { "cgroup", .title = "Cgroup", .kind = TACHO_REPORT_ROW_KEY },
	  .keep = TACHO_KEEP_CGROUP, .value = value_cgroup, .print = print_cgroup },
	{ .pub = { "cgroup_id", .title = "cgroup id", .kind = TACHO_REPORT_ROW_KEY, .id = TACHO_COLUMN_CGROUP_ID },
	  .keep = TACHO_KEEP_CGROUP, .value = value_cgroup, .print = print_value },
	{ .pub = { "parent", .title = "Parent symbol", .kind = TACHO_REPORT_ROW_KEY, .id = TACHO_COLUMN_PARENT },
	  .needs = NEEDS_STACKS, .value = value_parent, .print = print_parent, .compare = compare_parents },

	/* keys of what a sample carries besides */
	{ .pub = { "local_weight", .title = "Local Weight", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_WEIGHT, .min_width = 12,
	  .value = value_weight, .print = print_value, .compare = compare_values_descending },
	{ .pub = { "weight", .title = "Weight", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_WEIGHT, .min_width = 12,
	  .value = value_weight, .print = print_value_of_samples, .sums_samples = true,
	  .compare = compare_values_descending },
	{ .pub = { "local_ins_lat", .title = "Local INSTR Latency", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_WEIGHT, .min_width = 13,
	  .value = value_ins_lat, .print = print_value, .compare = compare_values_descending },
	{ .pub = { "ins_lat", .title = "INSTR Latency", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_WEIGHT, .min_width = 13,
	  .value = value_ins_lat, .print = print_value_of_samples, .sums_samples = true,
	  .compare = compare_values_descending },
	{ .pub = { "local_p_stage_cyc", "local_retire_lat", "Local Pipeline Stage Cycle",
		   .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_WEIGHT, .min_width = 13,
	  .value = value_stage_cyc, .print = print_value, .compare = compare_values_descending },
	{ .pub = { "p_stage_cyc", "retire_lat", "Pipeline Stage Cycle", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_WEIGHT, .min_width = 13,
	  .value = value_stage_cyc, .print = print_value_of_samples, .sums_samples = true,
	  .compare = compare_values_descending },
	{ .pub = { "transaction", .title = "Transaction                ", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_TRANSACTION, .value = value_transaction, .print = print_transaction,
	  .width = width_transaction, .compare = compare_values_descending },
	{ .pub = { "code_page_size", .title = "Code Page Size", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_PAGE_SIZE, .value = value_code_page_size, .print = print_page_size },
	{ .pub = { "addr", .title = "Address", .kind = TACHO_REPORT_DETAIL_KEY },
	  .keep = TACHO_KEEP_IP, .min_width = 18, .part = PLACE_IP,
	  .value = value_address, .print = print_plain_address, .compare = compare_addresses },
	{ .pub = { "trace", .title = "Trace output", .kind = TACHO_REPORT_DETAIL_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_TRACE, .value = value_trace, .print = print_trace, .compare = compare_traces },
	{ .pub = { "parallelism", .title = "Parallelism", .kind = TACHO_REPORT_DETAIL_KEY, .right = true },
	  .keep = TACHO_KEEP_PARALLELISM,
	  .value = value_parallelism, .print = print_value, .compare = compare_values_descending },

	/* keys of branches */
	{ .pub = { "dso_from", .title = "Source Shared Object", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_FROM, .part = PLACE_FROM, .value = value_place_object,
	  .print = print_place_object, .width = width_place_object, .compare = compare_place_objects },
	{ .pub = { "dso_to", .title = "Target Shared Object", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_TO, .part = PLACE_TO, .value = value_place_object,
	  .print = print_place_object, .width = width_place_object, .compare = compare_place_objects },
	{ .pub = { "symbol_from", "sym_from", "Source Symbol", TACHO_REPORT_BRANCH_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_FROM, .part = PLACE_FROM,
	  .value = value_place_symbol, .print = print_place_symbol, .compare = compare_place_symbols },
	{ .pub = { "symbol_to", "sym_to", "Target Symbol", TACHO_REPORT_BRANCH_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_TO, .part = PLACE_TO,
	  .value = value_place_symbol, .print = print_place_symbol, .compare = compare_place_symbols },
	{ .pub = { "mispredict", .title = "Branch Mispredicted", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_BRANCH, .part = BRANCH_MISPREDICTED | BRANCH_PREDICTED,
	  .value = value_branch_flags, .print = print_mispredict, .compare = compare_values_descending },
	{ .pub = { "abort", .title = "Transaction abort", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_BRANCH, .part = BRANCH_ABORT,
	  .value = value_branch_flags, .print = print_abort, .compare = compare_values_descending },
	{ .pub = { "in_tx", .title = "Branch in transaction", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_BRANCH, .part = BRANCH_IN_TX,
	  .value = value_branch_flags, .print = print_in_tx, .compare = compare_values_descending },
	{ .pub = { "cycles", .title = "Basic Block Cycles", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_BRANCH,
	  .value = value_branch_cycles, .print = print_branch_cycles, .compare = compare_values_descending },
	{ .pub = { "srcline_from", .title = "From Source:Line", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_FROM, .needs = NEEDS_SRCLINE, .part = PLACE_FROM,
	  .value = value_place_frame, .print = print_place_srcline, .compare = compare_place_srclines },
	{ .pub = { "srcline_to", .title = "To Source:Line", .kind = TACHO_REPORT_BRANCH_KEY },
	  .keep = TACHO_KEEP_TO, .needs = NEEDS_SRCLINE, .part = PLACE_TO,
	  .value = value_place_frame, .print = print_place_srcline, .compare = compare_place_srclines },
	{ .pub = { "addr_from", .title = "Source Address", .kind = TACHO_REPORT_BRANCH_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_FROM, .part = PLACE_FROM,
	  .value = value_address, .print = print_place_address, .compare = compare_addresses },
	{ .pub = { "addr_to", .title = "Target Address", .kind = TACHO_REPORT_BRANCH_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_TO, .part = PLACE_TO,
	  .value = value_address, .print = print_place_address, .compare = compare_addresses },

	/* keys of accesses to memory */
	{ .pub = { "symbol_daddr", .title = "Data Symbol", .kind = TACHO_REPORT_MEMORY_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_DATA, .part = PLACE_DATA, .value = value_address,
	  .print = print_data_symbol, .width = width_data_symbol, .compare = compare_addresses },
	{ .pub = { "dso_daddr", .title = "Data Object", .kind = TACHO_REPORT_MEMORY_KEY },
	  .keep = TACHO_KEEP_DATA, .part = PLACE_DATA, .value = value_place_object,
	  .print = print_place_object, .width = width_data_object, .compare = compare_place_objects },
	{ .pub = { "locked", .title = "Locked", .kind = TACHO_REPORT_MEMORY_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_DATA_SRC, .part = TACHO_DATA_SRC_LOCK,
	  .value = value_data_src, .print = print_data_src },
	{ .pub = { "tlb", .title = "TLB access", .kind = TACHO_REPORT_MEMORY_KEY },
	  .keep = TACHO_KEEP_DATA_SRC, .min_width = 22, .part = TACHO_DATA_SRC_TLB,
	  .value = value_data_src, .print = print_data_src },
	{ .pub = { "mem", .title = "Memory access", .kind = TACHO_REPORT_MEMORY_KEY },
	  .keep = TACHO_KEEP_DATA_SRC, .min_width = 24, .part = TACHO_DATA_SRC_LEVEL,
	  .value = value_data_src, .print = print_data_src },
	{ .pub = { "snoop", .title = "Snoop", .kind = TACHO_REPORT_MEMORY_KEY },
	  .keep = TACHO_KEEP_DATA_SRC, .min_width = 12, .part = TACHO_DATA_SRC_SNOOP,
	  .value = value_data_src, .print = print_data_src },
	{ .pub = { "dcacheline", .title = "Data Cacheline", .kind = TACHO_REPORT_MEMORY_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_DATA, .part = PLACE_DATA, .value = value_cache_line,
	  .print = print_cache_line, .width = width_cache_line, .compare = compare_addresses },
	{ .pub = { "symbol_iaddr", .title = "Code Symbol", .kind = TACHO_REPORT_MEMORY_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_IP, .part = PLACE_IP, .value = value_address,
	  .print = print_place_symbol, .width = width_data_symbol, .compare = compare_addresses },
	{ .pub = { "phys_daddr", .title = "Data Physical Address", .kind = TACHO_REPORT_MEMORY_KEY },
	  .keep = TACHO_KEEP_PHYS_ADDR, .min_width = 22, .value = value_physical_address,
	  .print = print_physical_address },
	{ .pub = { "data_page_size", .title = "Data Page Size", .kind = TACHO_REPORT_MEMORY_KEY },
	  .keep = TACHO_KEEP_PAGE_SIZE, .min_width = 22,
	  .value = value_data_page_size, .print = print_page_size },
	{ .pub = { "blocked", .title = "Blocked", .kind = TACHO_REPORT_MEMORY_KEY, .unpadded = true },
	  .keep = TACHO_KEEP_DATA_SRC, .min_width = 10, .part = TACHO_DATA_SRC_BLOCKED,
	  .value = value_data_src, .print = print_data_src },

	/* keys of a frame */
	{ .pub = { "dso", .title = "Shared Object", .kind = TACHO_REPORT_FRAME_KEY, .id = TACHO_COLUMN_DSO },
	  .identity = identity_object, .print = print_object, .compare = compare_objects },
	{ .pub = { "symbol", "sym", "Symbol", TACHO_REPORT_FRAME_KEY, TACHO_COLUMN_SYMBOL, .unpadded = true },
	  .identity = identity_symbol, .print = print_symbol, .compare = compare_symbols },
	{ .pub = { "srcline", .title = "Source:Line", .kind = TACHO_REPORT_FRAME_KEY, .unpadded = true },
	  .needs = NEEDS_SRCLINE, .identity = identity_srcline, .print = print_srcline, .compare = compare_srclines },
	{ .pub = { "srcfile", .title = "Source File", .kind = TACHO_REPORT_FRAME_KEY, .unpadded = true },
	  .needs = NEEDS_SRCLINE, .identity = identity_srcfile, .print = print_srcfile, .compare = compare_srcfiles },
	{ .pub = { "symoff", .title = "Symbol Offset", .kind = TACHO_REPORT_FRAME_KEY,
		   .id = TACHO_COLUMN_SYMBOL_OFFSET, .unpadded = true },
	  .needs = NEEDS_ADDRESS, .identity = identity_symbol_offset, .print = print_symbol_offset,
	  .compare = compare_symbol_offsets },
};
const size_t n_columns = countof(columns);

const struct tacho_report_column *tacho_report_column(enum tacho_report_column_id id)
{
	size_t i = 0;

	while (i + 1 < n_columns && columns[i].pub.id != id)
		i++;
	return &columns[i].pub;
}

const struct tacho_report_column *tacho_report_column_at(size_t i)
{
	return i < n_columns ? &columns[i].pub : NULL;
}
