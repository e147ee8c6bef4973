/*
 * `tacho events update`: the lists of a CPU, and what is published with them, from a server or a
 * directory into the directory where they are looked for.
 */
#ifndef CLI_EVENTS_UPDATE_H
#define CLI_EVENTS_UPDATE_H

#include "cli/events/fetch.h"

#include <tacho/eventlist.h>

/* Where Intel publishes its lists. TACHO_EVENTS_URL and --from name another place. */
#define UPDATE_URL "https://raw.githubusercontent.com/intel/perfmon/main"

struct update_opts {
	const char *from, *to, *cpu;	/* NULL: the default */
	uint32_t timeout_s;		/* 0: 30 */
	bool json;
};

/* Returns the exit status; what went wrong is reported. */
int events_update(struct tacho *t, const struct update_opts *o);

/* update_file.c: one file, whole or not at all. */
struct update_source {
	const char *from;		/* an address or a directory, without a slash at its end */
	const char *shown;		/* the same for messages: without a password */
	struct fetch *fetch;		/* NULL: a directory */
	void (*progress)(void *arg, const char *name, uint64_t done, uint64_t total);
	void *arg;
};

struct update_file {
	const char *name;		/* below the source, and below the directory it goes to */
	const char *as;			/* another name there; NULL: the same */
	bool json;			/* it has to be JSON */
	bool events;			/* and to have a list of events */

	uint64_t bytes;			/* it has now */
	bool unchanged;			/* it was there already */
};

/* Takes it into `dir`: by NAME.part, which is gone on with the next time, checked, and renamed. 0 or a
 * negative errno as of fetch_get(); -EBADMSG: what came is not what it should be. */
int update_take(const struct update_source *s, const char *dir, struct update_file *file,
		struct tacho_error *e);

/* update_json.c: 0, or -EBADMSG where the text, which is changed by it, is no JSON or has no event. */
int update_check_json(char *text, size_t n, bool events, struct tacho_error *e);

#endif
