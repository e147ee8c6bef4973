/*
 * All views. A new one is an entry here, and its name in the list at the end.
 *
 * Columns and units are those of bcc's tools of that name, or of execsnoop, opensnoop, exitsnoop, killsnoop, wakeuptime,
 * biolatency, hardirqs with softirqs, and fileslower.
 */
#include "view/view_def.h"

#define CONSTANT(n) { .source = VIEW_CONSTANT, .constant = (n) }
#define FIELD(f) { .source = VIEW_FIELD, .field = (f) }
#define TEXT_FIELD(f, n) { .source = VIEW_FIELD_TEXT, .field = (f), .text_bytes = (n) }
#define BYTES_FIELD(f, n) { .source = VIEW_FIELD_BYTES, .field = (f), .text_bytes = (n) }
#define ARG(n) { .source = VIEW_FIELD, .field = "args", .element = (n) }
#define SLOT(n) { .source = VIEW_SLOT, .slot = (n) }
#define OF(what) { .source = VIEW_##what }
#define IS(f, n) { FIELD(f), VIEW_EQ, (n) }
#define IS_NOT(f, n) { FIELD(f), VIEW_NE, (n) }
#define IS_ONE_OF(f, mask) { FIELD(f), VIEW_ONE_OF, (mask) }

#define SYS_ENTER(names) .event = "raw_syscalls:sys_enter", .calls = (names), .action = VIEW_SAVE, \
	.writes = VIEW_SET_TIME | VIEW_SET_SLOTS | VIEW_CREATE, .key = { OF(TID) }
#define SYS_EXIT(names) .event = "raw_syscalls:sys_exit", .calls = (names), .action = VIEW_TAKE, .emits = true, \
	.key = { OF(TID) }
#define SAVE .action = VIEW_SAVE, .writes = VIEW_SET_TIME | VIEW_SET_SLOTS | VIEW_CREATE
#define TAKE .action = VIEW_TAKE, .emits = true
#define HIT .action = VIEW_HIT, .emits = true

/* The field prev_state of sched_switch: bits of states in which a thread waits, and all without the mark of a thread that
 * was preempted (0x100), whatever it was about to do. */
#define STATE(mask) { .source = VIEW_FIELD, .field = "prev_state", .constant = (mask) }
#define WAITS 0xcf
#define ANY_STATE 0xff

static const struct view_def view_exec = {
	.info = { .name = "exec", .summary = "programs that are executed, with their arguments" },
	.wakes_for_each = true,
	.rules = {
		{ .event = "sched:sched_process_exec", HIT },
	},
	.columns = {
		{ "PCOMM", "comm", 16, true, SHOW_TEXT, OF(COMM) },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID) },
		{ "PPID", "ppid", 7, true, SHOW_NUMBER, OF(PPID) },
		{ "RET", "ret", 3, false, SHOW_NUMBER, CONSTANT(0) },
		{ "ARGS", "args", 1, true, SHOW_ARGV, OF(ARGV) },
	},
};

static const struct view_def view_open = {
	.info = { .name = "open", .summary = "files that are opened, and failed attempts" },
	.wakes_for_each = true,
	.rules = {
		{ SYS_ENTER("open,creat"), .slots = { ARG(0) } },
		{ SYS_ENTER("openat,openat2"), .slots = { ARG(1) } },
		{ SYS_EXIT("open,creat,openat,openat2") },
	},
	.columns = {
		{ "PID", "pid", 6, true, SHOW_NUMBER, OF(PID) },
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM) },
		{ "FD", "fd", 4, false, SHOW_FD, FIELD("ret") },
		{ "ERR", "errno", 3, false, SHOW_ERRNO, FIELD("ret") },
		{ "PATH", "path", 1, true, SHOW_TEXT, { VIEW_USER_TEXT } },
	},
};

/* Signals that end a process unless it handles them. */
#define FATAL (~((UINT64_C(1) << 17) | (UINT64_C(1) << 18) | (UINT64_C(1) << 19) | (UINT64_C(1) << 20) | \
		(UINT64_C(1) << 21) | (UINT64_C(1) << 22) | (UINT64_C(1) << 23) | (UINT64_C(1) << 28) | 1))

