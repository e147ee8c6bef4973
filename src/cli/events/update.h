/*
 * `tacho events update`: fetches the event lists and metrics of a CPU from a server or a directory, and
 * stores them in the directory from which all commands read event lists.
 */
#ifndef CLI_EVENTS_UPDATE_H
#define CLI_EVENTS_UPDATE_H

#include "cli/events/fetch.h"

#include <tacho/eventlist.h>

/* URL of Intel's event lists. TACHO_EVENTS_URL and --from override it. */
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
	const char *shown;		/* `from` without the password, for messages */
	struct fetch *fetch;		/* NULL: a directory */
	void (*progress)(void *arg, const char *name, uint64_t done, uint64_t total);
	void *arg;
};

struct update_file {
	const char *name;		/* path relative to the source and to the destination directory */
	const char *as;			/* name at the destination; NULL: same as `name` */
	bool json;			/* the file must be JSON */
	bool events;			/* the file must contain a list of events */

	uint64_t bytes;			/* result: size of the file */
	bool unchanged;			/* result: the destination already had this version */
};

/* Fetches the file into `dir`: writes NAME.part, which can be resumed after an interruption, then checks
 * it and renames it to NAME. Returns 0, a negative errno of fetch_get(), or -EBADMSG if the file has the
 * wrong contents. */
int update_take(const struct update_source *s, const char *dir, struct update_file *file,
		struct tacho_error *e);

/* update_json.c: checks that the text is JSON and, if `events` is set, that it has events. Modifies the text.
 * 0 or -EBADMSG. */
int update_check_json(char *text, size_t n, bool events, struct tacho_error *e);

#endif
