/*
 * The records that are no samples: each type with every trailer, in both byte orders, at odd
 * addresses and cut off at every byte; unknown types; and the iterator.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/perf_abi.h"
#include "wire.h"

#define A 0x1122334455667788ULL
#define B 0xfedcba9876543210ULL
#define C 0x0102030405060708ULL
#define BUILD_ID "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14"
#define MISC_BUILD_ID (1u << 14)

static struct tacho_scratch scratch;
static struct wire wire;

/* Each writer returns how many bytes of the payload are needed; the rest is padding. */
static size_t put_mmap(struct wire *w)
{
	put4(w, 11), put4(w, 12), put8(w, A), put8(w, B), put8(w, C);
	put_name(w, "/usr/lib/x.so");
	return 32 + sizeof("/usr/lib/x.so");
}

static void check_range(const struct tacho_mmap *m)
{
	assert_int_equal(m->pid, 11);
	assert_int_equal(m->tid, 12);
	assert_int_equal(m->addr, A);
	assert_int_equal(m->len, B);
	assert_int_equal(m->pgoff, C);
}

static void check_mmap(const struct tacho_sideband *o)
{
	check_range(&o->mmap);
	assert_int_equal(o->mmap.n_build_id, 0);
	assert_string_equal(o->mmap.path, "/usr/lib/x.so");
}

static size_t put_mmap2(struct wire *w)
{
	put4(w, 11), put4(w, 12), put8(w, A), put8(w, B), put8(w, C);
	put4(w, 8), put4(w, 1), put8(w, 4711), put8(w, 99), put4(w, 5), put4(w, 2);
	put_name(w, "//anon");
	return 64 + sizeof("//anon");
}

static void check_mmap2(const struct tacho_sideband *o)
{
	check_range(&o->mmap);
	assert_int_equal(o->mmap.major, 8);
	assert_int_equal(o->mmap.minor, 1);
	assert_int_equal(o->mmap.inode, 4711);
	assert_int_equal(o->mmap.generation, 99);
	assert_int_equal(o->mmap.prot, 5);
	assert_int_equal(o->mmap.flags, 2);
	assert_string_equal(o->mmap.path, "//anon");
}

static size_t put_mmap2_build_id(struct wire *w)
{
	put4(w, 11), put4(w, 12), put8(w, A), put8(w, B), put8(w, C);
	put(w, 20, 1), put(w, 0, 1), put2(w, 0), put_bytes(w, BUILD_ID, 20);
	put4(w, 5), put4(w, 2), put_name(w, "/bin/true");
	return 64 + sizeof("/bin/true");
}

static void check_mmap2_build_id(const struct tacho_sideband *o)
{
	check_range(&o->mmap);
	assert_int_equal(o->mmap.n_build_id, 20);
	assert_memory_equal(o->mmap.build_id, BUILD_ID, 20);
	assert_int_equal(o->mmap.inode, 0);
	assert_int_equal(o->mmap.prot, 5);
	assert_string_equal(o->mmap.path, "/bin/true");
}

static size_t put_lost(struct wire *w)
{
	put8(w, A), put8(w, B);
	return 16;
}

static void check_lost(const struct tacho_sideband *o)
{
	assert_int_equal(o->lost.id, A);
	assert_int_equal(o->lost.lost, B);
}

static size_t put_comm(struct wire *w)
{
	put4(w, 21), put4(w, 22), put_name(w, "kworker/0:1");
	return 8 + sizeof("kworker/0:1");
}

static void check_comm(const struct tacho_sideband *o)
{
	assert_int_equal(o->comm.pid, 21);
	assert_int_equal(o->comm.tid, 22);
	assert_string_equal(o->comm.name, "kworker/0:1");
}

static size_t put_task(struct wire *w)
{
	put4(w, 1), put4(w, 2), put4(w, 3), put4(w, 4), put8(w, A);
	return 24;
}

static void check_task(const struct tacho_sideband *o)
{
	assert_int_equal(o->task.pid, 1);
	assert_int_equal(o->task.ppid, 2);
	assert_int_equal(o->task.tid, 3);
	assert_int_equal(o->task.ptid, 4);
	assert_int_equal(o->task.time, A);
}

static size_t put_three(struct wire *w)
{
	put8(w, A), put8(w, B), put8(w, C);
	return 24;
}

static void check_throttle(const struct tacho_sideband *o)
{
	assert_int_equal(o->throttle.time, A);
	assert_int_equal(o->throttle.id, B);
	assert_int_equal(o->throttle.stream_id, C);
}

