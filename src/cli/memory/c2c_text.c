/*
 * The tables of `tacho c2c report` in perf's shape: counts of all accesses and of those to shared lines, the lines, and for
 * each line the code that accesses it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/memory/c2c.h"

#define RULE "=================================================\n"
#define LINE_RULE "  ----------------------------------------------------------------------\n"

static void put_heading(struct buf *out, const char *text)
{
	buf_printf(out, "%s%s\n%s", RULE, text, RULE);
}

static void put_count(struct buf *out, const char *name, uint64_t n)
{
	buf_printf(out, "  %-34s: %10" PRIu64 "\n", name, n);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_share(struct buf *out, const char *name, uint64_t part, uint64_t all)
{
	buf_printf(out, "  %-34s: %10.1f%%\n", name, percent(part, all));
}

/* ---- counts ---- */

static void put_loads(const struct c2c_counts *c, struct buf *out)
{
	put_count(out, "Load Operations", c->loads);
	put_count(out, "Loads - uncacheable", c->load_uncached);
	put_count(out, "Loads - IO", c->load_io);
	put_count(out, "Loads - Miss", c->load_miss);
	put_count(out, "Loads - no mapping", c->load_no_address);
	put_count(out, "Load Fill Buffer Hit", c->fill_buffer);
	put_count(out, "Load L1D hit", c->l1_hit);
	put_count(out, "Load L2D hit", c->l2_hit);
	put_count(out, "Load LLC hit", c->llc_hit + c->local_hitm);
	put_count(out, "Load Local HITM", c->local_hitm);
	put_count(out, "Load Remote HITM", c->remote_hitm);
	put_count(out, "Load Remote HIT", c->remote_hit);
	put_count(out, "Load Local DRAM", c->local_dram);
	put_count(out, "Load Remote DRAM", c->remote_dram);
	put_count(out, "Load MESI State Exclusive", c->exclusive);
	put_count(out, "Load MESI State Shared", c->shared);
	put_count(out, "Load LLC Misses", c2c_llc_misses(c));
	put_count(out, "Load access blocked by data", c->blocked_data);
	put_count(out, "Load access blocked by address", c->blocked_address);
	put_count(out, "Load HIT Local Peer", c->local_peer);
	put_count(out, "Load HIT Remote Peer", c->remote_peer);
	put_share(out, "LLC Misses to Local DRAM", c->local_dram, c2c_llc_misses(c));
	put_share(out, "LLC Misses to Remote DRAM", c->remote_dram, c2c_llc_misses(c));
	put_share(out, "LLC Misses to Remote cache (HIT)", c->remote_hit, c2c_llc_misses(c));
	put_share(out, "LLC Misses to Remote cache (HITM)", c->remote_hitm, c2c_llc_misses(c));
}

static void put_totals(const struct c2c_counts *c, struct buf *out)
{
	put_heading(out, "            Trace Event Information              ");
	put_count(out, "Total records", c->records);
	put_count(out, "Locked Load/Store Operations", c->locks);
	put_loads(c, out);
	put_count(out, "Store Operations", c->stores);
	put_count(out, "Store - uncacheable", c->store_uncached);
	put_count(out, "Store - no mapping", c->store_no_address);
	put_count(out, "Store L1D Hit", c->store_l1_hit);
	put_count(out, "Store L1D Miss", c->store_l1_miss);
	put_count(out, "Store No available memory level", c->store_unknown);
	put_count(out, "No Page Map Rejects", c->no_map);
	put_count(out, "Unable to parse data source", c->not_parsed);
}

static void put_shared(const struct c2c_model *m, struct buf *out)
{
	const struct c2c_counts *c = &m->shared;

	buf_putc(out, '\n');
	put_heading(out, "    Global Shared Cache Line Event Information   ");
	put_count(out, "Total Shared Cache Lines", m->n_shared);
	put_count(out, "Load HITs on shared lines", c->loads);
	put_count(out, "Fill Buffer Hits on shared lines", c->fill_buffer);
	put_count(out, "L1D hits on shared lines", c->l1_hit);
	put_count(out, "L2D hits on shared lines", c->l2_hit);
	put_count(out, "LLC hits on shared lines", c->llc_hit + c->local_hitm);
	put_count(out, "Load hits on peer cache or nodes", c->local_peer + c->remote_peer);
	put_count(out, "Locked Access on shared lines", c->locks);
	put_count(out, "Blocked Access on shared lines", c->blocked_data + c->blocked_address);
	put_count(out, "Store HITs on shared lines", c->stores);
	put_count(out, "Store L1D hits on shared lines", c->store_l1_hit);
	put_count(out, "Store No available memory level", c->store_unknown);
	put_count(out, "Total Merged records", c2c_hitm(c) + c->stores);
}

