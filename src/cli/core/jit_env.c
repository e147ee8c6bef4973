/*
 * Which variables the runtimes read:
 *
 *	Node	--perf-basic-prof writes /tmp/perf-PID.map; with --interpreted-frames-native-stack it also has functions
 *		that are interpreted
 *	Java	DumpPerfMapAtExit, of JDK 17, writes such a map; IgnoreUnrecognizedVMOptions, so that older JVMs start
 *	Python	3.12 writes a map, 3.13 and later a jitdump; older versions ignore both variables
 *	.NET	1: a map of functions and one of objects
 */
#include "cli/core/jit_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static const struct jit_variable {
	const char *name, *value;
	bool is_list;			/* options, separated by blanks */
} variables[] = {
	{ "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack", true },
	{ "JAVA_TOOL_OPTIONS",
	  "-XX:+PreserveFramePointer -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	  true },
	{ "PYTHON_PERF_JIT_SUPPORT", "1", false },
	{ "PYTHONPERFSUPPORT", "1", false },
	{ "DOTNET_PerfMapEnabled", "1", false },
};
_Static_assert(countof(variables) == JIT_ENV_VARIABLES, "struct jit_env has a place for each variable");

static int set_variable(const struct jit_variable *v, const char *before)
{
	scoped(buf_done) struct buf value = { 0 };

	if (before && *before && (!v->is_list || strstr(before, v->value)))
		return 0;
	if (before && *before)
		buf_printf(&value, "%s ", before);
	buf_puts(&value, v->value);
	return buf_failed(&value) || setenv(v->name, value.bytes, 1) < 0 ? -ENOMEM : 0;
}

int jit_env_set(struct jit_env *env)
{
	int err = 0;

	*env = (struct jit_env){ 0 };
	while (env->n < countof(variables) && err == 0) {
		const struct jit_variable *v = &variables[env->n];
		const char *before = getenv(v->name);

		if (before && !(env->before[env->n] = strdup(before))) {
			err = -ENOMEM;
		} else {
			err = set_variable(v, before);
			env->n++;
		}
	}
	if (err < 0)
		jit_env_restore(env);
	return err;
}

void jit_env_restore(struct jit_env *env)
{
	for (unsigned i = 0; i < env->n; i++) {
		if (env->before[i])
			setenv(variables[i].name, env->before[i], 1);
		else
			unsetenv(variables[i].name);
		free(env->before[i]);
		env->before[i] = NULL;
	}
	env->n = 0;
}
