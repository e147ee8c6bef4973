/*
 * Virtual machines. A thread that enters a guest is a virtual CPU; what happens to it between an exit and the next entry is one
 * event, which begins and ends at tracepoints that depend on the kind of the view:
 *
 *	exits	begins: kvm_exit (by reason)	ends: kvm_entry
 *	MMIO	begins: kvm_exit		ends: kvm_mmio of a read (by address)
 *		begins: kvm_mmio of a write	ends: kvm_entry
 *	ports	begins: kvm_pio (by port)	ends: kvm_entry
 *
 * As in perf, a thread counts from its first entry on, since only then is its virtual CPU known on every architecture.
 */
#include <tacho/kvm.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/sized_opts.h"
#include "kernel/kvm_reasons.h"
#include "kernel/pass.h"

#define NO_ROW UINT32_MAX
#define ISA_VMX 1u			/* values of kvm_exit's field isa */
#define ISA_SVM 2u
#define MMIO_READ 1u			/* values of kvm_mmio's field type; 0 is a read whose data comes later */
#define MMIO_WRITE 2u

struct kvm_thread {
	struct kernel_thread thread;
	bool has_entered;
	uint32_t vcpu;
	uint32_t row;			/* of the event that has begun; NO_ROW: known at its end */
	uint64_t begin_ns;		/* 0: none has begun */
};

struct kvm_row {
	struct tacho_kvm_row pub;
	double m2;			/* sum of squared differences to the mean */
};

struct tacho_kvm {
	struct tacho_kvm_opts opts;
	struct kernel_pass pass;
	struct arena arena;
	struct int_map row_index[4];	/* by the variant of the key: see row_of() */
	struct { struct kvm_row *v; size_t n, cap; } rows;
	size_t n_cpus;			/* threads that have entered a guest */
	bool is_svm;			/* the recording's processor, for kernels without the field isa */
};

/* ---- rows ---- */

/* `variant` distinguishes keys of the same number: kinds of exit reasons, or reads and writes. */
static int row_of(struct tacho_kvm *k, unsigned variant, uint64_t key, const char *name, uint32_t *index)
{
	struct kvm_row *row;

	if (int_map_get(&k->row_index[variant], key, index))
		return 0;
	*index = (uint32_t)k->rows.n;
	row = vec_add(&k->rows);
	if (!row || int_map_put(&k->row_index[variant], key, *index) < 0)
		return -ENOMEM;
	row->pub.name = arena_text(&k->arena, str_of(name));
	return row->pub.name ? 0 : -ENOMEM;
}

static int row_of_reason(struct tacho_kvm *k, enum kvm_isa isa, uint32_t code, uint32_t *index)
{
	const char *name = kvm_reason_name(isa, code);
	char unknown[32];
	int err;

	snprintf(unknown, sizeof(unknown), "UNKNOWN:%#" PRIx32, code);
	err = row_of(k, isa, code, name ? name : unknown, index);
	if (err == 0)
		k->rows.v[*index].pub.is_halt = name && (!strcmp(name, "HLT") || !strcmp(name, "hlt") || !strcmp(name, "WFx"));
	return err;
}

static void add_time(struct kvm_row *row, uint64_t ns)
{
	struct tacho_kvm_row *r = &row->pub;
	double difference = (double)ns - r->mean_ns;

	r->min_ns = r->n ? min_of(r->min_ns, ns) : ns;
	r->max_ns = max_of(r->max_ns, ns);
	r->n++;
	r->sum_ns += ns;
	r->mean_ns += difference / (double)r->n;
	row->m2 += difference * ((double)ns - r->mean_ns);
	r->error_ns = r->n > 1 ? sqrt(row->m2 / (double)(r->n - 1) / (double)r->n) : 0;
}

/* ---- events ---- */

static bool is_wanted(const struct tacho_kvm *k, const struct kernel_sample *s)
{
	for (size_t i = 0; i < k->opts.n_pids; i++)
		if (k->opts.pids[i] == s->pid)
			return true;
	return !k->opts.n_pids;
}

