/*
 * Shared by the files that decode features: cursors over payloads and lists.
 */
#ifndef PERFDATA_FEATURE_DECODE_H
#define PERFDATA_FEATURE_DECODE_H

#include "record/cursor.h"

#include <tacho/perfdata.h>

#define BUILD_ID_HAS_LENGTH (1u << 15)		/* bit of misc in a BUILD_ID record */

/* A cursor over the payload; 0 or -ENOENT, with an empty cursor. */
int feature_cursor(const struct tacho_perfdata *pd, enum tacho_feature f, struct cursor *out);
/* u32 length, then the text, padded with zeros to that length. */
struct tacho_text cursor_text(struct cursor *c);

/* A cursor at the next entry; false at the end of the list. */
bool list_cursor(const struct tacho_feature_list *list, struct cursor *out);
/* Moves the list to after the decoded entry: 1, or -EBADMSG if the cursor has failed. */
int list_advance(struct tacho_feature_list *list, const struct cursor *c);

#endif
