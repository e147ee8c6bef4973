/*
 * Where the files of JIT compilers are: perf maps and jitdumps of this machine and of containers, whose processes have
 * another root directory and other pids.
 */
#ifndef SYMBOL_JIT_FILES_H
#define SYMBOL_JIT_FILES_H

#include "symbol/objects.h"

/* The path of the object's perf map. 0 or -ENOMEM. */
int jit_map_path(const struct object *obj, const struct symbol_search *search, struct buf *out);
/* The path of a jitdump. 0 or -ENOMEM. */
int jit_dump_path(const struct object *obj, const struct symbol_search *search, struct buf *out);
/* The pid of a process in its own pid namespace, by /proc/PID/status: the last number of "NSpid:	812	1". `outer`, its pid
 * here, if the file cannot be read. */
uint32_t jit_inner_pid(const char *status_path, uint32_t outer);
/* The user a running process belongs to; ours if it has ended. */
uid_t jit_process_owner(uint32_t pid, const struct symbol_search *search);

#endif