static void check_aux(const struct tacho_sideband *o)
{
	assert_int_equal(o->aux.offset, A);
	assert_int_equal(o->aux.size, B);
	assert_int_equal(o->aux.flags, C);
}

static size_t put_read(struct wire *w)
{
	put4(w, 5), put4(w, 6), put8(w, 1000), put8(w, 200), put8(w, 100), put8(w, 7);
	return 40;
}

static void check_read(const struct tacho_sideband *o)
{
	struct tacho_read_value v = tacho_read_get(&o->read.read, 0);

	assert_int_equal(o->read.pid, 5);
	assert_int_equal(o->read.tid, 6);
	assert_int_equal(o->read.read.n, 1);
	assert_int_equal(o->read.read.enabled_ns, 200);
	assert_int_equal(o->read.read.running_ns, 100);
	assert_int_equal(v.value, 1000);
	assert_int_equal(v.id, 7);
}

static size_t put_pair(struct wire *w)
{
	put4(w, 31), put4(w, 32);
	return 8;
}

static void check_pair(const struct tacho_sideband *o)
{
	assert_int_equal(o->task_id.pid, 31);
	assert_int_equal(o->task_id.tid, 32);
}

static size_t put_one(struct wire *w)
{
	put8(w, A);
	return 8;
}

static void check_lost_samples(const struct tacho_sideband *o)
{
	assert_int_equal(o->lost.id, 0);
	assert_int_equal(o->lost.lost, A);
}

static void check_hw_id(const struct tacho_sideband *o)
{
	assert_int_equal(o->hw_id.hw_id, A);
}

static size_t put_nothing(struct wire *w)
{
	(void)w;
	return 0;
}

static void check_nothing(const struct tacho_sideband *o)
{
	(void)o;
}

static size_t put_namespaces(struct wire *w)
{
	put4(w, 41), put4(w, 42), put8(w, 7);
	for (unsigned i = 0; i < 7; i++)
		put8(w, A + i), put8(w, B - i);
	return 16 + 7 * 16;
}

static void check_namespaces(const struct tacho_sideband *o)
{
	assert_int_equal(o->namespaces.pid, 41);
	assert_int_equal(o->namespaces.tid, 42);
	assert_int_equal(o->namespaces.n, 7);
	assert_int_equal(o->namespaces.dev_inode.n, 14);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(o->namespaces.dev_inode.v[2 * i], A + i);
		assert_int_equal(o->namespaces.dev_inode.v[2 * i + 1], B - i);
	}
}

static size_t put_ksymbol(struct wire *w)
{
	put8(w, A), put4(w, 4096), put2(w, 1), put2(w, 0x8001), put_name(w, "bpf_prog_1_x");
	return 16 + sizeof("bpf_prog_1_x");
}

static void check_ksymbol(const struct tacho_sideband *o)
{
	assert_int_equal(o->ksymbol.addr, A);
	assert_int_equal(o->ksymbol.len, 4096);
	assert_int_equal(o->ksymbol.type, 1);
	assert_int_equal(o->ksymbol.flags, 0x8001);
	assert_string_equal(o->ksymbol.name, "bpf_prog_1_x");
}

static size_t put_bpf(struct wire *w)
{
	put2(w, 1), put2(w, 2), put4(w, 77), put_bytes(w, "\1\2\3\4\5\6\7\10", 8);
	return 16;
}

static void check_bpf(const struct tacho_sideband *o)
{
	assert_int_equal(o->bpf.type, 1);
	assert_int_equal(o->bpf.flags, 2);
	assert_int_equal(o->bpf.id, 77);
	assert_memory_equal(o->bpf.tag, "\1\2\3\4\5\6\7\10", 8);
}

static size_t put_cgroup(struct wire *w)
{
	put8(w, A), put_name(w, "/system.slice");
	return 8 + sizeof("/system.slice");
}

static void check_cgroup(const struct tacho_sideband *o)
{
	assert_int_equal(o->cgroup.id, A);
	assert_string_equal(o->cgroup.path, "/system.slice");
}

static size_t put_text_poke(struct wire *w)
{
	put8(w, A), put2(w, 5), put2(w, 2), put_bytes(w, "oldoNW", 6), put(w, 'N', 1);
	put(w, 0, 5);
	return 12 + 7;
}

