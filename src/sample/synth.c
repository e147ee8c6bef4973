/*
 * Synthesizes records for processes that exist before the recording starts: COMM, FORK and MMAP2 records
 * from the current contents of /proc. Their time is 0, so that readers process them first.
 *
 * With thousands of processes this dominates the start-up time of a recording, so it reads little: one read
 * of /proc/PID/stat gives the name, parent, number of threads and whether there is any memory (kernel threads
 * have none); the task directory is listed only for processes with several threads; maps are
 * parsed in place, without sscanf, and lines of non-executable mappings only up to the permissions.
 */
#include "sample/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"

#include <tacho/record.h>

#define MISC_USER 2
#define MISC_MMAP_DATA (1 << 13)
#define COMM_BYTES 16
#define TEXT_FIRST (64u << 10)

/* The fields used from /proc/PID/stat. */
struct task_stat {
	int pid, ppid, n_threads;
	bool has_memory;
	char comm[64];
};

int synth_flush(struct synth *y)
{
	int err = 0;

	if (buf_failed(&y->out))
		return -ENOMEM;
	if (y->out.n)
		err = y->fn(y->arg, y->out.bytes, y->out.n);
	buf_clear(&y->out);
	return err;
}

void *synth_record(struct synth *y, uint32_t type, uint16_t misc, size_t bytes)
{
	size_t size = ((bytes + 7) & ~(size_t)7) + y->s->id_bytes;
	struct ring_header h = { type, misc, (uint16_t)size };
	char *at;

	if (size > UINT16_MAX || !buf_grow(&y->out, size))
		return NULL;
	at = y->out.bytes + y->out.n;
	memset(at, 0, size);
	memcpy(at, &h, sizeof(h));
	y->out.n += size;
	return at;
}

/* Reads a file of /proc of any size into y->text; returns its length. */
static ssize_t read_text(struct synth *y, int dir, const char *name)
{
	scoped(closep) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t got;

		if (n + PATH_MAX > y->text_size) {
			char *bigger = realloc(y->text, y->text_size ? y->text_size * 2 : TEXT_FIRST);

			if (!bigger)
				return -ENOMEM;
			y->text = bigger;
			y->text_size = y->text_size ? y->text_size * 2 : TEXT_FIRST;
		}
		got = read(fd, y->text + n, y->text_size - n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			y->text[n] = '\0';
			return got < 0 ? -errno : (ssize_t)n;
		}
		n += (size_t)got;
	}
}

/* pid (comm) state ppid ... num_threads is field 20, vsize field 23. */
static int read_stat(struct synth *y, int dir, struct task_stat *out)
{
	ssize_t n = read_text(y, dir, "stat");
	const char *open, *close;
	struct str rest, word;
	uint64_t v;
	int field = 3;

	if (n < 0 || !y->text)
		return n < 0 ? (int)n : -ENODATA;
	open = strchr(y->text, '(');
	close = strrchr(y->text, ')');
	if (!open || !close || close < open || close[1] != ' ')
		return -EBADMSG;
	memset(out->comm, 0, sizeof(out->comm));
	memcpy(out->comm, open + 1, min_of((size_t)(close - open - 1), sizeof(out->comm) - 1));
	rest = str_of(close + 2);
	while (field <= 23 && str_cut(&rest, ' ', &word)) {
		if ((field == 4 || field == 20 || field == 23) && num_u64(word, &v) == 0) {
			if (field == 4)
				out->ppid = (int)v;
			else if (field == 20)
				out->n_threads = (int)v;
			else
				out->has_memory = v != 0;
		}
		field++;
	}
	return field > 23 ? 0 : -EBADMSG;
}

static int put_comm(struct synth *y, int pid, int tid, const char *comm)
{
	size_t n = strlen(comm) + 1;
	uint32_t *r = synth_record(y, TACHO_RECORD_COMM, 0, 16 + n);

	if (!r)
		return -ENOMEM;
	r[2] = (uint32_t)pid;
	r[3] = (uint32_t)tid;
	memcpy(&r[4], comm, n);
	return 0;
}