/* The virtual CPU that the sample is of; NULL: none, or it is not selected. */
static struct kvm_thread *find_vcpu(const struct tacho_kvm *k, const struct kernel_sample *s)
{
	struct kvm_thread *t = (struct kvm_thread *)kernel_threads_find(&k->pass.threads, s->tid);

	return t && t->has_entered && is_wanted(k, s) && (!k->opts.has_vcpu || t->vcpu == k->opts.vcpu) ? t : NULL;
}

static void begin(struct kvm_thread *t, uint32_t row, uint64_t time)
{
	t->row = row;
	t->begin_ns = time;
}

static bool is_in_time(const struct tacho_kvm *k, uint64_t time)
{
	return time >= k->opts.from_ns && (!k->opts.to_ns || time <= k->opts.to_ns);
}

/* Ends the event of a virtual CPU that has a row. */
static int end(struct tacho_kvm *k, struct kvm_thread *t, const struct kernel_sample *s)
{
	struct tacho_kvm_event ev = { .from_ns = t->begin_ns, .to_ns = s->time, .pid = s->pid, .vcpu = t->vcpu };
	uint32_t row = t->row;

	begin(t, NO_ROW, 0);
	if (!ev.from_ns || row == NO_ROW || ev.to_ns < ev.from_ns || !is_in_time(k, s->time))
		return 0;
	add_time(&k->rows.v[row], ev.to_ns - ev.from_ns);
	ev.row = &k->rows.v[row].pub;
	return k->opts.event ? k->opts.event(k->opts.arg, &ev) : 0;
}

enum { EXIT_REASON, EXIT_ISA, EXIT_RET, EXIT_ESR_EC };

static enum kvm_isa isa_of(const struct tacho_kvm *k, const struct kernel_sample *s)
{
	uint64_t isa = kernel_number(s, EXIT_ISA);

	if (kernel_has(s, EXIT_RET))
		return kernel_number(s, EXIT_RET) == KVM_ARM_EXIT_TRAP ? KVM_ARM_TRAP : KVM_ARM_EXIT;
	if (isa == ISA_VMX || isa == ISA_SVM)
		return isa == ISA_VMX ? KVM_VMX : KVM_SVM;
	return k->is_svm ? KVM_SVM : KVM_VMX;
}

static int handle_exit(void *view, const struct kernel_sample *s)
{
	struct tacho_kvm *k = view;
	enum kvm_isa isa = isa_of(k, s);
	struct kvm_thread *t = find_vcpu(k, s);
	uint32_t row = NO_ROW;
	int err = 0;

	if (!t || k->opts.kind == TACHO_KVM_PIO)
		return 0;
	if (k->opts.kind == TACHO_KVM_EXITS) {
		unsigned field = isa == KVM_ARM_TRAP ? EXIT_ESR_EC : isa == KVM_ARM_EXIT ? EXIT_RET : EXIT_REASON;

		err = row_of_reason(k, isa, (uint32_t)kernel_number(s, field), &row);
	}
	begin(t, row, s->time);
	return err;
}

enum { ENTRY_VCPU };

static int handle_entry(void *view, const struct kernel_sample *s)
{
	struct tacho_kvm *k = view;
	struct kvm_thread *t = (struct kvm_thread *)kernel_thread(&k->pass, s->tid);

	if (!t)
		return -ENOMEM;
	if (!t->has_entered) {
		t->has_entered = true;
		k->n_cpus++;
		t->vcpu = (uint32_t)kernel_number(s, ENTRY_VCPU);
		begin(t, NO_ROW, 0);
	}
	t = find_vcpu(k, s);
	return t ? end(k, t, s) : 0;
}

enum { MMIO_TYPE, MMIO_ADDRESS };

static int handle_mmio(void *view, const struct kernel_sample *s)
{
	struct tacho_kvm *k = view;
	uint64_t type = kernel_number(s, MMIO_TYPE), address = kernel_number(s, MMIO_ADDRESS);
	struct kvm_thread *t = find_vcpu(k, s);
	uint32_t row;
	char name[32];

	if (!t || k->opts.kind != TACHO_KVM_MMIO || (type != MMIO_READ && type != MMIO_WRITE))
		return 0;
	snprintf(name, sizeof(name), "%#" PRIx64 ":%c", address, type == MMIO_WRITE ? 'W' : 'R');
	if (row_of(k, type == MMIO_WRITE, address, name, &row) < 0)
		return -ENOMEM;
	if (type == MMIO_WRITE) {
		begin(t, row, s->time);
		return 0;
	}
	if (t->row == NO_ROW)
		t->row = row;
	return end(k, t, s);
}