static void check_text_poke(const struct tacho_sideband *o)
{
	assert_int_equal(o->text_poke.addr, A);
	assert_int_equal(o->text_poke.n_old, 5);
	assert_int_equal(o->text_poke.n_new, 2);
	assert_memory_equal(o->text_poke.bytes, "oldoNWN", 7);
}

static size_t put_deferred(struct wire *w)
{
	put8(w, A), put8(w, 2), put8(w, (uint64_t)-512), put8(w, B);
	return 32;
}

static void check_deferred(const struct tacho_sideband *o)
{
	assert_int_equal(o->deferred.cookie, A);
	assert_int_equal(o->deferred.chain.n, 2);
	assert_int_equal(o->deferred.chain.v[0], (uint64_t)-512);
	assert_int_equal(o->deferred.chain.v[1], B);
}

static const struct shape {
	uint32_t type;
	uint16_t misc;
	size_t (*put)(struct wire *w);
	void (*check)(const struct tacho_sideband *o);
} shapes[] = {
	{ 1, 2, put_mmap, check_mmap },
	{ 2, 0, put_lost, check_lost },
	{ 3, 0x2000, put_comm, check_comm },
	{ 4, 0, put_task, check_task },
	{ 5, 0, put_three, check_throttle },
	{ 6, 0, put_three, check_throttle },
	{ 7, 0, put_task, check_task },
	{ 8, 0, put_read, check_read },
	{ 10, 2, put_mmap2, check_mmap2 },
	{ 10, 2 | MISC_BUILD_ID, put_mmap2_build_id, check_mmap2_build_id },
	{ 11, 0, put_three, check_aux },
	{ 12, 0, put_pair, check_pair },
	{ 13, 0, put_one, check_lost_samples },
	{ 14, 0x2000, put_nothing, check_nothing },
	{ 15, 0x6000, put_pair, check_pair },
	{ 16, 0, put_namespaces, check_namespaces },
	{ 17, 0, put_ksymbol, check_ksymbol },
	{ 18, 0, put_bpf, check_bpf },
	{ 19, 0, put_cgroup, check_cgroup },
	{ 20, 1, put_text_poke, check_text_poke },
	{ 21, 0, put_one, check_hw_id },
	{ 22, 2, put_deferred, check_deferred },
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static const uint64_t trailer_bits[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

static size_t put_trailer(struct wire *w, uint64_t type)
{
	size_t before = w->n;

	if (type & PERF_SAMPLE_TID)
		put4(w, 51), put4(w, 52);
	if (type & PERF_SAMPLE_TIME)
		put8(w, 1234567890123ULL);
	if (type & PERF_SAMPLE_ID)
		put8(w, 900);
	if (type & PERF_SAMPLE_STREAM_ID)
		put8(w, 901);
	if (type & PERF_SAMPLE_CPU)
		put4(w, 3), put4(w, 0xdeadbeef);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put8(w, 902);
	return w->n - before;
}

static uint64_t trailer_id(uint64_t type)
{
	return type & PERF_SAMPLE_IDENTIFIER ? 902 : type & PERF_SAMPLE_ID ? 900 : 0;
}

static void check_trailer(const struct tacho_sample_id *id, uint64_t type)
{
	assert_int_equal(id->type, type);
	assert_int_equal(id->pid, type & PERF_SAMPLE_TID ? 51 : 0);
	assert_int_equal(id->tid, type & PERF_SAMPLE_TID ? 52 : 0);
	assert_int_equal(id->time, type & PERF_SAMPLE_TIME ? 1234567890123ULL : 0);
	assert_int_equal(id->stream_id, type & PERF_SAMPLE_STREAM_ID ? 901 : 0);
	assert_int_equal(id->cpu, type & PERF_SAMPLE_CPU ? 3 : 0);
	assert_int_equal(id->id, trailer_id(type));
}

static struct tacho_layout layout_of(unsigned subset)
{
	/* bits that samples have and trailers have not must not matter */
	struct tacho_layout lay = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
				    .read_format = 7, .sample_id_all = true };

	for (unsigned i = 0; i < 6; i++)
		if (subset >> i & 1)
			lay.sample_type |= trailer_bits[i];
	return lay;
}

static void run_shape(const struct shape *shape, unsigned subset, unsigned way)
{
	struct tacho_layout lay = layout_of(subset);
	struct tacho_sideband o;
	struct copy c;

	wire_begin(&wire, way & 1, shape->type, shape->misc);
	shape->put(&wire);
	put_trailer(&wire, lay.sample_type);
	c = wire_copy(&wire, wire.n, way / 2 * 3);
	assert_int_equal(c.err, 1);
	assert_int_equal(c.rec.type, shape->type);
	assert_int_equal(c.rec.misc, shape->misc);
	assert_int_equal(tacho_sideband_decode(&o, &c.rec, &lay, &scratch), 0);
	assert_int_equal(o.type, shape->type);
	assert_int_equal(o.misc, shape->misc);
	shape->check(&o);
	check_trailer(&o.id, lay.sample_type);
	assert_int_equal(tacho_record_id(&c.rec, &lay), trailer_id(lay.sample_type));
	if (lay.sample_type & PERF_SAMPLE_TIME)
		assert_int_equal(tacho_record_time(&c.rec, &lay), 1234567890123ULL);
	free(c.block);
}

static void every_type_and_trailer(void **state)
{
	for (size_t i = 0; i < N_SHAPES; i++)
		for (unsigned subset = 0; subset < 64; subset++)
			for (unsigned way = 0; way < 4; way++)
				run_shape(&shapes[i], subset, way);
}

static void cut_at_every_byte(void **state)
{
	for (size_t i = 0; i < N_SHAPES * 4; i++) {
		const struct shape *shape = &shapes[i / 4];
		struct tacho_layout lay = layout_of(i & 2 ? 63 : 0);
		size_t need, trailer;

		wire_begin(&wire, i & 1, shape->type, shape->misc);
		need = shape->put(&wire);
		trailer = put_trailer(&wire, lay.sample_type);
		for (size_t size = 8; size < wire.n; size++) {
			struct copy c = wire_copy(&wire, size, size % 3);
			struct tacho_sideband o;
			/* a name may lose its padding */
			int want = size >= 8 + need + trailer ? 0 : -EBADMSG;

			assert_int_equal(tacho_sideband_decode(&o, &c.rec, &lay, &scratch), want);
			tacho_record_id(&c.rec, &lay);
			tacho_record_time(&c.rec, &lay);
			free(c.block);
		}
	}
}

static void without_trailer(void **state)
{
	for (size_t i = 0; i < N_SHAPES; i++) {
		struct tacho_layout lay = layout_of(63);
		struct tacho_sideband o;
		struct copy c;

		lay.sample_id_all = false;
		wire_begin(&wire, false, shapes[i].type, shapes[i].misc);
		shapes[i].put(&wire);
		c = wire_copy(&wire, wire.n, 0);
		assert_int_equal(tacho_sideband_decode(&o, &c.rec, &lay, &scratch), 0);
		shapes[i].check(&o);
		assert_int_equal(o.id.type, 0);
		assert_int_equal(tacho_record_id(&c.rec, &lay), 0);
		/* those that have a time of their own */
		if (shapes[i].check == check_task || shapes[i].check == check_throttle)
			assert_int_equal(tacho_record_time(&c.rec, &lay), A);
		else
			assert_int_equal(tacho_record_time(&c.rec, &lay), UINT64_MAX);
		assert_int_equal(tacho_sideband_decode(&o, &c.rec, NULL, &scratch),
				 shapes[i].type == TACHO_RECORD_READ ? -EBADMSG : 0);
		free(c.block);
	}
}

static void unknown_types_are_passed(void **state)
{
	static const uint32_t types[] = { 0, 9, 23, 63, 64, 68, 81, 200, UINT32_MAX };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct tacho_layout lay = layout_of(63);
		struct tacho_sideband o;
		struct copy c;

		wire_begin(&wire, true, types[i], 0);
		put8(&wire, A);
		c = wire_copy(&wire, wire.n, 0);
		assert_int_equal(c.err, 1);
		assert_int_equal(tacho_sideband_decode(&o, &c.rec, &lay, &scratch), -EOPNOTSUPP);
		if (types[i] >= 64)
			assert_int_equal(tacho_record_id(&c.rec, &lay), 0);
		free(c.block);
	}
}

