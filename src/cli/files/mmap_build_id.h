/*
 * Rewrites mmap records for inject -B and --mmap2-buildid-all: an MMAP2 record with the object's build ID takes
 * the place of an MMAP or MMAP2 record.
 */
#ifndef CLI_FILES_MMAP_BUILD_ID_H
#define CLI_FILES_MMAP_BUILD_ID_H

#include "base/buf.h"
#include "cli/files/recorded_objects.h"

/* Replaces the content of `out` by the new record. `decoded` is the decoded form of `rec`. The sample_id trailer is
 * copied. Returns 0, -EBADMSG if the record is too short for a trailer, or -ENOMEM. */
int mmap_with_build_id(struct buf *out, const struct tacho_record *rec, const struct tacho_sideband *decoded,
		       const struct tacho_layout *layout, const struct file_object *obj);

#endif
