/*
 * `kvm stat report` and `kvm stat live`: a row per reason, address or port. Live recordings are those of `tacho record` through
 * a pipe, so that a table is printed by the first event after its interval.
 */
#include "cli/kvm/kvm.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/num.h"
#include "base/vec.h"
#include "cli/core/app.h"
#include "cli/core/command_args.h"
#include "cli/core/terminal.h"
#include "cli/kernel/input.h"
#include "cli/kernel/record.h"

#define USECS(ns) ((double)(ns) / 1e3)

/* ---- options ---- */

static const struct { const char *name, *heading; enum tacho_kvm_kind kind; } kinds[] = {
	{ "vmexit", "VM-EXIT", TACHO_KVM_EXITS }, { "mmio", "MMIO Access", TACHO_KVM_MMIO }, { "ioport", "IO Port Access", TACHO_KVM_PIO },
};

static double by_samples(const struct tacho_kvm_row *r) { return (double)r->n; }
static double by_time(const struct tacho_kvm_row *r) { return (double)r->sum_ns; }
static double by_max(const struct tacho_kvm_row *r) { return (double)r->max_ns; }
static double by_min(const struct tacho_kvm_row *r) { return (double)r->min_ns; }
static double by_mean(const struct tacho_kvm_row *r) { return (double)(uint64_t)r->mean_ns; }

static const struct kvm_key {
	const char *name;
	double (*value)(const struct tacho_kvm_row *r);
} keys[] = {
	{ "sample", by_samples }, { "percent_sample", by_samples }, { "time", by_time }, { "percent_time", by_time },
	{ "max_t", by_max }, { "min_t", by_min }, { "mean_t", by_mean },
};

static const struct kvm_key *find_key(const char *name)
{
	for (size_t i = 0; i < countof(keys); i++)
		if (!name || !strcmp(name, keys[i].name))
			return &keys[i];
	return NULL;
}

static int find_kind(const char *name)
{
	for (size_t i = 0; i < countof(kinds); i++)
		if (!name || !strcmp(name, kinds[i].name))
			return (int)i;
	return -1;
}

static bool read_pids(const char *command, const char *text, struct tacho_kvm_opts *out, uint32_t **pids)
{
	struct { uint32_t *v; size_t n, cap; } list = { 0 };
	struct str rest = str_of(text), one;

	while (rest.n && str_cut(&rest, ',', &one)) {
		uint32_t *pid = vec_add(&list);

		if (!pid || num_u32(one, pid) < 0) {
			message_text(command, pid ? "-p: '%.*s' is not the ID of a process" : "out of memory", STR(one));
			vec_done(&list);
			return false;
		}
	}
	*pids = list.v;
	out->pids = list.v;
	out->n_pids = list.n;
	return true;
}

bool kvm_view_opts(const char *command, const struct kvm_opts *o, struct tacho_kvm_opts *out, uint32_t **pids)
{
	int kind = find_kind(o->event);

	*pids = NULL;
	if (kind < 0 || !find_key(o->key)) {
		message_text(command, kind < 0 ? "--event: '%s' is none of vmexit, mmio and ioport" :
			     "-k: '%s' is none of sample, percent_sample, time, percent_time, max_t, min_t and mean_t",
			     kind < 0 ? o->event : o->key);
		return false;
	}
	*out = (struct tacho_kvm_opts){ .size = sizeof(*out), .kind = kinds[kind].kind, .has_vcpu = o->vcpu >= 0,
					.vcpu = (uint32_t)max_of(o->vcpu, 0) };
	return !o->pids || read_pids(command, o->pids, out, pids);
}

/* ---- the table ---- */

struct kvm_table {
	const struct kvm_key *key;
	const struct tacho_kvm_row **v;
	size_t n;
	uint64_t samples;
	double sum_ns;
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct kvm_key *key = arg;
	const struct tacho_kvm_row *x = *(const struct tacho_kvm_row *const *)a, *y = *(const struct tacho_kvm_row *const *)b;
	double v = key->value(x), w = key->value(y);

	return v != w ? (v > w ? -1 : 1) : strcmp(x->name, y->name);
}

static int sort_rows(const struct kvm_opts *o, const struct tacho_kvm *k, struct kvm_table *t)
{
	const struct tacho_kvm_row *row;
	size_t n = 0;

	while (tacho_kvm_row(k, n))
		n++;
	*t = (struct kvm_table){ .key = find_key(o->key), .v = calloc(n + 1, sizeof(*t->v)) };
	if (!t->v)
		return -ENOMEM;
	for (size_t i = 0; (row = tacho_kvm_row(k, i)) != NULL; i++) {
		if (!row->n)
			continue;
		t->v[t->n++] = row;
		t->samples += row->n;
		t->sum_ns += (double)row->sum_ns;
	}
	qsort_r(t->v, t->n, sizeof(*t->v), compare_rows, (void *)t->key);
	return 0;
}

