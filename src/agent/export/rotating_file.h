/*
 * A file that lines are appended to, and that gives way to a new one when it has grown too large
 * or too old: FILE becomes FILE.1, that FILE.2 ... "-" is stdout, which does not rotate.
 *
 *	rotate_open -> rotate_write ... -> rotate_close
 */
#ifndef AGENT_EXPORT_ROTATING_FILE_H
#define AGENT_EXPORT_ROTATING_FILE_H

#include "agent/export/exporter.h"

enum rotate_sync { SYNC_NEVER, SYNC_ROTATE, SYNC_WRITE };

/* A member of the settings of those who write files. */
struct rotate_settings {
	char *path;
	uint64_t max_bytes, every_ns, keep;
	int sync;
};

#define ROTATE_AT(type, member, field) offsetof(type, member) + offsetof(struct rotate_settings, field)
#define ROTATE_KEYS(type, member)                                                                    \
	{ KEY_STRING, "path", ROTATE_AT(type, member, path), NULL,                                   \
	  "the file; \"-\" is stdout", .required = true },                                           \
	{ KEY_BYTES, "max_size", ROTATE_AT(type, member, max_bytes), "64M",                          \
	  "a larger file gives way to a new one; 0: never" },                                        \
	{ KEY_DURATION, "rotate", ROTATE_AT(type, member, every_ns), "1d",                           \
	  "so does an older one: \"1h\" begins a new one every full hour; \"0s\": never" },               \
	{ KEY_U64, "keep", ROTATE_AT(type, member, keep), "7", "so many old files are kept",         \
	  .max = 10000 },                                                                            \
	{ KEY_CHOICE, "sync", ROTATE_AT(type, member, sync), "never",                                \
	  "when the disk is waited for: after every write, before a file gives way, or never",       \
	  .choices = "never rotate write" }

struct rotate;

/* `header` is the first line of every file, or NULL. */
int rotate_open(struct rotate **out, const struct rotate_settings *s, const struct push_settings *push,
		const struct exporter_env *env, const char *header, struct tacho_error *e);
/* All of the body is written, or nothing. */
enum ship_result rotate_write(struct rotate *r, const struct shipment *item, struct ship_reply *reply);
void rotate_close(struct rotate *r);

#endif
