/* Stub for builds without ncurses: there is no screen. */
#include "cli/browser/screen.h"

#include <errno.h>

#include "base/error.h"

bool screen_is_built_in(void)
{
	return false;
}

int screen_open(struct screen *s, struct tacho_error *e)
{
	(void)s;
	error_set(e, -EOPNOTSUPP, "this build has no interactive browser");
	error_hint(e, "build it with ncurses (Debian: libncurses-dev), or use --stdio");
	return -EOPNOTSUPP;
}
