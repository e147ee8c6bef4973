/*
 * pt-recording OUT.data BRANCHES [OPTION...] -- PROGRAM [ARG...]
 *
 * Makes a recording with Intel PT without the hardware: runs PROGRAM by single steps, encodes its branches with
 * libipt's encoder as the tracing unit would (user space only, without return compression), and writes a perf.data
 * file with AUXTRACE records. BRANCHES receives a line "TID FROM TO KIND" for each branch, in the order of execution,
 * as a decoder must find them; KIND is jcc, jmp, call, return, end (trace disabled), start (trace enabled).
 * Shares no code with tacho.
 *
 *	-c N	trace per CPU: run N copies of PROGRAM alternately on two CPUs; without it, one trace per thread
 *	-i N	interrupt each N instructions (FUP, TIP.PGD, TIP.PGE)
 *	-o N	lose the trace of 100 instructions each N instructions (OVF)
 *	-s N	stop after N instructions of each copy
 *	-w IP	extra packets at each interrupt: CBR, PWRE, PWRX, and PTW of the PTWRITE instruction at IP, a hexadecimal address
 */
#include <err.h>
#include <errno.h>
#include <intel-pt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE_BYTES (48u << 20)
#define MAX_COPIES 8
#define N_CPUS 2
#define PT_TYPE 97		/* the number of the PMU intel_pt */
#define TSC_BIT 0x400
#define NORETCOMP_BIT 0x800
#define TIME_SHIFT 10
#define TIME_MULT 512
#define TIME_ZERO 5000000ull
#define SLICE 700		/* instructions until another copy runs */

struct trace {			/* of a CPU, or of a thread */
	uint8_t *bytes;
	struct pt_encoder *encoder;
	uint64_t last_ip, last_psb;
	uint64_t bits;
	unsigned n_bits, max_bits;
	bool on;
};

struct copy {
	pid_t pid;
	unsigned n_maps;
	uint64_t maps[256];
	uint64_t steps;
	bool ended;
};

static struct { uint8_t *v; size_t n, cap; } data;
static struct trace traces[MAX_COPIES];
static struct copy copies[MAX_COPIES];
static unsigned n_copies = 1, interrupt_every, overflow_every, max_steps = 3000000;
static bool per_cpu;
static uint64_t ptwrite_ip;
static uint64_t tsc = 1000000000;
static FILE *expected;

static uint64_t now(void) { return TIME_ZERO + (uint64_t)(((__uint128_t)tsc * TIME_MULT) >> TIME_SHIFT); }

/* ---- packets ---- */

static void put_packet(struct trace *t, const struct pt_packet *p)
{
	int err = pt_enc_next(t->encoder, p);

	if (err < 0)
		errx(1, "the encoder fails: %s", pt_errstr(pt_errcode(err)));
}

static void put_plain(struct trace *t, enum pt_packet_type type)
{
	struct pt_packet p = { .type = type };

	put_packet(t, &p);
}

static uint64_t position(struct trace *t)
{
	uint64_t at = 0;

	pt_enc_get_offset(t->encoder, &at);
	return at;
}

static void put_bits(struct trace *t)
{
	struct pt_packet p = { .type = t->n_bits > 6 ? ppt_tnt_64 : ppt_tnt_8 };

	if (!t->n_bits)
		return;
	p.payload.tnt.bit_size = (uint8_t)t->n_bits;
	p.payload.tnt.payload = t->bits;
	put_packet(t, &p);
	t->n_bits = 0;
	t->bits = 0;
	t->max_bits = t->max_bits == 6 ? 47 : 6;	/* both kinds of packets */
}

static void put_ip(struct trace *t, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet p = { .type = type };

	p.payload.ip.ipc = ip >> 16 == t->last_ip >> 16 ? pt_ipc_update_16 :
			   ip >> 32 == t->last_ip >> 32 ? pt_ipc_update_32 : pt_ipc_sext_48;
	p.payload.ip.ip = ip & (p.payload.ip.ipc == pt_ipc_update_16 ? 0xffff :
				p.payload.ip.ipc == pt_ipc_update_32 ? 0xffffffff : 0xffffffffffffull);
	t->last_ip = ip;
	put_packet(t, &p);
}

