/*
 * Tells a process from its children after fork(), without a system call per question. An object that holds memory
 * mappings or counters remembers the generation that it was made in; in a child the current one is another.
 */
#ifndef BASE_FORK_GENERATION_H
#define BASE_FORK_GENERATION_H

/* How many forks there are between the first process that called this and the calling one. Forks that bypass
 * fork(), by a plain clone(), are not counted. */
unsigned fork_generation(void);

#endif
