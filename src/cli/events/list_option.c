/*
 * Adds the lists given with --event-list.
 */
#include "cli/events/list_option.h"

#include <errno.h>

int event_lists_add(const char *command, struct tacho *t, const struct strlist *lists)
{
	for (size_t i = 0; i < lists->n; i++) {
		struct tacho_error e = { .column = -1 };
		int err = tacho_eventlist_add(t, lists->v[i], &e);

		if (err < 0) {
			message_error(command, NULL, NULL, &e);
			return err;
		}
	}
	return 0;
}
