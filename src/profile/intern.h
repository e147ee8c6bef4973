/*
 * Names, objects, events, threads and cgroups: equal ones have the same id. All functions return KEYMAP_NONE
 * if out of memory.
 */
#ifndef PROFILE_INTERN_H
#define PROFILE_INTERN_H

#include "profile/profile.h"

uint32_t profile_intern_name(struct tacho_profile *p, const char *text);
uint32_t profile_intern_object(struct tacho_profile *p, const struct tacho_profile_object *desc);	/* by its path */
uint32_t profile_intern_event(struct tacho_profile *p, const char *name);
uint32_t profile_intern_thread(struct tacho_profile *p, uint32_t pid, uint32_t tid, const char *comm);
int profile_add_cgroup(struct tacho_profile *p, uint64_t id, const char *path);	/* 0 or -ENOMEM */

#endif
