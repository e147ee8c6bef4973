/*
 * Libraries that are loaded when a command needs them, so that others do not pay for them. In a program that is linked
 * statically they are those that were linked in, and no others can be loaded: base/linked_library.c.
 */
#ifndef BASE_SHARED_LIBRARY_H
#define BASE_SHARED_LIBRARY_H

/* NULL: it is not installed, or not linked in. */
void *shared_library_open(const char *soname);
/* The address of a function, or NULL. */
void *shared_library_find(void *library, const char *name);
void shared_library_close(void *library);

#endif