static void put_text(const struct kvm_opts *o, const struct kvm_table *t, struct buf *out)
{
	if (o->pids)
		buf_printf(out, "\n\nAnalyze events for pid(s) %s, ", o->pids);
	else
		buf_puts(out, "\n\nAnalyze events for all VMs, ");
	if (o->vcpu >= 0)
		buf_printf(out, "VCPU %" PRId32 ":\n\n", o->vcpu);
	else
		buf_puts(out, "all VCPUs:\n\n");
	buf_printf(out, "%40s    Samples  Samples%%     Time%%    Min Time    Max Time         Avg time \n\n", kinds[find_kind(o->event)].heading);
	for (size_t i = 0; i < t->n; i++) {
		const struct tacho_kvm_row *r = t->v[i];

		buf_printf(out, "%40s %10" PRIu64 " %8.2f%% %8.2f%% %9.2fus %9.2fus %9.2fus ( +-%7.2f%% )\n", r->name, r->n,
			   100 * (double)r->n / (double)t->samples, t->sum_ns > 0 ? 100 * (double)r->sum_ns / t->sum_ns : 0,
			   USECS(r->min_ns), USECS(r->max_ns), USECS(r->mean_ns), r->mean_ns > 0 ? 100 * r->error_ns / r->mean_ns : 0);
	}
	buf_printf(out, "\nTotal Samples:%" PRIu64 ", Total events handled time:%.2fus.\n\n", t->samples, USECS(t->sum_ns));
}