static int put_fork(struct synth *y, int pid, int ppid, int tid, int ptid)
{
	uint32_t *r = synth_record(y, TACHO_RECORD_FORK, 0, 32);

	if (!r)
		return -ENOMEM;
	r[2] = (uint32_t)pid;
	r[3] = (uint32_t)ppid;
	r[4] = (uint32_t)tid;
	r[5] = (uint32_t)ptid;
	return 0;
}

/* One line of maps: start-end permissions offset major:minor inode   path */
struct map_line {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	const char *perms;
	struct str path;
};

static const char *parse_hex(const char *at, uint64_t *out)
{
	uint64_t v = 0;

	for (;; at++) {
		unsigned c = (unsigned char)*at, d = c - '0';

		if (d > 9) {
			d = (c | 32) - 'a' + 10;
			if (d < 10 || d > 15)
				break;
		}
		v = v << 4 | d;
	}
	*out = v;
	return at;
}

static const char *parse_decimal(const char *at, uint64_t *out)
{
	uint64_t v = 0;

	for (; (unsigned)(*at - '0') <= 9; at++)
		v = v * 10 + (unsigned)(*at - '0');
	*out = v;
	return at;
}

/* Parses the line from `at` to `end`. Returns false if it is malformed or the mapping is not recorded. */
static bool parse_map(const char *at, const char *end, bool data, struct map_line *out)
{
	uint64_t v;

	at = parse_hex(at, &out->start);
	if (*at++ != '-')
		return false;
	at = parse_hex(at, &out->end);
	if (*at++ != ' ' || end - at < 5)
		return false;
	out->perms = at;
	if (at[2] != 'x' && !(data && at[0] == 'r'))
		return false;
	at = parse_hex(at + 5, &out->offset);
	at = parse_hex(at + 1, &v);
	out->major = (uint32_t)v;
	at = parse_hex(at + 1, &v);
	out->minor = (uint32_t)v;
	at = parse_decimal(at + 1, &out->inode);
	while (at < end && *at == ' ')
		at++;
	out->path = at < end ? str_n(at, (size_t)(end - at)) : STR_LIT("//anon");
	return true;
}

/* header | pid tid | addr len pgoff | maj min ino gen | prot flags | path */
static int put_map(struct synth *y, int pid, const struct map_line *m)
{
	enum { PATH = 72 };
	bool exec = m->perms[2] == 'x';
	uint32_t prot = (m->perms[0] == 'r' ? 1 : 0) | (m->perms[1] == 'w' ? 2 : 0) | (exec ? 4 : 0);
	size_t n = min_of(m->path.n, (size_t)PATH_MAX);
	char *r = synth_record(y, TACHO_RECORD_MMAP2, exec ? MISC_USER : MISC_USER | MISC_MMAP_DATA,
			       PATH + n + 1);
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
	} body = { (uint32_t)pid, (uint32_t)pid, m->start, m->end - m->start, m->offset, m->major,
		   m->minor, m->inode, 0, prot, m->perms[3] == 's' ? 1 : 2 };

	_Static_assert(sizeof(body) == PATH - 8, "the record's layout");
	if (!r)
		return -ENOMEM;
	memcpy(r + 8, &body, sizeof(body));
	memcpy(r + PATH, m->path.s, n);
	if (!exec)
		return 0;
	return hitmap_mmap(&y->s->hitmap, &(struct hitmap_new_mapping){
		.pid = pid, .start = m->start, .len = m->end - m->start, .path = m->path });
}

static int put_maps(struct synth *y, int dir, int pid)
{
	ssize_t n = read_text(y, dir, "maps");
	const char *at = y->text, *end;
	struct map_line m = { 0 };
	int err = 0;

	if (n < 0)
		return n == -ENOMEM ? -ENOMEM : 0;	/* the process has ended, or access is denied */
	for (; err == 0 && (end = strchr(at, '\n')); at = end + 1)
		if (parse_map(at, end, y->data, &m))
			err = put_map(y, pid, &m);
	return err;
}

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static int put_threads(struct synth *y, int dir, int pid)
{
	int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scoped(closedirp) DIR *tasks = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks))) {
		char name[sizeof(entry->d_name) + 8], comm[COMM_BYTES + 1];
		int tid, err;

		if (num_int(str_of(entry->d_name), &tid) < 0 || tid == pid)
			continue;
		snprintf(name, sizeof(name), "%s/comm", entry->d_name);
		if (io_read_small(fd, name, comm, sizeof(comm)) < 0)
			continue;
		err = put_fork(y, pid, pid, tid, pid);
		if (err == 0)
			err = put_comm(y, pid, tid, comm);
		if (err < 0)
			return err;
	}
	return 0;
}

