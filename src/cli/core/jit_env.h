/*
 * --jit: environment variables that make the runtimes of a command name the functions that they compile, and keep
 * frame pointers in them.
 */
#ifndef CLI_CORE_JIT_ENV_H
#define CLI_CORE_JIT_ENV_H

#define JIT_ENV_VARIABLES 5

/* What the variables were before; NULL: not set. */
struct jit_env {
	char *before[JIT_ENV_VARIABLES];
	unsigned n;			/* variables that were set */
};

/* Sets the variables for a command that is forked before jit_env_restore(). Options are appended to existing values;
 * variables with a single value are not changed if the user has set them. 0 or -ENOMEM. */
int jit_env_set(struct jit_env *env);
void jit_env_restore(struct jit_env *env);

#endif
