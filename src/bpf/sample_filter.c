/*
 * The pinned objects are below /sys/fs/bpf/tacho_filter: the program and the map of filters by event. Everyone may open
 * them, and so change the filters of others, as with perf's pinned filter. A recorder removes its entries at its end; those of
 * recorders that were killed are removed when the map is full.
 */
#include "bpf/sample_filter.h"

#include <tacho/bpf.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/error.h"
#include "base/vec.h"
#include "bpf/load_libbpf.h"
#include "bpf/sample_filter.skel.h"

#define BPFFS "/sys/fs/bpf"
#define PIN_DIR BPFFS "/tacho_filter"
#define PIN_PROGRAM PIN_DIR "/program"
#define PIN_MAP PIN_DIR "/filters_by_event"
#define PINNED_MODE 0666		/* opening a program takes both permissions, although it cannot be changed */
#define PINNED_EVENTS 8192u

struct sample_filter_program {
	struct sample_filter_bpf *skel;	/* NULL: the pinned program */
	int program, map;		/* of the pinned program; else -1 */
	struct sample_filter filter;
	struct { uint64_t *v; size_t n, cap; } ids;	/* entries of the pinned map */
};

/* Linux 6.3 collects the sample's data before the program runs. The member was added by the same changes. */
static int check_kernel(struct tacho_error *e)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	bool found = false;
	__s32 id;

	if (!btf)
		return libbpf_error(-errno, e);
	id = btf__find_by_name_kind(btf, "perf_sample_data", BTF_KIND_STRUCT);
	type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	for (unsigned i = 0; type && i < btf_vlen(type) && !found; i++) {
		const char *name = btf__name_by_offset(btf, btf_members(type)[i].name_off);

		found = name && strcmp(name, "dyn_size") == 0;
	}
	btf__free(btf);
	return found ? 0 : error_set(e, -EOPNOTSUPP, "filters of samples need Linux 6.3 or later");
}

/* Opens and loads the program; `pinned`: for the events of all users. */
static int load_skeleton(struct sample_filter_bpf **out, bool pinned, struct tacho_error *e)
{
	struct sample_filter_bpf *skel;
	int err = libbpf_open(e);

	if (err == 0)
		err = check_kernel(e);
	if (err != 0)
		return err;
	skel = sample_filter_bpf__open();
	if (!skel)
		return libbpf_error(errno > 0 ? -errno : -ENOMEM, e);
	skel->rodata->is_pinned = pinned;
	err = pinned ? bpf_map__set_max_entries(skel->maps.filters_by_event, PINNED_EVENTS) : 0;
	if (err == 0)
		err = sample_filter_bpf__load(skel);
	if (err < 0) {
		err = libbpf_error(err, e);
		sample_filter_bpf__destroy(skel);
		return err;
	}
	*out = skel;
	return 0;
}

/* ---- for one recorder ---- */

static int load_own(struct sample_filter_program *p, struct tacho_error *e)
{
	__u32 zero = 0;
	int err = load_skeleton(&p->skel, false, e);

	if (err == 0 && p->skel && bpf_map_update_elem(bpf_map__fd(p->skel->maps.one_filter), &zero, &p->filter, BPF_ANY) < 0)
		err = error_set(e, -errno, "cannot set the filter of samples: %s", strerror(errno));
	return err;
}

static int open_pinned(struct sample_filter_program *p, struct tacho_error *e)
{
	p->program = bpf_obj_get(PIN_PROGRAM);
	p->map = p->program >= 0 ? bpf_obj_get(PIN_MAP) : -1;
	if (p->map >= 0)
		return 0;
	error_set(e, -EPERM, "this user may not load the BPF program that filters samples, and none is pinned that it can use");
	error_hint(e, "record as root, or let root run 'tacho record --setup-filter pin' (and 'chmod o+x " BPFFS "')");
	return -EPERM;
}

int sample_filter_program_load(struct sample_filter_program **out, const struct sample_filter *filter, struct tacho_error *e)
{
	struct sample_filter_program *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_nomem(e);
	p->program = p->map = -1;
	p->filter = *filter;
	err = load_own(p, e);
	if (err == -EPERM || err == -EACCES)
		err = open_pinned(p, e);
	if (err < 0) {
		sample_filter_program_free(p);
		return err;
	}
	*out = p;
	return 0;
}

