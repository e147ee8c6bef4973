/* agent/source/cgroup_names.c: services, containers and pods in the paths that the common runtimes use. */
#include "agent/source/cgroup_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/str.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct { const char *path, *service, *container, *pod; } paths[] = {
	{ "/", "", "", "" },
	{ "/system.slice/nginx.service", "nginx.service", "", "" },
	{ "/user.slice/user-1000.slice/session-2.scope", "session-2.scope", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/editor.service", "editor.service", "", "" },
	{ "/system.slice/docker-" ID ".scope", "", ID, "" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod01234567_89ab_cdef_0123_456789abcdef.slice:cri-containerd:" ID,
	  "containerd.service", "", "" },
	{ "/docker/" ID, "", ID, "" },
	{ "/docker/" ID "/init.scope", "", ID, "" },
	{ "/machine.slice/libpod-" ID ".scope", "", ID, "" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-" ID
	  ".scope", "", ID, "01234567-89ab-cdef-0123-456789abcdef" },
	{ "/kubepods/besteffort/pod01234567-89ab-cdef-0123-456789abcdef/" ID, "", ID, "01234567-89ab-cdef-0123-456789abcdef" },
	{ "/kubepods/pod01234567-89ab-cdef-0123-456789abcde", "", "", "" },		/* too short */
	{ "/kubepods/podzz234567-89ab-cdef-0123-456789abcdef", "", "", "" },
	{ "/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "", "", "" },
};

static void names_of_paths(void **state)
{
	for (size_t i = 0; i < countof(paths); i++) {
		struct cgroup_names got;

		cgroup_names_of(paths[i].path, &got);
		assert_string_equal(got.service, paths[i].service);
		assert_string_equal(got.container, paths[i].container);
		assert_string_equal(got.pod, paths[i].pod);
	}
}

static void long_path(void **state)
{
	struct cgroup_names got;
	char path[4000];

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	memcpy(path + sizeof(path) - 9, ".service", 9);
	cgroup_names_of(path, &got);
	assert_int_equal(strlen(got.service), 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_paths), cmocka_unit_test(long_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