enum { PIO_WRITE, PIO_PORT };

static int handle_pio(void *view, const struct kernel_sample *s)
{
	struct tacho_kvm *k = view;
	bool is_write = kernel_number(s, PIO_WRITE) != 0;
	uint64_t port = kernel_number(s, PIO_PORT);
	struct kvm_thread *t = find_vcpu(k, s);
	uint32_t row;
	char name[32];

	if (!t || k->opts.kind != TACHO_KVM_PIO)
		return 0;
	snprintf(name, sizeof(name), "%#" PRIx64 ":%s", port, is_write ? "POUT" : "PIN");
	if (row_of(k, is_write, port, name, &row) < 0)
		return -ENOMEM;
	begin(t, row, s->time);
	return 0;
}

static const struct kernel_handler handlers[] = {
	{ "kvm:kvm_exit", handle_exit, { "?exit_reason", "?isa", "?ret", "?esr_ec" } },
	{ "kvm:kvm_entry", handle_entry, { "?vcpu_id" } },
	{ "kvm:kvm_mmio", handle_mmio, { "type", "gpa" } },
	{ "kvm:kvm_pio", handle_pio, { "rw", "port" } },
};

/* A thread ID that is used again is another thread: kernel_threads_add() sets all to 0. */
static const struct kernel_view view = { .handlers = handlers, .n_handlers = countof(handlers),
					 .thread_bytes = sizeof(struct kvm_thread) };

/* ---- the object ---- */

/* CPU IDs of perf.data start with the vendor; SVM's are AMD and Hygon. */
static bool has_svm(struct tacho_perfdata *pd)
{
	const char *cpuid = tacho_perfdata_string(pd, TACHO_FEATURE_CPUID);

	return cpuid && (str_starts(str_of(cpuid), "AuthenticAMD") || str_starts(str_of(cpuid), "HygonGenuine"));
}

int tacho_kvm_new(struct tacho_kvm **out, struct tacho_perfdata *pd, const struct tacho_kvm_opts *opts, struct tacho_error *e)
{
	struct tacho_kvm *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return error_nomem(e);
	err = opts_copy(&k->opts, sizeof(k->opts), opts, e);
	if (err == 0 && kernel_pass_init(&k->pass, pd, &view, k) < 0)
		err = error_nomem(e);
	if (err < 0) {
		tacho_kvm_free(k);
		return err;
	}
	k->is_svm = has_svm(pd);
	*out = k;
	return 0;
}

int tacho_kvm_run(struct tacho_kvm *k, struct tacho_error *e)
{
	return kernel_pass_run(&k->pass, e);
}

void tacho_kvm_free(struct tacho_kvm *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < countof(k->row_index); i++)
		int_map_done(&k->row_index[i]);
	vec_done(&k->rows);
	arena_done(&k->arena);
	kernel_pass_done(&k->pass);
	free(k);
}

const struct tacho_kernel_totals *tacho_kvm_totals(const struct tacho_kvm *k)
{
	return &k->pass.totals;
}

const struct tacho_kvm_row *tacho_kvm_row(const struct tacho_kvm *k, size_t i)
{
	return i < k->rows.n ? &k->rows.v[i].pub : NULL;
}

size_t tacho_kvm_n_cpus(const struct tacho_kvm *k)
{
	return k->n_cpus;
}

void tacho_kvm_clear(struct tacho_kvm *k)
{
	for (size_t i = 0; i < k->rows.n; i++) {
		struct kvm_row *row = &k->rows.v[i];

		row->pub = (struct tacho_kvm_row){ .name = row->pub.name, .is_halt = row->pub.is_halt };
		row->m2 = 0;
	}
}
