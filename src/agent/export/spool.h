/*
 * A bounded queue of bodies to be sent: files in a directory, oldest first, so that they survive the
 * agent; without a directory, in memory. Used by one thread.
 *
 * A file is named by its number and contains a header line ("tacho 2 FORMAT POINTS FROM TO") and the
 * body. It is written under a temporary name and renamed, so it is always complete. Bodies of
 * another format (the type of the exporter was changed) are deleted when the queue is opened,
 * because the receiver could not read them.
 */
#ifndef AGENT_EXPORT_SPOOL_H
#define AGENT_EXPORT_SPOOL_H

#include "agent/export/exporter.h"

struct spool;

/* `dir` NULL: in memory; also if another process has locked the directory (`tacho agent exec` next
 * to the daemon). Loads the items in this format that an earlier agent left; *n_foreign, unless NULL,
 * is set to the number of deleted points of other formats. Returns 0 or a negative errno. */
int spool_open(struct spool **out, const char *dir, const char *format, uint64_t max_bytes,
	       uint64_t *n_foreign);
void spool_close(struct spool *s);
/* Appends a body; the oldest are dropped if the queue would exceed its limit. Returns how many
 * points were dropped (including the body's own if it cannot be stored). */
uint64_t spool_put(struct spool *s, const struct export_body *item);
/* The oldest item, valid until the next call; false: empty. */
bool spool_first(struct spool *s, struct export_body *out);
void spool_drop_first(struct spool *s);		/* after it was sent or refused */
uint64_t spool_bytes(const struct spool *s);
uint64_t spool_points(const struct spool *s);
int64_t spool_oldest_ns(const struct spool *s);	/* 0: empty */

#endif
