/*
 * Which variables the runtimes read, and what --jit sets them to:
 *
 *	Node	--perf-basic-prof writes /tmp/perf-PID.map; with --interpreted-frames-native-stack it also has functions
 *		that are interpreted
 *	Java	DumpPerfMapAtExit, of JDK 17, writes such a map; IgnoreUnrecognizedVMOptions, so that older JVMs start;
 *		our agent (src/jvmti/) writes a jitdump, which also has source lines
 *	Python	3.12 writes a map, 3.13 and later a jitdump; older versions ignore both variables
 *	.NET	1: a map of functions and one of objects
 */
#include "cli/core/jit_env.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "cli/built_in.h"

static const struct jit_variable {
	const char *name, *value;
	bool is_list;			/* options, separated by blanks */
	bool takes_agent;		/* tacho's agent, if this JVM can load it */
} variables[] = {
	{ "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack", true, false },
	{ "JAVA_TOOL_OPTIONS",
	  "-XX:+PreserveFramePointer -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	  true, true },
	{ "PYTHON_PERF_JIT_SUPPORT", "1", false, false },
	{ "PYTHONPERFSUPPORT", "1", false, false },
	{ "DOTNET_PerfMapEnabled", "1", false, false },
};
_Static_assert(countof(variables) == JIT_ENV_VARIABLES, "struct jit_env has a place for each variable");

#ifdef JVMTI_AGENT
/* Everyone may be able to write beside this program: the library must belong to root or to the program's owner. */
static bool is_trusted(const struct stat *library)
{
	struct stat own;

	return !(library->st_mode & S_IWOTH) &&
	       (library->st_uid == 0 || (stat("/proc/self/exe", &own) == 0 && own.st_uid == library->st_uid));
}

/* Whether every user can read the file: a JVM that cannot load its agent does not start. */
static bool is_loadable(char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH) || !is_trusted(&st))
		return false;
	for (char *slash = path + strlen(path); slash > path; slash--) {
		bool passable;

		if (*slash != '/')
			continue;
		*slash = '\0';
		passable = stat(path, &st) == 0 && (st.st_mode & S_IXOTH);
		*slash = '/';
		if (!passable)
			return false;
	}
	return true;
}

/* Appends -agentpath:FILE, if the agent is installed, or built beside this program. */
static void put_agent(struct buf *value)
{
	static const char *const places[] = { "../" JVMTI_AGENT, "src/jvmti/libtacho-jvmti.so" };
	char own[PATH_MAX], path[PATH_MAX + 64], whole[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	const char *slash = n > 0 ? memrchr(own, '/', (size_t)n) : NULL;

	for (size_t i = 0; slash && i < countof(places); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - own), own, places[i]);
		if (realpath(path, whole) && !strchr(whole, ' ') && is_loadable(whole)) {
			buf_printf(value, " -agentpath:%s", whole);
			return;
		}
	}
}
#else
static void put_agent(struct buf *value)
{
	(void)value;
}
#endif

static int set_variable(const struct jit_variable *v, const char *before)
{
	scoped(buf_done) struct buf value = { 0 };

	if (before && *before && (!v->is_list || strstr(before, v->value)))
		return 0;
	if (before && *before)
		buf_printf(&value, "%s ", before);
	buf_puts(&value, v->value);
	if (v->takes_agent)
		put_agent(&value);
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