#define LEARN(event_name) .event = (event_name), .is_sampled_only = true, .action = VIEW_SAVE, .is_unfiltered = true
#define FORGET .event = "sched:sched_process_exit", .is_sampled_only = true, .action = VIEW_TAKE
#define OF_PROCESS CONSTANT(VIEW_EXIT_OF_PROCESS)
#define OF_THREAD CONSTANT(VIEW_EXIT_OF_THREAD)
#define SENT CONSTANT(VIEW_SIGNAL_SENT)

static const struct view_def view_exit = {
	.info = { .name = "exit", .summary = "threads that end, how old they were and why" },
	.rules = {
		{ LEARN("raw_syscalls:sys_enter"), .calls = "exit_group", .writes = VIEW_CREATE | VIEW_NEW_SLOTS,
		  .key = { OF(PID), OF_PROCESS }, .slots = { ARG(0) } },
		{ LEARN("raw_syscalls:sys_enter"), .calls = "exit", .writes = VIEW_CREATE | VIEW_NEW_SLOTS,
		  .key = { OF(TID), OF_THREAD }, .slots = { ARG(0) } },
		{ LEARN("signal:signal_generate"), .writes = VIEW_CREATE | VIEW_SET_SLOTS, .subject = VIEW_FIRST_TASK, .task = "pid",
		  .when = { IS("result", 0), IS_ONE_OF("sig", FATAL) }, .key = { OF(PID), SENT },
		  .slots = { CONSTANT(0), FIELD("sig") } },
		{ LEARN("signal:signal_deliver"), .writes = VIEW_CREATE | VIEW_NEW_SLOTS,
		  .when = { IS("sa_handler", 0), IS_ONE_OF("sig", FATAL) }, .key = { OF(PID), OF_PROCESS },
		  .slots = { CONSTANT(0), FIELD("sig") } },
		{ .event = "signal:signal_deliver", .is_sampled_only = true, .action = VIEW_TAKE, .when = { IS_NOT("sa_handler", 0) },
		  .key = { OF(PID), SENT } },
		{ .event = "sched:sched_process_exit", HIT },
		{ FORGET, .key = { OF(TID), OF_THREAD } },
		{ FORGET, .is_optional = true, .when = { IS("group_dead", 1) }, .key = { OF(PID), OF_PROCESS } },
		{ FORGET, .is_optional = true, .when = { IS("group_dead", 1) }, .key = { OF(PID), SENT } },
	},
	.columns = {
		{ "PCOMM", "comm", 16, true, SHOW_TEXT, OF(COMM) },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID) },
		{ "PPID", "ppid", 7, true, SHOW_NUMBER, OF(PPID) },
		{ "TID", "tid", 7, true, SHOW_NUMBER, OF(TID) },
		{ "AGE(s)", "age_ns", 7, true, SHOW_AGE, OF(AGE) },
		{ "EXIT_CODE", "exit", 1, true, SHOW_EXIT, OF(EXIT_CODE) },
	},
};

static const struct view_def view_kill = {
	.info = { .name = "kill", .summary = "signals that processes send with kill()" },
	.rules = {
		{ SYS_ENTER("kill,tkill"), .slots = { ARG(0), ARG(1) } },
		{ SYS_ENTER("tgkill"), .slots = { ARG(1), ARG(2) } },
		{ SYS_EXIT("kill,tkill,tgkill") },
	},
	.columns = {
		{ "TIME", "", 9, true, SHOW_CLOCK, OF(TIME) },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID) },
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM) },
		{ "SIG", "signal", 4, true, SHOW_NUMBER, SLOT(1) },
		{ "TPID", "target", 7, true, SHOW_SIGNED, SLOT(0) },
		{ "RESULT", "result", 1, true, SHOW_RESULT, FIELD("ret") },
	},
};

