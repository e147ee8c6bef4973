/*
 * Count one region of code: what does sorting 200,000 numbers cost this thread?
 *
 *	region [EVENTS]		e.g. region cycles,instructions
 */
#include <stdio.h>
#include <stdlib.h>
#include <tacho/tacho.h>

#define NUMBERS 200000
#define ROUNDS 5

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void show(const struct tacho_meter *meter, const struct tacho_region *region)
{
	printf("%s, %llu times:\n", region->name, (unsigned long long)region->n);
	for (size_t i = 0; i < tacho_meter_size(meter); i++)
		printf("  %-16s %12llu each, %llu to %llu (measuring adds %llu, taken off)\n",
		       tacho_meter_event(meter, i),
		       (unsigned long long)(region->sum[i] / region->n),
		       (unsigned long long)region->min[i], (unsigned long long)region->max[i],
		       (unsigned long long)tacho_meter_cost(meter, i));
}

int main(int argc, char **argv)
{
	static int numbers[NUMBERS];
	struct tacho_region sorting = TACHO_REGION("sorting");
	struct tacho_meter *meter;
	struct tacho_error e;
	struct tacho_mark mark;
	struct tacho *t;

	if (tacho_open(&t, NULL, &e) < 0 ||
	    tacho_meter_open(&meter, t, argc > 1 ? argv[1] : NULL, &e) < 0) {
		fprintf(stderr, "region: %s\n", e.message);
		return 1;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < NUMBERS; i++)
			numbers[i] = rand();
		tacho_region_begin(meter, &mark);
		qsort(numbers, NUMBERS, sizeof(*numbers), by_value);
		tacho_region_end(meter, &mark, &sorting);
	}
	show(meter, &sorting);
	tacho_meter_close(meter);
	tacho_close(t);
	return 0;
}
