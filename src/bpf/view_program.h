/*
 * A view as plain data: which events it uses, what is done at each, and what a row of its result consists of. The
 * BPF program views.bpf.c executes it in the kernel, view/sampled.c executes the same data on samples.
 *
 * Two events are usually paired: the first saves a start under a key, the second takes it, which gives a time and what
 * was saved. Either may emit a row: as a record for each, or added up by key.
 *
 *	event --- tests ---> SAVE  starts[key] = { time, slots, comm }
 *	event --- tests ---> TAKE  starts[key] --> delta --> row --> record or sum
 *	event --- tests ---> HIT                       --> row --> record or sum
 */
#ifndef BPF_VIEW_PROGRAM_H
#define BPF_VIEW_PROGRAM_H

#include <linux/types.h>

#define VIEW_EVENTS 10			/* of a view */
#define VIEW_STEPS 4			/* of an event */
#define VIEW_TESTS 3			/* of a step */
#define VIEW_SLOTS 4			/* values that a start stores */
#define VIEW_VALUES 10			/* operands of a row */
#define VIEW_KEY_NUMBERS 4		/* with sums: how many of them may be numbers, and texts */
#define VIEW_KEY_TEXTS 2
#define VIEW_KEY_TEXT 16
#define VIEW_TEXT 1024			/* longest text of a record */
#define VIEW_TEXTS 2			/* of a record */
#define VIEW_LEVELS 64			/* of a histogram: 0 to 1, 2 to 3, 4 to 7 ... */
#define VIEW_STACK 127			/* frames */
#define VIEW_STACKS 3			/* of a row: of the kernel, of user space, of the waker */
#define VIEW_CALLS 512			/* numbers of system calls are below this */

enum view_source {
	VIEW_NONE,
	VIEW_CONSTANT,
	VIEW_FIELD,			/* `size` bytes at `offset` of the event's data */
	VIEW_FIELD_TEXT,		/* a char array there */
	VIEW_FIELD_LOC,			/* a text whose position is there (__data_loc) */
	VIEW_FIELD_BYTES,		/* as FIELD_TEXT, but a NUL does not end it */
	VIEW_TIME, VIEW_DELTA,		/* ns */
	VIEW_PID, VIEW_TID, VIEW_UID, VIEW_COMM,	/* of the task that the step is about */
	VIEW_CPU,
	VIEW_PERIOD,			/* of a sample */
	VIEW_CURRENT_COMM,		/* of the task that runs */
	VIEW_SLOT,			/* of the start */
	VIEW_HAS_SLOTS,			/* whether the start's slots were set */
	VIEW_SLOT_PID, VIEW_SLOT_COMM,	/* a process ID and its name, from the start's slot 0; without a name there, that of the running task */
	VIEW_USER_TEXT,			/* the text in user space that a slot points to */
	VIEW_FUNCTION,			/* number of the function that was probed */
	VIEW_KERNEL_STACK, VIEW_USER_STACK,	/* of the task that runs; as a number: the stack's ID */
	VIEW_SLOT_KERNEL_STACK, VIEW_SLOT_USER_STACK, VIEW_SLOT_WAKER_STACK,	/* whose ID is in a slot */
	VIEW_PPID, VIEW_EXIT_CODE, VIEW_AGE, VIEW_ARGV,
	VIEW_FILE_NAME, VIEW_FILE_MODE,	/* of the descriptor in a slot */
	VIEW_SENT, VIEW_RECEIVED,	/* bytes of the TCP socket whose address is in a field */
};

static inline int view_is_text(unsigned int source)
{
	return (source >= VIEW_FIELD_TEXT && source <= VIEW_FIELD_BYTES) || source == VIEW_COMM || source == VIEW_CURRENT_COMM ||
	       source == VIEW_SLOT_COMM || source == VIEW_USER_TEXT || source == VIEW_ARGV || source == VIEW_FILE_NAME;
}

static inline int view_is_stack(unsigned int source)
{
	return source >= VIEW_KERNEL_STACK && source <= VIEW_SLOT_WAKER_STACK;
}

struct view_operand {
	__u8 source;			/* enum view_source */
	__u8 size, is_signed, slot;
	__u16 offset;
	__s16 addend;			/* of fields */
	__u64 constant;			/* of fields and FILE_MODE: bits that are wanted; 0: all */
};

enum view_relation { VIEW_EQ = 1, VIEW_NE, VIEW_LT, VIEW_GE, VIEW_ONE_OF };	/* ONE_OF: bit mask of small numbers */

