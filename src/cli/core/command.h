/*
 * Commands and their options. One file per command, one row per option; parsing, `-h`, shell
 * completion and the man pages' option sections all read the same rows.
 */
#ifndef CLI_CORE_COMMAND_H
#define CLI_CORE_COMMAND_H

#include "base/buf.h"
#include "base/str.h"

#include <tacho/common.h>

/* Option rows leave out members that are zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum option_kind {
	OPT_END,
	OPT_GROUP,	/* a heading: help is its text */
	OPT_FLAG,	/* bool; --no-NAME clears it again */
	OPT_COUNT,	/* unsigned: -v -vv; --no-NAME makes it 0 */
	OPT_LIST,	/* struct strlist: may be repeated */
	OPT_STR,	/* const char * */
	OPT_UINT,	/* uint32_t */
	OPT_INT,	/* int32_t */
	OPT_U64,	/* uint64_t */
	OPT_DOUBLE,
	OPT_MSEC,	/* uint32_t milliseconds: 100, or 100ms, 1.5s */
	OPT_CALL,	/* row->call(opts, arg) stores it; for options whose order matters */
	OPT_REFUSED,	/* an unsupported option of perf; `help` gives the reason or an alternative */
	OPT_NOTED,	/* an option of perf that changes nothing here; `help` is the note that is printed */
};

#define OPTF_OPTIONAL 1u	/* the argument is optional: -r, --per-cache[=LEVEL] */
#define OPTF_NEGATED 2u		/* the name in the row starts with no- */
#define OPTF_HIDDEN 4u		/* accepted, but not shown in the help */
#define OPTF_NEXT_ARG 8u	/* the optional argument may also be the next element of argv: -g caller */

struct option_row {
	enum option_kind kind;
	char letter;			/* 0: none */
	const char *name;		/* NULL: none */
	size_t offset;			/* offset of the field in the command's options */
	const char *arg;		/* "EVENT"; NULL: takes none */
	const char *help;
	unsigned flags;
	int64_t min, max;		/* range of a number; both 0: any number; max 0: no upper limit */
	int (*call)(void *opts, const char *arg, struct tacho_error *e);
	const char *value;		/* value stored if no argument is given; an OPT_FLAG with a value
					 * is stored in a const char * field */
	const char *complete;		/* shell completion of the argument: "event", "file", "pid", "cpu",
					 * "command", "format", or the choices "a b c"; NULL: none */
};

/* Unsupported options of perf. They are recognised by their full name only and not listed in the help. */
#define REFUSED(letter, name, why) { OPT_REFUSED, letter, name, .help = (why), .flags = OPTF_HIDDEN }
/* Options of perf that tune what tacho does in another way: they are accepted with one note that says why they
 * change nothing, and a flag's --no-NAME as well. `arg` is NULL if the option takes no argument. They are not
 * listed in the help, but in the man page. */
#define NOTED(letter, name, arg_name, why) \
	{ OPT_NOTED, letter, name, .arg = (arg_name), .help = (why), .flags = OPTF_HIDDEN }
#define NOTED_OPTIONAL(letter, name, arg_name, why) \
	{ OPT_NOTED, letter, name, .arg = (arg_name), .help = (why), .flags = OPTF_HIDDEN | OPTF_OPTIONAL }
#define NOTED_ADDR2LINE "source lines are read from the debug information, without a helper program"
#define NOTED_UNWIND_STYLE "recorded stacks are unwound by one unwinder, without a helper program"
#define REFUSED_GUESTS "guests are not supported; run tacho inside the guest"

/* A word such as "ctl" of `tacho agent ctl`. */
struct subcommand {
	const char *word, *complete;	/* values as in option_row.complete; NULL: a command to run */
};

