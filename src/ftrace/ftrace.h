/*
 * A tracing session: an instance below tracefs, or on kernels before 6.11 for the function graph tracer the settings of
 * the whole machine.
 */
#ifndef FTRACE_FTRACE_H
#define FTRACE_FTRACE_H

#include <limits.h>

#include "base/error.h"
#include "base/vec.h"
#include "ftrace/page.h"
#include "ftrace/restore.h"
#include "sys/sys.h"

#include <tacho/ftrace.h>

#define FTRACE_STATE_FILE "/run/tacho-ftrace.restore"	/* changes to shared settings, should the process that restores be killed */

struct call_field {
	uint32_t offset, size;		/* size 0: the kernel does not record it */
};

struct cpu_buffer {
	int fd;				/* trace_pipe_raw */
	uint32_t cpu;
};

struct tacho_ftrace {
	struct tacho_ftrace_opts opts;
	struct sys sys;
	char root[PATH_MAX], dir[PATH_MAX];	/* tracefs; the instance, or tracefs */
	bool whole_machine;		/* `dir` is `root` */
	bool is_default_root;
	bool is_locked;			/* shared settings may be changed */
	int lock_fd, state_fd, hold_fd;	/* of tracefs, of FTRACE_STATE_FILE, of a file that keeps the instance in use */
	struct restore *restore;
	int text_fd;
	struct buf header;		/* text that precedes the first event */
	size_t header_at;
	struct cpu_buffer *buffers;
	size_t n_buffers;
	struct trace_page_layout layout;
	uint8_t *page;
	uint16_t *event_ids;		/* by position in opts.events */
	uint16_t call_id;		/* funcgraph_exit; 0: not traced */
	struct call_field func, call_time, return_time;
	struct { struct tacho_ftrace_event *v; size_t n, cap; } pending;	/* not delivered yet, because earlier ones may follow */
	uint64_t lost;
};

/* ---- instance.c ---- */
/* Makes the instance, or decides for the settings of the whole machine. 0 or a negative errno with a message. */
int instance_make(struct tacho_ftrace *f, struct tacho_error *e);
/* The errno of an access to tracefs as a sentence; returns it. */
int instance_refuse(const struct tacho_ftrace *f, int err, const char *file, struct tacho_error *e);

/* ---- setting.c ---- */
/* Writes a file of the instance. Settings that only tracefs itself has are restored at the end. 0, -ENOENT (the kernel
 * does not have it) or another negative errno, with a message. */
int setting_write(struct tacho_ftrace *f, const char *file, const char *value, struct tacho_error *e);
int setting_number(struct tacho_ftrace *f, const char *file, uint64_t value, struct tacho_error *e);
/* Adds patterns of functions, or task IDs, to a list that is empty. */
int setting_list(struct tacho_ftrace *f, const char *file, const struct tacho_ftrace_names *values, struct tacho_error *e);
/* Undoes what a program left that was killed together with the process that should have restored its changes. */
void setting_recover(const struct tacho_ftrace *f);
/* Writes to a file of the instance as it is: no restoring, no message. */
int setting_put(const struct tacho_ftrace *f, const char *file, const char *value);
int setting_path(const char *dir, const char *file, char out[PATH_MAX]);
/* Whether a file of tracefs contains a word between blanks. */
bool setting_has_word(const char *dir, const char *file, const char *word);

/* The kernel forbids the function tracers: sets the message, and returns -EPERM. */
int refuse_functions(struct tacho_error *e);

/* ---- events.c ---- */
/* Enables the events of the options, and finds out what their records look like. */
int events_enable(struct tacho_ftrace *f, struct tacho_error *e);
int events_find_calls(struct tacho_ftrace *f, struct tacho_error *e);

#endif