static const struct view_def view_syscount = {
	.info = { .name = "syscount", .summary = "how many system calls of each kind are made", .is_summary = true,
		  .default_keys = "call", .sum_title = "TIME(us)", .sum_key = "time_ns" },
	.rules = {
		{ .event = "raw_syscalls:sys_exit", HIT, .when_totals = -1 },
		{ SYS_ENTER("!exit,exit_group,rt_sigreturn"), .when_totals = 1 },
		{ SYS_EXIT("!exit,exit_group,rt_sigreturn"), .when_totals = 1 },
	},
	.columns = {
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID), "process" },
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM), "process" },
		{ "SYSCALL", "call", 22, true, SHOW_CALL, FIELD("id"), "call" },
	},
	.weight = OF(DELTA),
};

#define WOKEN(name) .event = (name), .subject = VIEW_FIRST_TASK, .task = "pid"
#define LEAVES .event = "sched:sched_switch", .subject = VIEW_FIRST_TASK, .task = "prev_pid"
#define ENTERS .event = "sched:sched_switch", .subject = VIEW_SECOND_TASK, .task = "next_pid"

static const struct view_def view_runqlat = {
	.info = { .name = "runqlat", .summary = "how long threads that can run wait for a CPU", .is_summary = true,
		  .has_histogram = true, .default_keys = "", .sum_title = "TOTAL(us)", .sum_key = "total_ns" },
	.unit_ns = 1000,
	.rules = {
		{ WOKEN("sched:sched_wakeup"), SAVE, .key = { FIELD("pid") } },
		{ WOKEN("sched:sched_wakeup_new"), SAVE, .key = { FIELD("pid") } },
		{ LEAVES, SAVE, .when = { { STATE(ANY_STATE), VIEW_EQ, 0 }, IS_NOT("prev_pid", 0) }, .key = { FIELD("prev_pid") } },
		{ ENTERS, TAKE, .when = { IS_NOT("next_pid", 0) }, .key = { FIELD("next_pid") } },
	},
	.columns = {
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID), "process" },
		{ "TID", "tid", 7, true, SHOW_NUMBER, OF(TID), "thread" },
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM), "process thread" },
	},
	.weight = OF(DELTA),
};

static const struct view_def view_wakeup = {
	.info = { .name = "wakeup", .summary = "who wakes blocked threads, by time blocked and stack of the waker", .is_summary = true,
		  .has_stacks = true, .default_keys = "stack", .sum_title = "BLOCKED(us)", .sum_key = "blocked_ns" },
	.rules = {
		{ LEAVES, SAVE, .when = { { STATE(WAITS), VIEW_NE, 0 }, IS_NOT("prev_pid", 0) }, .key = { FIELD("prev_pid") } },
		{ WOKEN("sched:sched_wakeup"), TAKE, .key = { FIELD("pid") } },
	},
	.columns = {
		{ "TARGET", "target", 16, true, SHOW_TEXT, OF(COMM) },
		{ "WAKER", "waker", 16, true, SHOW_TEXT, OF(CURRENT_COMM) },
		{ "STACK", "kernel_stack", 1, true, SHOW_STACK, OF(KERNEL_STACK), "stack" },
	},
	.weight = OF(DELTA),
};

static const struct view_def view_profile = {
	.info = { .name = "profile", .summary = "where the CPUs spend their time, by stack", .is_summary = true, .has_stacks = true,
		  .default_keys = "process", .sum_key = "period" },
	.rules = {
		{ .event = VIEW_SAMPLE, HIT, .when = { { OF(TID), VIEW_NE, 0 } } },	/* not idle */
	},
	.columns = {
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM), "process" },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID), "process" },
		{ "STACK", "kernel_stack", 1, true, SHOW_STACK, OF(KERNEL_STACK) },
		{ "STACK", "user_stack", 1, true, SHOW_STACK, OF(USER_STACK) },
		{ NULL, "", 1, true, SHOW_NUMBER, OF(PID) },
	},
	.weight = OF(PERIOD),
};

