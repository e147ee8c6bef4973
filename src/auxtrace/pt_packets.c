/*
 * Lists the packets of Intel PT: offset, bytes, name and content, in perf's form. Bytes that are no packet are shown as such,
 * and the list goes on at the next byte.
 */
#include "auxtrace/auxtrace.h"
#include "auxtrace/libipt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct line {
	char text[512];
	size_t n;
};

static void put(struct line *l, const char *fmt, ...) printf_like(2, 3);
static void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->n, sizeof(l->text) - l->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->n = min_of(l->n + (size_t)n, sizeof(l->text) - 1);
}

static void put_ip(struct line *l, const char *name, const struct pt_packet_ip *p)
{
	if (p->ipc == pt_ipc_suppressed)
		put(l, "%s no ip", name);
	else
		put(l, "%s %#llx", name, (unsigned long long)p->ip);
}

static void put_tnt(struct line *l, const struct pt_packet_tnt *p)
{
	put(l, "TNT ");
	for (unsigned i = p->bit_size; i > 0; i--)
		put(l, "%c", p->payload >> (i - 1) & 1 ? 'T' : 'N');
	put(l, " (%u)", p->bit_size);
}

static void put_mode(struct line *l, const struct pt_packet_mode *p)
{
	static const char *const modes[] = { [ptem_unknown] = "?", [ptem_16bit] = "16", [ptem_32bit] = "32", [ptem_64bit] = "64" };

	if (p->leaf == pt_mol_exec)
		put(l, "MODE.Exec IF:0 %s", modes[pt_get_exec_mode(&p->bits.exec)]);
	else
		put(l, "MODE.TSX TXAbort:%u InTX:%u", p->bits.tsx.abrt, p->bits.tsx.intx);
}

static const char *plain_name(enum pt_packet_type type)
{
	switch (type) {
	case ppt_pad: return "PAD";
	case ppt_psb: return "PSB";
	case ppt_psbend: return "PSBEND";
	case ppt_ovf: return "OVF";
	case ppt_stop: return "TraceSTOP";
	default: return NULL;
	}
}

static void put_timing(struct line *l, const struct pt_packet *p)
{
	switch (p->type) {
	case ppt_tsc: put(l, "TSC %#llx", (unsigned long long)p->payload.tsc.tsc); break;
	case ppt_tma: put(l, "TMA CTC %#x FC %#x", p->payload.tma.ctc, p->payload.tma.fc); break;
	case ppt_mtc: put(l, "MTC %#x", p->payload.mtc.ctc); break;
	case ppt_cyc: put(l, "CYC %#llx", (unsigned long long)p->payload.cyc.value); break;
	default: put(l, "CBR %#x", p->payload.cbr.ratio);
	}
}

static void put_power(struct line *l, const struct pt_packet *p)
{
	switch (p->type) {
	case ppt_mwait: put(l, "MWAIT %#x IP:0 Extensions %#x", p->payload.mwait.hints, p->payload.mwait.ext); break;
	case ppt_pwre:
		put(l, "PWRE %#x %#x HW:%u", p->payload.pwre.state, p->payload.pwre.sub_state, p->payload.pwre.hw);
		break;
	case ppt_pwrx:
		put(l, "PWRX last %#x deepest %#x reason:%s%s%s", p->payload.pwrx.last, p->payload.pwrx.deepest,
		    p->payload.pwrx.interrupt ? " interrupt" : "", p->payload.pwrx.store ? " store" : "",
		    p->payload.pwrx.autonomous ? " autonomous" : "");
		break;
	default: put(l, "EXSTOP IP:%u", p->payload.exstop.ip);
	}
}

static void put_packet(struct line *l, const struct pt_packet *p)
{
	if (plain_name(p->type)) {
		put(l, "%s", plain_name(p->type));
		return;
	}
	switch (p->type) {
	case ppt_fup: put_ip(l, "FUP", &p->payload.ip); break;
	case ppt_tip: put_ip(l, "TIP", &p->payload.ip); break;
	case ppt_tip_pge: put_ip(l, "TIP.PGE", &p->payload.ip); break;
	case ppt_tip_pgd: put_ip(l, "TIP.PGD", &p->payload.ip); break;
	case ppt_tnt_8:
	case ppt_tnt_64: put_tnt(l, &p->payload.tnt); break;
	case ppt_mode: put_mode(l, &p->payload.mode); break;
	case ppt_pip: put(l, "PIP %#llx (NR=%u)", (unsigned long long)p->payload.pip.cr3, p->payload.pip.nr); break;
	case ppt_vmcs: put(l, "VMCS %#llx", (unsigned long long)p->payload.vmcs.base); break;
	case ppt_mnt: put(l, "MNT %#llx", (unsigned long long)p->payload.mnt.payload); break;
	case ppt_ptw:
		put(l, "PTWRITE %#llx IP:%u", (unsigned long long)p->payload.ptw.payload, p->payload.ptw.ip);
		break;
	case ppt_mwait:
	case ppt_pwre:
	case ppt_pwrx:
	case ppt_exstop: put_power(l, p); break;
	default: put_timing(l, p);
	}
}

static void put_bytes(struct line *l, uint64_t at, const uint8_t *bytes, size_t n)
{
	put(l, ".  %08llx: ", (unsigned long long)at);
	for (size_t i = 0; i < n; i++)
		put(l, " %02x", bytes[i]);
	put(l, "%*s ", (int)(3 * (16 - min_of(n, (size_t)16))), "");
}

int pt_packets(const uint8_t *bytes, size_t n, int (*fn)(void *arg, const char *line, size_t n), void *arg)
{
	const struct libipt *lib = libipt_load();
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	int err = 0;

	if (!lib)
		return -EOPNOTSUPP;
	if (!n)
		return 0;
	pt_config_init(&config);
	config.begin = (uint8_t *)(uintptr_t)bytes;	/* it is only read */
	config.end = config.begin + n;
	decoder = lib->pkt_alloc(&config);
	if (!decoder)
		return -ENOMEM;
	for (uint64_t at = 0; at < n && !err;) {
		struct line l = { .n = 0 };
		struct pt_packet packet;
		int status = lib->pkt_sync_set(decoder, at);

		status = status < 0 ? status : lib->pkt_next(decoder, &packet, sizeof(packet));
		if (status > 0) {
			put_bytes(&l, at, bytes + at, (size_t)status);
			put_packet(&l, &packet);
			at += (uint64_t)status;
		} else {
			put_bytes(&l, at, bytes + at, 1);
			put(&l, "Bad packet!");
			at++;
		}
		err = fn(arg, l.text, l.n);
	}
	lib->pkt_free(decoder);
	return err;
}
