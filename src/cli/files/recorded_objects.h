/*
 * The objects of a recording with their build ids: what its table says, what its records of
 * mappings say, and where asked for, what the files on disk say.
 */
#ifndef CLI_FILES_RECORDED_OBJECTS_H
#define CLI_FILES_RECORDED_OBJECTS_H

#include "base/arena.h"
#include "base/map.h"

#include <tacho/perfdata.h>

struct file_object {
	const char *path;
	uint8_t id[20];
	size_t n;			/* 0: no build id is known */
	bool kernel;
	bool hit;			/* a sample lies in it */
};

struct file_objects {
	struct { struct file_object *v; size_t n, cap; } list;
	struct map index;		/* path -> place in the list */
	struct arena arena;
};

enum {
	OBJECTS_RECORDS = 1,		/* also read what the records of mappings say */
	OBJECTS_HITS = 2,		/* also find out which ones samples lie in */
	OBJECTS_DISK = 4,		/* read the files of those without an id */
};

/* Reads all of `pd`, which has to be opened in the order of time for OBJECTS_HITS. 0 or a negative
 * errno; damage at the end keeps what came before. */
int file_objects_read(struct file_objects *o, struct tacho_perfdata *pd, unsigned what,
		      struct tacho_error *e);
/* What one record says of mappings, for those who read the file themselves; `decoded` is it. */
int file_objects_take(struct file_objects *o, const struct tacho_sideband *decoded);
/* Reads the files of those without an id. */
void file_objects_disk(struct file_objects *o);
void file_objects_done(struct file_objects *o);
/* The kernel's own build id, here and now. Its length, or a negative errno. */
int kernel_build_id(uint8_t out[20]);

#endif
