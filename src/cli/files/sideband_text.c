/*
 * All of them are as in perf's 'script --show-...-events' and 'script -D'.
 */
#include "cli/files/sideband_text.h"

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

static void put_throttle(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, ": id: %llu, stream id: %llu", (ull)r->throttle.id, (ull)r->throttle.stream_id);
}

static void put_aux(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " offset: %#llx size: %#llx flags: %#llx", (ull)r->aux.offset, (ull)r->aux.size,
		   (ull)r->aux.flags);
}

static void put_trace_start(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " pid: %u tid: %u", r->task_id.pid, r->task_id.tid);
}

static void put_read(struct buf *out, const struct tacho_sideband *r)
{
	buf_printf(out, " pid: %u tid: %u", r->read.pid, r->read.tid);
	for (size_t i = 0; i < r->read.read.n; i++) {
		struct tacho_read_value v = tacho_read_get(&r->read.read, i);

		buf_printf(out, " id: %llu value: %llu", (ull)v.id, (ull)v.value);
	}
}

static const struct {
	uint32_t type;
	void (*put)(struct buf *out, const struct tacho_sideband *r);
} printers[] = {
	{ TACHO_RECORD_MMAP, put_mmap },
	{ TACHO_RECORD_MMAP2, put_mmap },
	{ TACHO_RECORD_COMM, put_comm },
	{ TACHO_RECORD_FORK, put_task },
	{ TACHO_RECORD_EXIT, put_task },
	{ TACHO_RECORD_SWITCH, put_switch },
	{ TACHO_RECORD_SWITCH_CPU_WIDE, put_switch },
	{ TACHO_RECORD_LOST, put_lost },
	{ TACHO_RECORD_LOST_SAMPLES, put_lost },
	{ TACHO_RECORD_NAMESPACES, put_namespaces },
	{ TACHO_RECORD_CGROUP, put_cgroup },
	{ TACHO_RECORD_KSYMBOL, put_ksymbol },
	{ TACHO_RECORD_BPF_EVENT, put_bpf },
	{ TACHO_RECORD_TEXT_POKE, put_poke },
	{ TACHO_RECORD_THROTTLE, put_throttle },
	{ TACHO_RECORD_UNTHROTTLE, put_throttle },
	{ TACHO_RECORD_AUX, put_aux },
	{ TACHO_RECORD_ITRACE_START, put_trace_start },
	{ TACHO_RECORD_READ, put_read },
};

bool sideband_text(struct buf *out, const struct tacho_sideband *r)
{
	for (size_t i = 0; i < countof(printers); i++)
		if (printers[i].type == r->type) {
			printers[i].put(out, r);
			return true;
		}
	return false;
}
