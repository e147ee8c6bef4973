/*
 * Libraries of a program that is linked statically, in place of base/shared_library.c: the functions that would be
 * looked up in shared libraries are in a table that tools/linked-functions makes when tacho is built.
 */
#include "base/shared_library.h"

#include <string.h>

#include "base/defs.h"
#include "base/linked_functions.h"	/* linked_functions[]: soname, name, address */

void *shared_library_open(const char *soname)
{
	for (size_t i = 0; i < countof(linked_functions); i++)
		if (strcmp(linked_functions[i].soname, soname) == 0)
			return (void *)(uintptr_t)&linked_functions[i];
	return NULL;
}

void *shared_library_find(void *library, const char *name)
{
	const struct linked_function *of = library;

	for (size_t i = 0; i < countof(linked_functions); i++)
		if (strcmp(linked_functions[i].soname, of->soname) == 0 && strcmp(linked_functions[i].name, name) == 0)
			return linked_functions[i].address;
	return NULL;
}

void shared_library_close(void *library)
{
	(void)library;
}
