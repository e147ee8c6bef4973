/*
 * From the samples of a profile to cache lines and the code that accesses them. A line is an object and an address in it,
 * so that processes share the lines of a file; memory without a file is a process's own.
 */
#include "cli/memory/c2c.h"

#include <errno.h>

#include "base/map.h"
#include "base/arena.h"
#include "base/cpuset.h"

#include <tacho/perfdata.h>

#define SHOWN_SHARE 0.001		/* of the accesses that lines are sorted by: lines with less are not shown */

struct builder {
	struct c2c_model *m;
	struct map lines, places;
	struct arena keys;
};

static int find_index(struct builder *b, struct map *map, const void *key, size_t n, size_t next, size_t *index)
{
	const uint64_t *known = map_get(map, str_n(key, n));
	char *copy;

	if (known) {
		*index = *known;
		return 0;
	}
	*index = next;
	copy = arena_alloc(&b->keys, n);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, key, n);
	return map_put(map, str_n(copy, n), next) < 0 ? -ENOMEM : 1;
}

/* ---- nodes ---- */

/* "0-1,4" */
static void read_cpus(struct c2c_model *m, struct str list, uint8_t node)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };

	cpuset_parse(&cpus, list);	/* of a damaged list, what comes before the damage */
	for (int cpu = cpuset_next(&cpus, -1); cpu >= 0 && cpu < C2C_CPUS_MAX; cpu = cpuset_next(&cpus, cpu))
		m->node_of_cpu[cpu] = node;
}

static void read_nodes(struct c2c_model *m, const struct tacho_perfdata *pd)
{
	struct tacho_feature_list list;
	struct tacho_numa_node node;

	m->n_nodes = 1;
	if (tacho_perfdata_list(pd, TACHO_FEATURE_NUMA_TOPOLOGY, &list) < 0)
		return;
	while (tacho_numa_node_next(&list, &node) > 0 && node.node < C2C_NODES_MAX) {
		read_cpus(m, str_n(node.cpus.s, node.cpus.n), (uint8_t)node.node);
		m->n_nodes = max_of(m->n_nodes, (size_t)node.node + 1);
	}
}

/* ---- accesses ---- */

static const struct tacho_profile_frame *data_frame(const struct c2c_model *m, const struct tacho_profile_detail *d)
{
	return d->data.frame ? tacho_profile_frame(m->profile, d->data.frame - 1) : NULL;
}

static bool is_anonymous(const struct tacho_profile_frame *f)
{
	const char *path = f->code->object_path;

	return f->space != TACHO_SPACE_KERNEL && (str_starts(str_of(path), "//anon") || path[0] == '[');
}

static int find_line(struct builder *b, const struct tacho_profile_row *row, const struct tacho_profile_detail *d,
		     size_t *index)
{
	struct c2c_model *m = b->m;
	const struct tacho_profile_frame *f = data_frame(m, d);
	uint64_t mask = ~(c2c_line_bytes(m->opts) - 1), key[2] = { 0 };
	bool mapped = f && f->code->object;
	struct c2c_line *line;
	int is_new;

	key[1] = (mapped ? d->data.object_address : d->data.address) & mask;
	key[0] = mapped ? f->code->object : 0;
	if (mapped && is_anonymous(f))
		key[0] |= (uint64_t)tacho_profile_thread(m->profile, row->thread)->pid << 32;
	is_new = find_index(b, &b->lines, key, sizeof(key), m->lines.n, index);
	if (is_new <= 0)
		return is_new;
	line = vec_add(&m->lines);
	if (!line)
		return -ENOMEM;
	memcpy(line->key, key, sizeof(key));
	line->address = d->data.address & mask;
	return 0;
}

struct place_key {
	uint64_t line, offset, code;
	uint32_t pid, tid, object, reserved;
};

static struct place_key place_key(const struct c2c_model *m, const struct tacho_profile_row *row,
				  const struct tacho_profile_detail *d, size_t line)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(m->profile, row->thread);
	const struct tacho_profile_frame *f = d->ip.frame ? tacho_profile_frame(m->profile, d->ip.frame - 1) : NULL;
	struct place_key key = { .line = line };

	key.offset = (m->lines.v[line].key[0] ? d->data.object_address : d->data.address) & (c2c_line_bytes(m->opts) - 1);
	if (c2c_has_key(m->opts, C2C_PID))
		key.pid = t->pid;
	if (c2c_has_key(m->opts, C2C_TID))
		key.tid = t->tid;
	if (c2c_has_key(m->opts, C2C_CODE))
		key.code = d->ip.address;
	if (c2c_has_key(m->opts, C2C_OBJECT))
		key.object = f ? f->code->object : 0;
	return key;
}

static int find_place(struct builder *b, const struct tacho_profile_row *row, const struct tacho_profile_detail *d, size_t at,
		      struct c2c_place **out)
{
	struct c2c_model *m = b->m;
	struct c2c_line *line = &m->lines.v[at];
	struct place_key key = place_key(m, row, d, at);
	const struct tacho_profile_thread *t = tacho_profile_thread(m->profile, row->thread);
	size_t index;
	int is_new = find_index(b, &b->places, &key, sizeof(key), line->places.n, &index);

	if (is_new < 0)
		return is_new;
	if (is_new) {
		struct c2c_place *p = vec_add(&line->places);

		if (!p)
			return -ENOMEM;
		*p = (struct c2c_place){ .offset = key.offset, .code = d->ip.address, .pid = t->pid, .tid = t->tid,
					 .thread = row->thread, .ip_frame = d->ip.frame, .object = key.object };
		p->cpus = calloc(m->n_cpus / 32 + 1 + 2 * m->n_nodes, sizeof(*p->cpus));
		if (!p->cpus)
			return -ENOMEM;
		p->node_hitm = p->cpus + m->n_cpus / 32 + 1;
		p->node_stores = p->node_hitm + m->n_nodes;
	}
	*out = &line->places.v[index];
	return 0;
}