/* The stacks are those with which a thread leaves the CPU. Who wakes it is stored with them. */
static const struct view_def view_offcpu = {
	.info = { .name = "offcpu", .summary = "how long threads are blocked, by stack", .is_summary = true, .has_stacks = true,
		  .default_keys = "process", .sum_title = "BLOCKED(us)", .sum_key = "blocked_ns" },
	.min_ns = 1000,
	.rules = {
		{ LEAVES, .action = VIEW_SAVE, .writes = VIEW_SET_TIME | VIEW_SET_SLOTS | VIEW_SET_WAKER | VIEW_CREATE,
		  .when = { { STATE(WAITS), VIEW_NE, 0 }, IS_NOT("prev_pid", 0) }, .key = { FIELD("prev_pid") },
		  .slots = { OF(KERNEL_STACK), OF(USER_STACK), CONSTANT(UINT64_MAX) } },
		{ WOKEN("sched:sched_wakeup"), .key_word = "waker", .action = VIEW_SAVE, .writes = VIEW_SET_SLOTS | VIEW_SET_WAKER,
		  .key = { FIELD("pid") }, .slots = { { 0 }, { 0 }, OF(KERNEL_STACK) } },
		{ ENTERS, TAKE, .when = { IS_NOT("next_pid", 0) }, .key = { FIELD("next_pid") } },
	},
	.columns = {
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM), "process" },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID), "process" },
		{ "WAKER", "waker", 16, true, SHOW_TEXT, OF(SLOT_COMM), "waker" },
		{ "STACK", "kernel_stack", 1, true, SHOW_STACK, OF(SLOT_KERNEL_STACK) },
		{ "STACK", "user_stack", 1, true, SHOW_STACK, { VIEW_SLOT_USER_STACK, .slot = 1 } },
		{ "STACK", "waker_stack", 1, true, SHOW_STACK, { VIEW_SLOT_WAKER_STACK, .slot = 2 }, "waker" },
		{ NULL, "", 1, true, SHOW_NUMBER, OF(PID) },
	},
	.weight = OF(DELTA),
};

#define REQUEST .key = { FIELD("dev"), FIELD("sector") }

static const struct view_def view_biolat = {
	.info = { .name = "biolat", .summary = "how long disks need for requests", .is_summary = true, .has_histogram = true,
		  .default_keys = "", .sum_title = "TOTAL(us)", .sum_key = "total_ns" },
	.unit_ns = 1000,
	.rules = {
		{ .event = "block:block_rq_issue", SAVE, REQUEST },
		{ .event = "block:block_rq_complete", TAKE, REQUEST, .is_unfiltered = true },
	},
	.columns = {
		{ "DISK", "disk", 9, true, SHOW_DISK, FIELD("dev"), "disk" },
		{ "KIND", "kind", 8, true, SHOW_TEXT, TEXT_FIELD("rwbs", 16), "kind" },
	},
	.weight = OF(DELTA),
};

static const struct view_def view_biosnoop = {
	.info = { .name = "biosnoop", .summary = "requests to disks, with the process and the time that each takes" },
	.rules = {
		{ .event = "block:block_io_start", .is_optional = true, SAVE, REQUEST, .slots = { OF(PID) } },	/* Linux 6.5 */
		{ .event = "block:block_rq_issue", .action = VIEW_SAVE, .writes = VIEW_SET_TIME, REQUEST, .is_unfiltered = true },
		{ .event = "block:block_rq_issue", .action = VIEW_SAVE, .writes = VIEW_CREATE | VIEW_NEW_SLOTS, REQUEST,
		  .slots = { OF(PID) } },
		{ .event = "block:block_rq_complete", TAKE, REQUEST, .is_unfiltered = true },
	},
	.columns = {
		{ "TIME(s)", "", 11, true, SHOW_SECONDS, OF(TIME) },
		{ "COMM", "comm", 14, true, SHOW_TEXT, OF(SLOT_COMM) },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(SLOT_PID) },
		{ "DISK", "disk", 9, true, SHOW_DISK, FIELD("dev") },
		{ "T", "kind", 1, true, SHOW_RWBS, TEXT_FIELD("rwbs", 16) },
		{ "SECTOR", "sector", 10, true, SHOW_NUMBER, FIELD("sector") },
		{ "BYTES", "bytes", 7, true, SHOW_SECTORS, FIELD("nr_sector") },
		{ "LAT(ms)", "latency_ns", 7, false, SHOW_MS, OF(DELTA) },
	},
};

