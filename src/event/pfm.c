/*
 * Names of libpfm4, whose tables know many CPUs. The library is loaded by name when pfm::NAME is
 * written or when nobody else knows a name; what it needs of the library's interface stands here, so
 * that no header is needed to build. The text goes to it whole ("skx::L2_RQSTS:MISS:c=1:u"): masks and
 * modifiers are its own.
 */
#include "event/parse.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

enum { PFM_SUCCESS = 0, PFM_ERR_NOTSUPP = -1, PFM_ERR_NOTFOUND = -4 };
enum { PFM_KERNEL = 1, PFM_USER = 8, PFM_HYPERVISOR = 16 };
enum { PFM_OS_PERF_EVENT_EXT = 2 };

/* pfm_perf_encode_arg_t: the first form of it, which later ones keep. */
struct pfm_encode {
	struct perf_event_attr *attr;	/* attr->size bounds what is written */
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
	const char *(*say)(int code);
} pfm = { .once = PTHREAD_ONCE_INIT };

#define LOAD(field, name) (*(void **)&pfm.field = dlsym(pfm.library, name))

static void load(void)
{
	pfm.started = PFM_ERR_NOTSUPP;
	pfm.library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	if (pfm.library && LOAD(start, "pfm_initialize") && LOAD(encode, "pfm_get_os_event_encoding") &&
	    LOAD(say, "pfm_strerror"))
		pfm.started = pfm.start();
}

static int refuse_absent(struct event_parser *p, struct str text)
{
	error_set(p->e, -EOPNOTSUPP, pfm.library ? "libpfm4 does not start here" :
		  "libpfm.so.4, which knows these names, cannot be loaded");
	error_hint(p->e, "install the package libpfm4");
	return parse_refuse(p, -EOPNOTSUPP, text);
}

static int refuse(struct event_parser *p, struct str text, int code)
{
	int err = code == PFM_ERR_NOTFOUND ? -ENOENT : -EINVAL;

	error_set(p->e, err, "libpfm4 refuses '%.*s': %s", SHOW(text), pfm.say(code));
	error_hint(p->e, "it is [PMU::]EVENT[:UMASK]...[:MODIFIER]..., of a CPU like this one");
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

/* The library leaves guests out by itself; here that is the one's choice who asks. */
static void take_flags(struct event *ev, const struct perf_event_attr *attr, struct str text)
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

/* The PMU of that type; NULL: a core's raw event, or none that sysfs shows. */
static int pmu_of(struct event_parser *p, uint32_t type, struct pmu **out)
{
	const struct pmu_list *all;
	int err = pmu_all(p->t, &all);

	*out = NULL;
	for (size_t i = 0; !err && i < all->n && !*out; i++)
		if (pmu_load(p->t, all->v[i]) == 0 && all->v[i]->type == type)
			*out = all->v[i];
	return err < 0 ? error_nomem(p->e) : 0;
}

static int add(struct event_parser *p, struct str text, const struct pfm_encode *got)
{
	const struct perf_event_attr *attr = got->attr;
	struct pmu *pmu;
	struct event *ev;
	int err = pmu_of(p, attr->type, &pmu);

	if (err < 0)
		return err;
	err = parse_add(p, TACHO_EVENT_PMU, pmu ? pmu->name : "cpu", &ev);
	if (err < 0)
		return err;
	ev->attr.type = attr->type;
	ev->attr.config = attr->config;
	ev->attr.config1 = attr->config1;
	ev->attr.config2 = attr->config2;
	take_flags(ev, attr, text);
	if (got->cpu >= 0 && cpuset_add(&ev->cpus, got->cpu) < 0) {
		error_set(p->e, -EINVAL, "there is no CPU %d", got->cpu);
		return parse_refuse(p, -EINVAL, text);
	}
	return pmu ? pmu_event_place(p, pmu, ev) : 0;
}

int resolve_pfm(struct event_parser *p, struct str text, bool asked)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct pfm_encode arg = { .attr = &attr, .size = sizeof(arg), .cpu = -1 };
	char name[256];
	int code, err;

	/* It knows the CPU it runs on, which is not that of a recorded tree. */
	if (!asked && strcmp(p->t->sys.sysfs, "/sys") != 0)
		return 0;
	pthread_once(&pfm.once, load);
	if (pfm.started != PFM_SUCCESS)
		return asked ? refuse_absent(p, text) : 0;
	if (!text.n || text.n >= sizeof(name)) {
		error_set(p->e, -EINVAL, "pfm:: needs the name of an event behind it, of at most %zu letters",
			  sizeof(name) - 1);
		return asked ? parse_refuse(p, -EINVAL, text) : 0;
	}
	snprintf(name, sizeof(name), "%.*s", STR(text));
	code = pfm.encode(name, PFM_KERNEL | PFM_USER | PFM_HYPERVISOR, PFM_OS_PERF_EVENT_EXT, &arg);
	if (code == PFM_ERR_NOTFOUND && !asked)
		return 0;
	if (code != PFM_SUCCESS)
		return refuse(p, text, code);
	err = add(p, text, &arg);
	return err < 0 ? err : 1;
}