static void add_cost(struct c2c_place *p, const struct c2c_counts *c, uint64_t weight)
{
	struct c2c_mean *mean = c->remote_hitm ? &p->remote_hitm : c->local_hitm ? &p->local_hitm : c->loads ? &p->load : NULL;

	if (!mean)
		return;
	mean->n += c->records;
	mean->sum += weight * c->records;
}

static int add_row(struct builder *b, const struct tacho_profile_row *row)
{
	struct c2c_model *m = b->m;
	const struct tacho_profile_detail *d = tacho_profile_detail(m->profile, row->detail);
	size_t cpu = row->cpu > 0 && row->cpu < C2C_CPUS_MAX ? (size_t)row->cpu : 0, line;
	struct c2c_counts counts = { 0 };
	struct c2c_place *p = NULL;
	const struct tacho_profile_frame *f;
	int err;

	if (!d)
		return 0;
	f = data_frame(m, d);
	c2c_count(&counts, d->data_src, d->data.address, f && f->code->object, row->samples);
	c2c_add(&m->total, &counts);
	err = find_line(b, row, d, &line);
	if (err == 0)
		err = find_place(b, row, d, line, &p);
	if (err < 0 || !p)
		return err;
	c2c_add(&m->lines.v[line].counts, &counts);
	c2c_add(&p->counts, &counts);
	add_cost(p, &counts, d->weight);
	p->cpus[cpu / 32] |= 1u << cpu % 32;
	p->node_hitm[m->node_of_cpu[cpu]] += (uint32_t)c2c_display_count(m->opts, &counts);
	p->node_stores[m->node_of_cpu[cpu]] += (uint32_t)counts.stores;
	return 0;
}

/* ---- order ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_lines(const void *pa, const void *pb, void *arg)
{
	const struct c2c_model *m = arg;
	const struct c2c_line *a = pa, *b = pb;
	int order = compare_u64(c2c_display_count(m->opts, &b->counts), c2c_display_count(m->opts, &a->counts));

	if (!order)
		order = compare_u64(a->key[0] == 0, b->key[0] == 0);
	return order ? order : compare_u64(a->key[1], b->key[1]);
}

static int compare_places(const void *pa, const void *pb, void *arg)
{
	const struct c2c_model *m = arg;
	const struct c2c_place *a = pa, *b = pb;
	int order = compare_u64(a->offset, b->offset);

	if (!order)
		order = compare_u64(c2c_display_count(m->opts, &b->counts), c2c_display_count(m->opts, &a->counts));
	if (!order)
		order = compare_u64(c2c_hitm(&b->counts), c2c_hitm(&a->counts));
	for (size_t i = 0; i < m->opts->n_keys && !order; i++)
		switch (m->opts->keys[i]) {
		case C2C_PID:
			order = compare_u64(b->pid, a->pid);
			break;
		case C2C_TID:
			order = compare_u64(a->tid, b->tid);
			break;
		case C2C_CODE:
			order = compare_u64(a->code, b->code);
			break;
		case C2C_OBJECT:
			order = compare_u64(a->object, b->object);
			break;
		}
	return order;
}

bool c2c_is_listed(const struct c2c_model *m, const struct c2c_place *p)
{
	return c2c_display_count(m->opts, &p->counts) || p->counts.stores;
}

static void choose_lines(struct c2c_model *m)
{
	uint64_t all = c2c_display_count(m->opts, &m->total);

	for (size_t i = 0; i < m->lines.n; i++) {
		if (!c2c_hitm(&m->lines.v[i].counts))
			continue;
		c2c_add(&m->shared, &m->lines.v[i].counts);
		m->n_shared++;
	}
	if (m->lines.n)
		qsort_r(m->lines.v, m->lines.n, sizeof(*m->lines.v), compare_lines, m);
	for (size_t i = 0; i < m->lines.n; i++) {
		struct c2c_line *l = &m->lines.v[i];
		uint64_t n = c2c_display_count(m->opts, &l->counts);

		if (!m->opts->show_all && (!n || (double)n < SHOWN_SHARE * (double)all))
			break;
		qsort_r(l->places.v, l->places.n, sizeof(*l->places.v), compare_places, m);
		m->n_shown++;
	}
}

int c2c_model_init(struct c2c_model *m, const struct c2c_opts *o, const struct tacho_profile *p,
		   const struct tacho_perfdata *pd)
{
	struct builder b = { .m = m };
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	int err = 0;

	*m = (struct c2c_model){ .opts = o, .profile = p, .n_cpus = 1 };
	read_nodes(m, pd);
	for (size_t i = 0; i < tacho_profile_n_rows(p); i++)
		if (rows[i].cpu >= 0 && rows[i].cpu < C2C_CPUS_MAX)
			m->n_cpus = max_of(m->n_cpus, (size_t)rows[i].cpu + 1);
	for (size_t i = 0; i < tacho_profile_n_rows(p) && err == 0; i++)
		err = add_row(&b, &rows[i]);
	if (err == 0)
		choose_lines(m);
	map_done(&b.lines);
	map_done(&b.places);
	arena_done(&b.keys);
	return err;
}

void c2c_model_done(struct c2c_model *m)
{
	for (size_t i = 0; i < m->lines.n; i++) {
		for (size_t k = 0; k < m->lines.v[i].places.n; k++)
			free(m->lines.v[i].places.v[k].cpus);
		vec_done(&m->lines.v[i].places);
	}
	vec_done(&m->lines);
}