enum { TCP = 6 };
enum { ESTABLISHED = 1, SYN_SENT, SYN_RECV, FIN_WAIT1, CLOSED = 7, LAST_ACK = 9 };
#define TO(state) (1u << (state))
#define SOCKET_STATE .event = "sock:inet_sock_set_state", .key = { FIELD("skaddr") }

/* A connection ends in the context of a process only by chance. The process is the one that opened it or begins to close
 * it. Samples do not have the bytes that the socket counted: their slots 1 and 2 add up what was sent and received. */
static const struct view_def view_tcplife = {
	.info = { .name = "tcplife", .summary = "TCP connections that end, with their bytes and duration" },
	.rules = {
		{ SOCKET_STATE, .action = VIEW_SAVE, .writes = VIEW_SET_TIME | VIEW_CREATE, .is_unfiltered = true,
		  .when = { IS("protocol", TCP), IS_ONE_OF("newstate", TO(ESTABLISHED) | TO(SYN_SENT) | TO(SYN_RECV)) } },
		{ SOCKET_STATE, .action = VIEW_SAVE, .writes = VIEW_SET_SLOTS, .slots = { OF(PID) },
		  .when = { IS("protocol", TCP), IS_ONE_OF("newstate", TO(SYN_SENT) | TO(FIN_WAIT1) | TO(LAST_ACK)) } },
		{ SOCKET_STATE, TAKE, .is_unfiltered = true, .needs_slots = true, .when = { IS("protocol", TCP), IS("newstate", CLOSED) } },
		{ .event = "sock:sock_send_length", .is_sampled_only = true, .is_optional = true, .is_unfiltered = true,
		  .action = VIEW_SAVE, .writes = VIEW_ADD_SLOTS, .key = { FIELD("sk") }, .slots = { { 0 }, FIELD("ret") },
		  .when = { IS("protocol", TCP), { FIELD("ret"), VIEW_GE, 0, true } } },
		{ .event = "sock:sock_recv_length", .is_sampled_only = true, .is_optional = true, .is_unfiltered = true,
		  .action = VIEW_SAVE, .writes = VIEW_ADD_SLOTS, .key = { FIELD("sk") }, .slots = { { 0 }, { 0 }, FIELD("ret") },
		  .when = { IS("protocol", TCP), { FIELD("ret"), VIEW_GE, 0, true } } },
	},
	.columns = {
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(SLOT_PID) },
		{ "COMM", "comm", 10, true, SHOW_TEXT, OF(SLOT_COMM) },
		{ "LADDR", "local_address", 15, true, SHOW_ADDRESS, BYTES_FIELD("saddr_v6", 16) },
		{ "LPORT", "local_port", 5, true, SHOW_NUMBER, FIELD("sport") },
		{ "RADDR", "remote_address", 15, true, SHOW_ADDRESS, BYTES_FIELD("daddr_v6", 16) },
		{ "RPORT", "remote_port", 5, true, SHOW_NUMBER, FIELD("dport") },
		{ "TX_KB", "sent_bytes", 5, false, SHOW_KB, { VIEW_SENT, "skaddr", .slot = 1 } },
		{ "RX_KB", "received_bytes", 5, false, SHOW_KB, { VIEW_RECEIVED, "skaddr", .slot = 2 } },
		{ "MS", "duration_ns", 6, true, SHOW_MS, OF(DELTA) },
	},
};

