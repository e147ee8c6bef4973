/*
 * What the event tests share: contexts over the recorded trees, and events as one line of
 * text each, so that a table can hold what is expected:
 *
 *	NAME TYPE:CONFIG [config1=X] [period=N] [bp=N] [flag ...] [@cpus] [{LEADER/SIZE}] [+MERGE]
 */
#ifndef TESTS_EVENT_SUPPORT_H
#define TESTS_EVENT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "event/event.h"

static inline struct tacho *open_tree(const char *tree)
{
	struct tacho *t = NULL;
	char sysfs[512];

	snprintf(sysfs, sizeof(sysfs), TEST_DATA "/sysfs/%s", tree);
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = sysfs,
						   .tracefs = TEST_DATA "/tracefs"), NULL), 0);
	return t;
}

static inline void describe_flags(struct buf *b, const struct event *ev)
{
	static const struct { uint64_t bit; const char *name; } attr[] = {
		{ PERF_ATTR_PINNED, "pinned" }, { PERF_ATTR_EXCLUSIVE, "exclusive" },
		{ PERF_ATTR_EXCLUDE_USER, "!u" }, { PERF_ATTR_EXCLUDE_KERNEL, "!k" },
		{ PERF_ATTR_EXCLUDE_HV, "!h" }, { PERF_ATTR_EXCLUDE_IDLE, "!idle" },
		{ PERF_ATTR_EXCLUDE_HOST, "!host" }, { PERF_ATTR_EXCLUDE_GUEST, "!guest" },
		{ PERF_ATTR_FREQ, "freq" },
	};
	static const struct { uint32_t bit; const char *name; } flags[] = {
		{ EVENT_WEAK, "weak" }, { EVENT_PRECISE_MAX, "precise-max" },
		{ EVENT_LEADER_SAMPLING, "leader-sampling" }, { EVENT_BPF, "bpf" },
		{ EVENT_RETIRE_LATENCY, "retire-latency" }, { EVENT_NO_REGROUP, "no-regroup" },
		{ EVENT_PERCORE, "percore" }, { EVENT_PER_PKG, "per-pkg" },
		{ EVENT_SNAPSHOT, "snapshot" }, { EVENT_UNCORE, "uncore" },
	};
	uint64_t precise = (ev->attr.flags & PERF_ATTR_PRECISE_MASK) >> PERF_ATTR_PRECISE_SHIFT;

	for (size_t i = 0; i < countof(attr); i++)
		if (ev->attr.flags & attr[i].bit)
			buf_printf(b, " %s", attr[i].name);
	if (precise)
		buf_printf(b, " precise=%d", (int)precise);
	for (size_t i = 0; i < countof(flags); i++)
		if (ev->flags & flags[i].bit)
			buf_printf(b, " %s", flags[i].name);
}

static inline void describe_event(struct buf *b, const struct event *ev, uint32_t i)
{
	buf_printf(b, "%s %u:0x%llx", ev->name, ev->attr.type, (unsigned long long)ev->attr.config);
	if (ev->attr.config1)
		buf_printf(b, " config1=0x%llx", (unsigned long long)ev->attr.config1);
	if (ev->attr.config2)
		buf_printf(b, " config2=0x%llx", (unsigned long long)ev->attr.config2);
	if (ev->attr.config3)
		buf_printf(b, " config3=0x%llx", (unsigned long long)ev->attr.config3);
	if (ev->attr.config4)
		buf_printf(b, " config4=0x%llx", (unsigned long long)ev->attr.config4);
	if (ev->attr.sample_period)
		buf_printf(b, " period=%llu", (unsigned long long)ev->attr.sample_period);
	if (ev->attr.bp_type)
		buf_printf(b, " bp=%u", ev->attr.bp_type);
	describe_flags(b, ev);
	if (ev->unit[0])
		buf_printf(b, " %s*%g", ev->unit, ev->scale);
	if (!cpuset_empty(&ev->cpus)) {
		buf_puts(b, " @");
		cpuset_print(&ev->cpus, b);
	}
	if (ev->group_size > 1)
		buf_printf(b, " %s{%u/%u}", ev->group_name ? ev->group_name : "", ev->leader,
			   ev->group_size);
	if (ev->merge != i)
		buf_printf(b, " +%u", ev->merge);
}

/* The parsed spec as text, events joined by " | "; an error as "error N: message". */
static inline char *describe(struct tacho *t, const char *spec, unsigned flags)
{
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	struct buf b = { 0 };
	int n = event_parse(t, spec, flags, &list, &e);

	if (n < 0)
		buf_printf(&b, "error %d: %s", n, e.message);
	else
		assert_int_equal(n, list.n);
	for (uint32_t i = 0; i < list.n; i++) {
		buf_puts(&b, i ? " | " : "");
		describe_event(&b, &list.v[i], i);
	}
	event_list_done(&list);
	return buf_take(&b);
}

struct parse_row {
	const char *spec, *expected;
};

static inline void check_rows(struct tacho *t, unsigned flags, const struct parse_row *rows, size_t n)
{
	int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		char *got = describe(t, rows[i].spec, flags);

		assert_non_null(got);
		if (strcmp(got, rows[i].expected) != 0) {
			print_error("%s\n  expected %s\n  got      %s\n", rows[i].spec,
				    rows[i].expected, got);
			wrong++;
		}
		free(got);
	}
	assert_int_equal(wrong, 0);
}

#endif
