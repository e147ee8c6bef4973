/*
 * Prints the fields of sideband records (all but SAMPLE) and of their sample_id trailer.
 */
#include "record/dump.h"

static void dump_task(const struct dump *d, uint32_t pid, uint32_t tid)
{
	dump_number(d, "pid", pid);
	dump_number(d, "tid", tid);
}

static void dump_mmap(const struct dump *d, const struct tacho_sideband *o)
{
	const struct tacho_mmap *m = &o->mmap;
	char perms[5] = "---p";

	dump_task(d, m->pid, m->tid);
	dump_address(d, "addr", m->addr);
	dump_address(d, "len", m->len);
	dump_address(d, "pgoff", m->pgoff);
	if (o->type == TACHO_RECORD_MMAP2) {
		if (o->misc & PERF_MISC_BIT14) {
			dump_bytes(d, "build_id", m->build_id, m->n_build_id);
		} else {
			dump_number(d, "major", m->major);
			dump_number(d, "minor", m->minor);
			dump_number(d, "inode", m->inode);
			dump_number(d, "generation", m->generation);
		}
		for (unsigned i = 0; i < 3; i++)
			if (m->prot >> i & 1)
				perms[i] = "rwx"[i];
		if (m->flags & 1)
			perms[3] = 's';
		dump_text(d, "perms", perms);
		dump_address(d, "prot", m->prot);
		dump_address(d, "map_flags", m->flags);
	}
	dump_text(d, "path", m->path);
}

static void dump_namespaces(const struct dump *d, const struct tacho_sideband *o)
{
	static const char *const kinds[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };

	dump_task(d, o->namespaces.pid, o->namespaces.tid);
	dump_open(d, "namespaces", '[');
	for (size_t i = 0; i < o->namespaces.n; i++) {
		dump_open(d, NULL, '{');
		dump_choice(d, "kind", i, kinds, countof(kinds));
		dump_number(d, "dev", o->namespaces.dev_inode.v[2 * i]);
		dump_number(d, "inode", o->namespaces.dev_inode.v[2 * i + 1]);
		dump_close(d);
	}
	dump_close(d);
}

static void dump_ksymbol(const struct dump *d, const struct tacho_sideband *o)
{
	static const char *const types[] = { "unknown", "bpf", "out_of_line" };
	static const char *const flags[] = { "unregister" };

	dump_address(d, "addr", o->ksymbol.addr);
	dump_number(d, "len", o->ksymbol.len);
	dump_choice(d, "symbol_type", o->ksymbol.type, types, countof(types));
	dump_flags(d, "symbol_flags", o->ksymbol.flags, flags, countof(flags));
	dump_text(d, "name", o->ksymbol.name);
}

static void dump_bpf(const struct dump *d, const struct tacho_sideband *o)
{
	static const char *const types[] = { "unknown", "load", "unload" };

	dump_choice(d, "bpf_type", o->bpf.type, types, countof(types));
	dump_address(d, "bpf_flags", o->bpf.flags);
	dump_number(d, "program", o->bpf.id);
	dump_bytes(d, "tag", o->bpf.tag, sizeof(o->bpf.tag));
}

static void dump_aux(const struct dump *d, const struct tacho_sideband *o)
{
	static const char *const flags[] = { "truncated", "overwrite", "partial", "collision" };

	dump_address(d, "aux_offset", o->aux.offset);
	dump_address(d, "aux_size", o->aux.size);
	dump_flags(d, "aux_flags", o->aux.flags, flags, countof(flags));
	dump_address(d, "aux_format", o->aux.flags >> 8 & 0xff);
}

static void dump_trailer(const struct dump *d, const struct tacho_sample_id *id)
{
	dump_open(d, "trailer", '{');
	if (id->type & PERF_SAMPLE_TID)
		dump_task(d, id->pid, id->tid);
	if (id->type & PERF_SAMPLE_TIME)
		dump_number(d, "time", id->time);
	if (id->type & PERF_SAMPLE_STREAM_ID)
		dump_number(d, "stream_id", id->stream_id);
	if (id->type & PERF_SAMPLE_CPU)
		dump_number(d, "cpu", id->cpu);
	if (id->type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		dump_number(d, "id", id->id);
	dump_close(d);
}

/* Records that consist of a few numbers. */
static void dump_small(const struct dump *d, const struct tacho_sideband *o)
{
	switch (o->type) {
	case TACHO_RECORD_LOST:
		dump_number(d, "lost_id", o->lost.id);
		dump_number(d, "lost", o->lost.lost);
		break;
	case TACHO_RECORD_LOST_SAMPLES:
		dump_number(d, "lost", o->lost.lost);
		break;
	case TACHO_RECORD_EXIT:
	case TACHO_RECORD_FORK:
		dump_task(d, o->task.pid, o->task.tid);
		dump_number(d, "ppid", o->task.ppid);
		dump_number(d, "ptid", o->task.ptid);
		dump_number(d, "time", o->task.time);
		break;
	case TACHO_RECORD_THROTTLE:
	case TACHO_RECORD_UNTHROTTLE:
		dump_number(d, "time", o->throttle.time);
		dump_number(d, "event_id", o->throttle.id);
		dump_number(d, "stream_id", o->throttle.stream_id);
		break;
	case TACHO_RECORD_ITRACE_START:
	case TACHO_RECORD_SWITCH_CPU_WIDE:
		dump_task(d, o->task_id.pid, o->task_id.tid);
		break;
	case TACHO_RECORD_AUX_OUTPUT_HW_ID:
		dump_address(d, "hw_id", o->hw_id.hw_id);
		break;
	}
}

static void dump_payload(const struct dump *d, const struct tacho_sideband *o)
{
	switch (o->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
		dump_mmap(d, o);
		break;
	case TACHO_RECORD_COMM:
		dump_task(d, o->comm.pid, o->comm.tid);
		dump_text(d, "comm", o->comm.name);
		break;
	case TACHO_RECORD_READ:
		dump_task(d, o->read.pid, o->read.tid);
		dump_read(d, "read", &o->read.read);
		break;
	case TACHO_RECORD_AUX:
		dump_aux(d, o);
		break;
	case TACHO_RECORD_NAMESPACES:
		dump_namespaces(d, o);
		break;
	case TACHO_RECORD_KSYMBOL:
		dump_ksymbol(d, o);
		break;
	case TACHO_RECORD_BPF_EVENT:
		dump_bpf(d, o);
		break;
	case TACHO_RECORD_CGROUP:
		dump_number(d, "cgroup", o->cgroup.id);
		dump_text(d, "path", o->cgroup.path);
		break;
	case TACHO_RECORD_TEXT_POKE:
		dump_address(d, "addr", o->text_poke.addr);
		dump_bytes(d, "old", o->text_poke.bytes, o->text_poke.n_old);
		dump_bytes(d, "new", o->text_poke.bytes + o->text_poke.n_old, o->text_poke.n_new);
		break;
	case TACHO_RECORD_CALLCHAIN_DEFERRED:
		dump_address(d, "cookie", o->deferred.cookie);
		dump_chain(d, "callchain", o->deferred.chain);
		break;
	default:
		dump_small(d, o);
	}
}

void dump_sideband(const struct dump *d, const struct tacho_sideband *o)
{
	dump_payload(d, o);
	if (o->id.type)
		dump_trailer(d, &o->id);
}
