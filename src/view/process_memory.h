/*
 * What a process has at the moment: texts in its memory, its arguments, the files of its descriptors. The process may have
 * ended, or may have changed it since the event; a text that cannot be read is empty.
 */
#ifndef VIEW_PROCESS_MEMORY_H
#define VIEW_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* They return the length with a NUL at the end, at most `max`; 0: it cannot be read. */
size_t process_text(uint32_t pid, uint64_t address, char *out, size_t max);
size_t process_argv(uint32_t pid, char *out, size_t max);	/* with NULs in between */
size_t process_file_name(uint32_t pid, int fd, char *out, size_t max);	/* without directories */
uint32_t process_file_mode(uint32_t pid, int fd);		/* st_mode; 0: there is none */

#endif
