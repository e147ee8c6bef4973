/*
 * Scripts written for perf's Python interface: `tacho script -s FILE.py`. A child, python3 with the program of
 * python/runner.py, reads samples from a pipe and calls the script's functions. The pipe is the output of `tacho script`,
 * in place of stdout.
 */
#ifndef CLI_SCRIPT_PYTHON_H
#define CLI_SCRIPT_PYTHON_H

#include "cli/script/script.h"

/* Starts the script with its arguments. *fd is the pipe to write to, and *pid the child. 0 or a negative errno with *e. */
int python_start(const char *path, int argc, char **argv, pid_t *pid, int *fd, struct tacho_error *e);
/* After the pipe was closed: waits until the script has ended. Returns an exit status. */
int python_wait(pid_t pid);
/* Appends a sample's message to the sink. */
void python_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample, const struct line_head *head);
/* Appends the message of a record of a context switch, or of throttling. */
void python_sideband(struct script *s, const struct tacho_sideband *r);
/* Appends the message of a count of 'stat record'. */
struct python_count {
	const char *event;
	int64_t cpu, thread;
	uint64_t time, value, enabled, running;
};
void python_count(struct script *s, const struct python_count *c);
void python_interval(struct script *s, uint64_t time);	/* after the counts of a round */

/* ---- cli/script/script_names.c ---- */
/* -l: the scripts that perf has installed. */
int script_names_list(void);
/* `script NAME ARG...`, `script record NAME ARG...`, `script report NAME ARG...`: runs the scripts' own programs, for
 * which `perf` is tacho. Returns an exit status. */
int script_names_run(int argc, char **argv);
/* Scripts expect PERF_EXEC_PATH: sets it to the directory of perf's scripts, unless it is set. */
void script_names_export_path(void);
/* The path of -s: a file, or a script of perf's of this name. For free(). */
char *script_names_find(const char *name, struct tacho_error *e);

/* ---- cli/script/starter.c ---- */
/* -g python: writes the start of a script with a function for each event of the recording. Returns an exit status. */
int script_starter(const struct script_opts *o);

#endif
