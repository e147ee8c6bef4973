/*
 * The event language fed with anything. The first byte chooses a recorded tree and whether it
 * is for counting; the rest is the spec. Whatever comes, the parse must end, the list must be
 * consistent on success and untouched on failure, and an error must point into the spec.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char *const trees[] = { "none", "hybrid", "spr", "amd", "arm64", "power" };

static struct tacho *context(size_t i)
{
	static struct tacho *kept[countof(trees)];
	char sysfs[512];

	if (!kept[i]) {
		snprintf(sysfs, sizeof(sysfs), TEST_DATA "/sysfs/%s", trees[i]);
		if (tacho_open(&kept[i], TACHO_OPTS(tacho_opts, .sysfs = sysfs,
						    .tracefs = TEST_DATA "/tracefs"), NULL) < 0)
			abort();
	}
	return kept[i];
}

static void check_list(const struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct event *ev = &list->v[i];

		if (!ev->name || !ev->pmu || !ev->unit || ev->leader > i || ev->merge >= list->n ||
		    ev->leader + ev->group_size > list->n || i >= ev->leader + ev->group_size ||
		    list->v[ev->merge].merge != ev->merge)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	char *spec;
	int got;

	if (!n)
		return 0;
	spec = malloc(n);
	if (!spec)
		return 0;
	memcpy(spec, bytes + 1, n - 1);
	spec[n - 1] = '\0';
	got = event_parse(context(bytes[0] % countof(trees)), spec, bytes[0] >> 7, &list, &e);
	if (got < 0 ? list.n != 0 || e.code != got || e.column > (int)strlen(spec) :
		      (size_t)got != list.n)
		abort();
	check_list(&list);
	event_list_done(&list);
	free(spec);
	return 0;
}
