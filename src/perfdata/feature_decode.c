/*
 * Typed access to the payloads of features. Payloads come from a file and are not trusted: everything is read
 * through a bounded cursor. Texts are returned as views into the payload.
 */
#include "perfdata/feature_decode.h"

#include <errno.h>

#include "perfdata/perfdata.h"

#include <tacho/trace.h>

int feature_cursor(const struct tacho_perfdata *pd, enum tacho_feature f, struct cursor *out)
{
	size_t n = 0;
	const void *at = tacho_perfdata_feature(pd, f, &n);

	*out = cursor_over(at ? at : "", n, pd->header.swap);
	return at ? 0 : -ENOENT;
}

struct tacho_text cursor_text(struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	const char *s = cursor_bytes(c, n);

	return s ? (struct tacho_text){ s, strnlen(s, n) } : (struct tacho_text){ "", 0 };
}

/* ---- features of a fixed size ---- */

int tacho_perfdata_cpu_counts(const struct tacho_perfdata *pd, struct tacho_cpu_counts *out)
{
	struct tacho_cpu_counts counts;
	struct cursor c;
	int err = feature_cursor(pd, TACHO_FEATURE_NRCPUS, &c);

	counts.available = cursor_u32(&c);
	counts.online = cursor_u32(&c);
	if (err < 0 || c.bad)
		return err < 0 ? err : -EBADMSG;
	*out = counts;
	return 0;
}

static int read_u64(const struct tacho_perfdata *pd, enum tacho_feature f, uint64_t *out)
{
	struct cursor c;
	int err = feature_cursor(pd, f, &c);
	uint64_t v = cursor_u64(&c);

	if (err < 0 || c.bad)
		return err < 0 ? err : -EBADMSG;
	*out = v;
	return 0;
}

int tacho_perfdata_total_memory(const struct tacho_perfdata *pd, uint64_t *kb)
{
	return read_u64(pd, TACHO_FEATURE_TOTAL_MEM, kb);
}

int tacho_perfdata_clock_resolution(const struct tacho_perfdata *pd, uint64_t *ns)
{
	return read_u64(pd, TACHO_FEATURE_CLOCKID, ns);
}

int tacho_perfdata_dir_version(const struct tacho_perfdata *pd, uint64_t *version)
{
	return read_u64(pd, TACHO_FEATURE_DIR_FORMAT, version);
}

int tacho_perfdata_sample_time(const struct tacho_perfdata *pd, uint64_t *first_ns, uint64_t *last_ns)
{
	struct cursor c;
	int err = feature_cursor(pd, TACHO_FEATURE_SAMPLE_TIME, &c);
	uint64_t first = cursor_u64(&c), last = cursor_u64(&c);

	if (err < 0 || c.bad)
		return err < 0 ? err : -EBADMSG;
	*first_ns = first;
	*last_ns = last;
	return 0;
}

int tacho_perfdata_clock(const struct tacho_perfdata *pd, struct tacho_file_clock *out)
{
	struct tacho_file_clock clock;
	struct cursor c;
	int err = feature_cursor(pd, TACHO_FEATURE_CLOCK_DATA, &c);
	uint32_t version = cursor_u32(&c);

	clock.clockid = cursor_u32(&c);
	clock.wall_ns = cursor_u64(&c);
	clock.clock_ns = cursor_u64(&c);
	if (err < 0 || c.bad)
		return err < 0 ? err : -EBADMSG;
	if (version != 1)
		return -EOPNOTSUPP;
	*out = clock;
	return 0;
}

int tacho_perfdata_compression(const struct tacho_perfdata *pd, struct tacho_file_compression *out)
{
	struct tacho_file_compression z;
	struct cursor c;
	int err = feature_cursor(pd, TACHO_FEATURE_COMPRESSED, &c);

	z.version = cursor_u32(&c);
	z.type = cursor_u32(&c);
	z.level = cursor_u32(&c);
	z.ratio = cursor_u32(&c);
	z.record_bytes = cursor_u32(&c);
	if (err < 0 || c.bad)
		return err < 0 ? err : -EBADMSG;
	*out = z;
	return 0;
}

/* ---- CPU topology ---- */

/* Stores the position of a list of texts in *out and moves the cursor to the end of the list. */
static void take_text_list(struct cursor *c, struct tacho_feature_list *out)
{
	uint32_t n = cursor_u32(c);

	*out = (struct tacho_feature_list){ .at = c->at, .left = n, .swapped = c->swap };
	while (n-- && !c->bad)
		cursor_text(c);
	out->end = c->at;
	if (c->bad)
		*out = (struct tacho_feature_list){ 0 };
}