static void put_tsc(struct trace *t)
{
	struct pt_packet p = { .type = ppt_tsc };

	p.payload.tsc.tsc = tsc & ((1ull << 56) - 1);
	put_packet(t, &p);
}

static void put_mode(struct trace *t)
{
	struct pt_packet p = { .type = ppt_mode };

	p.payload.mode.leaf = pt_mol_exec;
	p.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
	put_packet(t, &p);
}

static void put_cbr(struct trace *t, uint8_t ratio)
{
	struct pt_packet p = { .type = ppt_cbr };

	p.payload.cbr.ratio = ratio;
	put_packet(t, &p);
}

/* The synchronization sequence; `ip` is that of the next instruction, 0 while the trace is disabled. */
static void put_sync(struct trace *t, uint64_t ip)
{
	put_bits(t);
	t->last_psb = position(t);
	put_plain(t, ppt_psb);
	t->last_ip = 0;
	put_tsc(t);
	put_cbr(t, 40);
	if (ip) {
		put_mode(t);
		put_ip(t, ppt_fup, ip);
	}
	put_plain(t, ppt_psbend);
}

static void enable(struct trace *t, uint64_t ip)
{
	put_tsc(t);
	put_mode(t);
	put_ip(t, ppt_tip_pge, ip);
	t->on = true;
}

static void disable(struct trace *t, uint64_t ip)
{
	struct pt_packet p = { .type = ppt_tip_pgd };

	put_bits(t);
	if (ip)			/* asynchronous: the instruction there has not been executed */
		put_ip(t, ppt_fup, ip);
	p.payload.ip.ipc = pt_ipc_suppressed;
	put_packet(t, &p);
	t->on = false;
}

/* What a PTWRITE instruction of 4 bytes at `ip` leaves. This machine may not have the instruction: it is not executed. */
static void put_ptwrite(struct trace *t, uint64_t ip)
{
	struct pt_packet p = { .type = ppt_ptw };

	enable(t, ip);
	p.payload.ptw.plc = 1;
	p.payload.ptw.ip = 1;
	p.payload.ptw.payload = 0x1122334455667788ull;
	put_packet(t, &p);
	put_ip(t, ppt_fup, ip);
	disable(t, ip + 4);
}

static void put_power(struct trace *t)
{
	struct pt_packet p = { .type = ppt_pwre };

	put_cbr(t, 35);
	p.payload.pwre.state = 2;
	p.payload.pwre.sub_state = 1;
	put_packet(t, &p);
	p = (struct pt_packet){ .type = ppt_pwrx };
	p.payload.pwrx.last = 2;
	p.payload.pwrx.deepest = 3;
	p.payload.pwrx.interrupt = 1;
	put_packet(t, &p);
}

static void open_trace(struct trace *t)
{
	struct pt_config config;

	t->bytes = mmap(NULL, TRACE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->bytes == MAP_FAILED)
		err(1, "mmap");
	pt_config_init(&config);
	config.begin = t->bytes;
	config.end = t->bytes + TRACE_BYTES;
	t->encoder = pt_alloc_encoder(&config);
	if (!t->encoder)
		errx(1, "no encoder");
	t->max_bits = 6;
	put_sync(t, 0);
}

/* ---- records ---- */

static void put(const void *bytes, size_t n)
{
	if (data.n + n > data.cap) {
		data.cap = (data.n + n) * 2;
		data.v = realloc(data.v, data.cap);
		if (!data.v)
			err(1, "realloc");
	}
	memcpy(data.v + data.n, bytes, n);
	data.n += n;
}

static void put32(uint32_t v) { put(&v, 4); }
static void put64(uint64_t v) { put(&v, 8); }

static size_t record_begin(uint32_t type, uint16_t misc)
{
	size_t at = data.n;

	put32(type);
	put(&misc, 2);
	put("\0\0", 2);
	return at;
}

