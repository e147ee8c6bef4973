/*
 * Processes records that are not samples: maps and comms are passed to the symbol resolver; tasks, switches,
 * cgroups and losses are stored in tables of struct load. Tasks are stored by tid, with the current id of the
 * thread (pid, tid, comm).
 */
#include "profile/load.h"

#include <errno.h>

#define MISC_SWITCH_OUT (1u << 13)

/* ---- threads ---- */

static struct load_task *task_at(struct load *l, uint32_t tid)
{
	uint32_t at = keymap_get(&l->task_index, tid);
	struct load_task *t;

	if (at != KEYMAP_NONE)
		return &l->tasks.v[at];
	t = vec_add(&l->tasks);
	if (!t || keymap_put(&l->task_index, tid, (uint32_t)(l->tasks.n - 1)) < 0)
		return NULL;
	t->thread = KEYMAP_NONE;
	return t;
}

static struct recent_thread *recent_thread_slot(struct load *l, uint32_t tid)
{
	return &l->recent_threads[tid % RECENT_THREADS];
}

static uint32_t find_thread(struct load *l, uint32_t pid, uint32_t tid)
{
	struct load_task *t = task_at(l, tid);

	if (!t)
		return KEYMAP_NONE;
	if (t->thread == KEYMAP_NONE || t->pid != pid) {
		t->pid = pid;
		t->thread = profile_intern_thread(l->profile, pid, tid,
						  tacho_symbols_comm(l->symbols, pid, tid));
	}
	*recent_thread_slot(l, tid) = (struct recent_thread){ tid, pid, t->thread };
	return t->thread;
}

uint32_t load_thread(struct load *l, uint32_t pid, uint32_t tid)
{
	const struct recent_thread *m = recent_thread_slot(l, tid);

	if (m->tid == tid && m->pid == pid && m->thread != KEYMAP_NONE)
		return m->thread;
	return find_thread(l, pid, tid);
}

/* Forgets a thread's id after its comm has changed. */
static int forget_thread(struct load *l, uint32_t tid)
{
	struct load_task *t = task_at(l, tid);

	if (!t)
		return -ENOMEM;
	t->thread = KEYMAP_NONE;
	recent_thread_slot(l, tid)->thread = KEYMAP_NONE;
	return 0;
}

/* A thread of an earlier file keeps its comm if this file does not name it (comm ":TID"). */
static int last_comm(struct load *l, uint32_t pid, uint32_t tid, bool from_earlier_file, const char **out)
{
	const char *comm = tacho_symbols_comm(l->symbols, pid, tid);
	uint32_t name = profile_intern_name(l->profile, comm);

	if (name == KEYMAP_NONE)
		return -ENOMEM;
	if (!from_earlier_file || comm[0] != ':')
		*out = l->profile->name_text.v[name];
	return 0;
}

/* A thread's last comm may be one that no sample has. */
int load_last_comms(struct load *l)
{
	for (size_t i = 0; i < l->profile->threads.n; i++) {
		struct tacho_profile_thread *t = &l->profile->threads.v[i].pub;
		bool earlier = i < l->n_threads_before;

		if (last_comm(l, t->pid, t->tid, earlier, &t->last) < 0 ||
		    last_comm(l, t->pid, t->pid, earlier, &t->process) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- records ---- */

/* LOST_SAMPLES records, written at the end, include losses that LOST records have already reported, so the
 * larger sum is used. */
static void count_lost(struct load *l, const struct tacho_sideband *o)
{
	uint64_t before = max_of(l->lost_in_records, l->lost_in_samples);

	*(o->type == TACHO_RECORD_LOST ? &l->lost_in_records : &l->lost_in_samples) += o->lost.lost;
	l->profile->quality.lost += max_of(l->lost_in_records, l->lost_in_samples) - before;
	l->profile->quality.lost_records++;
}

static int update_running(struct load *l, const struct tacho_sideband *o)
{
	uint32_t tid = o->type == TACHO_RECORD_EXIT ? o->task.tid : o->id.tid;
	int err = 0;

	l->running.recorded |= o->type != TACHO_RECORD_EXIT;
	if (o->type == TACHO_RECORD_EXIT || (o->misc & MISC_SWITCH_OUT))
		running_off(&l->running, tid);
	else
		err = running_on(&l->running, tid);
	l->details.parallelism = running_n(&l->running, l->n_cpus);
	return err;
}

static int update_tables(struct load *l, const struct tacho_sideband *o)
{
	switch (o->type) {
	case TACHO_RECORD_COMM:
		return forget_thread(l, o->comm.tid);
	case TACHO_RECORD_FORK:
		return forget_thread(l, o->task.tid);
	case TACHO_RECORD_SWITCH:
	case TACHO_RECORD_SWITCH_CPU_WIDE:
	case TACHO_RECORD_EXIT:
		return update_running(l, o);
	case TACHO_RECORD_CGROUP:
		return profile_add_cgroup(l->profile, o->cgroup.id, o->cgroup.path);
	case TACHO_RECORD_LOST:
	case TACHO_RECORD_LOST_SAMPLES:
		count_lost(l, o);
		return 0;
	case TACHO_RECORD_THROTTLE:
		l->profile->quality.throttled++;
		return 0;
	default:
		return 0;
	}
}

void load_note_bad(struct load *l, const struct tacho_record *rec)
{
	struct tacho_profile_quality *q = &l->profile->quality;

	if (q->bad_records++)
		return;
	q->bad_offset = rec->offset;
	q->bad_type = rec->type;
	q->bad_size = rec->size;
}

static bool changes_maps_or_comms(const struct tacho_record *rec)
{
	switch (rec->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
	case TACHO_RECORD_COMM:
	case TACHO_RECORD_FORK:
	case TACHO_RECORD_EXIT:
	case TACHO_RECORD_KSYMBOL:
	case TACHO_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

int load_sideband(struct load *l, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(l->pd, rec);
	const struct tacho_file_event *fe = event < 0 ? NULL : tacho_perfdata_event(l->pd, (size_t)event);
	struct tacho_sideband sideband;
	int err;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR)
		return rec->type == TACHO_RECORD_HEADER_ATTR ? load_file_events(l) : 0;
	if (changes_maps_or_comms(rec)) {
		if (load_flush(l) < 0)		/* the pending samples belong to the previous maps */
			return -ENOMEM;
		fast_path_forget_tasks(&l->fast);
	}
	l->scratch->used = 0;
	err = tacho_sideband_decode(&sideband, rec, fe ? &fe->layout : NULL, l->scratch);
	if (err == -EOPNOTSUPP)
		return 0;
	if (err < 0) {
		load_note_bad(l, rec);
		return 0;
	}
	err = update_tables(l, &sideband);
	if (err == 0 && tacho_symbols_feed(l->symbols, &sideband) == -ENOMEM)
		err = -ENOMEM;
	l->next_change = tacho_symbols_next_change(l->symbols);
	return err;
}
