/*
 * The tables of `tacho c2c report` as JSON.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/memory/c2c.h"

static void put_address(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, v);
	json_member(j, key, str, text);
}

static void put_counts(struct json *j, const struct c2c_counts *c)
{
	const struct { const char *name; uint64_t n; } numbers[] = {
		{ "records", c->records }, { "loads", c->loads }, { "stores", c->stores }, { "locked", c->locks },
		{ "local_hitm", c->local_hitm }, { "remote_hitm", c->remote_hitm }, { "remote_hit", c->remote_hit },
		{ "fill_buffer", c->fill_buffer }, { "l1_hit", c->l1_hit }, { "l2_hit", c->l2_hit }, { "llc_hit", c->llc_hit },
		{ "local_dram", c->local_dram }, { "remote_dram", c->remote_dram }, { "local_peer", c->local_peer },
		{ "remote_peer", c->remote_peer }, { "store_l1_hit", c->store_l1_hit }, { "store_l1_miss", c->store_l1_miss },
		{ "store_unknown", c->store_unknown }, { "blocked_by_data", c->blocked_data },
		{ "blocked_by_address", c->blocked_address }, { "not_mapped", c->no_map }, { "not_parsed", c->not_parsed },
	};

	json_begin(j, '{');
	for (size_t i = 0; i < countof(numbers); i++)
		json_member(j, numbers[i].name, u64, numbers[i].n);
	json_end(j);
}

static void put_cost(struct json *j, const char *name, const struct c2c_mean *m)
{
	json_key(j, name);
	if (m->n)
		json_double(j, (double)m->sum / (double)m->n);
	else
		json_null(j);
}

static void put_place(const struct c2c_model *m, const struct c2c_place *p, struct json *j)
{
	const struct tacho_profile_frame *f = p->ip_frame ? tacho_profile_frame(m->profile, p->ip_frame - 1) : NULL;
	scoped(buf_done) struct buf line = { 0 };

	json_begin(j, '{');
	json_member(j, "offset", u64, p->offset);
	if (c2c_has_key(m->opts, C2C_PID))
		json_member(j, "pid", u64, p->pid);
	if (c2c_has_key(m->opts, C2C_TID))
		json_member(j, "tid", u64, p->tid);
	if (c2c_has_key(m->opts, C2C_CODE)) {
		put_address(j, "code", p->code);
		json_member(j, "symbol", str, f && f->known ? f->code->name : NULL);
		c2c_srcline(m, p, &line);
		json_member(j, "line", str, line.bytes);
	}
	json_member(j, "object", str, f ? f->code->object_name : NULL);
	put_cost(j, "remote_hitm_cycles", &p->remote_hitm);
	put_cost(j, "local_hitm_cycles", &p->local_hitm);
	put_cost(j, "load_cycles", &p->load);
	json_key(j, "cpus");
	json_begin(j, '[');
	for (size_t cpu = 0; cpu < m->n_cpus; cpu++)
		if (c2c_has_cpu(p, cpu))
			json_u64(j, cpu);
	json_end(j);
	json_key(j, "counts");
	put_counts(j, &p->counts);
	json_end(j);
	j->out->bad = j->out->bad || line.bad;
}

void c2c_json(const struct c2c_model *m, const char *input, struct json *j)
{
	json_begin(j, '{');
	json_member(j, "schema", str, "tacho.c2c/1");
	json_member(j, "file", str, input);
	json_key(j, "total");
	put_counts(j, &m->total);
	json_key(j, "shared");
	put_counts(j, &m->shared);
	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < m->n_shown && !m->opts->stats_only; i++) {
		const struct c2c_line *l = &m->lines.v[i];

		json_begin(j, '{');
		put_address(j, "address", l->address);
		json_key(j, "counts");
		put_counts(j, &l->counts);
		json_key(j, "code");
		json_begin(j, '[');
		for (size_t k = 0; k < l->places.n; k++)
			put_place(m, &l->places.v[k], j);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}
