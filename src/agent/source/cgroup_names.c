/*
 * Takes paths of control groups apart. Both drivers of cgroups are known:
 *
 *	systemd   /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice/cri-containerd-<id>.scope
 *	          /system.slice/docker-<id>.scope, /machine.slice/libpod-<id>.scope, /system.slice/nginx.service
 *	cgroupfs  /kubepods/burstable/pod<uid>/<id>, /docker/<id>
 */
#include "agent/source/cgroup_names.h"

#include <ctype.h>
#include <stdio.h>

#include "base/str.h"

#define ID_LEN 64		/* ids of containers are SHA-256 sums */
#define UID_LEN 36

static size_t count_hex(struct str s)
{
	size_t n = 0;

	while (n < s.n && isxdigit((unsigned char)s.s[n]))
		n++;
	return n;
}

/* "docker-<id>.scope", "<id>" and "<id>.scope": the id is the whole word or follows a dash. */
static bool take_container(struct str part, struct cgroup_names *out)
{
	struct str id = part;

	if (str_ends(id, ".scope"))
		id.n -= strlen(".scope");
	if (id.n > ID_LEN && id.s[id.n - ID_LEN - 1] == '-')
		id = str_n(id.s + id.n - ID_LEN, ID_LEN);
	if (id.n != ID_LEN || count_hex(id) != ID_LEN)
		return false;
	snprintf(out->container, sizeof(out->container), "%.*s", STR(id));
	return true;
}

/* "pod<uid>" and "kubepods-burstable-pod<uid>.slice", where systemd needs underscores instead of dashes. */
static void take_pod(struct str part, struct cgroup_names *out)
{
	struct str uid = part;
	size_t i;

	if (str_ends(uid, ".slice"))
		uid.n -= strlen(".slice");
	if (uid.n < UID_LEN + 3 || !str_starts(str_n(uid.s + uid.n - UID_LEN - 3, 3), "pod"))
		return;
	uid = str_n(uid.s + uid.n - UID_LEN, UID_LEN);
	for (i = 0; i < uid.n; i++)
		if (!isxdigit((unsigned char)uid.s[i]) && uid.s[i] != '-' && uid.s[i] != '_')
			return;
	for (i = 0; i < uid.n; i++)
		out->pod[i] = uid.s[i] == '_' ? '-' : uid.s[i];
	out->pod[i] = '\0';
}

void cgroup_names_of(const char *path, struct cgroup_names *out)
{
	struct str rest = str_of(path), part;

	*out = (struct cgroup_names){ .service = "" };
	while (str_cut(&rest, '/', &part)) {
		if (take_container(part, out)) {
			out->service[0] = '\0';
			continue;
		}
		take_pod(part, out);
		if (!out->container[0] && (str_ends(part, ".service") || str_ends(part, ".scope")))
			snprintf(out->service, sizeof(out->service), "%.*s", (int)min_of(part.n, (size_t)120), part.s);
	}
}
