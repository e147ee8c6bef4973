/*
 * Sideband records: mmap, comm, fork and the other records that are not samples. All of them update the
 * symbol lookup's view of tasks and mappings; those selected by --show-...-events are printed:
 *
 *	sh   16704  3589.106143: PERF_RECORD_MMAP2 16704/16704: [0x5623d04b4000(0x13000) @ 0x4000 ...
 */
#include "cli/script/script.h"

#include <errno.h>

typedef unsigned long long ull;

static void put_mmap(struct buf *out, const struct tacho_sideband *r)
{
	const struct tacho_mmap *m = &r->mmap;

	buf_printf(out, " %d/%d: [%#llx(%#llx) @ %#llx", (int)m->pid, (int)m->tid, (ull)m->addr,
		   (ull)m->len, (ull)m->pgoff);
	if (r->type == TACHO_RECORD_MMAP) {
		buf_printf(out, "]: %c ", r->misc & (1u << 13) ? 'r' : 'x');
		buf_text(out, str_of(m->path));
		return;
	}
	if (m->n_build_id) {
		buf_puts(out, " <");
		for (unsigned i = 0; i < m->n_build_id; i++)
			buf_printf(out, "%02x", m->build_id[i]);
		buf_putc(out, '>');
	} else {
		buf_printf(out, " %02x:%02x %llu %llu", m->major, m->minor, (ull)m->inode,
			   (ull)m->generation);
	}
	buf_printf(out, "]: %c%c%c%c ", m->prot & 1 ? 'r' : '-', m->prot & 2 ? 'w' : '-',
		   m->prot & 4 ? 'x' : '-', m->flags & 1 ? 's' : 'p');
	buf_text(out, str_of(m->path));
}

static void put_comm(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, "%s: ", r->misc & (1u << 13) ? " exec" : "");
	buf_text(out, str_of(r->comm.name));
	buf_printf(out, ":%d/%d", (int)r->comm.pid, (int)r->comm.tid);
}

static void put_task(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, "(%d:%d):(%d:%d)", (int)r->task.pid, (int)r->task.tid, (int)r->task.ppid,
		   (int)r->task.ptid);
}

static const char *switch_direction(const struct tacho_sideband *r)
{
	if (!(r->misc & (1u << 13)))
		return "IN         ";
	return r->misc & (1u << 14) ? "OUT preempt" : "OUT        ";
}

static void put_switch(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " %s", switch_direction(r));
	if (r->type == TACHO_RECORD_SWITCH_CPU_WIDE)
		buf_printf(out, "  %s pid/tid: %5d/%-5d", r->misc & (1u << 13) ? "next" : "prev",
			   (int)r->task_id.pid, (int)r->task_id.tid);
}

static void put_lost(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " lost %llu", (ull)r->lost.lost);
}

static void put_namespaces(struct buf *out, const struct tacho_sideband *r)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	size_t n = min_of((size_t)r->namespaces.n, r->namespaces.dev_inode.n / 2);

	buf_printf(out, " %d/%d - nr_namespaces: %llu\n\t\t[", (int)r->namespaces.pid,
		   (int)r->namespaces.tid, (ull)r->namespaces.n);
	for (size_t i = 0; i < n; i++) {
		if (i && i % 4 == 0)
			buf_puts(out, "\n\t\t ");
		buf_printf(out, "%zu/%s: %llu/%#llx%s", i, i < countof(names) ? names[i] : "unknown",
			   (ull)r->namespaces.dev_inode.v[2 * i], (ull)r->namespaces.dev_inode.v[2 * i + 1],
			   i + 1 < n ? ", " : "");
	}
	buf_putc(out, ']');
}

static void put_cgroup(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " cgroup: %llu ", (ull)r->cgroup.id);
	buf_text(out, str_of(r->cgroup.path));
}

static void put_ksymbol(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " addr %llx len %u type %u flags 0x%x name ", (ull)r->ksymbol.addr,
		   r->ksymbol.len, r->ksymbol.type, r->ksymbol.flags);
	buf_text(out, str_of(r->ksymbol.name));
}

static void put_bpf(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " type %u, flags %u, id %u", r->bpf.type, r->bpf.flags, r->bpf.id);
}

static void put_poke(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " addr %#llx old len %u new len %u", (ull)r->text_poke.addr,
		   r->text_poke.n_old, r->text_poke.n_new);
	for (unsigned i = 0; i < (unsigned)r->text_poke.n_old + r->text_poke.n_new; i++)
		buf_printf(out, "%s%02x", i == 0 ? "\n\told bytes: " :
			   i == r->text_poke.n_old ? "\n\tnew bytes: " : " ", r->text_poke.bytes[i]);
}

