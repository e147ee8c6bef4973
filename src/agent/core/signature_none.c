/*
 * Replaces the check of signatures in builds without GnuTLS: signed files are not used.
 */
#include "agent/core/signature.h"

#include <errno.h>

#include "base/error.h"

int signature_check(struct str key, struct str data, struct str signature, struct tacho_error *e)
{
	(void)key, (void)data, (void)signature;
	error_set(e, -EOPNOTSUPP, "this build cannot check signatures");
	error_hint(e, "build it with GnuTLS");
	return -EOPNOTSUPP;
}
