/*
 * The objects of a recording with their build IDs: from its build ID table, from its mmap records, and on
 * request from the files on this machine.
 */
#ifndef CLI_FILES_RECORDED_OBJECTS_H
#define CLI_FILES_RECORDED_OBJECTS_H

#include "base/arena.h"
#include "base/map.h"

#include <tacho/perfdata.h>

struct file_object {
	const char *path;
	uint8_t id[20];
	size_t n;			/* length of the build ID; 0: unknown */
	bool kernel;			/* the kernel or a module */
	bool hit;			/* has samples or frames of their call chains */
};

struct file_objects {
	struct { struct file_object *v; size_t n, cap; } list;
	struct map index;		/* path -> index in the list */
	struct arena arena;
};

enum {
	OBJECTS_RECORDS = 1,		/* also use mmap records */
	OBJECTS_HITS = 2,		/* also find out which objects have samples or frames of call chains */
	OBJECTS_DISK = 4,		/* read missing build IDs from the files */
};

/* Reads the objects of `pd`, which must be opened with .ordered for OBJECTS_HITS. 0 or a negative errno; if
 * the recording is damaged, the objects before the damage are in the list. */
int file_objects_read(struct file_objects *o, struct tacho_perfdata *pd, unsigned sources,
		      struct tacho_error *e);
/* Adds the object of an mmap record, for callers that read the records themselves. */
int file_objects_add_record(struct file_objects *o, const struct tacho_sideband *decoded);
/* Finds the object of an mmap record. NULL: none is in the list, e.g. because the memory is anonymous. */
struct file_object *file_objects_mapped(const struct file_objects *o, const struct tacho_sideband *decoded);
/* Reads a missing build ID from the object's file on this machine. Returns 0, also if there is none, or -ENOMEM. */
int file_object_disk(struct file_object *obj);
int file_objects_disk(struct file_objects *o);		/* those of all objects */
void file_objects_done(struct file_objects *o);
/* Reads the running kernel's build ID. Returns its length, or a negative errno. */
int kernel_build_id(uint8_t out[20]);

#endif
