/* For tests of the agent's configuration: writes a text to a temporary file and loads it. */
#ifndef TEST_AGENT_SUPPORT_H
#define TEST_AGENT_SUPPORT_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/config/config.h"
#include "base/io.h"

static char test_dir[PATH_MAX / 2];

/* A temporary directory for the test, removed with its content at the end. */
static inline int dir_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(test_dir, sizeof(test_dir), "%s/tacho-test.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(test_dir) ? 0 : -1;
}

static inline int dir_teardown(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", test_dir);
	return system(command);
}

static inline const char *in_dir(const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", test_dir, name);
	return path[i];
}

static inline const char *put_file(const char *name, const char *text)
{
	const char *path = in_dir(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || io_write_all(fd, text, strlen(text)))
		abort();
	close(fd);
	return path;
}

/* Sets end with NULL. */
static inline int load_with(struct agent_config **out, const char *text, const char *const *sets,
			    struct tacho_error *e)
{
	struct config_opts opts = { .path = put_file("test.conf", text), .sets = sets };

	while (sets && sets[opts.n_sets])
		opts.n_sets++;
	*out = NULL;
	return config_load(out, &opts, e);
}

static inline int load(struct agent_config **out, const char *text, struct tacho_error *e)
{
	return load_with(out, text, NULL, e);
}

/* The message without the directory, which differs from run to run. */
static inline const char *message_of(const struct tacho_error *e)
{
	size_t n = strlen(test_dir);

	return strncmp(e->message, test_dir, n) ? e->message : e->message + n + 1;
}

struct refusal {
	const char *text, *message, *hint;	/* a * in the last two matches anything */
};

static inline void check_refusals(const struct refusal *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tacho_error e = { 0 };
		struct agent_config *c;

		assert_true(load(&c, r[i].text, &e) < 0);
		if (strcmp(r[i].message, message_of(&e)) &&
		    !str_glob(str_of(r[i].message), str_of(message_of(&e))))
			fail_msg("expected '%s'\n     got '%s'", r[i].message, message_of(&e));
		if (!str_glob(str_of(r[i].hint), str_of(e.hint)))
			fail_msg("%s: expected '%s', got '%s'", e.message, r[i].hint, e.hint);
	}
}

#endif
