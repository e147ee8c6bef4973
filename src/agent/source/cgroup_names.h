/*
 * What the path of a control group says about its processes: the systemd unit, the container and the pod.
 */
#ifndef AGENT_SOURCE_CGROUP_NAMES_H
#define AGENT_SOURCE_CGROUP_NAMES_H

struct cgroup_names {
	char service[128];	/* "nginx.service", "session-2.scope"; of a container: empty */
	char container[80];	/* the id that docker, containerd, cri-o and podman put into the path */
	char pod[48];		/* the uid of a Kubernetes pod, with dashes */
};

/* Unknown parts become "". */
void cgroup_names_of(const char *path, struct cgroup_names *out);

#endif