static void record_end(size_t at)
{
	uint16_t size;

	while ((data.n - at) % 8)
		put("", 1);
	size = (uint16_t)(data.n - at);
	memcpy(data.v + at + 6, &size, 2);
}

/* The fields of sample_id_all: TID, TIME, CPU, IDENTIFIER. */
static void record_end_id(size_t at, pid_t pid, uint32_t cpu, uint64_t id)
{
	while ((data.n - at) % 8)
		put("", 1);
	put32((uint32_t)pid);
	put32((uint32_t)pid);
	put64(now());
	put32(cpu);
	put32(0);
	put64(id);
	record_end(at);
}

static void put_string(const char *s)
{
	put(s, strlen(s) + 1);
}

static void put_mmap(pid_t pid, uint32_t cpu, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	size_t at = record_begin(10, 2);

	put32((uint32_t)pid);
	put32((uint32_t)pid);
	put64(start);
	put64(end - start);
	put64(offset);
	put64(0);	/* device, inode: unknown */
	put64(0);
	put64(0);
	put32(5);
	put32(2);
	put_string(path);
	record_end_id(at, pid, cpu, 2);
}

static void put_new_maps(struct copy *c, uint32_t cpu)
{
	char path[64], line[1024];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", c->pid);
	f = fopen(path, "r");
	if (!f)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		unsigned long start, end, offset;
		char perms[8], name[800] = "//anon";
		unsigned i = 0;

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %799s", &start, &end, perms, &offset, name) < 4 || perms[2] != 'x')
			continue;
		while (i < c->n_maps && c->maps[i] != (start ^ offset << 1))
			i++;
		if (i < c->n_maps)
			continue;
		if (c->n_maps < 256)
			c->maps[c->n_maps++] = start ^ offset << 1;
		put_mmap(c->pid, cpu, start, end, offset, name);
	}
	fclose(f);
}

static void put_switch(pid_t pid, uint32_t cpu, bool out)
{
	size_t at;

	if (!per_cpu)
		return;
	at = record_begin(14, out ? 1 << 13 | 2 : 2);
	record_end_id(at, pid, cpu, 2);
}

static void put_comm(pid_t pid, uint32_t cpu, const char *program)
{
	const char *slash = strrchr(program, '/');
	char name[16] = { 0 };
	size_t at = record_begin(3, 1 << 13 | 2);

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : program);
	put32((uint32_t)pid);
	put32((uint32_t)pid);
	put_string(name);
	record_end_id(at, pid, cpu, 2);
}

static void put_start(pid_t pid, uint32_t cpu)
{
	size_t at = record_begin(12, 0);

	put32((uint32_t)pid);
	put32((uint32_t)pid);
	record_end_id(at, pid, cpu, 1);
}

static void put_kernel_map(void)
{
	size_t at = record_begin(1, 1);

	put32(UINT32_MAX);
	put32(0);
	put64(0xffffffff81000000ull);
	put64(0x1000000);
	put64(0xffffffff81000000ull);
	put_string("[kernel.kallsyms]_text");
	record_end_id(at, -1, 0, 2);
}

static void put_auxtrace_info(void)
{
	static const uint64_t priv[] = {
		PT_TYPE, TIME_SHIFT, TIME_MULT, TIME_ZERO, 1, TSC_BIT, NORETCOMP_BIT, 2, 0, 0 /* per CPU */,
		0x200, 0x3c000, 0, 0, 2, 30, 0, 0,
	};
	size_t at = record_begin(70, 0);

	put32(1);
	put32(0);
	for (size_t i = 0; i < sizeof(priv) / sizeof(priv[0]); i++)
		put64(i == 9 ? per_cpu : i == 7 && !per_cpu ? 0 : priv[i]);
	record_end(at);
}

