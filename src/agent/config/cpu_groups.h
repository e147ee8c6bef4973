/*
 * Groups of CPUs in the syntax of collectd's option Cores:
 *
 *	"0-3" "4,6"	two groups, each summed; the label is the text
 *	"[12-15]"	four groups of one CPU each; the label is the number
 *	""		as the only string: every CPU is a group
 *
 * Numbers may be decimal, hexadecimal (0x10) or octal (010).
 */
#ifndef AGENT_CONFIG_CPU_GROUPS_H
#define AGENT_CONFIG_CPU_GROUPS_H

#include "agent/config/config.h"

#define CPU_GROUPS_MAX 512			/* strings and CPUs per option, as in collectd */
#define CPU_GROUPS_TEXT_MAX 127		/* characters used of a string without brackets */

struct cpu_groups {
	struct cpu_group *v;
	size_t n, cap;
	size_t bad;			/* after an error: index of the refused string */
	struct strlist notes;		/* ignored parts */
};

/* `n_cpus` is the number of configured CPUs; 0: do not check. Returns 0; -EINVAL with a message and
 * the column in the string; -ERANGE: a CPU that does not exist; -EEXIST: a CPU in two groups;
 * -ENOMEM. After an error there is nothing to free. */
int cpu_groups_parse(struct cpu_groups *out, const struct str *words, size_t n, int n_cpus,
		     struct tacho_error *e);
void cpu_groups_done(struct cpu_groups *c);
void cpu_group_array_free(struct cpu_group *v, size_t n);

#endif
