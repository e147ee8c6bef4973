/*
 * meter EVENT: reads a counter around a loop of a million rounds of two instructions by the library,
 * and prints whether that took no system call, and what it counted.
 *
 *	fast|slow SUM REGIONS COST
 */
#include <inttypes.h>
#include <stdio.h>
#include <tacho/tacho.h>

#define ROUNDS 1000000

static void loop(uint64_t rounds)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#else
	__asm__ volatile("1: sub $1, %0\n\tjne 1b" : "+r"(rounds) : : "cc");
#endif
}

int main(int argc, char **argv)
{
	struct tacho_region region = TACHO_REGION("loop");
	struct tacho_meter *meter;
	struct tacho_error e;
	struct tacho_mark mark;
	struct tacho *t;

	if (tacho_open(&t, NULL, &e) < 0 ||
	    tacho_meter_open(&meter, t, argc > 1 ? argv[1] : "cycles:u", &e) < 0) {
		printf("meter: %s\n", e.message);
		return 1;
	}
	for (int i = 0; i < 10; i++) {
		if (tacho_region_begin(meter, &mark) < 0)
			return 1;
		loop(ROUNDS);
		if (tacho_region_end(meter, &mark, &region) < 0)
			return 1;
	}
	for (size_t i = 0; i < tacho_meter_size(meter); i++)
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       tacho_meter_is_fast(meter, i) ? "fast" : "slow", region.sum[i],
		       region.n - region.n_multiplexed, tacho_meter_cost(meter, i));
	tacho_meter_close(meter);
	tacho_close(t);
	return 0;
}