static const char *key_name(enum c2c_key key)
{
	static const char *const names[] = { [C2C_PID] = "pid", [C2C_TID] = "tid", [C2C_CODE] = "iaddr", [C2C_OBJECT] = "dso" };

	return names[key];
}

static void put_details(const struct c2c_model *m, struct buf *out)
{
	static const char *const sorted[] = {
		[C2C_TOTAL] = "Total HITMs", [C2C_LOCAL] = "Local HITMs", [C2C_REMOTE] = "Remote HITMs",
	};

	buf_putc(out, '\n');
	put_heading(out, "                 c2c details                     ");
	for (size_t i = 0; i < tacho_profile_n_events(m->profile); i++)
		buf_printf(out, "  %-34s: %s\n", i ? "" : "Events", tacho_profile_event(m->profile, i)->name);
	buf_printf(out, "  %-34s: %s\n", "Cachelines sort on", sorted[m->opts->display]);
	buf_printf(out, "  %-34s: offset", "Cacheline data grouping");
	for (size_t i = 0; i < m->opts->n_keys; i++)
		buf_printf(out, ",%s", key_name(m->opts->keys[i]));
	buf_putc(out, '\n');
}

/* ---- the lines ---- */

static void put_line(const struct c2c_model *m, size_t i, struct buf *out)
{
	const struct c2c_counts *c = &m->lines.v[i].counts;
	const struct { int width; uint64_t n; } numbers[] = {
		{ 7, c2c_hitm(c) }, { 7, c->local_hitm }, { 7, c->remote_hitm }, { 7, c2c_line_records(c) }, { 7, c2c_line_loads(c) },
		{ 7, c->stores }, { 7, c->store_l1_hit }, { 7, c->store_l1_miss }, { 7, c->store_unknown }, { 7, c->fill_buffer },
		{ 7, c->l1_hit }, { 7, c->l2_hit }, { 8, c->llc_hit }, { 7, c->local_hitm }, { 8, c->remote_hit },
		{ 7, c->remote_hitm }, { 8, c->local_dram }, { 8, c->remote_dram },
	};
	char address[24];

	snprintf(address, sizeof(address), "%#" PRIx64, m->lines.v[i].address);
	buf_printf(out, "  %5zu  %18s   N/A       0  %6.2f%%", i, address,
		   percent(c2c_display_count(m->opts, c), c2c_display_count(m->opts, &m->total)));
	for (size_t k = 0; k < countof(numbers); k++)
		buf_printf(out, "  %*" PRIu64, numbers[k].width, numbers[k].n);
	buf_putc(out, '\n');
}

static void put_lines(const struct c2c_model *m, struct buf *out)
{
	static const char *const by[] = { [C2C_TOTAL] = "Tot", [C2C_LOCAL] = "Lcl", [C2C_REMOTE] = "Rmt" };

	buf_putc(out, '\n');
	put_heading(out, "           Shared Data Cache Line Table          ");
	buf_printf(out, "#\n#        %s      %s  ------- Load Hitm -------    Total    Total    Total  "
		   "--------- Stores --------  ----- Core Load Hit -----  - LLC Load Hit --  - RMT Load Hit --  --- Load Dram ----\n",
		   m->opts->double_lines ? "------- Double-Cacheline -------" : "----------- Cacheline ----------",
		   by[m->opts->display]);
	buf_puts(out, "# Index             Address  Node  PA cnt     Hitm    Total  LclHitm  RmtHitm  records    Loads   Stores    "
		 "L1Hit   L1Miss      N/A       FB       L1       L2    LclHit  LclHitm    RmtHit  RmtHitm       Lcl       Rmt\n");
	buf_puts(out, "# .....  ..................  ....  ......  .......  .......  .......  .......  .......  .......  .......  "
		 ".......  .......  .......  .......  .......  .......  ........  .......  ........  .......  ........  ........\n#\n");
	for (size_t i = 0; i < m->n_shown; i++)
		put_line(m, i, out);
}

