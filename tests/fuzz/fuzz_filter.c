/*
 * Filters of tracepoints, and of samples. The first line is the filter, the others the format of the event; without them it is that
 * of sched_switch. A refusal must point into the filter.
 */
#include <stdint.h>
#include <stdlib.h>

#include "event/sample_filter.h"
#include "event/tracepoint_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char format[] =
	"name: sched_switch\nID: 370\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] filename;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:cpumask_t mask;\toffset:44;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"prev_comm=%s\", REC->prev_comm\n";

static void check_error(int err, const struct tacho_error *e, size_t n)
{
	if (err < 0 && (!e->message[0] || e->column > (int)n))
		abort();
}

static void parse_sample_filter(struct str text)
{
	struct tacho_error e = { .column = -1 };
	struct sample_filter f = { 0 };
	struct sample_filter_need need;
	struct sys sys;
	char *copy = str_dup(text);

	if (copy && sys_init(&sys, "/nonexistent", "/nonexistent", "/nonexistent") == 0) {
		check_error(sample_filter_parse(&f, &sys, copy, "cpu-clock", &e), &e, text.n);
		sample_filter_lacks(&f, 0, &need);
		sys_done(&sys);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str rest = str_n((const char *)bytes, n), filter;
	struct tacho_error e = { .column = -1 };

	if (!str_cut(&rest, '\n', &filter) || memchr(filter.s, '\0', filter.n))
		return 0;
	check_error(tracepoint_filter_check(filter, rest.n ? rest : str_of(format), "sched:sched_switch", &e), &e, filter.n);
	parse_sample_filter(filter);
	return 0;
}
