/* Count what fib(30) costs, twenty times, and print the word on top of the user stack a thousand times per second. */
#include <stdio.h>
#include <tacho/tacho.h>
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void)
{
	const struct tacho_live_record *r;
	const struct tacho_sum *sum;
	struct tacho *t; struct tacho_evset *set; struct tacho_sampler *s; struct tacho_error e;
	int result = 0;
	if (tacho_open(&t, NULL, &e) < 0 || tacho_evset_new(&set, t) < 0 || tacho_sampler_new(&s, t) < 0 ||
	    tacho_evset_add(set, "task-clock:u,instructions:u", &e) < 0 || tacho_evset_open(set, NULL, &e) < 0 ||
	    tacho_sampler_add(s, "task-clock:u", &e) < 0 || tacho_sampler_open(s, TACHO_OPTS(tacho_sampler_opts,
	    .freq = 1000, .chain = TACHO_CHAIN_DWARF, .stack_bytes = 8), &e) < 0)
		return fprintf(stderr, "stacks: %s\n", e.message), 1;
	tacho_evset_start(set), tacho_sampler_start(s);
	for (int i = 0; i < 20; i++) result += fib(30);
	tacho_evset_stop(set), tacho_sampler_stop(s), tacho_evset_read(set, &e);
	for (int i = 0, n = tacho_evset_sums(set, NULL, &sum); i < n; i++)
		printf("%s: %.0f (%s)\n", tacho_evset_event(set, i)->name, sum[i].value, tacho_state_name(sum[i].state));
	while (tacho_sampler_next(s, &r, 0) == 1)
		if (r->sample && r->sample->n_stack_used == 8)
			printf("ip %#llx: %#llx\n", (unsigned long long)r->sample->ip, *(const unsigned long long *)(const void *)r->sample->stack);
	return tacho_sampler_free(s), tacho_evset_free(set), tacho_close(t), result != 20 * 832040;
}