/* ---- the code ---- */

struct c2c_widths {			/* of the texts of all places that are shown */
	size_t symbol, object, source, comm;
};

static const struct tacho_profile_frame *code_frame(const struct c2c_model *m, const struct c2c_place *p)
{
	return p->ip_frame ? tacho_profile_frame(m->profile, p->ip_frame - 1) : NULL;
}

static void symbol_text(const struct c2c_model *m, const struct c2c_place *p, struct buf *out)
{
	const struct tacho_profile_frame *f = code_frame(m, p);

	if (f && f->known)
		buf_printf(out, "[%c] %s", f->space == TACHO_SPACE_KERNEL ? 'k' : '.', f->code->name);
	else
		buf_printf(out, "[%c] %#018" PRIx64, f && f->space == TACHO_SPACE_KERNEL ? 'k' : '.', p->code);
}

static const char *object_name(const struct c2c_model *m, const struct c2c_place *p)
{
	const struct tacho_profile_frame *f = code_frame(m, p);

	return f ? f->code->object_name : "[unknown]";
}

void c2c_srcline(const struct c2c_model *m, const struct c2c_place *p, struct buf *out)
{
	const struct tacho_profile_frame *f = code_frame(m, p);
	const char *slash;

	if (!f) {
		buf_puts(out, "??:0");
	} else if (f->code->srcfile) {
		slash = strrchr(f->code->srcfile, '/');
		buf_printf(out, "%s:%u", slash ? slash + 1 : f->code->srcfile, f->srcline);
	} else if (f->known) {
		buf_printf(out, "%s+%" PRIu64, f->code->name, f->offset);
	} else {
		buf_printf(out, "%s[%" PRIx64 "]", f->code->object_name, f->offset);
	}
}

static void find_widths(const struct c2c_model *m, struct c2c_widths *w)
{
	scoped(buf_done) struct buf text = { 0 };

	*w = (struct c2c_widths){ .source = strlen("Source:Line") };
	for (size_t i = 0; i < m->n_shown; i++)
		for (size_t k = 0; k < m->lines.v[i].places.n; k++) {
			const struct c2c_place *p = &m->lines.v[i].places.v[k];

			if (!c2c_is_listed(m, p))
				continue;
			w->comm = max_of(w->comm, strlen(tacho_profile_thread(m->profile, p->thread)->comm));
			buf_clear(&text);
			symbol_text(m, p, &text);
			w->symbol = max_of(w->symbol, text.n);
			w->object = max_of(w->object, strlen(object_name(m, p)));
			buf_clear(&text);
			if (!m->opts->no_source)
				c2c_srcline(m, p, &text);
			w->source = max_of(w->source, text.n);
		}
}

static double mean(const struct c2c_mean *m)
{
	return m->n ? (double)m->sum / (double)m->n : 0;
}

static size_t n_cpus_of(const struct c2c_model *m, const struct c2c_place *p, size_t node)
{
	size_t n = 0;

	for (size_t cpu = 0; cpu < m->n_cpus; cpu++)
		n += c2c_has_cpu(p, cpu) && (node == SIZE_MAX || m->node_of_cpu[cpu] == node);
	return n;
}

/* "0-1,3" */
static void put_cpu_list(const struct c2c_model *m, const struct c2c_place *p, size_t node, struct buf *out)
{
	bool any = false;

	for (size_t cpu = 0; cpu < m->n_cpus; cpu++) {
		size_t last = cpu;

		if (!c2c_has_cpu(p, cpu) || m->node_of_cpu[cpu] != node)
			continue;
		while (last + 1 < m->n_cpus && c2c_has_cpu(p, last + 1) && m->node_of_cpu[last + 1] == node)
			last++;
		buf_printf(out, "%s%zu", any ? "," : "", cpu);
		if (last > cpu)
			buf_printf(out, "-%zu", last);
		any = true;
		cpu = last;
	}
}

#define NODE_WIDTH 20			/* of " 0{ 2  66.7%    n/a}" */

static void put_node_share(struct buf *out, uint64_t part, uint64_t all)
{
	if (all)
		buf_printf(out, " %5.1f%%", percent(part, all));
	else
		buf_printf(out, " %6s", "n/a");
}

