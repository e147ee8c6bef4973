/*
 * Event names of libpfm4, which has tables for many CPUs. The library is loaded when
 * pfm::NAME is given or a name is not found elsewhere. The used parts of its interface are declared
 * here, so its header is not needed to build tacho. The whole text ("skx::L2_RQSTS:MISS:c=1:u") is
 * passed to libpfm4, which parses unit masks and modifiers in its own syntax.
 */
#include "event/parse.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "base/shared_library.h"

enum { PFM_SUCCESS = 0, PFM_ERR_NOTSUPP = -1, PFM_ERR_NOTFOUND = -4 };
enum { PFM_KERNEL = 1, PFM_USER = 8, PFM_HYPERVISOR = 16 };
enum { PFM_OS_PERF_EVENT_EXT = 2 };

/* pfm_perf_encode_arg_t in its first version, with which later ones are compatible. */
struct pfm_encode {
	struct perf_event_attr *attr;	/* libpfm4 writes at most attr->size bytes */
	char **text;
	size_t size;
	int index, cpu, flags, pad;
};

static struct {
	pthread_once_t once;
	void *library;
	int started;
	int (*start)(void);
	int (*encode)(const char *text, int privileges, int os, void *arg);
	const char *(*strerror)(int code);
} pfm = { .once = PTHREAD_ONCE_INIT };

#define LOAD(field, name) (*(void **)&pfm.field = shared_library_find(pfm.library, name))

static void load(void)
{
	pfm.started = PFM_ERR_NOTSUPP;
	pfm.library = shared_library_open("libpfm.so.4");
	if (pfm.library && LOAD(start, "pfm_initialize") && LOAD(encode, "pfm_get_os_event_encoding") &&
	    LOAD(strerror, "pfm_strerror"))
		pfm.started = pfm.start();
}

static int refuse_absent(struct event_parser *p, struct str text)
{
	error_set(p->e, -EOPNOTSUPP, pfm.library ? "libpfm4 cannot be initialized on this machine" :
		  "libpfm.so.4, which is needed for this name, cannot be loaded");
	error_hint(p->e, "install the package libpfm4");
	return parse_refuse(p, -EOPNOTSUPP, text);
}

static int refuse(struct event_parser *p, struct str text, int code)
{
	int err = code == PFM_ERR_NOTFOUND ? -ENOENT : -EINVAL;

	error_set(p->e, err, "libpfm4 refuses '%.*s': %s", SHOW(text), pfm.strerror(code));
	error_hint(p->e, "the syntax is [PMU::]EVENT[:UMASK]...[:MODIFIER]..., for the type of CPU of this machine");
	return parse_refuse(p, err, text);
}

static bool has_part(struct str text, const char *part)
{
	struct str one;

	while (str_cut(&text, ':', &one))
		if (str_is(str_n(one.s, min_of(one.n, strlen(part))), part) &&
		    (one.n == strlen(part) || one.s[strlen(part)] == '='))
			return true;
	return false;
}

/* Copies flags from libpfm4's attr. libpfm4 excludes guests by default, so exclude_guest and exclude_host are
 * copied only if the text contains mg or mh. */
static void copy_flags(struct event *ev, const struct perf_event_attr *attr, struct str text)
{
	const uint64_t privileges = PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
	uint64_t keep = privileges | PERF_ATTR_PINNED | PERF_ATTR_EXCLUSIVE | PERF_ATTR_PRECISE_MASK |
			PERF_ATTR_FREQ;

	if (has_part(text, "mg") || has_part(text, "mh")) {
		keep |= PERF_ATTR_EXCLUDE_GUEST | PERF_ATTR_EXCLUDE_HOST;
		ev->flags |= EVENT_GUEST_GIVEN;
	}
	if (attr->flags & privileges)
		ev->flags |= EVENT_PRIVILEGE_GIVEN;
	ev->attr.flags |= attr->flags & keep;
	ev->attr.sample_period = attr->sample_period;
	ev->terms.period_given = attr->sample_period && !(attr->flags & PERF_ATTR_FREQ);
	ev->terms.freq_given = attr->flags & PERF_ATTR_FREQ;
}

/* Finds the PMU by type. *out is NULL for a raw event or if sysfs has no such PMU. */
static int find_pmu_by_type(struct event_parser *p, uint32_t type, struct pmu **out)
{
	const struct pmu_list *all;
	int err = pmu_all(p->t, &all);

	*out = NULL;
	for (size_t i = 0; !err && i < all->n && !*out; i++)
		if (pmu_load(p->t, all->v[i]) == 0 && all->v[i]->type == type)
			*out = all->v[i];
	return err < 0 ? error_nomem(p->e) : 0;
}

static int add_encoded(struct event_parser *p, struct str text, const struct pfm_encode *got)
{
	const struct perf_event_attr *attr = got->attr;
	struct pmu *pmu;
	struct event *ev;
	int err = find_pmu_by_type(p, attr->type, &pmu);

	if (err < 0)
		return err;
	err = parse_add(p, TACHO_EVENT_PMU, pmu ? pmu->name : "cpu", &ev);
	if (err < 0)
		return err;
	ev->attr.type = attr->type;
	ev->attr.config = attr->config;
	ev->attr.config1 = attr->config1;
	ev->attr.config2 = attr->config2;
	copy_flags(ev, attr, text);
	if (got->cpu >= 0 && cpuset_add(&ev->cpus, got->cpu) < 0) {
		error_set(p->e, -EINVAL, "there is no CPU %d", got->cpu);
		return parse_refuse(p, -EINVAL, text);
	}
	return pmu ? pmu_event_set_cpus(p, pmu, ev) : 0;
}

int resolve_pfm(struct event_parser *p, struct str text, bool asked)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct pfm_encode arg = { .attr = &attr, .size = sizeof(arg), .cpu = -1 };
	char name[256];
	int code, err;

	/* libpfm4 detects the CPU it runs on, which is the wrong CPU for a recorded sysfs tree. */
	if (!asked && strcmp(p->t->sys.sysfs, "/sys") != 0)
		return 0;
	pthread_once(&pfm.once, load);
	if (pfm.started != PFM_SUCCESS)
		return asked ? refuse_absent(p, text) : 0;
	if (!text.n || text.n >= sizeof(name)) {
		error_set(p->e, -EINVAL, "pfm:: must be followed by the name of an event, of at most %zu letters",
			  sizeof(name) - 1);
		return asked ? parse_refuse(p, -EINVAL, text) : 0;
	}
	snprintf(name, sizeof(name), "%.*s", STR(text));
	code = pfm.encode(name, PFM_KERNEL | PFM_USER | PFM_HYPERVISOR, PFM_OS_PERF_EVENT_EXT, &arg);
	if (code == PFM_ERR_NOTFOUND && !asked)
		return 0;
	if (code != PFM_SUCCESS)
		return refuse(p, text, code);
	err = add_encoded(p, text, &arg);
	return err < 0 ? err : 1;
}
