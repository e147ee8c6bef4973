/*
 * enable, disable and evlist on the control channel.
 */
#include "cli/core/control_events.h"

#include <errno.h>
#include <stdio.h>

#include "record/perf_abi.h"
#include "cli/core/command.h"
#include "cli/files/evlist_text.h"

/* A group is switched by its leader, as in perf. Events that are not open (-EINVAL) do not count. */
static void switch_events(const struct control_events *c, struct str name, int (*switch_event)(void *set, size_t i))
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += str_is(name, c->event(c->set, i)->name) && switch_event(c->set, i) != -EINVAL;
	if (!n)
		message_text(c->command, "'%.*s' on the control channel is not an event, or not the leader of its "
			     "group", STR(name));
}

static void list_events(const struct control_events *c, struct evlist_text text)
{
	scoped(buf_done) struct buf out = { 0 };

	text.out = &out;
	for (size_t i = 0; i < c->n; i++) {
		const struct tacho_event *ev = c->event(c->set, i);
		struct perf_event_attr attr = { 0 };
		struct tacho_file_event shown = { .name = ev->name, .attr = &attr, .attr_size = sizeof(attr),
						  .leader = ev->leader, .group_size = ev->group_size };

		c->attr(c->set, i, &attr, sizeof(attr));
		evlist_text_event(&text, &shown, i);
		evlist_text_next(&text);
	}
	evlist_text_end(&text);
	if (!buf_failed(&out))
		fwrite(out.bytes, 1, out.n, stderr);
}

bool control_events_obey(const struct control_events *c, struct str line)
{
	struct str word = { 0 }, rest = line;

	str_cut(&rest, ' ', &word);
	rest = str_trim(rest);
	if (str_is(word, "evlist") && (!rest.n || str_is(rest, "-v") || str_is(rest, "-g") || str_is(rest, "-F")))
		list_events(c, (struct evlist_text){ .verbose = str_is(rest, "-v"), .group = str_is(rest, "-g"),
					      .frequency = str_is(rest, "-F") });
	else if (rest.n && str_is(word, "enable"))
		switch_events(c, rest, c->start);
	else if (rest.n && str_is(word, "disable"))
		switch_events(c, rest, c->stop);
	else
		return false;
	return true;
}
