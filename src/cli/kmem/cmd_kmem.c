/*
 * `tacho kmem`: records the tracepoints of the kernel's memory allocators, and shows who allocates how much.
 */
#include "cli/kmem/kmem.h"

#include <errno.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"
#include "cli/kernel/input.h"
#include "cli/kernel/record.h"

/* Options that apply to what was named before them. */
static int set_caller(void *opts, const char *arg, struct tacho_error *e)
{
	struct kmem_opts *o = opts;

	(void)arg;
	(void)e;
	o->tables[KMEM_CALLERS].is_shown = true;
	o->last_table = KMEM_CALLERS;
	return 0;
}

static int set_alloc(void *opts, const char *arg, struct tacho_error *e)
{
	struct kmem_opts *o = opts;

	(void)arg;
	(void)e;
	o->tables[KMEM_OBJECTS].is_shown = true;
	o->last_table = KMEM_OBJECTS;
	return 0;
}

static int set_slab(void *opts, const char *arg, struct tacho_error *e)
{
	struct kmem_opts *o = opts;

	(void)arg;
	(void)e;
	o->slab = true;
	o->last_is_pages = false;
	return 0;
}

static int set_pages(void *opts, const char *arg, struct tacho_error *e)
{
	struct kmem_opts *o = opts;

	(void)arg;
	(void)e;
	o->pages = o->last_is_pages = true;
	return 0;
}

static int set_sort(void *opts, const char *arg, struct tacho_error *e)
{
	struct kmem_opts *o = opts;
	int err = kmem_check_keys(arg, o->last_is_pages, e);

	if (err < 0)
		return err;
	if (o->last_is_pages)
		o->tables[o->last_table].page_sort = arg;
	else
		o->tables[o->last_table].slab_sort = arg;
	return 0;
}

static int set_lines(void *opts, const char *arg, struct tacho_error *e)
{
	struct kmem_opts *o = opts;
	uint32_t lines;

	if (num_u32(str_of(arg), &lines) < 0 || !lines)
		return error_set(e, -EINVAL, "'%s' is not a number of lines", arg);
	o->tables[o->last_table].lines = lines;
	return 0;
}

#define AT(field) offsetof(struct kmem_opts, field)
static const struct option_row kmem_rows[] = {
	KERNEL_INPUT_ROWS(struct kmem_opts),
	{ OPT_GROUP, .help = "What to show" },
	{ OPT_CALL, 0, "slab", 0, NULL, "the slab allocator (default)", .call = set_slab },
	{ OPT_CALL, 0, "page", 0, NULL, "the page allocator", .call = set_pages },
	{ OPT_CALL, 0, "caller", 0, NULL, "a table of the calls that allocate", .call = set_caller },
	{ OPT_CALL, 0, "alloc", 0, NULL, "a table of addresses, or of blocks of pages", .call = set_alloc },
	{ OPT_FLAG, 0, "live", AT(live), NULL, "only pages that are not freed" },
	KERNEL_TIME_ROW(struct kmem_opts),
	{ OPT_GROUP, .help = "How" },
	{ OPT_CALL, 's', "sort", 0, "KEY,...", "sort the table named before by ptr, callsite, bytes, hit, pingpong, frag; or page, "
	  "callsite, bytes, hit, order, migtype, gfp", .call = set_sort },
	{ OPT_CALL, 'l', "line", 0, "N", "the first N lines of the table named before", .call = set_lines },
	{ OPT_FLAG, 0, "raw-ip", AT(raw_ip), NULL, "addresses instead of functions" },
	KERNEL_SYMBOL_ROWS(struct kmem_opts, 'k'),
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.kmem/1)" },
	NOTED('v', "verbose", NULL, "--raw-ip shows addresses, and errors are always reported"),
	{ .kind = OPT_END },
};