static void put_id_index(void)
{
	unsigned n = per_cpu ? N_CPUS : n_copies;
	size_t at = record_begin(69, 0);

	put64(2ull * n);
	for (unsigned e = 1; e <= 2; e++)
		for (unsigned i = 0; i < n; i++) {
			put64(e);		/* all descriptors of an event share one id here */
			put64(i);
			put64(per_cpu ? i : UINT64_MAX);
			put64(per_cpu ? UINT64_MAX : (uint64_t)copies[i].pid);
		}
	record_end(at);
}

/* The traces as AUX records and AUXTRACE records of up to 40,000 bytes. */
static void put_traces(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t size = (position(&traces[i]) + 7) & ~7ull, step = 40000;
		size_t at;

		for (uint64_t from = 0; from < size; from += step) {
			uint64_t some = size - from < step ? size - from : step;
			uint32_t cpu = per_cpu ? i : UINT32_MAX;

			at = record_begin(11, 0);
			put64(from);
			put64(some);
			put64(0);
			record_end_id(at, copies[per_cpu ? 0 : i].pid, cpu, 1);
			at = record_begin(71, 0);
			put64(some);
			put64(from);
			put64(tsc);	/* the reference */
			put32(i);
			put32(per_cpu ? UINT32_MAX : (uint32_t)copies[i].pid);
			put32(cpu);
			put32(0);
			record_end(at);
			put(traces[i].bytes + from, some);
		}
	}
}

/* ---- single steps ---- */

enum kind { OTHER, JCC, JMP, CALL, INDIRECT_JMP, INDIRECT_CALL, RETURN, FAR };

static enum kind classify(const uint8_t *b, size_t n, uint64_t ip, uint64_t *target)
{
	size_t i = 0;
	int32_t far_by;

	*target = 0;
	while (i < 4 && (b[i] == 0x66 || b[i] == 0x67 || b[i] == 0xf2 || b[i] == 0xf3 || b[i] == 0x2e || b[i] == 0x3e ||
			 (b[i] >= 0x40 && b[i] <= 0x4f)))
		i++;
	if (n < i + 6)
		return OTHER;
	memcpy(&far_by, b + i + 1, 4);
	if ((b[i] >= 0x70 && b[i] <= 0x7f) || (b[i] >= 0xe0 && b[i] <= 0xe3)) {
		*target = ip + i + 2 + (uint64_t)(int8_t)b[i + 1];
		return JCC;
	}
	switch (b[i]) {
	case 0xeb: *target = ip + i + 2 + (uint64_t)(int8_t)b[i + 1]; return JMP;
	case 0xe9: *target = ip + i + 5 + (uint64_t)far_by; return JMP;
	case 0xe8: *target = ip + i + 5 + (uint64_t)far_by; return CALL;
	case 0xc2:
	case 0xc3: return RETURN;
	case 0xff:
		return (b[i + 1] >> 3 & 7) == 2 ? INDIRECT_CALL : (b[i + 1] >> 3 & 7) == 4 ? INDIRECT_JMP : OTHER;
	case 0x0f:
		if (b[i + 1] >= 0x80 && b[i + 1] <= 0x8f) {
			memcpy(&far_by, b + i + 2, 4);
			*target = ip + i + 6 + (uint64_t)far_by;
			return JCC;
		}
		return b[i + 1] == 0x05 ? FAR : OTHER;
	}
	return OTHER;
}

static void expect(pid_t pid, uint64_t from, uint64_t to, const char *kind)
{
	fprintf(expected, "%d %lx %lx %s\n", pid, (unsigned long)from, (unsigned long)to, kind);
}

static uint64_t ip_of(pid_t pid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
		err(1, "PTRACE_GETREGS");
	return regs.rip;
}

static size_t read_code(pid_t pid, uint64_t ip, uint8_t *out, size_t n)
{
	struct iovec to = { out, n }, from = { (void *)ip, n };
	ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);

	for (size_t i = 0; got < 0 && i < n; i += 8) {	/* at the end of a mapping, or the vdso */
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKTEXT, pid, (void *)(ip + i), NULL);
		if (errno)
			return i;
		memcpy(out + i, &word, 8);
	}
	return got < 0 ? n : (size_t)got;
}

