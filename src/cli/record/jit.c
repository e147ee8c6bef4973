/*
 * --jit: what a recording of JIT-compiled code needs beside samples. JVMs that are recorded are asked for the names of their
 * functions, and maps that processes in containers have written are copied to where they are found later.
 *
 * Node, Python and others only write a map if they were started to do so: see cli/core/jit_env.h.
 */
#include "cli/record/record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"
#include "base/vec.h"

#include <tacho/jit.h>

#define ANSWER_MS 10000u
#define MAX_DEPTH 64u			/* of processes that started each other */

/* The number of processes that -p names. The sampler's target has the command's pid if there is no other target. */
static size_t n_named(const struct record_plan *plan)
{
	return plan->pids ? plan->target.n_pids : 0;
}

static bool is_whole_machine(const struct record_plan *plan)
{
	const struct tacho_evset_opts *t = &plan->target;

	return !plan->pids && !plan->tids && (t->all_cpus || t->cpus || t->by_uid);
}

static int ask_jvm(void *arg, int pid)
{
	const bool *quiet = arg;
	struct tacho_error e = { .column = -1 };

	if (tacho_jvm_write_map(pid, ANSWER_MS, &e) < 0 && !*quiet)
		message_error("record", NULL, NULL, &e);
	return 0;
}

void record_jit_ask(const struct record_plan *plan, bool quiet)
{
	struct tacho_error e = { .column = -1 };

	if (is_whole_machine(plan))
		tacho_jvm_each(ask_jvm, &quiet);
	for (size_t i = 0; i < n_named(plan); i++) {
		int found = tacho_jvm_check(plan->pids[i], &e);

		if (found > 0)
			ask_jvm(&quiet, plan->pids[i]);
		else if (found < 0 && !quiet)
			message_error("record", NULL, NULL, &e);
	}
}

/* ---- maps of containers ---- */

static void fetch_children(int pid, unsigned depth);

/* The children that one thread has started: /proc/PID/task/TID/children. */
static void fetch_children_of(int pid, const char *tid, unsigned depth)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, word;
	char path[320];
	int child;

	if (snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, tid) >= (int)sizeof(path) ||
	    io_read(path, IO_FILE_MAX, &text) < 0)
		return;
	rest = buf_view(&text);
	while (str_cut(&rest, ' ', &word)) {
		if (num_int(word, &child) < 0 || child <= 0)
			continue;
		tacho_jit_fetch_map(child, NULL);
		fetch_children(child, depth + 1);
	}
}

static void fetch_children(int pid, unsigned depth)
{
	const struct dirent *d;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = depth < MAX_DEPTH ? opendir(path) : NULL;
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			fetch_children_of(pid, d->d_name, depth);
	if (dir)
		closedir(dir);
}

static void fetch_all(void)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	int pid;

	while (dir && (d = readdir(dir)))
		if (num_int(str_of(d->d_name), &pid) == 0 && pid > 0)
			tacho_jit_fetch_map(pid, NULL);
	if (dir)
		closedir(dir);
}

void record_jit_fetch(const struct record_plan *plan, int command)
{
	if (command > 0) {
		tacho_jit_fetch_map(command, NULL);
		fetch_children(command, 0);
	}
	for (size_t i = 0; i < n_named(plan); i++)
		tacho_jit_fetch_map(plan->pids[i], NULL);
	if (is_whole_machine(plan))
		fetch_all();
}
