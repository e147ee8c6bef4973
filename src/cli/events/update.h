/*
 * `tacho events update`: fetches the event lists and metrics of a CPU from a server or a directory, into the
 * directory in which all commands look for them.
 */
#ifndef CLI_EVENTS_UPDATE_H
#define CLI_EVENTS_UPDATE_H

#include "cli/events/fetch.h"

#include <tacho/eventlist.h>

/* Where Intel publishes its lists. TACHO_EVENTS_URL and --from override it. */
#define UPDATE_URL "https://raw.githubusercontent.com/intel/perfmon/main"

struct update_opts {
	const char *from, *to, *cpu;	/* NULL: the default */
	uint32_t timeout_s;		/* 0: 30 */
	bool json;
};

/* Prints errors and returns the exit status. */
int events_update(struct tacho *t, const struct update_opts *o);

/* update_file.c: fetches one file, completely or not at all. */
struct update_source {
	const char *from;		/* a URL or a directory, without a trailing slash */
	const char *shown;		/* the same for messages: without a password */
	struct fetch *fetch;		/* NULL: a directory */
	void (*progress)(void *arg, const char *name, uint64_t done, uint64_t total);
	void *arg;
};

struct update_file {
	const char *name;		/* path relative to the source and to the destination directory */
	const char *as;			/* another name at the destination; NULL: the same */
	bool json;			/* the file must be JSON */
	bool events;			/* and must contain a list of events */

	uint64_t bytes;			/* result: its size */
	bool unchanged;			/* result: the destination had this version already */
};

/* Fetches the file into `dir`: to NAME.part, which is resumed after an interruption, then checks and renames it.
 * Returns 0, a negative errno of fetch_get(), or -EBADMSG if the file has the wrong contents. */
int update_take(const struct update_source *s, const char *dir, struct update_file *file,
		struct tacho_error *e);

/* update_json.c: checks that the text is JSON, and if `events`, that it has events. Modifies the text.
 * 0 or -EBADMSG. */
int update_check_json(char *text, size_t n, bool events, struct tacho_error *e);

#endif
