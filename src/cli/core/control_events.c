/*
 * Executes the control channel's commands for single events; see control_events.h.
 */
#include "cli/core/control_events.h"

#include <errno.h>
#include <stdio.h>

#include "record/perf_abi.h"
#include "cli/core/command.h"
#include "cli/files/evlist_text.h"

/* Starts or stops the events with this name. As in perf, starting or stopping a group's first event
 * applies to the whole group. Events that are not open are ignored. */
static void switch_events(const char *command, struct tacho_evset *set, struct str name,
			  int (*start_or_stop)(struct tacho_evset *set, size_t i))
{
	size_t n = 0;

	for (size_t i = 0; i < tacho_evset_size(set); i++)
		n += str_is(name, tacho_evset_event(set, i)->name) && start_or_stop(set, i) != -EINVAL;
	if (!n)
		message_text(command, "control channel: '%.*s' is not an event or not the first of its group",
			     STR(name));
}

static void list_events(const struct tacho_evset *set, struct evlist_text text)
{
	scoped(buf_done) struct buf out = { 0 };

	text.out = &out;
	for (size_t i = 0; i < tacho_evset_size(set); i++) {
		const struct tacho_event *ev = tacho_evset_event(set, i);
		struct perf_event_attr attr = { 0 };
		struct tacho_file_event shown = { .name = ev->name, .attr = &attr, .attr_size = sizeof(attr),
						  .leader = ev->leader, .group_size = ev->group_size };

		tacho_evset_attr(set, i, &attr, sizeof(attr));
		evlist_text_event(&text, &shown, i);
		evlist_text_next(&text);
	}
	evlist_text_end(&text);
	if (!buf_failed(&out))
		fwrite(out.bytes, 1, out.n, stderr);
}

bool control_events_obey(const char *command, struct tacho_evset *set, struct str line)
{
	struct str word = { 0 }, rest = line;

	str_cut(&rest, ' ', &word);
	rest = str_trim(rest);
	if (str_is(word, "evlist") && (!rest.n || str_is(rest, "-v") || str_is(rest, "-g") || str_is(rest, "-F")))
		list_events(set, (struct evlist_text){ .verbose = str_is(rest, "-v"), .group = str_is(rest, "-g"),
						       .frequency = str_is(rest, "-F") });
	else if (rest.n && str_is(word, "enable"))
		switch_events(command, set, rest, tacho_evset_start_event);
	else if (rest.n && str_is(word, "disable"))
		switch_events(command, set, rest, tacho_evset_stop_event);
	else
		return false;
	return true;
}