struct command {
	const char *name;
	const char *summary;		/* "count events while a command runs" */
	const char *args;		/* the arguments in the usage line: "[--] [COMMAND [ARG...]]" */
	const struct option_row *rows;
	size_t opts_size;
	void (*defaults)(void *opts);	/* NULL: all zero */
	int (*run)(void *opts, int argc, char **argv);	/* argv without options; returns the exit status */
	/* Instead of run: executes another program after the options were checked. argv is unchanged,
	 * argv[0] is the command's name. Returns an exit status only if exec failed. */
	int (*exec)(char **argv);
	/* With exec: whether these options and arguments are for the other program; if not, run is called.
	 * NULL: always. */
	bool (*is_exec)(const void *opts, int argc, char **argv);
	void (*done)(void *opts);	/* frees memory owned by the options, except OPT_LIST fields */
	bool stops_at_non_option;		/* the first argument (a command to run) ends the options */
	bool keeps_double_dash;		/* "--" stays among the arguments: a command follows it */
	const char *complete_args;	/* completion of the arguments; values as in option_row.complete */
	/* If complete_args are words after which other arguments follow: their completion. Ends with a NULL word. */
	const struct subcommand *subcommands;
	/*
	 * Words such as "latency" of `tacho sched latency`, each with a table of its own; ends with NULL. Their names
	 * are "sched latency". They use the same struct of options as this command, whose own rows are accepted before
	 * the word, and whose `run` handles only a missing or unknown word. It must have stops_at_non_option set.
	 */
	const struct command *const *verbs;
};

extern const struct command *const commands[];	/* NULL-terminated; commands.c */

/*
 * Fills `opts` from argv[1..]; *argc and *argv are set to the remaining arguments. Bundled letters (-ad),
 * -oFILE, --name=X, --name X, unambiguous abbreviations of long names, and "--" work as in perf.
 * Returns 0, 1 for -h or --help, or -EINVAL with a message and a "did you mean" hint.
 */
int options_parse(const struct command *cmd, void *opts, int *argc, char ***argv,
		  struct tacho_error *e);
void options_done(const struct command *cmd, void *opts);
/* The last word of a command's name: "latency" of "sched latency". */
const char *command_word(const struct command *cmd);
/* The verb of this name, or NULL. */
const struct command *command_verb(const struct command *cmd, const char *word);
/* All rows of a command and its verbs, without headings and repeated names. The caller frees the array, which ends with
 * OPT_END; NULL: out of memory. */
struct option_row *options_with_verbs(const struct command *cmd);
void options_help(const struct command *cmd, struct buf *out);	/* appends the text of -h */

/* The name used in messages: "tacho", or "perf" if the program was started under that name: by a link, or by a script
 * called perf that runs it. */
extern const char *program_name;
void program_name_init(const char *argv0);
static inline bool program_is_perf(void)	/* then messages that scripts search are worded as perf's */
{
	return strcmp(program_name, "perf") == 0;
}

/* Prints "tacho stat: MESSAGE" to stderr. If the error has a column, prints `text` with a caret and the
 * hint below it:
 *
 *	tacho stat: no event is called 'cylces'
 *	  -e cylces,instructions
 *	     ^ did you mean 'cycles'?
 *
 * `option` is printed before the text ("-e"); it may be NULL. Without a column the hint is on its own
 * line. */
void message_error(const char *command, const char *option, const char *text,
		   const struct tacho_error *e);
/* "tacho stat: TEXT" on stderr. */
void message_text(const char *command, const char *fmt, ...) printf_like(2, 3);
/* From now on messages of `command` name it `as`: the command that runs it. NULL: by its own name again. Both are borrowed. */
void message_name_as(const char *command, const char *as);
/* If a command fails without memory and has not printed any message yet, prints one. */
void message_if_out_of_memory(const char *command, int err);

/* Exit statuses: 0 success, 1 failure, 129 wrong usage (as perf). */
enum { EXIT_FAILED = 1, EXIT_USAGE = 129, EXIT_NOT_FOUND = 127, EXIT_NOT_RUNNABLE = 126 };

#endif
