/*
 * Writes a jitdump (version 1), for the agent inside of a JVM. The functions may be called by several threads at once; after
 * a failure to write they do nothing.
 */
#ifndef JVMTI_DUMP_H
#define JVMTI_DUMP_H

#include <stddef.h>
#include <stdint.h>

/* Lines of one function, in the format of the file. */
struct dump_lines {
	char *bytes;
	size_t n_bytes, capacity;
	uint64_t n;
};

/* Creates DIRECTORY/jit-PID.dump (NULL or "": /tmp), and maps a page of it, by which profilers find it. 0 or a negative errno. */
int dump_open(const char *directory);
/* Writes a function with its code. `lines` may be NULL. */
void dump_function(const char *name, const void *code, size_t size, const struct dump_lines *lines);

/* From `address` on, code belongs to a line. Lines that do not fit into memory are left out. */
void dump_lines_add(struct dump_lines *l, uint64_t address, uint32_t line, const char *file);
void dump_lines_done(struct dump_lines *l);

#endif
