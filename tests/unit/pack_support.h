/*
 * A profile with all kinds of data that are packed, for the tests of packing.
 */
#ifndef TEST_PACK_SUPPORT_H
#define TEST_PACK_SUPPORT_H

#include <errno.h>
#include <stdio.h>
#include <tacho/output.h>

#include "profile/frame.h"
#include "profile/intern.h"
#include "profile/quality.h"
#include "profile/trie.h"

static inline uint32_t pack_function(struct tacho_profile *p, const char *name, bool kernel)
{
	struct tacho_profile_object ob = { .path = kernel ? "[kernel.kallsyms]" : "/bin/app",
					   .name = kernel ? "[kernel.kallsyms]" : "app",
					   .n_build_id = 20, .kernel = kernel, .has_symbols = !kernel,
					   .why = kernel ? "not allowed" : NULL };
	struct frame_desc like = { .known = name != NULL,
					    .space = kernel ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER };

	memset(ob.build_id, kernel ? 7 : 9, sizeof(ob.build_id));
	like.object = profile_intern_object(p, &ob);
	like.symbol = name ? profile_intern_name(p, name) : 0;
	like.address = name ? (uint64_t)name[1] * 16 : 0;
	return profile_intern_frame(p, &like);
}

/* n samples, a hundred a second from 1000 s on; CPUs 0 to 3 in turn; two threads. */
static inline void pack_fill(struct tacho_profile *p, uint32_t n)
{
	char name[16];

	profile_intern_event(p, "cpu-clock");
	p->events.v[0].has_chains = true;
	for (uint32_t i = 0; i < n; i++) {
		struct tacho_profile_row row = {
			.cpu = p->opts.per_cpu ? (int32_t)(i % 4) : -1, .samples = 1, .period = 52631578,
			.time = p->opts.per_time ? 1000000000000ull + i * 10000000ull : 0,
		};

		row.thread = profile_intern_thread(p, 7, 7 + i % 2, i % 2 ? "one" : "two");
		row.node = profile_intern_node(p, 0, pack_function(p, "_start", false));
		for (uint32_t k = 0; k < 3 + i % 5; k++) {
			snprintf(name, sizeof(name), "f%u", (i * k) % 23);
			row.node = profile_intern_node(p, row.node, pack_function(p, (i * k) % 23 ? name : NULL,
									   k > 4));
		}
		profile_add_row(p, &row);
		p->events.v[0].samples++;
		p->events.v[0].all_samples++;
		p->events.v[0].period += row.period;
		p->events.v[0].all_period += row.period;
		p->quality.samples++;
	}
	p->quality.lost = 3;
	p->quality.lost_records = 1;
	quality_rows(p);
}

static inline int pack_put(void *arg, const void *bytes, size_t n)
{
	struct buf *b = arg;

	buf_put(b, bytes, n);
	return buf_failed(b) ? -ENOMEM : 0;
}

#endif
