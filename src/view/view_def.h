/*
 * How views are described: the table view_table.c has one entry for each. compile.c turns an entry into plain data
 * (bpf/view_program.h) with the numbers of this machine, such as the offsets of fields, and rows.c turns what comes out
 * into text.
 */
#ifndef VIEW_VIEW_DEF_H
#define VIEW_VIEW_DEF_H

#include "base/defs.h"
#include "bpf/view_program.h"

#include <tacho/view.h>

/* Entries of tables leave out members that are zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define VIEW_RULES 12
#define VIEW_COLUMNS 12
#define VIEW_CALL "call"		/* events of rules: the functions of the arguments are called, and return */
#define VIEW_RETURN "return"
#define VIEW_SAMPLE "sample"		/* of the event in the options */
#define SOFTIRQS 64			/* numbers of softirqs are shifted by this below those of interrupts */

/* Where a value comes from. */
struct view_part {
	enum view_source source;
	const char *field;		/* name of a field */
	uint8_t slot, element;		/* number of a slot; element of a field that is an array */
	int8_t addend;
	uint64_t constant;		/* the value of CONSTANT; of fields the wanted bits */
	uint8_t text_bytes;		/* of FIELD_TEXT and FIELD_BYTES */
	uint8_t bytes;			/* of fields: how many of them are used, and whether with sign; 0: as the field is */
	bool is_signed;
};

struct view_condition {
	struct view_part left;
	enum view_relation relation;
	uint64_t right;
	bool is_signed;
};

/* What happens at an event. */
struct view_rule {
	const char *event;		/* "sched:sched_switch", VIEW_CALL, VIEW_RETURN or VIEW_SAMPLE */
	const char *calls;		/* raw_syscalls: names of the calls, "open,openat"; NULL: all */
	enum view_action action;
	uint8_t writes;			/* VIEW_SET_ ... */
	bool emits;			/* a row */
	bool is_unfiltered;		/* not restricted by process, user and cgroup: the process is another one */
	bool needs_slots;		/* with filters: nothing is taken whose slots no rule has set */
	bool is_optional;		/* the kernel may lack the event */
	bool is_sampled_only;
	const char *key_word;		/* only if this is among the keys */
	int8_t when_totals;		/* 1: only with opts.totals, -1: only without */
	enum view_subject subject;	/* FIRST_TASK, SECOND_TASK: */
	const char *task;		/* the field with its thread ID */
	struct view_condition when[VIEW_TESTS];
	struct view_part key[2];
	struct view_part slots[VIEW_SLOTS];
};

/* How a value is shown. */
enum view_show {
	SHOW_NUMBER, SHOW_SIGNED, SHOW_TEXT, SHOW_HEX,
	SHOW_CLOCK,			/* wall-clock time, 15:04:05 */
	SHOW_SECONDS,			/* since the first row */
	SHOW_MS, SHOW_AGE,		/* nanoseconds in ms, s */
	SHOW_KB,			/* bytes in KB */
	SHOW_SECTORS,			/* sectors in bytes */
	SHOW_FD, SHOW_ERRNO,		/* of the value that a call returned */
	SHOW_RESULT,			/* the same, as it is */
	SHOW_EXIT,			/* exit status */
	SHOW_DISK,			/* the kernel's dev_t */
	SHOW_RWBS,			/* first letter of the request's kind */
	SHOW_CALL,			/* number of a system call */
	SHOW_IP_VERSION,		/* an address family as 4 or 6 */
	SHOW_ADDRESS,			/* 16 bytes; if the next column is a SHOW_PORT without title, with that */
	SHOW_PORT, SHOW_TCP_STATE,
	SHOW_LETTER,
	SHOW_ARGV,
	SHOW_INTERRUPT,			/* number of an interrupt, or of a softirq minus SOFTIRQS */
	SHOW_FUNCTION,			/* number of a probed function */
	SHOW_STACK,
};

/* Samples do not have the exit status of a thread. A view that shows it saves what is known of it in slots 0 (what was passed
 * to exit()) and 1 (a signal), under these keys. */
enum { VIEW_EXIT_OF_PROCESS = 1, VIEW_EXIT_OF_THREAD, VIEW_SIGNAL_SENT };

struct view_column {
	const char *title;		/* NULL: not shown, belongs to the column before */
	const char *key;		/* in JSON */
	uint8_t width;
	bool is_left;
	enum view_show show;
	struct view_part part;
	const char *by;			/* of sums: the word that selects it */
};

struct view_def {
	struct tacho_view_info info;	/* without columns and keys */
	struct view_rule rules[VIEW_RULES];
	struct view_column columns[VIEW_COLUMNS];
	struct view_part weight;	/* of sums */
	uint64_t unit_ns;		/* of the histogram; 0: the weight is not a time */
	uint64_t min_ns;		/* shorter times are left out, unless asked for */
	bool wakes_for_each;		/* on samples: few events, which should be looked at at once */
};

extern const struct view_def *const view_table[];	/* ends with NULL */

#endif