struct view_test {
	struct view_operand left;
	__u16 relation;			/* enum view_relation; 0: none */
	__u8 is_signed;
	__u8 is_late;			/* uses the start, so that it is done after TAKE */
	__u32 reserved;
	__u64 right;
};

enum view_action { VIEW_NOTHING, VIEW_SAVE, VIEW_TAKE, VIEW_HIT };

/* What a SAVE writes. A start that does not exist is created with its time, if CREATE is set. */
enum {
	VIEW_SET_TIME = 1,
	VIEW_SET_SLOTS = 2,		/* and the comm */
	VIEW_CREATE = 4,
	VIEW_NEW_SLOTS = 8,		/* slots and comm only when it is created */
	VIEW_SET_WAKER = 32,		/* with SET_SLOTS: the comm is that of the task that runs */
	VIEW_ADD_SLOTS = 16,		/* add to the slots instead of setting them; on samples only */
};

enum view_subject { VIEW_CURRENT, VIEW_FIRST_TASK, VIEW_SECOND_TASK };	/* whom the filters and VIEW_PID ... are about */

struct view_step {
	__u8 action, writes, emits;
	__u8 subject;			/* enum view_subject */
	__u8 is_filtered;		/* by process, user and cgroup */
	__u8 has_calls, reserved[2];
	struct view_test tests[VIEW_TESTS];
	struct view_operand key[2];
	struct view_operand slots[VIEW_SLOTS];
	__u64 calls[VIEW_CALLS / 64];	/* with has_calls: numbers of system calls, in the event's first field */
};

struct view_event {
	__u32 n_steps, reserved;
	struct view_step steps[VIEW_STEPS];
};

/* Events whose programs read kernel types, because tracepoints do not name the process of a thread. */
enum view_raw { VIEW_SWITCH, VIEW_WAKEUP, VIEW_WAKEUP_NEW, VIEW_SYS_ENTER, VIEW_SYS_EXIT, VIEW_RAWS };

/* The data of these, with the offsets that the kernel uses for sys_enter and sys_exit. */
struct view_raw_data {
	__u64 common;
	union {
		struct { __u32 prev_pid, next_pid; __u64 prev_state; } task_switch;	/* state as in sched_switch */
		struct { __u32 pid; } wakeup;
		struct { __s64 id; __u64 args[6]; } enter;
		struct { __s64 id, ret; } exit;
	};
};

struct view_program {
	struct view_event events[VIEW_EVENTS];
	struct view_operand row[VIEW_VALUES];
	struct view_operand weight;	/* what is summed up and its histogram is made of */
	__u32 raw_event[VIEW_RAWS];	/* index + 1 of the event; 0: not used */
	__u32 n_row;
	__u32 is_summary, has_levels;
	__u32 has_functions;		/* several functions are probed */
	__u32 uses_stack_map;		/* stacks are stored by bpf_get_stackid(), which may fail; else by their hash */
	__u32 has_processes, follows;	/* only processes in the map; children are added */
	__u32 has_user, user;
	__u32 has_cgroup, cgroup_level;
	__u32 self;			/* process that is left out */
	__u32 wakeup_bytes;
	__u64 cgroup;			/* its ID */
	__u64 min_ns;			/* shorter times are left out */
	__u64 unit;			/* the weight is divided by this before it is put into the histogram */
};

struct view_start {
	__u64 time;
	__u64 slots[VIEW_SLOTS];
	char comm[VIEW_KEY_TEXT];
};

/* Numbers, texts and stacks of a row are stored in the order of its operands. */
struct view_key {
	__u64 numbers[VIEW_KEY_NUMBERS];
	char texts[VIEW_KEY_TEXTS][VIEW_KEY_TEXT];
	__s64 stacks[VIEW_STACKS];	/* IDs; negative: none */
};

struct view_sum {
	__u64 count, sum;
	__u64 first_ns;			/* when the first was added, and by which thread */
	__u64 first_tid;
	__u64 levels[VIEW_LEVELS];	/* only with has_levels */
};
#define VIEW_SUM_BYTES 32		/* without */

struct view_stack {
	__u64 n;
	__u64 ips[VIEW_STACK + 1];	/* one more than is used, for the verifier */
};

struct view_record {
	__u32 size;			/* with texts */
	__u32 cpu;
	__u64 time;
	__u64 values[VIEW_VALUES];	/* of a text: length, and in the high half its offset after the record */
};					/* texts follow */

enum { VIEW_LOST_RECORDS, VIEW_LOST_STARTS, VIEW_LOST_SUMS, VIEW_LOST_STACKS,
	VIEW_LOST_ENDED,		/* on samples: the process had ended when its files were looked up */
	VIEW_LOST };

#endif