static int show(const struct kmem_opts *o, struct kmem_report *r)
{
	struct buf out = { 0 };
	int status = EXIT_FAILED;

	r->totals = tacho_kmem_totals(r->k);
	if (kmem_sort(r) < 0)
		message_text("kmem stat", "out of memory");
	else {
		(o->json ? kmem_put_json : kmem_put_text)(r, &out);
		status = print_out("kmem stat", &out);
	}
	kmem_sort_done(r);
	return status;
}

static int stat_run(void *opts, int argc, char **argv)
{
	struct kmem_opts *o = opts;
	struct kernel_source source;
	struct kmem_report r = { .o = o };
	struct tacho_error e = { .column = -1 };
	struct tacho_kmem *k = NULL;
	int err, status = EXIT_FAILED;

	if (argc) {
		message_text("kmem stat", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	o->slab |= !o->pages;
	if (kernel_source_open(&source, "kmem stat", &o->source, true) < 0)
		return EXIT_FAILED;
	err = tacho_kmem_new(&k, source.pd, TACHO_OPTS(tacho_kmem_opts, .slab = o->slab, .pages = o->pages, .live = o->live,
				.symbols = source.symbols, .from_ns = source.time.from_ns, .to_ns = source.time.to_ns), &e);
	if (k) {
		r.k = k;
		r.symbols = source.symbols;
		pager_start();
		status = show(o, &r);
		err = kernel_status("kmem stat", &r.totals->pass, err, &e);
		status = max_of(status, err);
	} else {
		message_error("kmem stat", NULL, NULL, &e);
	}
	tacho_kmem_free(k);
	kernel_source_done(&source);
	return status;
}

static int record(const struct kmem_opts *o, int argc, char **argv)
{
	static const struct kernel_record_event slab[] = {
		{ "kmem:kmalloc" }, { "kmem:kmalloc_node", .optional = true }, { "kmem:kfree" }, { "kmem:kmem_cache_alloc" },
		{ "kmem:kmem_cache_alloc_node", .optional = true }, { "kmem:kmem_cache_free" },
	}, pages[] = {
		{ "kmem:mm_page_alloc" }, { "kmem:mm_page_free" },
	};
	struct kernel_record_event events[countof(slab) + countof(pages) + 1] = { 0 };
	const char *args[] = { "-a", "-R", "-c", "1", o->pages ? "-g" : NULL, NULL };
	const struct kmem_table_opts *t = o->tables;
	size_t n = 0;

	if (o->json || o->live || o->raw_ip || o->source.input || o->source.time || t[KMEM_CALLERS].is_shown || t[KMEM_OBJECTS].is_shown) {
		message_text("kmem", "only --slab and --page choose what is recorded: other options belong to 'kmem stat'");
		return EXIT_USAGE;
	}
	for (size_t i = 0; (o->slab || !o->pages) && i < countof(slab); i++)
		events[n++] = slab[i];
	for (size_t i = 0; o->pages && i < countof(pages); i++)
		events[n++] = pages[i];
	return kernel_record(args, events, argc, argv);
}

static int kmem_run(void *opts, int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "record"))
		return record(opts, argc - 1, argv + 1);
	if (argc)
		message_text("kmem", "'%s' is none of record and stat", argv[0]);
	else
		message_text("kmem", "what to do? record or stat");
	return EXIT_USAGE;
}

static const struct command cmd_kmem_stat = {
	.name = "kmem stat", .summary = "show who allocated how much", .args = "", .rows = kmem_rows,
	.opts_size = sizeof(struct kmem_opts), .run = stat_run,
};
static const struct command *const kmem_verbs[] = { &cmd_kmem_stat, NULL };

const struct command cmd_kmem = {
	.name = "kmem", .summary = "record and analyse the kernel's memory allocators", .args = "[OPTIONS] record|stat [OPTIONS]",
	.rows = kmem_rows, .opts_size = sizeof(struct kmem_opts), .run = kmem_run, .verbs = kmem_verbs, .stops_at_non_option = true,
	.complete_args = "record stat",
};