static void put_nodes(const struct c2c_model *m, const struct c2c_place *p, struct buf *out)
{
	bool any = false;

	for (size_t node = 0; node < m->n_nodes; node++) {
		size_t n = n_cpus_of(m, p, node);

		if (!n && m->opts->node_info != 1)
			continue;
		buf_puts(out, any ? " " : "");
		any = true;
		if (!n) {
			buf_pad(out, ' ', NODE_WIDTH);
			continue;
		}
		buf_printf(out, "%2zu", node);
		if (m->opts->node_info == 1) {
			buf_printf(out, "{%2zu", n);
			put_node_share(out, p->node_hitm[node], c2c_display_count(m->opts, &p->counts));
			put_node_share(out, p->node_stores[node], p->counts.stores);
			buf_putc(out, '}');
		} else if (m->opts->node_info > 1) {
			buf_putc(out, '{');
			put_cpu_list(m, p, node, out);
			buf_putc(out, '}');
		}
	}
}

static void put_code(const struct c2c_model *m, const struct c2c_place *p, const struct c2c_widths *w, struct buf *out)
{
	scoped(buf_done) struct buf symbol = { 0 }, source = { 0 };
	char code[24];

	snprintf(code, sizeof(code), "%#" PRIx64, p->code);
	if (c2c_has_key(m->opts, C2C_CODE))
		buf_printf(out, "  %18s", code);
	buf_printf(out, "  %8.0f  %8.0f  %8.0f  %7" PRIu64 "  %8zu", mean(&p->remote_hitm), mean(&p->local_hitm), mean(&p->load),
		   c2c_line_records(&p->counts), n_cpus_of(m, p, SIZE_MAX));
	symbol_text(m, p, &symbol);
	c2c_srcline(m, p, &source);
	if (c2c_has_key(m->opts, C2C_CODE)) {
		buf_puts(out, "  ");
		buf_left(out, buf_view(&symbol), w->symbol);
	}
	if (c2c_has_key(m->opts, C2C_CODE) || c2c_has_key(m->opts, C2C_OBJECT))
		buf_printf(out, "  %-*s", (int)w->object, object_name(m, p));
	if (c2c_has_key(m->opts, C2C_CODE) && !m->opts->no_source) {
		buf_puts(out, "  ");
		buf_left(out, buf_view(&source), w->source);
	}
	buf_puts(out, "  ");
	put_nodes(m, p, out);
	buf_putc(out, '\n');
	out->bad = out->bad || symbol.bad || source.bad;
}

static void put_place(const struct c2c_model *m, const struct c2c_line *l, const struct c2c_place *p,
		      const struct c2c_widths *w, struct buf *out)
{
	const struct c2c_counts *c = &p->counts, *all = &l->counts;
	char offset[24];

	snprintf(offset, sizeof(offset), p->offset ? "%#" PRIx64 : "0x%" PRIx64, p->offset);
	buf_printf(out, "         %6.2f%%  %6.2f%%  %6.2f%%  %6.2f%%  %6.2f%%  %18s   N/A       0",
		   percent(c->remote_hitm, all->remote_hitm), percent(c->local_hitm, all->local_hitm),
		   percent(c->store_l1_hit, all->store_l1_hit), percent(c->store_l1_miss, all->store_l1_miss),
		   percent(c->store_unknown, all->store_unknown), offset);
	for (size_t i = 0; i < m->opts->n_keys; i++) {
		if (m->opts->keys[i] == C2C_PID)
			buf_printf(out, "  %7" PRIu32, p->pid);
		if (m->opts->keys[i] == C2C_TID)
			buf_printf(out, "  %7" PRIu32 ":%-*s", p->tid, (int)w->comm, tacho_profile_thread(m->profile, p->thread)->comm);
	}
	put_code(m, p, w, out);
}