static void hostile_payloads(void **state)
{
	struct tacho_layout lay = layout_of(0);
	struct tacho_sideband o;
	struct copy c;

	wire_begin(&wire, false, TACHO_RECORD_COMM, 0);		/* a name without its end */
	put8(&wire, 0), put_bytes(&wire, "12345678", 8);
	c = wire_copy(&wire, wire.n, 0);
	assert_int_equal(tacho_sideband_decode(&o, &c.rec, &lay, &scratch), -EBADMSG);
	free(c.block);

	/* a longer build id than its room: the bit lies, it is the number of a device */
	wire_begin(&wire, false, TACHO_RECORD_MMAP2, MISC_BUILD_ID);
	put_mmap2_build_id(&wire);
	wire.bytes[8 + 32] = 21;
	c = wire_copy(&wire, wire.n, 0);
	assert_int_equal(tacho_sideband_decode(&o, &c.rec, &lay, &scratch), 0);
	assert_int_equal(o.mmap.n_build_id, 0);
	assert_int_equal(o.mmap.major & 0xff, 21);
	free(c.block);

	wire_begin(&wire, false, TACHO_RECORD_NAMESPACES, 0);	/* times 16 is zero again */
	put8(&wire, 0), put8(&wire, 1ULL << 60), put8(&wire, 0);
	c = wire_copy(&wire, wire.n, 0);
	assert_int_equal(tacho_sideband_decode(&o, &c.rec, &lay, &scratch), -EBADMSG);
	free(c.block);
}