int sample_filter_program_fd(const struct sample_filter_program *p)
{
	return p->skel ? bpf_program__fd(p->skel->progs.sample_filter) : p->program;
}

/* Removes the entries of processes that have ended. Returns how many there were. */
static unsigned remove_left_over(const struct sample_filter_program *p)
{
	uint64_t key, next;
	unsigned n = 0;
	bool more = bpf_map_get_next_key(p->map, NULL, &next) == 0;

	while (more) {
		struct sample_filter filter;

		key = next;
		more = bpf_map_get_next_key(p->map, &key, &next) == 0;
		if (bpf_map_lookup_elem(p->map, &key, &filter) == 0 && kill((pid_t)filter.owner, 0) < 0 && errno == ESRCH)
			n += bpf_map_delete_elem(p->map, &key) == 0;
	}
	return n;
}

int sample_filter_program_add(struct sample_filter_program *p, uint64_t event_id)
{
	uint64_t *slot = p->skel ? NULL : vec_add(&p->ids);
	int err;

	if (p->skel || !slot)
		return p->skel ? 0 : -ENOMEM;
	*slot = event_id;
	p->filter.owner = (__u32)getpid();
	err = bpf_map_update_elem(p->map, &event_id, &p->filter, BPF_ANY) < 0 ? -errno : 0;
	if (err == -E2BIG && remove_left_over(p))
		err = bpf_map_update_elem(p->map, &event_id, &p->filter, BPF_ANY) < 0 ? -errno : 0;
	return err;
}

void sample_filter_program_free(struct sample_filter_program *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->ids.n; i++)
		bpf_map_delete_elem(p->map, &p->ids.v[i]);
	vec_done(&p->ids);
	if (p->program >= 0)
		close(p->program);
	if (p->map >= 0)
		close(p->map);
	if (p->skel)
		sample_filter_bpf__destroy(p->skel);
	free(p);
}

/* ---- for all users ---- */

static int refuse_pin(int err, const char *path, struct tacho_error *e)
{
	error_set(e, err, "cannot pin the filter at %s: %s", path, strerror(-err));
	if (err == -EEXIST)
		error_hint(e, "it is pinned already; 'tacho record --setup-filter unpin' removes it");
	else if (err == -EPERM || err == -EACCES)
		error_hint(e, "only root can");
	else
		error_hint(e, "mount the BPF file system: mount -t bpf bpf " BPFFS);
	return err;
}

static int pin(int fd, const char *path)
{
	if (bpf_obj_pin(fd, path) < 0 || chmod(path, PINNED_MODE) < 0)
		return -errno;
	return 0;
}

int tacho_sample_filter_pin(struct tacho_error *e)
{
	struct sample_filter_bpf *skel = NULL;
	int err = load_skeleton(&skel, true, e);

	if (err < 0 || !skel)
		return err;
	if (mkdir(PIN_DIR, 0755) < 0) {
		err = refuse_pin(-errno, PIN_DIR, e);
	} else {
		err = chmod(PIN_DIR, 0755) < 0 ? -errno : pin(bpf_program__fd(skel->progs.sample_filter), PIN_PROGRAM);
		if (err == 0)
			err = pin(bpf_map__fd(skel->maps.filters_by_event), PIN_MAP);
		if (err < 0) {
			refuse_pin(err, PIN_DIR, e);
			tacho_sample_filter_unpin(NULL);
		}
	}
	sample_filter_bpf__destroy(skel);
	return err;
}

int tacho_sample_filter_unpin(struct tacho_error *e)
{
	int err = 0;

	unlink(PIN_PROGRAM);
	unlink(PIN_MAP);
	if (rmdir(PIN_DIR) < 0)
		err = -errno;
	if (err == -ENOENT)
		return error_set(e, err, "no filter is pinned: %s does not exist", PIN_DIR);
	if (err < 0)
		error_set(e, err, "cannot remove %s: %s", PIN_DIR, strerror(-err));
	if (err == -EPERM || err == -EACCES)
		error_hint(e, "only root can");
	return err;
}

bool tacho_sample_filter_is_reachable(void)
{
	struct stat st;

	return stat(BPFFS, &st) == 0 && (st.st_mode & S_IXOTH);
}