static void put_code_titles(const struct c2c_model *m, const struct c2c_widths *w, struct buf *out)
{
	static const char *const nodes[] = { "Node", "Node{cpus %hitms %stores}", "Node{cpu list}" };
	bool code = c2c_has_key(m->opts, C2C_CODE), object = code || c2c_has_key(m->opts, C2C_OBJECT);
	scoped(buf_done) struct buf first = { 0 }, second = { 0 }, dots = { 0 };

	buf_puts(&first, "#        ----- HITM -----  ------- Store Refs ------  --------- Data address ---------");
	buf_puts(&second, "#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss      N/A              Offset  Node  PA cnt");
	buf_puts(&dots, "# .....  .......  .......  .......  .......  .......  ..................  ....  ......");
	for (size_t i = 0; i < m->opts->n_keys; i++) {
		enum c2c_key key = m->opts->keys[i];

		size_t width = key == C2C_TID ? 8 + w->comm : 7;

		if (key == C2C_PID || key == C2C_TID) {
			buf_printf(&first, "  %*s", (int)width, "");
			buf_printf(&second, "  %*s", (int)width, key == C2C_PID ? "Pid" : "Tid");
			buf_puts(&dots, "  ");
			buf_pad(&dots, '.', width);
		}
	}
	if (code) {
		buf_printf(&first, "  %18s", "");
		buf_printf(&second, "  %18s", "Code address");
		buf_puts(&dots, "  ..................");
	}
	buf_puts(&first, "  ---------- cycles ----------    Total       cpu");
	buf_puts(&second, "  rmt hitm  lcl hitm      load  records       cnt");
	buf_puts(&dots, "  ........  ........  ........  .......  ........");
	if (code) {
		buf_printf(&first, "  %*s", (int)w->symbol, "");
		buf_printf(&second, "  %*s", (int)w->symbol, "Symbol");
		buf_puts(&dots, "  ");
		buf_pad(&dots, '.', w->symbol);
	}
	if (object) {
		buf_printf(&first, "  %*s", (int)w->object, "Shared");
		buf_printf(&second, "  %*s", (int)w->object, "Object");
		buf_puts(&dots, "  ");
		buf_pad(&dots, '.', w->object);
	}
	if (code && !m->opts->no_source) {
		buf_printf(&first, "  %*s", (int)w->source, "");
		buf_printf(&second, "  %*s", (int)w->source, "Source:Line");
		buf_puts(&dots, "  ");
		buf_pad(&dots, '.', w->source);
	}
	buf_printf(&first, "  %4s", "");
	buf_printf(out, "#\n%s\n%s  %s\n%s  ....\n#\n", first.bad ? "" : first.bytes, second.bad ? "" : second.bytes,
		   nodes[min_of(m->opts->node_info, 2u)], dots.bad ? "" : dots.bytes);
	out->bad = out->bad || first.bad || second.bad || dots.bad;
}

/* As in perf, names of threads are only aligned among the rows of a line. */
static size_t comm_width(const struct c2c_model *m, const struct c2c_line *l)
{
	size_t width = 0;

	for (size_t k = 0; k < l->places.n; k++)
		width = max_of(width, strlen(tacho_profile_thread(m->profile, l->places.v[k].thread)->comm));
	return width;
}

static void put_pareto(const struct c2c_model *m, struct buf *out)
{
	struct c2c_widths w;

	find_widths(m, &w);
	buf_putc(out, '\n');
	put_heading(out, "      Shared Cache Line Distribution Pareto      ");
	put_code_titles(m, &w, out);
	for (size_t i = 0; i < m->n_shown; i++) {
		const struct c2c_line *l = &m->lines.v[i];
		const struct c2c_counts *c = &l->counts;
		char address[24];

		snprintf(address, sizeof(address), "%#" PRIx64, l->address);
		buf_printf(out, "%s%s  %5zu  %7" PRIu64 "  %7" PRIu64 "  %7" PRIu64 "  %7" PRIu64 "  %7" PRIu64 "  %18s\n%s", i ? "\n" : "",
			   LINE_RULE, i, c->remote_hitm, c->local_hitm, c->store_l1_hit, c->store_l1_miss, c->store_unknown, address,
			   LINE_RULE);
		w.comm = comm_width(m, l);
		for (size_t k = 0; k < l->places.n; k++)
			if (c2c_is_listed(m, &l->places.v[k]))
				put_place(m, l, &l->places.v[k], &w, out);
	}
}

void c2c_text(const struct c2c_model *m, struct buf *out)
{
	put_totals(&m->total, out);
	put_shared(m, out);
	put_details(m, out);
	if (m->opts->stats_only)
		return;
	put_lines(m, out);
	put_pareto(m, out);
}
