/*
 * Sideband records: mmap, comm, fork and the other records that are not samples. All of them update the
 * symbol lookup's view of tasks and mappings; those selected by --show-...-events are printed:
 *
 *	sh   16704  3589.106143: PERF_RECORD_MMAP2 16704/16704: [0x5623d04b4000(0x13000) @ 0x4000 ...
 */
#include "cli/script/python.h"

#include <errno.h>

#include "cli/files/sideband_text.h"

#define AT(field) offsetof(struct script_opts, field)
static const struct {
	uint32_t type;
	size_t option;			/* --show-... */
} shown[] = {
	{ TACHO_RECORD_MMAP, AT(show_mmap) },
	{ TACHO_RECORD_MMAP2, AT(show_mmap) },
	{ TACHO_RECORD_COMM, AT(show_task) },
	{ TACHO_RECORD_FORK, AT(show_task) },
	{ TACHO_RECORD_EXIT, AT(show_task) },
	{ TACHO_RECORD_SWITCH, AT(show_switch) },
	{ TACHO_RECORD_SWITCH_CPU_WIDE, AT(show_switch) },
	{ TACHO_RECORD_LOST, AT(show_lost) },
	{ TACHO_RECORD_LOST_SAMPLES, AT(show_lost) },
	{ TACHO_RECORD_NAMESPACES, AT(show_namespace) },
	{ TACHO_RECORD_CGROUP, AT(show_cgroup) },
	{ TACHO_RECORD_KSYMBOL, AT(show_bpf) },
	{ TACHO_RECORD_BPF_EVENT, AT(show_bpf) },
	{ TACHO_RECORD_TEXT_POKE, AT(show_text_poke) },
};

static bool is_shown(const struct script *s, uint32_t type)
{
	for (size_t i = 0; i < countof(shown); i++)
		if (shown[i].type == type)
			return *(const bool *)((const char *)s->opts + shown[i].option);
	return false;
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

static void print_record(struct script *s, struct script_event *ev, const struct tacho_sideband *r)
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
	sideband_text(out, r);
	buf_putc(out, '\n');
	sink_write_if_full(s, ev->sink);
}

int sideband_record(struct script *s, const struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(s->pd, rec), err;
	struct script_event *ev = s->events.n ? &s->events.v[i < 0 ? 0 : i] : NULL;
	bool show = is_shown(s, rec->type);
	struct tacho_sideband sideband;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR) {
		if (rec->type == TACHO_RECORD_FINISHED_ROUND && s->opts->show_round && ev && !s->python) {
			buf_puts(&ev->sink->out, "PERF_RECORD_FINISHED_ROUND\n");
			sink_write_if_full(s, ev->sink);
		}
		if (rec->type == TACHO_RECORD_AUXTRACE_ERROR && ev && !s->python && !s->opts->json)
			hwtrace_error(rec, &ev->sink->out);
		return stat_rounds_record(s, rec);
	}
	if (!ev)
		return 0;
	s->scratch->used = 0;
	err = tacho_sideband_decode(&sideband, rec, &ev->file->layout, s->scratch);
	if (err)
		return err == -EOPNOTSUPP ? 0 : err;	/* a type of a newer kernel */
	if (show && rec->type == TACHO_RECORD_EXIT && !s->python)
		print_record(s, ev, &sideband);
	err = tacho_symbols_feed(s->symbols, &sideband);
	if (!err && rec->type == TACHO_RECORD_CGROUP)
		err = extra_fields_add_cgroup(&s->extra, &sideband);
	s->state_version++;
	if (s->python) {
		python_sideband(s, &sideband);
		return err;
	}
	if (show && rec->type != TACHO_RECORD_EXIT)
		print_record(s, ev, &sideband);
	return err;
}