/* A process that ends in the meantime is skipped. */
static int put_process(struct synth *y, int proc, int pid, unsigned what)
{
	scoped(closep) int dir = -1;
	struct task_stat st = { .pid = pid };
	char name[16];
	int err = 0;

	snprintf(name, sizeof(name), "%d", pid);
	dir = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || read_stat(y, dir, &st) < 0)
		return 0;
	if (what & TACHO_SYNTH_TASK) {
		err = put_fork(y, pid, st.ppid, pid, st.ppid);
		if (err == 0)
			err = put_comm(y, pid, pid, st.comm);
	}
	if (err == 0 && what & TACHO_SYNTH_MMAP && st.has_memory)
		err = put_maps(y, dir, pid);
	if (err == 0 && what & TACHO_SYNTH_TASK && st.n_threads > 1)
		err = put_threads(y, dir, pid);
	if (err == 0 && y->out.n > SYNTH_FLUSH)
		err = synth_flush(y);
	return err;
}

/* The live processes known from the records so far. */
static int list_known_processes(const struct hitmap *h, struct idlist *out)
{
	for (size_t i = 0; i < h->cap; i++)
		if (h->slots[i].pid > 0 && idlist_add(out, h->slots[i].pid) < 0)
			return -ENOMEM;
	idlist_sort(out);
	return 0;
}

/* The processes of the target; all processes if CPUs are recorded. A command that is started by us has
 * nothing to synthesize at first, as its exec produces records; for later files (--switch-output) it and
 * its children are known from the records. */
static int list_targets(const struct tacho_sampler *s, struct idlist *out)
{
	const struct evset_target *target = &s->set->target;

	if (s->target.enable_on_exec)
		return list_known_processes(&s->hitmap, out);
	if (target->kind == TARGET_CPUS)
		return proc_all(&s->t->sys, out);
	for (size_t i = 0; i < target->pids.n; i++)
		if (idlist_add(out, target->pids.v[i]) < 0)
			return -ENOMEM;
	if (target->kind == TARGET_SELF)
		return idlist_add(out, getpid());
	return 0;
}

static int put_processes(struct synth *y, unsigned what)
{
	scoped(idlist_done) struct idlist pids = { 0 };
	scoped(closep) int proc = open(y->s->t->sys.procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = proc < 0 ? -errno : list_targets(y->s, &pids);

	for (size_t i = 0; err == 0 && i < pids.n; i++)
		err = put_process(y, proc, pids.v[i], what);
	return err;
}

int tacho_sampler_synthesize(struct tacho_sampler *s, unsigned what, tacho_bytes_fn *fn, void *arg,
			     struct tacho_error *e)
{
	struct synth y = { .s = s, .fn = fn, .arg = arg };
	int err = 0;

	if (!s || !s->is_open)
		return error_set(e, -EBADF, "the sampler is not open");
	y.data = sampler_wants_data_mmaps(s);
	if (what & TACHO_SYNTH_KERNEL)
		err = synth_kernel(&y);
	if (err == 0 && what & TACHO_SYNTH_CGROUP && s->opts.fields & TACHO_FIELD_CGROUP)
		err = synth_cgroups(&y);
	if (err == 0 && what & (TACHO_SYNTH_TASK | TACHO_SYNTH_MMAP))
		err = put_processes(&y, what);
	if (err == 0)
		err = synth_flush(&y);
	buf_done(&y.out);
	free(y.text);
	if (err < 0 && e)
		error_set(e, err, "cannot record the processes that are already running: %s",
			  strerror(-err));
	return err;
}
