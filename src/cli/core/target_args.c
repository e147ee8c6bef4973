/*
 * Parses arguments that select processes, a user or CPUs.
 */
#include "cli/core/target_args.h"

#include <errno.h>
#include <pwd.h>

#include "base/cpuset.h"
#include "base/error.h"
#include "base/num.h"
#include "base/vec.h"
#include "cli/core/command.h"

int target_ids(const char *command, const char *option, const char *text, int **out, size_t *n)
{
	struct str rest = str_of(text), one;
	struct {
		int *v;
		size_t n, cap;
	} list = { 0 };

	while (str_cut(&rest, ',', &one)) {
		int *at = vec_add(&list);

		if (!at || num_int(str_trim(one), at) < 0 || *at <= 0) {
			struct tacho_error e;

			error_set(&e, -EINVAL, "'%.*s' is not a process or thread ID", STR(one));
			error_at(&e, (size_t)(one.s - text), one.n);
			error_hint(&e, "separate IDs by commas, e.g. 812,4711");
			message_error(command, option, text, &e);
			vec_done(&list);
			return -EINVAL;
		}
	}
	*out = list.v;
	*n = list.n;
	return 0;
}

int target_user(const char *command, const char *text, uint32_t *uid)
{
	struct passwd *pw;

	if (num_u32(str_of(text), uid) == 0)
		return 0;
	pw = getpwnam(text);
	if (!pw) {
		message_text(command, "no user is called '%s'", text);
		return -EINVAL;
	}
	*uid = pw->pw_uid;
	return 0;
}

int target_cpus(const char *command, const char *text)
{
	scoped(cpuset_done) struct cpuset set = { 0 };
	struct tacho_error e;

	if (cpuset_parse(&set, str_of(text)) == 0 && !cpuset_empty(&set))
		return 0;
	error_set(&e, -EINVAL, "'%s' is not a list of CPUs", text);
	error_hint(&e, "write numbers and ranges, e.g. 0-3,8");
	message_error(command, "-C", text, &e);
	return -EINVAL;
}