#define AT(field) offsetof(struct script_opts, field)
static const struct sideband_printer {
	uint32_t type;
	size_t option;
	void (*put)(struct buf *out, const struct tacho_sideband *r);
} printers[] = {
	{ TACHO_RECORD_MMAP, AT(show_mmap), put_mmap },
	{ TACHO_RECORD_MMAP2, AT(show_mmap), put_mmap },
	{ TACHO_RECORD_COMM, AT(show_task), put_comm },
	{ TACHO_RECORD_FORK, AT(show_task), put_task },
	{ TACHO_RECORD_EXIT, AT(show_task), put_task },
	{ TACHO_RECORD_SWITCH, AT(show_switch), put_switch },
	{ TACHO_RECORD_SWITCH_CPU_WIDE, AT(show_switch), put_switch },
	{ TACHO_RECORD_LOST, AT(show_lost), put_lost },
	{ TACHO_RECORD_LOST_SAMPLES, AT(show_lost), put_lost },
	{ TACHO_RECORD_NAMESPACES, AT(show_namespace), put_namespaces },
	{ TACHO_RECORD_CGROUP, AT(show_cgroup), put_cgroup },
	{ TACHO_RECORD_KSYMBOL, AT(show_bpf), put_ksymbol },
	{ TACHO_RECORD_BPF_EVENT, AT(show_bpf), put_bpf },
	{ TACHO_RECORD_TEXT_POKE, AT(show_text_poke), put_poke },
};

static const struct sideband_printer *printer_of(const struct script *s, uint32_t type)
{
	for (size_t i = 0; i < countof(printers); i++)
		if (printers[i].type == type)
			return *((const bool *)((const char *)s->opts + printers[i].option)) ? &printers[i] : NULL;
	return NULL;
}

/* Finds the task that the record is about; its name is at the start of the line. */
static void task_of(const struct tacho_sideband *r, uint32_t *pid, uint32_t *tid)
{
	*pid = r->id.pid;
	*tid = r->id.tid;
	switch (r->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
		*pid = r->mmap.pid == UINT32_MAX ? 0 : r->mmap.pid;
		*tid = r->mmap.tid;
		break;
	case TACHO_RECORD_COMM:
		*pid = r->comm.pid;
		*tid = r->comm.tid;
		break;
	case TACHO_RECORD_FORK:
	case TACHO_RECORD_EXIT:
		*pid = r->task.pid;
		*tid = r->task.tid;
		break;
	case TACHO_RECORD_NAMESPACES:
		*pid = r->namespaces.pid;
		*tid = r->namespaces.tid;
		break;
	}
}

static void print_record(struct script *s, struct script_event *ev, const struct sideband_printer *printer,
			 const struct tacho_sideband *r)
{
	struct line_head head = { .cpu = r->id.cpu, .time = r->id.time, .misc = r->misc, .type = r->type };
	struct buf *out = &ev->sink->out;

	task_of(r, &head.pid, &head.tid);
	head.comm = tacho_symbols_comm(s->symbols, head.pid, head.tid);
	head.n_comm = strlen(head.comm);
	if (!filter_has_comm(&s->filter, head.comm) || !filter_has_task(&s->filter, head.pid, head.tid))
		return;
	if (s->filter.by_cpu && !cpuset_has(&s->filter.cpus, (int)head.cpu))
		return;
	head.pid = r->id.pid;
	head.tid = r->id.tid;
	line_put_head(s, ev, out, &head);
	buf_puts(out, tacho_record_name(r->type));
	printer->put(out, r);
	buf_putc(out, '\n');
	sink_write_if_full(s, ev->sink);
}

int sideband_record(struct script *s, const struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(s->pd, rec), err;
	struct script_event *ev = s->events.n ? &s->events.v[i < 0 ? 0 : i] : NULL;
	const struct sideband_printer *printer = printer_of(s, rec->type);
	struct tacho_sideband sideband;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR) {
		if (rec->type == TACHO_RECORD_FINISHED_ROUND && s->opts->show_round && ev) {
			buf_puts(&ev->sink->out, "PERF_RECORD_FINISHED_ROUND\n");
			sink_write_if_full(s, ev->sink);
		}
		return stat_rounds_record(s, rec);
	}
	if (!ev)
		return 0;
	s->scratch->used = 0;
	err = tacho_sideband_decode(&sideband, rec, &ev->file->layout, s->scratch);
	if (err)
		return err == -EOPNOTSUPP ? 0 : err;	/* a type of a newer kernel */
	if (printer && rec->type == TACHO_RECORD_EXIT)
		print_record(s, ev, printer, &sideband);
	err = tacho_symbols_feed(s->symbols, &sideband);
	if (!err && rec->type == TACHO_RECORD_CGROUP)
		err = extra_fields_add_cgroup(&s->extra, &sideband);
	s->state_version++;
	if (printer && rec->type != TACHO_RECORD_EXIT)
		print_record(s, ev, printer, &sideband);
	return err;
}