static const struct view_def view_tcpconnect = {
	.info = { .name = "tcpconnect", .summary = "TCP connections that this machine opens" },
	.rules = {
		{ .event = "sock:inet_sock_set_state", HIT, .when = { IS("protocol", TCP), IS("newstate", SYN_SENT) } },
	},
	.columns = {
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID) },
		{ "COMM", "comm", 12, true, SHOW_TEXT, OF(COMM) },
		{ "IP", "ip", 2, true, SHOW_IP_VERSION, FIELD("family") },
		{ "SADDR", "source_address", 16, true, SHOW_ADDRESS, BYTES_FIELD("saddr_v6", 16) },
		{ "DADDR", "destination_address", 16, true, SHOW_ADDRESS, BYTES_FIELD("daddr_v6", 16) },
		{ "DPORT", "destination_port", 6, true, SHOW_NUMBER, FIELD("dport") },
	},
};

static const struct view_def view_tcpretrans = {
	.info = { .name = "tcpretrans", .is_machine_wide = true, .summary = "TCP segments that are sent again" },
	.rules = {
		{ .event = "tcp:tcp_retransmit_skb", HIT, .is_unfiltered = true },
	},
	.columns = {
		{ "TIME", "", 8, true, SHOW_CLOCK, OF(TIME) },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID) },
		{ "IP", "ip", 2, true, SHOW_IP_VERSION, FIELD("family") },
		{ "LADDR:LPORT", "local_address", 20, true, SHOW_ADDRESS, BYTES_FIELD("saddr_v6", 16) },
		{ NULL, "local_port", 0, true, SHOW_PORT, FIELD("sport") },
		{ "T>", "kind", 2, true, SHOW_LETTER, CONSTANT('R') },
		{ "RADDR:RPORT", "remote_address", 20, true, SHOW_ADDRESS, BYTES_FIELD("daddr_v6", 16) },
		{ NULL, "remote_port", 0, true, SHOW_PORT, FIELD("dport") },
		{ "STATE", "state", 1, true, SHOW_TCP_STATE, FIELD("state") },
	},
};

#define SOFTIRQ { .source = VIEW_FIELD, .field = "vec", .addend = -SOFTIRQS }

static const struct view_def view_irqlat = {
	.info = { .name = "irqlat", .is_machine_wide = true, .summary = "how long interrupts and softirqs take", .is_summary = true, .has_histogram = true,
		  .default_keys = "irq", .sum_title = "TOTAL(us)", .sum_key = "total_ns" },
	.unit_ns = 1000,
	.rules = {
		{ .event = "irq:irq_handler_entry", SAVE, .key = { OF(CPU), FIELD("irq") }, .slots = { FIELD("irq") },
		  .is_unfiltered = true },
		{ .event = "irq:irq_handler_exit", TAKE, .key = { OF(CPU), FIELD("irq") }, .is_unfiltered = true },
		{ .event = "irq:softirq_entry", SAVE, .key = { OF(CPU), SOFTIRQ }, .slots = { SOFTIRQ }, .is_unfiltered = true },
		{ .event = "irq:softirq_exit", TAKE, .key = { OF(CPU), SOFTIRQ }, .is_unfiltered = true },
	},
	.columns = {
		{ "IRQ", "irq", 26, true, SHOW_INTERRUPT, SLOT(0), "irq" },
		{ "CPU", "cpu", 4, true, SHOW_NUMBER, OF(CPU), "cpu" },
	},
	.weight = OF(DELTA),
};

#define READS "read,pread64,readv,preadv,preadv2"
#define WRITES "write,pwrite64,writev,pwritev,pwritev2"
#define SYNCS "fsync,fdatasync,sync_file_range"