static void put_json(const struct kvm_opts *o, const struct kvm_table *t, const struct tacho_kvm *k, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.kvm-stat/1");
	json_member(&j, "event", str, kinds[find_kind(o->event)].name);
	json_member(&j, "lost", u64, tacho_kvm_totals(k)->lost);
	json_key(&j, "rows");
	json_begin(&j, '[');
	for (size_t i = 0; i < t->n; i++) {
		const struct tacho_kvm_row *r = t->v[i];

		json_begin(&j, '{');
		json_member(&j, "name", str, r->name);
		json_member(&j, "count", u64, r->n);
		json_member(&j, "sum_ns", u64, r->sum_ns);
		json_member(&j, "min_ns", u64, r->min_ns);
		json_member(&j, "max_ns", u64, r->max_ns);
		json_member(&j, "mean_ns", double, r->mean_ns);
		json_member(&j, "error_ns", double, r->error_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

int kvm_put_table(const struct kvm_opts *o, const struct tacho_kvm *k, struct buf *out)
{
	struct kvm_table t;

	if (sort_rows(o, k, &t) < 0)
		return -ENOMEM;
	if (o->json)
		put_json(o, &t, k, out);
	else
		put_text(o, &t, out);
	free(t.v);
	return 0;
}

/* ---- report ---- */

static int report(const struct kvm_opts *o, struct tacho_kvm_opts *opts, struct kernel_source *source)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_kvm *k = NULL;
	struct buf out = { 0 };
	int status = EXIT_FAILED, err;

	opts->from_ns = source->time.from_ns;
	opts->to_ns = source->time.to_ns;
	err = tacho_kvm_new(&k, source->pd, opts, &e);
	if (err == 0)
		err = tacho_kvm_run(k, &e);
	if (k && err != -ENOENT && err != -ENOMEM) {
		int damage;

		if (kvm_put_table(o, k, &out) < 0)
			out.bad = true;
		status = print_out("kvm stat report", &out);
		damage = kernel_status("kvm stat report", tacho_kvm_totals(k), err, &e);
		status = max_of(status, damage);
		if (!tacho_kvm_n_cpus(k))
			message_text("kvm stat report", "no virtual CPU enters its guest in this recording (kvm:kvm_entry), so nothing is "
				     "known to end");
	} else {
		message_error("kvm stat report", NULL, NULL, &e);
	}
	tacho_kvm_free(k);
	return status;
}

int kvm_stat_report_run(void *opts, int argc, char **argv)
{
	const struct kvm_opts *o = opts;
	struct kernel_source_opts input = o->source;
	struct tacho_kvm_opts view;
	struct kernel_source source;
	uint32_t *pids;
	int status = EXIT_FAILED;

	if (argc) {
		message_text("kvm stat report", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (!kvm_view_opts("kvm stat report", o, &view, &pids))
		return EXIT_USAGE;
	if (!input.input)
		input.input = kvm_file(o);
	if (kernel_source_open(&source, "kvm stat report", &input, false) == 0) {
		status = report(o, &view, &source);
		kernel_source_done(&source);
	}
	free(pids);
	return status;
}

/* ---- live ---- */

struct kvm_live {
	const struct kvm_opts *o;
	struct tacho_kvm *k;
	uint64_t next_ns;		/* when the next table is due */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int show(struct kvm_live *l)
{
	struct buf out = { 0 };
	char clock[16];
	time_t now = time(NULL);
	struct tm tm;

	if (term_is_tty(STDOUT_FILENO))
		buf_puts(&out, "\033[H\033[2J");
	if (localtime_r(&now, &tm) && strftime(clock, sizeof(clock), "%H:%M:%S", &tm))
		buf_printf(&out, "%s\n", clock);
	if (kvm_put_table(l->o, l->k, &out) < 0)
		out.bad = true;
	tacho_kvm_clear(l->k);
	return print_out("kvm stat live", &out) ? -EPIPE : 0;
}

static int show_slow(const struct tacho_kvm_event *ev)
{
	struct buf out = { 0 };

	buf_printf(&out, "%.9f VM %" PRIu32 ", vcpu %" PRIu32 ": %s event took %" PRIu64 "usec\n", (double)ev->to_ns / 1e9, ev->pid, ev->vcpu,
		   ev->row->name, (ev->to_ns - ev->from_ns) / 1000);
	return print_out("kvm stat live", &out) ? -EPIPE : 0;
}

static int on_event(void *arg, const struct tacho_kvm_event *ev)
{
	struct kvm_live *l = arg;
	uint64_t now = now_ns();

	if (l->o->duration_us && !ev->row->is_halt && ev->to_ns - ev->from_ns > (uint64_t)l->o->duration_us * 1000 && show_slow(ev) < 0)
		return -EPIPE;
	if (now < l->next_ns)
		return 0;
	l->next_ns = now + (uint64_t)l->o->display_s * 1000000000;
	return show(l);
}

static int record_to_pipe(const struct kvm_opts *o, const struct kernel_record_event *events)
{
	const char *args[] = { "-q", "-R", "-c", "1", "-o", "-", "-m", o->mmap_pages ? o->mmap_pages : "1024", o->pids ? "-p" : "-a",
			       o->pids, NULL };

	return kernel_record(args, events, 0, NULL);
}

/* Starts the recorder with its output connected to our stdin. It ends when this process does. Returns its process ID. */
static pid_t start_recorder(const struct kvm_opts *o, const struct kernel_record_event *events)
{
	pid_t self = getpid(), child;
	int fds[2];

	if (pipe(fds) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGINT);
		if (getppid() != self || dup2(fds[1], STDOUT_FILENO) < 0)
			_exit(EXIT_FAILED);
		close(fds[0]);
		close(fds[1]);
		exit(record_to_pipe(o, events));
	}
	if (child > 0 && dup2(fds[0], STDIN_FILENO) < 0) {
		kill(child, SIGINT);
		child = -1;
	}
	close(fds[0]);
	close(fds[1]);
	return child;
}

/* Reads until the recorder ends. It has reported what it could not do, so an empty recording needs no message. */
static int watch(const struct kvm_opts *o, const struct tacho_kvm_opts *how)
{
	struct kvm_live l = { .o = o, .next_ns = now_ns() + (uint64_t)o->display_s * 1000000000 };
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .ordered = true };
	struct tacho_kvm_opts view = *how;
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata *pd = NULL;
	int err = tacho_perfdata_open(&pd, "-", &opts, &e);

	view.event = on_event;
	view.arg = &l;
	if (err == 0)
		err = tacho_kvm_new(&l.k, pd, &view, &e);
	if (err == 0)
		err = tacho_kvm_run(l.k, &e);
	if (l.k && err == 0 && show(&l) < 0)
		err = -EPIPE;
	if (err == -ENOMEM)
		message_error("kvm stat live", NULL, NULL, &e);
	tacho_kvm_free(l.k);
	tacho_perfdata_close(pd);
	return err;
}

int kvm_stat_live_run(void *opts, int argc, char **argv)
{
	const struct kvm_opts *o = opts;
	const struct kernel_record_event *events;
	struct tacho_kvm_opts view;
	uint32_t *pids;
	int status = 0, err;
	pid_t child;

	if (argc) {
		message_text("kvm stat live", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (!kvm_view_opts("kvm stat live", o, &view, &pids))
		return EXIT_USAGE;
	events = kvm_events("kvm stat live");
	child = events ? start_recorder(o, events) : -1;
	if (child < 0) {
		if (events)
			message_text("kvm stat live", "cannot start the recorder: %s", strerror(errno));
		free(pids);
		return EXIT_FAILED;
	}
	err = watch(o, &view);
	kill(child, SIGINT);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	free(pids);
	return err < 0 ? EXIT_FAILED : WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}
