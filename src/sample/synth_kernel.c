/*
 * Synthesizes MMAP records for the kernel and its modules, and CGROUP records.
 *
 * The name of the kernel's mapping ends with the symbol whose address is its start
 * ("[kernel.kallsyms]_text"), so that a reader can undo this boot's address randomisation (KASLR). Only the
 * first lines of /proc/kallsyms are read, which contain that symbol: the whole file takes 50 ms. The length
 * is that of "Kernel code" in /proc/iomem; if that is not readable, the mapping extends to the end of the
 * address space.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/num.h"
#include "sys/cgroup.h"

#include <tacho/record.h>

#define MISC_KERNEL 1
#define KALLSYMS_FIRST 4096		/* _text is among the first lines */
#define KALLSYMS_MAX (64u << 20)
#define NT_BUILD_ID 3

/* header | pid tid | addr len pgoff | path */
static int put_mmap(struct synth *y, uint64_t addr, uint64_t len, uint64_t pgoff, struct str path)
{
	struct {
		int32_t pid, tid;
		uint64_t addr, len, pgoff;
	} body = { -1, 0, addr, len, pgoff };
	char *r = synth_record(y, TACHO_RECORD_MMAP, MISC_KERNEL, 8 + sizeof(body) + path.n + 1);

	if (!r)
		return -ENOMEM;
	memcpy(r + 8, &body, sizeof(body));
	memcpy(r + 8 + sizeof(body), path.s, path.n);
	return 0;
}

/* Finds the first of `names` in lines such as "ffffffff81000000 T _text". Returns its address, or 0 if none
 * of them is there or addresses are hidden (kptr_restrict). */
static uint64_t find_kernel_symbol(struct str text, const char *const *names, size_t n, const char **which)
{
	uint64_t best = 0;
	size_t rank = n;
	struct str line, word, type;

	while (str_cut(&text, '\n', &line)) {
		uint64_t addr;

		if (!str_cut(&line, ' ', &word) || !str_cut(&line, ' ', &type) ||
		    num_hex(word, &addr) < 0)
			continue;
		for (size_t i = 0; i < rank; i++)
			if (str_is(line, names[i])) {
				best = addr;
				rank = i;
				*which = names[i];
			}
	}
	return best;
}

static ssize_t read_first(const char *path, char *out, size_t size)
{
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size);

	return n < 0 ? -errno : n;
}

static uint64_t kernel_start(const struct sys *sys, const char **symbol)
{
	static const char *const names[] = { "_text", "_stext" };
	scoped(buf_done) struct buf all = { 0 };
	char path[PATH_MAX], first[KALLSYMS_FIRST];
	uint64_t start;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/kallsyms", sys->procfs);
	n = read_first(path, first, sizeof(first));
	if (n <= 0)
		return 0;
	start = find_kernel_symbol(str_n(first, (size_t)n), names, countof(names), symbol);
	/* All zeros: addresses are hidden from this user in the whole file. */
	if (start || strncmp(first, "0000000000000000 ", 17) == 0)
		return start;
	if (io_read(path, KALLSYMS_MAX, &all) < 0)
		return 0;
	return find_kernel_symbol(buf_view(&all), names, countof(names), symbol);
}

/* "  01000000-02206447 : Kernel code" */
static uint64_t kernel_bytes(const struct sys *sys)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	struct str rest, line, from, to;
	uint64_t start, end;

	snprintf(path, sizeof(path), "%s/iomem", sys->procfs);
	if (io_read(path, IO_FILE_MAX, &text) < 0)
		return 0;
	rest = buf_view(&text);
	while (str_cut(&rest, '\n', &line)) {
		if (!str_ends(line, " : Kernel code"))
			continue;
		line = str_trim(line);
		if (!str_cut(&line, '-', &from) || !str_cut(&line, ' ', &to) ||
		    num_hex(from, &start) < 0 || num_hex(to, &end) < 0 || end <= start)
			return 0;
		return end - start + 1;
	}
	return 0;
}

