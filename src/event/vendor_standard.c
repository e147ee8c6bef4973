/*
 * Standard events. The kernel's lists for Arm CPUs have only the names of most events,
 *
 *	{ "ArchStdEvent": "L1D_CACHE_REFILL" }
 *
 * while the codes are in a file shared by all CPUs of the architecture. That file is searched for among
 * the context's lists, and by its file name in the kernel tree in the list's directory and its parents.
 */
#include "event/vendor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"

static const struct vendor_event *find_in(const struct vendor_lists *lists, struct str name,
					  struct vendor_list **in)
{
	for (size_t i = 0; i < lists->n; i++) {
		size_t n;
		const struct vendor_event *ev = vendor_find(lists->v[i], name, &n);

		for (size_t k = 0; k < n; k++)
			if (!ev[k].standard) {
				*in = lists->v[i];
				return &ev[k];
			}
	}
	return NULL;
}

/* Loads files with standard events near the list. Missing files are skipped, invalid ones are logged. */
static int load_near(struct tacho *t, struct vendor_set *set, const char *list_path)
{
	static const char *const ups[] = { "", "../", "../../", "../../../" };
	static const char *const names[] = { "common-and-microarch.json", "recommended.json" };
	const char *slash = strrchr(list_path, '/');
	char path[PATH_MAX];

	for (size_t i = 0; i < countof(ups) * countof(names); i++) {
		struct tacho_error e = { 0 };
		int n = snprintf(path, sizeof(path), "%.*s/%s%s", slash ? (int)(slash - list_path) : 1,
				 slash ? list_path : ".", ups[i / countof(names)], names[i % countof(names)]);
		int err = n > 0 && n < (int)sizeof(path) && io_is_accessible(path, R_OK) ?
			  vendor_add_file(&set->standards, path, "", &e) : 0;

		if (err == -ENOMEM)
			return err;
		if (err < 0)
			tacho_log(t, TACHO_LOG_WARN, "%s", e.message);
	}
	return 0;
}

int vendor_standard(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		    struct vendor_list **in, const struct vendor_event **out)
{
	struct str name = str_of(vendor_str(l, ev->standard));
	struct vendor_set *set;
	int err = vendor_get(t, false, &set);

	*out = NULL;
	if (err < 0 || !name.n)
		return err;
	if (!l->standards_known) {
		err = load_near(t, set, l->path);
		if (err < 0)
			return err;
		l->standards_known = true;
	}
	*out = find_in(&set->given, name, in);
	if (!*out)
		*out = find_in(&set->found, name, in);
	if (!*out)
		*out = find_in(&set->standards, name, in);
	return 0;
}
