/*
 * Count a group: its events are on the hardware together or not at all, so their ratio holds even
 * when the counters are shared. Instructions per cycle where there is a PMU, faults per
 * millisecond where there is none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tacho/tacho.h>

#define WITH_PMU "{cycles,instructions}:u"
#define WITHOUT "{task-clock,page-faults}:u"
#define BLOCK (1u << 20)

static void work(void)
{
	for (int i = 0; i < 200; i++) {
		volatile char *block = malloc(BLOCK);

		for (size_t at = 0; block && at < BLOCK; at += 64)
			block[at] = (char)i;
		free((void *)block);
	}
}

/* Returns how many events of the group can count here. */
static int open_group(struct tacho *t, const char *spec, struct tacho_evset **out)
{
	struct tacho_error e;

	if (tacho_evset_new(out, t) < 0)
		return -1;
	if (tacho_evset_add(*out, spec, &e) < 0)
		return -1;
	return tacho_evset_open(*out, NULL, &e);
}

int main(void)
{
	const struct tacho_sum *sums;
	struct tacho_evset *set;
	struct tacho_error e;
	struct tacho *t;

	if (tacho_open(&t, NULL, &e) < 0)
		return 1;
	if (open_group(t, WITH_PMU, &set) < 2) {
		tacho_evset_free(set);
		if (open_group(t, WITHOUT, &set) < 2)
			return 1;
	}
	tacho_evset_start(set);
	work();
	tacho_evset_stop(set);
	tacho_evset_read(set, &e);
	if (tacho_evset_sums(set, NULL, &sums) != 2)
		return 1;
	printf("%s %.2f\n%s %.2f\nratio %.3f\n", tacho_evset_event(set, 0)->name, sums[0].value,
	       tacho_evset_event(set, 1)->name, sums[1].value, sums[1].value / sums[0].value);
	tacho_evset_free(set);
	tacho_close(t);
	return 0;
}
