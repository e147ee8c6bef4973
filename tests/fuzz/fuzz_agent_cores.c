/* Cores fed with anything: strings between newlines. Groups are never empty, and no CPU is in two. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/config/cpu_groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str words[64], rest = str_n((const char *)bytes, n);
	struct tacho_error e = { 0 };
	struct cpu_groups c;
	size_t n_words = 0;
	int err;

	while (n_words < countof(words) && str_cut(&rest, '\n', &words[n_words]))
		n_words++;
	err = cpu_groups_parse(&c, words, n_words, 1024, &e);
	if (err) {
		if (e.code != err || !e.message[0] || c.bad >= n_words ||
		    (e.column >= 0 && (size_t)e.column > words[c.bad].n))
			abort();
		return 0;
	}
	for (size_t i = 0; i < c.n; i++)
		if (!c.v[i].n_cpus || !c.v[i].label)
			abort();
	cpu_groups_done(&c);
	return 0;
}
