/*
 * Every allocation fails once: while an ELF file is read, and while an address is resolved from
 * records to name. Whatever fails, the call says -ENOMEM or does without, nothing leaks (which
 * the sanitizers' run watches), and the next try succeeds.
 */
#include "symbol_support.h"

#include "symbol/elf_symbols.h"
#include "symbol/kallsyms.h"
#include "symbol/jit/perfmap.h"

#include <errno.h>
#include <stdio.h>
#include <tacho/symbol.h>
#include "nomem.h"

static const struct made_symbol functions[] = {
	{ "one", 0x401100, 0x100, 0x12, 0 },
	{ "two_of_them", 0x401000, 0x100, 0x12, 0 },
	{ "aliased", 0x401000, 0x100, 0x12, 0 },
};

static int read_once(const struct buf *file)
{
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names };
	scoped(elf_dynamic_done) struct elf_dynamic dynamic = { 0 };
	struct elf e;
	uint8_t id[BUILD_ID_MAX];
	char *link = NULL;
	int err = elf_open_bytes(&e, file->bytes, file->n);

	if (err < 0)
		return err;
	err = elf_build_id(&e, id);
	if (err >= 0)
		err = elf_debuglink(&e, &link);
	if (err >= 0)
		err = elf_add_symbols(&e, &t, &dynamic);
	if (err >= 0)
		err = elf_add_plt(&e, &t, &dynamic);
	if (err >= 0)
		err = symbol_table_finish(&t);
	if (err >= 0 && symbol_table_find(&t, 0x401000)->id == 0)
		err = -ENOMEM;
	free(link);
	elf_close(&e);
	symbol_table_done(&t);
	names_done(&names);
	return err;
}

/* Runs `once` with each of its allocations failing; all must end in -ENOMEM but the last. */
static unsigned long each_fails(int (*once)(const struct buf *), const struct buf *input)
{
	unsigned long nth = 0;
	int err;

	do {
		count = 0;
		fail_at = ++nth;
		err = once(input);
		fail_at = 0;
		assert_true(err == 0 || err == -ENOMEM);
	} while (count >= nth);
	assert_int_equal(err, 0);
	return nth;
}

static void nomem_elf(void **state)
{
	struct made m = { .symbols = functions, .n_symbols = countof(functions),
			  .build_id = "abcdefghijklmnopqrst", .debuglink = "x.debug" };
	struct buf file = { 0 };

	made_elf(&file, &m);
	assert_int_equal(read_once(&file), 0);
	assert_true(each_fails(read_once, &file) > 10);
	buf_done(&file);
}

static int parse_once(const struct buf *input, int (*parse)(struct symbol_table *, struct buf *))
{
	struct interned_names names = { 0 };
	struct symbol_table t = { .names = &names };
	struct buf text = { 0 };
	int err;

	buf_str(&text, buf_view(input));
	err = buf_failed(&text) ? -ENOMEM : parse(&t, &text);
	if (err == 0 && symbol_table_find(&t, 0x1000)->id == 0)
		err = -ENOMEM;
	buf_done(&text);
	symbol_table_done(&t);
	names_done(&names);
	return err;
}

static int perfmap(struct symbol_table *t, struct buf *text)
{
	return perfmap_parse(t, text, NULL);
}

static int perfmap_once(const struct buf *input)
{
	return parse_once(input, perfmap);
}

static int kallsyms_once(const struct buf *input)
{
	return parse_once(input, kallsyms_parse);
}

static void nomem_texts(void **state)
{
	struct buf text = { 0 };

	buf_puts(&text, "2000 10 b\n1000 10 a\n1000 10 c\n");
	assert_true(each_fails(perfmap_once, &text) > 3);
	buf_clear(&text);
	buf_puts(&text, "2000 T b\n1000 t a\n1000 t c\t[m]\n");
	assert_true(each_fails(kallsyms_once, &text) > 3);
	buf_done(&text);
}

static int feed(struct tacho_symbols *s, uint32_t type, const char *text, uint64_t at)
{
	struct tacho_sideband rec = { .type = type, .misc = TACHO_SPACE_USER };

	if (type == TACHO_RECORD_COMM) {
		rec.comm.pid = rec.comm.tid = 3;
		rec.comm.name = text;
	} else if (type == TACHO_RECORD_FORK) {
		rec.task.pid = rec.task.tid = 4;
		rec.task.ppid = rec.task.ptid = 3;
	} else if (type == TACHO_RECORD_KSYMBOL) {
		rec.ksymbol.addr = at;
		rec.ksymbol.len = 64;
		rec.ksymbol.name = text;
	} else {
		rec.mmap = (struct tacho_mmap){ .pid = at == 0x20000 ? 4 : 3, .addr = at,
						.len = 0x10000, .prot = 5, .path = text };
	}
	return tacho_symbols_feed(s, &rec);
}

/* From records to names; the input is the path of the ELF file. */
static int resolve_once(const struct buf *path)
{
	struct tacho_symbols *s = NULL;
	struct tacho_frame f;
	int err = tacho_symbols_new(&s, TACHO_OPTS(tacho_symbols_opts, .build_id_dir = "/none"), NULL);

	if (err == 0)
		err = tacho_symbols_set_build_id(s, "/x", (const uint8_t *)"abc", 3, false);
	if (err == 0)
		err = feed(s, TACHO_RECORD_COMM, "name", 0);
	if (err == 0)
		err = feed(s, TACHO_RECORD_MMAP2, path->bytes, 0x10000);
	if (err == 0)
		err = feed(s, TACHO_RECORD_FORK, "", 0);
	if (err == 0)
		err = feed(s, TACHO_RECORD_MMAP2, "[heap]", 0x20000);
	if (err == 0)
		err = feed(s, TACHO_RECORD_KSYMBOL, "bpf_x", 0xffffffffc0000000);
	if (err == 0)
		err = tacho_symbols_resolve(s, 4, TACHO_SPACE_USER, 0x11110, &f);
	if (err == 0)
		err = -ENOMEM;		/* the name could not be kept */
	if (err == 1)
		err = tacho_symbols_resolve(s, 4, TACHO_SPACE_KERNEL, 0xffffffffc0000010, &f);
	if (err == 1)
		err = *tacho_symbols_comm(s, 9, 9) == ':' ? 0 : -EINVAL;
	tacho_symbols_free(s);
	return err;
}

static void nomem_resolve(void **state)
{
	struct made m = { .symbols = functions, .n_symbols = countof(functions) };
	struct buf file = { 0 }, path = { 0 };
	char name[] = "/tmp/test_symbol_nomem_XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	made_elf(&file, &m);
	assert_int_equal(write(fd, file.bytes, file.n), (ssize_t)file.n);
	close(fd);
	buf_puts(&path, name);
	assert_int_equal(resolve_once(&path), 0);
	assert_true(each_fails(resolve_once, &path) > 30);
	unlink(name);
	buf_done(&file);
	buf_done(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nomem_elf),
		cmocka_unit_test(nomem_texts),
		cmocka_unit_test(nomem_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
