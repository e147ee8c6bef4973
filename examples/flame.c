/* A flame graph of a piece of this program. */
#include <tacho/tacho.h>
int main(void)
{
	struct tacho *t; struct tacho_profiler *p; struct tacho_profile *profile; double sum = 0;
	if (tacho_open(&t, NULL, NULL) < 0 || tacho_profiler_start(&p, t, NULL, NULL) < 0) return 1;
	for (int i = 1; i < 100000000; i++) sum += 1.0 / i;
	int err = tacho_profiler_stop(p, &profile, NULL);
	if (err == 0) err = tacho_output_file("region.svg", profile, NULL, NULL), tacho_profile_free(profile);
	tacho_close(t);
	return err < 0 || sum < 18;
}
