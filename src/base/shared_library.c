/*
 * Shared libraries by the dynamic linker.
 */
#include "base/shared_library.h"

#include <dlfcn.h>

void *shared_library_open(const char *soname)
{
	return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
}

void *shared_library_find(void *library, const char *name)
{
	return dlsym(library, name);
}

void shared_library_close(void *library)
{
	dlclose(library);
}