int tacho_perfdata_topology(const struct tacho_perfdata *pd, struct tacho_cpu_topology *out)
{
	struct tacho_cpu_topology t = { 0 };
	struct tacho_cpu_counts counts = { 0 };
	struct cursor c;
	int err = feature_cursor(pd, TACHO_FEATURE_CPU_TOPOLOGY, &c);

	if (err < 0)
		return err;
	tacho_perfdata_cpu_counts(pd, &counts);
	t.swapped = c.swap;
	take_text_list(&c, &t.sockets);
	take_text_list(&c, &t.threads);
	if (c.bad)
		return -EBADMSG;
	t.n_cpus = (uint32_t)min_of((uint64_t)counts.available, (uint64_t)(c.end - c.at) / 8);
	t.cpus = cursor_bytes(&c, 8ULL * t.n_cpus);
	take_text_list(&c, &t.dies);		/* from Linux 5.3 on */
	t.die_ids = cursor_bytes(&c, 4ULL * t.n_cpus);
	t.has_dies = !c.bad;
	if (c.bad)
		t.dies = (struct tacho_feature_list){ 0 };
	*out = t;
	return 0;
}

bool tacho_topology_cpu(const struct tacho_cpu_topology *t, uint32_t cpu, struct tacho_cpu_position *out)
{
	if (cpu >= t->n_cpus)
		return false;
	out->core = (int32_t)load_u32(t->cpus + 8ULL * cpu, t->swapped);
	out->socket = (int32_t)load_u32(t->cpus + 8ULL * cpu + 4, t->swapped);
	out->die = t->has_dies ? (int32_t)load_u32(t->die_ids + 4ULL * cpu, t->swapped) : 0;
	return true;
}

/* ---- lists ---- */

int tacho_perfdata_list(const struct tacho_perfdata *pd, enum tacho_feature f, struct tacho_feature_list *out)
{
	struct tacho_feature_list list = { 0 };
	uint64_t version = 1;
	struct cursor c;
	int err = feature_cursor(pd, f, &c);

	if (err < 0)
		return err;
	switch (f) {
	case TACHO_FEATURE_BUILD_ID:		/* records until the end of the payload */
		list.left = UINT64_MAX;
		break;
	case TACHO_FEATURE_CACHE:
		version = cursor_u32(&c);
		list.left = cursor_u32(&c);
		break;
	case TACHO_FEATURE_MEM_TOPOLOGY:
		version = cursor_u64(&c);
		list.block_bytes = cursor_u64(&c);
		list.left = cursor_u64(&c);
		break;
	case TACHO_FEATURE_CMDLINE:
	case TACHO_FEATURE_NUMA_TOPOLOGY:
	case TACHO_FEATURE_PMU_MAPPINGS:
	case TACHO_FEATURE_GROUP_DESC:
	case TACHO_FEATURE_HYBRID_TOPOLOGY:
	case TACHO_FEATURE_CPU_PMU_CAPS:
	case TACHO_FEATURE_PMU_CAPS:
	case TACHO_FEATURE_BPF_PROG_INFO:
	case TACHO_FEATURE_BPF_BTF:
		list.left = cursor_u32(&c);
		break;
	default:
		return -EINVAL;
	}
	if (c.bad)
		return -EBADMSG;
	if (version != 1)
		return -EOPNOTSUPP;
	list.at = c.at;
	list.end = c.end;
	list.swapped = c.swap;
	*out = list;
	return 0;
}

bool list_cursor(const struct tacho_feature_list *list, struct cursor *out)
{
	if (!list->left)
		return false;
	*out = cursor_over(list->at, (size_t)(list->end - list->at), list->swapped);
	out->bad = list->bad;
	return true;
}

int list_advance(struct tacho_feature_list *list, const struct cursor *c)
{
	if (c->bad) {
		list->bad = true;
		return -EBADMSG;
	}
	list->at = c->at;
	list->left--;
	return 1;
}

int tacho_text_next(struct tacho_feature_list *list, struct tacho_text *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	*out = cursor_text(&c);
	return list_advance(list, &c);
}

int tacho_numa_node_next(struct tacho_feature_list *list, struct tacho_numa_node *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->node = cursor_u32(&c);
	out->total_kb = cursor_u64(&c);
	out->free_kb = cursor_u64(&c);
	out->cpus = cursor_text(&c);
	return list_advance(list, &c);
}

