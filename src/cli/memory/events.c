/*
 * The events that sample accesses to memory. Which there are depends on the PMU:
 *
 *	Intel	cpu (cpu_core, cpu_atom): mem-loads with a least latency, mem-stores; mem-loads-aux where it exists
 *	AMD	ibs_op: every operation, with its data source where it accessed memory
 *	Arm	arm_spe_N: loads and stores, in a hardware trace
 */
#include "cli/memory/memory.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/core/app.h"
#include "cli/core/command_args.h"

#define DEVICES "/sys/bus/event_source/devices"
#define DEFAULT_LATENCY "30"

extern const struct command cmd_record;

int memory_types_parse(const char *text, unsigned *types, struct tacho_error *e)
{
	struct str rest = str_of(text ? text : "load,store"), word;

	*types = 0;
	while (str_cut(&rest, ',', &word)) {
		if (str_is(word, "load"))
			*types |= MEMORY_LOADS;
		else if (str_is(word, "store"))
			*types |= MEMORY_STORES;
		else
			return error_set(e, -EINVAL, "'%.*s' is neither load nor store", STR(word));
	}
	return *types ? 0 : error_set(e, -EINVAL, "-t takes load, store or both");
}

/* ---- events ---- */

static bool pmu_has(const char *pmu, const char *event)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), DEVICES "/%s/%s%s", pmu, event ? "events/" : "", event ? event : "type") <
		       (int)sizeof(path) && access(path, F_OK) == 0;
}

static size_t intel_events(const char *pmu, const struct memory_recording *m, struct strlist *out)
{
	char text[200];
	size_t n = out->n;

	if ((m->types & MEMORY_LOADS) && pmu_has(pmu, "mem-loads")) {
		const char *latency = m->latency ? m->latency : DEFAULT_LATENCY;

		/* The loads of a group without mem-loads-aux are lost on Sapphire Rapids and newer. */
		if (pmu_has(pmu, "mem-loads-aux"))
			snprintf(text, sizeof(text), "{%s/mem-loads-aux/,%s/mem-loads,ldlat=%.20s/}:P", pmu, pmu, latency);
		else
			snprintf(text, sizeof(text), "%s/mem-loads,ldlat=%.20s/P", pmu, latency);
		strlist_add(out, str_of(text));
	}
	if ((m->types & MEMORY_STORES) && pmu_has(pmu, "mem-stores")) {
		snprintf(text, sizeof(text), "%s/mem-stores/P", pmu);
		strlist_add(out, str_of(text));
	}
	return out->n - n;
}

/* The first PMU "arm_spe_N", as an event. */
static void arm_events(const struct memory_recording *m, struct strlist *out)
{
	DIR *d = opendir(DEVICES);
	struct dirent *entry;
	char text[300];

	while (d && (entry = readdir(d)) && !out->n)
		if (strncmp(entry->d_name, "arm_spe_", 8) == 0) {
			snprintf(text, sizeof(text), "%.100s/ts_enable=1,pa_enable=1%s%s/u", entry->d_name,
				 m->types & MEMORY_LOADS ? ",load_filter=1" : "", m->types & MEMORY_STORES ? ",store_filter=1" : "");
			strlist_add(out, str_of(text));
		}
	if (d)
		closedir(d);
}

static void find_events(const struct memory_recording *m, struct strlist *out)
{
	static const char *const intel[] = { "cpu", "cpu_core", "cpu_atom" };

	for (size_t i = 0; i < countof(intel); i++)
		intel_events(intel[i], m, out);
	if (!out->n && pmu_has("ibs_op", NULL))
		strlist_add(out, str_of("ibs_op//"));
	if (!out->n)
		arm_events(m, out);
}

static void explain_missing(const char *command)
{
	message_text(command, "no PMU of this machine samples accesses to memory: that needs the events mem-loads and mem-stores "
		     "of Intel's PMU cpu, AMD's PMU ibs_op, or Arm's PMU arm_spe_0, which virtual machines rarely have");
}

static int list_events(const char *command, const struct strlist *events)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < events->n; i++)
		buf_printf(&out, "%s\n", events->v[i]);
	return print_out(command, &out);
}

static void put_arguments(const struct memory_recording *m, const struct strlist *events, struct command_args *a)
{
	command_arg(a, "record");
	command_arg(a, "-W");
	command_arg(a, "-d");
	command_arg_flag(a, "--phys-data", m->phys_data);
	command_arg_flag(a, "--data-page-size", m->data_page_size);
	command_arg_flag(a, "--sample-cpu", m->sample_cpu);
	command_arg_flag(a, "--all-user", m->all_user);
	command_arg_flag(a, "--all-kernel", m->all_kernel);
	command_arg_flag(a, "-a", m->all_cpus);
	command_arg_flag(a, "-g", m->call_graph);
	command_arg_flag(a, "-q", m->quiet);
	command_arg_value(a, "-o", m->output);
	command_arg_value(a, "-C", m->cpus);
	command_arg_value(a, "-c", m->count);
	command_arg_value(a, "-F", m->freq);
	for (size_t i = 0; i < events->n; i++)
		command_arg_value(a, "-e", events->v[i]);
}

static int record_events(const char *command, const struct memory_recording *m, const struct strlist *events, int argc, char **argv)
{
	struct command_args args = { 0 };
	int status;

	put_arguments(m, events, &args);
	for (int i = 0; i < argc; i++)
		command_arg(&args, argv[i]);
	status = command_args_run(&cmd_record, &args, command);
	command_args_done(&args);
	return status;
}

int memory_record(const char *command, const struct memory_recording *m, int argc, char **argv)
{
	struct strlist events = { 0 };
	int status = EXIT_FAILED;

	if (m->events && strcmp(m->events, "list") != 0) {
		message_text(command, "-e only takes list; 'tacho record -W -d -e EVENT' records other events");
		return EXIT_USAGE;
	}
	find_events(m, &events);
	if (!events.n)
		explain_missing(command);
	else if (m->events)
		status = list_events(command, &events);
	else
		status = record_events(command, m, &events, argc, argv);
	strlist_done(&events);
	return status;
}