/* Reads the build ID from a file of ELF notes. */
static void read_note_build_id(struct hit_object *o, const char *path)
{
	char text[4096];
	ssize_t n = read_first(path, text, sizeof(text));
	size_t at = 0;

	while (n > 0 && at + 12 <= (size_t)n) {
		uint32_t h[3];			/* name bytes, content bytes, type */
		size_t name = at + 12, content;

		memcpy(h, text + at, sizeof(h));
		if (h[0] > sizeof(text) || h[1] > sizeof(text))
			return;
		content = name + ((h[0] + 3u) & ~3u);
		if (content + h[1] > (size_t)n)
			return;
		if (h[2] == NT_BUILD_ID && h[0] == 4 && memcmp(text + name, "GNU", 4) == 0) {
			o->n_build_id = (uint8_t)min_of(h[1], sizeof(o->build_id));
			memcpy(o->build_id, text + content, o->n_build_id);
			return;
		}
		at = content + ((h[1] + 3u) & ~3u);
	}
}

static int put_kernel(struct synth *y)
{
	struct sys *sys = &y->s->t->sys;
	const char *symbol = "_text";
	uint64_t start = kernel_start(sys, &symbol), bytes;
	char name[64], path[PATH_MAX];
	int object;

	if (!start)
		return 0;
	bytes = kernel_bytes(sys);
	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", symbol);
	object = hitmap_intern(&y->s->hitmap, STR_LIT("[kernel.kallsyms]"), true);
	if (object < 0)
		return object;
	snprintf(path, sizeof(path), "%s/kernel/notes", sys->sysfs);
	read_note_build_id(&y->s->hitmap.list.v[object], path);
	return put_mmap(y, start, bytes ? bytes : UINT64_MAX - start, start, str_of(name));
}

/* "ext4 1204224 2 - Live 0xffffffffc0a00000" */
static int put_module(struct synth *y, struct str line)
{
	struct str fields[6];
	char path[PATH_MAX], name[128];
	uint64_t addr, bytes;
	size_t n = 0;
	int object, err;

	while (n < countof(fields) && str_cut(&line, ' ', &fields[n]))
		n++;
	if (n < countof(fields) || num_u64(fields[1], &bytes) < 0 || num_hex(fields[5], &addr) < 0 || !addr)
		return 0;
	snprintf(name, sizeof(name), "[%.*s]", STR(fields[0]));
	err = hitmap_mmap(&y->s->hitmap, &(struct hitmap_new_mapping){
		.pid = HITMAP_KERNEL_PID, .start = addr, .len = bytes, .path = str_of(name) });
	object = err < 0 ? err : hitmap_intern(&y->s->hitmap, str_of(name), true);
	if (object < 0)
		return object;
	y->s->has_modules = true;
	snprintf(path, sizeof(path), "%s/module/%.*s/notes/.note.gnu.build-id", y->s->t->sys.sysfs,
		 STR(fields[0]));
	read_note_build_id(&y->s->hitmap.list.v[object], path);
	return put_mmap(y, addr, bytes, 0, str_of(name));
}

int synth_kernel(struct synth *y)
{
	scoped(buf_done) struct buf modules = { 0 };
	char path[PATH_MAX];
	struct str rest, line;
	int err = put_kernel(y);

	snprintf(path, sizeof(path), "%s/modules", y->s->t->sys.procfs);
	if (err < 0 || io_read(path, IO_FILE_MAX, &modules) < 0)
		return err;
	rest = buf_view(&modules);
	while (err == 0 && str_cut(&rest, '\n', &line))
		err = put_module(y, line);
	return err;
}

/* header | id | path; the id is the directory's inode number. */
static int put_cgroup(struct synth *y, const char *mount, const char *path)
{
	char full[2 * PATH_MAX], *r;
	struct stat st;
	uint64_t id;

	snprintf(full, sizeof(full), "%s/%s", mount, path);
	if (stat(full, &st) < 0)
		return 0;
	r = synth_record(y, TACHO_RECORD_CGROUP, 0, 16 + strlen(path) + 1);
	if (!r)
		return -ENOMEM;
	id = st.st_ino;
	memcpy(r + 8, &id, sizeof(id));
	memcpy(r + 16, path, strlen(path) + 1);
	return 0;
}

int synth_cgroups(struct synth *y)
{
	scoped(strlist_done) struct strlist names = { 0 };
	char mount[PATH_MAX];
	int err;

	if (cgroup_mount(&y->s->t->sys, mount, sizeof(mount)) < 0 ||
	    cgroup_list(&y->s->t->sys, &names) < 0)
		return 0;
	err = 0;
	for (size_t i = 0; err == 0 && i < names.n; i++)
		err = put_cgroup(y, mount, names.v[i]);
	return err;
}
