/*
 * An append-only file of lines that is replaced by a new one when it has grown too large or too old:
 * FILE becomes FILE.1, FILE.1 becomes FILE.2 ... "-" is stdout, which does not rotate.
 *
 *	rotating_file_open -> rotating_file_write ... -> rotating_file_close
 */
#ifndef AGENT_EXPORT_ROTATING_FILE_H
#define AGENT_EXPORT_ROTATING_FILE_H

#include "agent/export/exporter.h"

enum rotating_file_sync { SYNC_NEVER, SYNC_ROTATE, SYNC_WRITE };

/* A member of the settings of exporters that write files. */
struct rotating_file_settings {
	char *path;
	uint64_t max_bytes, every_ns, keep;
	int sync;
};

#define ROTATING_FILE_AT(type, member, field)                                                      \
	offsetof(type, member) + offsetof(struct rotating_file_settings, field)
#define ROTATING_FILE_KEYS(type, member)                                                           \
	{ KEY_STRING,                                                                              \
	  "path",                                                                                  \
	  ROTATING_FILE_AT(type, member, path),                                                    \
	  NULL,                                                                                    \
	  "the file; \"-\" is stdout",                                                             \
	  .required = true },                                                                      \
		{ KEY_BYTES, "max_size", ROTATING_FILE_AT(type, member, max_bytes), "64M",         \
		  "rotate the file when it exceeds this size; 0: never" },                         \
		{ KEY_DURATION, "rotate", ROTATING_FILE_AT(type, member, every_ns), "1d",          \
		  "rotate the file after this time: \"1h\" rotates at every full hour; \"0s\": "   \
		  "never" },                                                                       \
		{ KEY_U64,                                                                         \
		  "keep",                                                                          \
		  ROTATING_FILE_AT(type, member, keep),                                            \
		  "7",                                                                             \
		  "how many old files to keep",                                                    \
		  .max = 10000 },                                                                  \
	{                                                                                          \
		KEY_CHOICE, "sync", ROTATING_FILE_AT(type, member, sync), "never",                 \
			"when to fsync: after every write, when the file is rotated, or never",    \
			.choices = "never rotate write"                                            \
	}

struct rotating_file;

/* `header` is the first line of every file, or NULL. */
int rotating_file_open(struct rotating_file **out, const struct rotating_file_settings *s,
		       const struct push_settings *push, const struct exporter_env *env,
		       const char *header, struct tacho_error *e);
/* Writes the whole body or nothing. */
enum send_result rotating_file_write(struct rotating_file *r, const struct export_body *item,
				     struct send_reply *reply);
void rotating_file_close(struct rotating_file *r);

#endif