/* Code that was read once is cached: the programs do not modify theirs. */
static size_t code_at(pid_t pid, uint64_t ip, uint8_t *out, size_t n)
{
	static struct { uint64_t ip; size_t n; pid_t pid; uint8_t bytes[16]; } cache[1 << 14], *hit;

	hit = &cache[(ip ^ ip >> 14) % (sizeof(cache) / sizeof(cache[0]))];
	if (hit->ip != ip || hit->pid != pid) {
		hit->n = read_code(pid, ip, hit->bytes, sizeof(hit->bytes));
		hit->ip = ip;
		hit->pid = pid;
	}
	memcpy(out, hit->bytes, n);
	return hit->n;
}

/* Steps over one instruction; false if the process has ended. */
static bool step(struct copy *c)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, c->pid, NULL, NULL) < 0 || waitpid(c->pid, &status, 0) < 0)
		err(1, "PTRACE_SINGLESTEP");
	if (WIFEXITED(status) || WIFSIGNALED(status))
		c->ended = true;
	else if (WSTOPSIG(status) != SIGTRAP)
		errx(1, "the program got signal %d", WSTOPSIG(status));
	return !c->ended;
}

/* The packets of one executed instruction. `to` is 0 after the end of the process. */
static void trace_step(struct copy *c, struct trace *t, uint32_t cpu, uint64_t from, uint64_t to, enum kind kind,
		       uint64_t target)
{
	bool lost = overflow_every && c->steps % overflow_every < 100 && c->steps >= overflow_every;

	tsc += 7;
	if (lost && c->steps % overflow_every == 0) {
		put_bits(t);
		t->on = false;
		put_plain(t, ppt_ovf);
		t->last_ip = 0;
		return;
	}
	if (lost)
		return;
	if (!t->on) {			/* the end of the loss: OVF is followed by the current IP */
		put_tsc(t);
		put_mode(t);
		put_ip(t, ppt_tip_pge, from);
		t->on = true;
		expect(c->pid, 0, from, "start");
	}
	if (kind == JCC) {
		bool taken = to == target;

		t->bits = t->bits << 1 | taken;
		if (++t->n_bits >= t->max_bits)
			put_bits(t);
		if (taken)
			expect(c->pid, from, to, "jcc");
	} else if (kind == JMP || kind == CALL) {
		expect(c->pid, from, to, kind == JMP ? "jmp" : "call");
	} else if (kind == INDIRECT_JMP || kind == INDIRECT_CALL || kind == RETURN) {
		put_bits(t);
		put_ip(t, ppt_tip, to);
		expect(c->pid, from, to, kind == INDIRECT_JMP ? "jmp" : kind == INDIRECT_CALL ? "call" : "return");
	} else if (kind == FAR) {
		disable(t, 0);
		expect(c->pid, from, 0, "end");
		if (!to)
			return;
		tsc += 3000;
		put_new_maps(c, cpu);
		tsc += 1000;
		enable(t, to);
		expect(c->pid, 0, to, "start");
	}
	if (position(t) - t->last_psb > 2000)
		put_sync(t, to);
	if (interrupt_every && c->steps % interrupt_every == interrupt_every - 1) {
		disable(t, to);
		expect(c->pid, to, 0, "end");
		if (ptwrite_ip) {
			put_power(t);
			tsc += 100;
			put_ptwrite(t, ptwrite_ip);
			expect(c->pid, 0, ptwrite_ip, "start");
			expect(c->pid, ptwrite_ip + 4, 0, "end");
		}
		tsc += 5000;
		enable(t, to);
		expect(c->pid, 0, to, "start");
	}
}

