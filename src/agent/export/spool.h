/*
 * A bounded queue of bodies that could not be sent yet: files in a directory, oldest first, so
 * that they outlive the agent; without a directory in memory. Used by one thread.
 *
 * A file is named by its number and holds one line ("tacho 2 FORMAT POINTS FROM TO") and the body. It
 * is written under another name first: what is there is whole. Bodies of another format (the exporter
 * became one of another type under the same name) would only confuse the receiver: they are removed
 * when the queue is opened.
 */
#ifndef AGENT_EXPORT_SPOOL_H
#define AGENT_EXPORT_SPOOL_H

#include "agent/export/exporter.h"

struct spool;

/* `dir` NULL: in memory; so it is where another process uses the directory (`tacho agent exec` beside
 * the daemon). What an earlier agent left in this format is taken over; *n_foreign, or NULL, is how
 * many points of other formats went. 0 or a negative errno. */
int spool_open(struct spool **out, const char *dir, const char *format, uint64_t max_bytes,
	       uint64_t *n_foreign);
void spool_close(struct spool *s);
/* Puts a body behind the others; the oldest go where the bound asks for it. Returns how many
 * points were dropped for that (the body's own, when it cannot be kept at all). */
uint64_t spool_put(struct spool *s, const struct shipment *item);
/* The oldest; false: none. Valid until the next call. */
bool spool_first(struct spool *s, struct shipment *out);
void spool_drop_first(struct spool *s);		/* it was sent, or never will be */
uint64_t spool_bytes(const struct spool *s);
uint64_t spool_points(const struct spool *s);
int64_t spool_oldest_ns(const struct spool *s);	/* 0: empty */

#endif