static const struct view_def view_slow_io = {
	.info = { .name = "slow-io", .summary = "reads, writes and syncs of files that take long" },
	.min_ns = 10000000,
	.wakes_for_each = true,
	.rules = {
		{ SYS_ENTER(READS), .slots = { ARG(0), CONSTANT('R') } },
		{ SYS_ENTER(WRITES), .slots = { ARG(0), CONSTANT('W') } },
		{ SYS_ENTER(SYNCS), .slots = { ARG(0), CONSTANT('S') } },
		{ SYS_EXIT(READS "," WRITES "," SYNCS),
		  .when = { { { .source = VIEW_FILE_MODE, .constant = 0170000 }, VIEW_EQ, 0100000 } } },	/* a regular file */
	},
	.columns = {
		{ "TIME(s)", "", 11, true, SHOW_SECONDS, OF(TIME) },
		{ "COMM", "comm", 14, true, SHOW_TEXT, OF(COMM) },
		{ "TID", "tid", 7, true, SHOW_NUMBER, OF(TID) },
		{ "D", "kind", 1, true, SHOW_LETTER, SLOT(1) },
		{ "BYTES", "bytes", 7, true, SHOW_RESULT, FIELD("ret") },
		{ "LAT(ms)", "latency_ns", 7, false, SHOW_MS, OF(DELTA) },
		{ "FILENAME", "file", 1, true, SHOW_TEXT, { VIEW_FILE_NAME } },
	},
};

static const struct view_def view_funccount = {
	.info = { .name = "funccount", .summary = "how often functions are called or tracepoints hit", .is_summary = true,
		  .arguments = TACHO_VIEW_FUNCTIONS, .default_keys = "function" },
	.rules = {
		{ .event = VIEW_CALL, HIT },
	},
	.columns = {
		{ "FUNC", "function", 36, true, SHOW_FUNCTION, OF(FUNCTION), "function" },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID), "process" },
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM), "process" },
	},
};

/* Calls are told apart by the stack pointer, which differs between a function and one that it calls recursively. */
static const struct view_def view_funclatency = {
	.info = { .name = "funclatency", .summary = "how long functions take", .is_summary = true, .has_histogram = true,
		  .arguments = TACHO_VIEW_FUNCTIONS, .default_keys = "", .sum_title = "TOTAL(ns)", .sum_key = "total_ns" },
	.unit_ns = 1,
	.rules = {
		{ .event = VIEW_CALL, SAVE, .key = { OF(TID), FIELD("caller_sp") } },
		{ .event = VIEW_RETURN, TAKE, .key = { OF(TID), FIELD("sp") } },
	},
	.columns = {
		{ "FUNC", "function", 36, true, SHOW_FUNCTION, OF(FUNCTION), "function" },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID), "process" },
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM), "process" },
	},
	.weight = OF(DELTA),
};

static const struct view_def view_stackcount = {
	.info = { .name = "stackcount", .summary = "by which stacks functions are called or tracepoints hit", .is_summary = true,
		  .has_stacks = true, .arguments = TACHO_VIEW_FUNCTIONS, .default_keys = "" },
	.rules = {
		{ .event = VIEW_CALL, HIT },
	},
	.columns = {
		{ "FUNC", "function", 36, true, SHOW_FUNCTION, OF(FUNCTION), "function" },
		{ "PID", "pid", 7, true, SHOW_NUMBER, OF(PID), "process" },
		{ "COMM", "comm", 16, true, SHOW_TEXT, OF(COMM), "process" },
		{ "STACK", "kernel_stack", 1, true, SHOW_STACK, OF(KERNEL_STACK) },
		{ "STACK", "user_stack", 1, true, SHOW_STACK, OF(USER_STACK) },
		{ NULL, "", 1, true, SHOW_NUMBER, OF(PID) },	/* whose stack it is */
	},
};

/* expressions.c makes the columns, the weight and the rules of its arguments. */
static const struct view_def view_argdist = {
	.info = { .name = "argdist", .summary = "how often arguments, results or fields have which values", .is_summary = true,
		  .has_histogram = true, .arguments = TACHO_VIEW_EXPRESSIONS, .default_keys = "" },
};

const struct view_def *const view_table[] = {
	&view_exec, &view_open, &view_exit, &view_kill, &view_syscount, &view_profile, &view_runqlat, &view_wakeup, &view_offcpu, &view_biolat,
	&view_biosnoop, &view_tcplife, &view_tcpconnect, &view_tcpretrans, &view_irqlat, &view_slow_io, &view_funccount,
	&view_funclatency, &view_stackcount, &view_argdist, NULL,
};
