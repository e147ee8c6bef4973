/*
 * metric-plan SYSFS FILE...: each metric of the lists on its own, planned on the machine that SYSFS shows.
 * One line each: "NAME <tab> ok|several <tab> GROUPS", or "NAME <tab> REASON". Groups are separated by blanks,
 * their events by semicolons.
 */
#include <stdio.h>
#include <string.h>

#include <tacho/tacho.h>

static void put_groups(const struct tacho_evset *set)
{
	const char *between = "";

	for (uint32_t i = 0; i < tacho_evset_size(set); i++) {
		const struct tacho_event *ev = tacho_evset_event(set, i);

		if (ev->merge != i)
			continue;
		if (ev->leader == i)
			fputs(between, stdout);
		else
			putchar(';');
		fputs(ev->name, stdout);
		between = " ";
	}
}

static int plan(void *arg, const struct tacho_metric *m)
{
	struct tacho *t = arg;
	const struct tacho_metric_set_opts opts = { .size = sizeof(opts), .target_cpu = true, .core_wide = true,
						    .no_threshold = true };
	struct tacho_metric_set *ms = NULL;
	struct tacho_evset *set = NULL;
	struct tacho_error e = { .column = -1 };
	int err;

	if (!m->listed)
		return 0;
	printf("%s\t", m->name);
	if (tacho_metric_set_new(&ms, t, &opts) < 0 || tacho_evset_new(&set, t) < 0)
		return 2;
	err = tacho_metric_set_add(ms, m->name, &e);
	if (err >= 0)
		err = tacho_metric_set_plan(ms, set, &e);
	if (err < 0) {
		puts(e.message);
	} else {
		/* A group may have the name of a metric: then it is not one metric that is looked at. */
		fputs(tacho_metric_set_size(ms) == 1 ? "ok\t" : "several\t", stdout);
		put_groups(set);
		putchar('\n');
	}
	tacho_metric_set_free(ms);
	tacho_evset_free(set);
	return 0;
}

int main(int argc, char **argv)
{
	struct tacho_error e = { .column = -1 };
	struct tacho *t;

	if (argc < 3 || tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = argv[1]), &e) < 0)
		return 2;
	for (int i = 2; i < argc; i++)
		if (tacho_eventlist_add(t, argv[i], &e) < 0) {
			fprintf(stderr, "%s\n", e.message);
			return 1;
		}
	if (tacho_metric_walk(t, NULL, plan, t, &e) < 0)
		return 1;
	tacho_close(t);
	return 0;
}