int tacho_cpu_cache_next(struct tacho_feature_list *list, struct tacho_cpu_cache *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->level = cursor_u32(&c);
	out->line_bytes = cursor_u32(&c);
	out->sets = cursor_u32(&c);
	out->ways = cursor_u32(&c);
	out->type = cursor_text(&c);
	out->size = cursor_text(&c);
	out->cpus = cursor_text(&c);
	return list_advance(list, &c);
}

int tacho_pmu_mapping_next(struct tacho_feature_list *list, struct tacho_pmu_mapping *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->type = cursor_u32(&c);
	out->name = cursor_text(&c);
	return list_advance(list, &c);
}

int tacho_group_desc_next(struct tacho_feature_list *list, struct tacho_group_desc *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->name = cursor_text(&c);
	out->leader = cursor_u32(&c);
	out->n = cursor_u32(&c);
	return list_advance(list, &c);
}

int tacho_memory_node_next(struct tacho_feature_list *list, struct tacho_memory_node *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->node = cursor_u64(&c);
	cursor_u64(&c);		/* the size of the node, which also follows from the bitmap */
	out->n_blocks = cursor_u64(&c);
	out->swapped = list->swapped;
	out->bitmap = cursor_u64s(&c, out->n_blocks / 64 + (out->n_blocks % 64 != 0));
	return list_advance(list, &c);
}

bool tacho_memory_node_has(const struct tacho_memory_node *node, uint64_t block)
{
	return block < node->n_blocks &&
	       (load_u64(node->bitmap + block / 64 * 8, node->swapped) >> block % 64 & 1);
}

int tacho_hybrid_pmu_next(struct tacho_feature_list *list, struct tacho_hybrid_pmu *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->name = cursor_text(&c);
	out->cpus = cursor_text(&c);
	return list_advance(list, &c);
}

int tacho_pmu_cap_next(struct tacho_feature_list *list, struct tacho_pmu_cap *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->name = cursor_text(&c);
	out->value = cursor_text(&c);
	return list_advance(list, &c);
}

int tacho_pmu_caps_next(struct tacho_feature_list *list, struct tacho_pmu_caps *out)
{
	struct cursor c;
	uint32_t n;

	if (!list_cursor(list, &c))
		return 0;
	n = cursor_u32(&c);
	out->caps = (struct tacho_feature_list){ .at = c.at, .left = n, .swapped = c.swap };
	for (; n && !c.bad; n--) {
		cursor_text(&c);
		cursor_text(&c);
	}
	out->caps.end = c.at;
	out->name = cursor_text(&c);
	return list_advance(list, &c);
}

/* ---- build IDs ---- */

/*
 * An entry is a record: header (type, misc, size), pid, 20 bytes of build ID, its length, three bytes of
 * padding, path. Bit 15 of misc says that the length is valid; before Linux 5.10 it was always 20.
 */
int tacho_build_id_next(struct tacho_feature_list *list, struct tacho_file_build_id *out)
{
	enum { ID_AT = 12, LENGTH_AT = 32, PATH_AT = 36 };
	const uint8_t *at = list->at;
	size_t left = (size_t)(list->end - at), size;

	if (!list->left || !left)
		return 0;
	size = left > PATH_AT ? load_u16(at + 6, list->swapped) : 0;
	if (list->bad || size <= PATH_AT || size > left || !memchr(at + PATH_AT, '\0', size - PATH_AT)) {
		list->bad = true;
		return -EBADMSG;
	}
	*out = (struct tacho_file_build_id){ .path = (const char *)at + PATH_AT,
					     .misc = load_u16(at + 4, list->swapped),
					     .pid = (int32_t)load_u32(at + 8, list->swapped) };
	memcpy(out->id, at + ID_AT, sizeof(out->id));
	out->n = out->misc & BUILD_ID_HAS_LENGTH ? min_of(at[LENGTH_AT], (uint8_t)sizeof(out->id)) : sizeof(out->id);
	out->kernel = (out->misc & PERF_MISC_CPUMODE) == 1;
	list->at += size;
	return 1;
}

/* ---- tracepoint formats ---- */

int tacho_perfdata_tracing(const struct tacho_perfdata *pd, struct tacho_trace **out, struct tacho_error *e)
{
	size_t n = 0;
	const void *payload = tacho_perfdata_feature(pd, TACHO_FEATURE_TRACING_DATA, &n);

	if (!payload)
		return error_set(e, -ENOENT, "the recording has no tracepoint formats");
	return tacho_trace_new(out, payload, n, e);
}