static void iterator(void **state)
{
	struct tacho_record_iter it;
	struct tacho_record rec;
	uint8_t bytes[64];

	wire_begin(&wire, host_is_big(), 14, 7);
	wire_size(&wire, 8);
	memcpy(bytes, wire.bytes, 8);
	wire_begin(&wire, host_is_big(), 77, 0);
	put8(&wire, A);
	wire_size(&wire, 16);
	memcpy(bytes + 8, wire.bytes, 16);

	it = (struct tacho_record_iter){ bytes, bytes + 24, 100, false };
	assert_int_equal(tacho_record_next(&it, &rec), 1);
	assert_int_equal(rec.type, 14);
	assert_int_equal(rec.misc, 7);
	assert_int_equal(rec.offset, 100);
	assert_int_equal(tacho_record_next(&it, &rec), 1);
	assert_int_equal(rec.type, 77);
	assert_int_equal(rec.size, 16);
	assert_int_equal(rec.offset, 108);
	assert_int_equal(tacho_record_next(&it, &rec), 0);
	assert_int_equal(it.offset, 124);

	for (size_t n = 9; n < 24; n++) {
		it = (struct tacho_record_iter){ bytes, bytes + n, 0, false };
		assert_int_equal(tacho_record_next(&it, &rec), 1);
		assert_int_equal(tacho_record_next(&it, &rec), -ENODATA);
		assert_int_equal(it.offset, 8);		/* stays where it was */
	}
	for (unsigned size = 0; size < 8; size++) {
		wire_size(&wire, size);
		it = (struct tacho_record_iter){ wire.bytes, wire.bytes + wire.n, 0, false };
		assert_int_equal(tacho_record_next(&it, &rec), -EBADMSG);
	}
	it = (struct tacho_record_iter){ 0 };
	assert_int_equal(tacho_record_next(&it, &rec), 0);
}

static void layouts(void **state)
{
	struct perf_event_attr a = { .sample_period = 5000, .sample_type = 3, .read_format = 4,
				     .flags = PERF_ATTR_SAMPLE_ID_ALL, .branch_sample_type = 8,
				     .sample_regs_user = 9, .sample_regs_intr = 10 };
	struct tacho_layout lay;

	for (size_t size = 64; size <= 200; size += 8) {
		uint8_t bytes[200] = { 0 };

		memcpy(bytes, &a, size < sizeof(a) ? size : sizeof(a));
		assert_int_equal(tacho_layout_init(&lay, bytes, size), 0);
		assert_int_equal(lay.sample_type, 3);
		assert_int_equal(lay.read_format, 4);
		assert_int_equal(lay.period, 5000);
		assert_true(lay.sample_id_all);
		assert_int_equal(lay.branch_type, size >= 80 ? 8 : 0);
		assert_int_equal(lay.regs_user, size >= 88 ? 9 : 0);
		assert_int_equal(lay.regs_intr, size >= 104 ? 10 : 0);
	}
	a.flags = PERF_ATTR_FREQ;
	assert_int_equal(tacho_layout_init(&lay, &a, sizeof(a)), 0);
	assert_int_equal(lay.period, 1);
	assert_false(lay.sample_id_all);
	assert_int_equal(tacho_layout_init(&lay, &a, 63), -EINVAL);
	assert_int_equal(tacho_layout_init(&lay, NULL, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_trailer),
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(without_trailer),
		cmocka_unit_test(unknown_types_are_passed),
		cmocka_unit_test(hostile_payloads),
		cmocka_unit_test(iterator),
		cmocka_unit_test(layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