static void run_slice(struct copy *c, struct trace *t, uint32_t cpu, unsigned n)
{
	uint64_t ip = ip_of(c->pid);

	put_switch(c->pid, cpu, false);
	tsc += 500;
	enable(t, ip);
	expect(c->pid, 0, ip, "start");
	while (n--) {
		uint8_t code[16] = { 0 };
		uint64_t target, to;
		size_t got = code_at(c->pid, ip, code, sizeof(code));
		enum kind kind = classify(code, got, ip, &target);

		to = step(c) ? ip_of(c->pid) : 0;
		trace_step(c, t, cpu, ip, to, kind, target);
		c->steps++;
		ip = to;
		if (c->ended || c->steps >= max_steps)
			break;
	}
	if (t->on) {
		disable(t, ip);
		expect(c->pid, ip, 0, "end");
	}
	tsc += 500;
	put_switch(c->pid, cpu, true);
	tsc += 500;
}

static void start_copy(struct copy *c, char **argv)
{
	int status;

	c->pid = fork();
	if (c->pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (c->pid < 0 || waitpid(c->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		errx(1, "cannot start %s", argv[0]);
	ptrace(PTRACE_SETOPTIONS, c->pid, NULL, (void *)PTRACE_O_EXITKILL);
}

static void run_copies(char **argv)
{
	unsigned n_traces = per_cpu ? N_CPUS : n_copies, left = n_copies, turn = 0;

	for (unsigned i = 0; i < n_traces; i++)
		open_trace(&traces[i]);
	for (unsigned i = 0; i < n_copies; i++)
		start_copy(&copies[i], argv);
	put_id_index();
	put_auxtrace_info();
	put_kernel_map();
	for (unsigned i = 0; i < n_copies; i++) {
		uint32_t cpu = per_cpu ? i % N_CPUS : UINT32_MAX;

		put_comm(copies[i].pid, cpu, argv[0]);
		put_new_maps(&copies[i], cpu);
		put_start(copies[i].pid, cpu);
		tsc += 1000;
	}
	while (left) {
		for (unsigned i = 0; i < n_copies; i++) {
			unsigned on = per_cpu ? (i + turn) % N_CPUS : i;

			if (copies[i].ended || copies[i].steps >= max_steps)
				continue;
			run_slice(&copies[i], &traces[on], per_cpu ? on : UINT32_MAX, SLICE);
			left -= copies[i].ended || copies[i].steps >= max_steps;
		}
		turn++;
	}
	put_traces(n_traces);
	for (unsigned i = 0; i < n_copies; i++)
		if (!copies[i].ended)
			kill(copies[i].pid, SIGKILL);
}

/* ---- the file ---- */

static void put_attr(bool trace, uint64_t ids_at)
{
	uint8_t attr[128] = { 0 };
	uint64_t flags = 1ull << 5 | 1ull << 6 | 1ull << 18, type_and_size, sample_type = 0x10087, config = 0;

	if (trace)
		config = 0x2000 | TSC_BIT | NORETCOMP_BIT | (ptwrite_ip ? 0x1010 : 0);
	else
		flags |= 1ull << 8 | 1ull << 9 | 1ull << 13 | 1ull << 23 | 1ull << 24 | 1ull << 26;
	type_and_size = (trace ? PT_TYPE : 1) | 128ull << 32;
	memcpy(attr, &type_and_size, 8);
	if (!trace)
		config = 9;
	memcpy(attr + 8, &config, 8);
	memcpy(attr + 16, &(uint64_t){ 1 }, 8);
	memcpy(attr + 24, &sample_type, 8);
	memcpy(attr + 32, &(uint64_t){ 4 }, 8);
	memcpy(attr + 40, &flags, 8);
	put(attr, sizeof(attr));
	if (ids_at) {
		put64(ids_at);
		put64(8);
	}
}

static void put_feature_string(const char *s)
{
	uint32_t n = ((uint32_t)strlen(s) + 64) & ~63u;
	char text[128] = { 0 };

	snprintf(text, sizeof(text), "%s", s);
	put32(n);
	put(text, n);
}

static void put_event_desc(void)
{
	put32(2);
	put32(128);
	for (int i = 0; i < 2; i++) {
		put_attr(i == 0, 0);
		put32(1);
		put_feature_string(i == 0 ? "intel_pt//u" : "dummy:u");
		put64((uint64_t)i + 1);
	}
}

static void put_pmus(void)
{
	put32(2);
	put32(1);
	put_feature_string("software");
	put32(PT_TYPE);
	put_feature_string("intel_pt");
}

static void put_index(uint64_t data_at, const uint8_t *records, size_t n)
{
	uint64_t count = 0;
	size_t counted_at = data.n;

	put64(0);
	for (size_t at = 0; at + 8 <= n;) {
		uint32_t type;
		uint16_t size;
		uint64_t after = 0;

		memcpy(&type, records + at, 4);
		memcpy(&size, records + at + 6, 2);
		if (type == 71) {
			memcpy(&after, records + at + 8, 8);
			put64(data_at + at);
			put64(size);	/* without the data */
			count++;
		}
		at += size + after;
	}
	memcpy(data.v + counted_at, &count, 8);
}

static const struct { int bit; const char *text; } features[] = {
	{ 3, "machine" }, { 4, "6.1.0" }, { 5, "6.1" }, { 6, "x86_64" }, { 7, NULL }, { 8, "Intel(R) Core(TM) i7-8700" },
	{ 9, "GenuineIntel,6,158,10" }, { 12, NULL }, { 16, NULL }, { 18, NULL },
};

static void write_file(const char *path)
{
	enum { HEADER = 104, IDS = 16, ATTRS = 2 * (128 + 16), N = sizeof(features) / sizeof(features[0]) };
	uint8_t *records = data.v;
	size_t n = data.n, table;
	uint64_t header[13] = { 0x32454c4946524550ull, HEADER, 128 + 16, HEADER + IDS, ATTRS, HEADER + IDS + ATTRS, n };
	FILE *f = fopen(path, "w");

	if (!f)
		err(1, "%s", path);
	data.v = NULL;
	data.n = data.cap = 0;
	for (int i = 0; i < N; i++)
		header[9] |= 1ull << features[i].bit;
	put(header, sizeof(header));
	put64(1);
	put64(2);
	put_attr(true, HEADER);
	put_attr(false, HEADER + 8);
	fwrite(data.v, 1, data.n, f);
	fwrite(records, 1, n, f);
	data.n = 0;
	table = N * 16;
	for (int i = 0; i < N; i++) {
		put64(0);
		put64(0);
	}
	for (int i = 0; i < N; i++) {
		uint64_t from = data.n, at = HEADER + IDS + ATTRS + n + from, size;

		switch (features[i].bit) {
		case 7: put32(N_CPUS); put32(N_CPUS); break;
		case 12: put_event_desc(); break;
		case 16: put_pmus(); break;
		case 18: put_index(HEADER + IDS + ATTRS, records, n); break;
		default: put_feature_string(features[i].text);
		}
		size = data.n - from;
		memcpy(data.v + 16 * i, &at, 8);
		memcpy(data.v + 16 * i + 8, &size, 8);
	}
	if (table > data.n || fwrite(data.v, 1, data.n, f) != data.n || fclose(f))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	int opt;

	if (argc < 4)
		errx(2, "usage: pt-recording OUT.data BRANCHES [-c N] [-i N] [-o N] [-s N] [-w IP] -- PROGRAM [ARG...]");
	expected = fopen(argv[2], "w");
	if (!expected)
		err(1, "%s", argv[2]);
	optind = 3;
	while ((opt = getopt(argc, argv, "+c:i:o:s:w:")) != -1) {
		unsigned n = optarg ? (unsigned)atoi(optarg) : 0;

		switch (opt) {
		case 'c': per_cpu = true; n_copies = n < MAX_COPIES ? n : MAX_COPIES; break;
		case 'i': interrupt_every = n; break;
		case 'o': overflow_every = n; break;
		case 's': max_steps = n; break;
		case 'w': ptwrite_ip = strtoull(optarg, NULL, 16); break;
		default: return 2;
		}
	}
	run_copies(argv + optind);
	write_file(argv[1]);
	return fclose(expected) ? 1 : 0;
}
