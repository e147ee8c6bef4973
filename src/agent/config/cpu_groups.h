/*
 * Groups of CPUs, as collectd's option Cores writes them:
 *
 *	"0-3" "4,6"	two groups, each summed; the label is the text
 *	"[12-15]"	four groups of one CPU; the label is the number
 *	""		alone: every CPU a group of its own
 *
 * Numbers may be decimal, hexadecimal (0x10) and octal (010).
 */
#ifndef AGENT_CONFIG_CPU_GROUPS_H
#define AGENT_CONFIG_CPU_GROUPS_H

#include "agent/config/config.h"

#define CORES_MAX 512			/* strings, and CPUs of one option; as collectd */
#define CORES_TEXT_MAX 127		/* of a string without brackets so much is read */

struct cores {
	struct core_group *v;
	size_t n, cap;
	size_t bad;			/* after a failure: the string that was refused */
	struct strlist notes;		/* what was left out */
};

/* `n_cpus` is the number of configured CPUs; 0: not to be checked. Returns 0, or -EINVAL with a
 * sentence and the column in the string; -ERANGE: a CPU that this machine does not have; -EEXIST: a
 * CPU in two groups; -ENOMEM. Then there is nothing to be freed. */
int cores_parse(struct cores *out, const struct str *words, size_t n, int n_cpus,
		struct tacho_error *e);
void cores_done(struct cores *c);
void core_groups_free(struct core_group *v, size_t n);

#endif
