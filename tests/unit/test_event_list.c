/*
 * tacho_list() with a fake kernel, so that the availability of events is known, and tacho_attr_text().
 */
#include "event_support.h"

#include <errno.h>

struct seen {
	struct buf text;		/* "name available\n" each */
	int n, stop_at;
};

static int note(void *arg, const struct tacho_listing *item)
{
	struct seen *s = arg;

	assert_int_equal(item->size, sizeof(*item));
	assert_non_null(item->kind);
	assert_non_null(item->class_);
	assert_non_null(item->pmu);
	assert_non_null(item->topic);
	assert_true(item->available == !item->why);
	buf_printf(&s->text, "%s%s%s%s%s%s%s%s\n", item->name, item->alias ? "|" : "",
		   item->alias ? item->alias : "", item->available ? "" : " -",
		   item->unit ? " " : "", item->unit ? item->unit : "", item->encoding ? " =" : "",
		   item->encoding ? item->encoding : "");
	return ++s->n == s->stop_at ? 42 : 0;
}

/* A kernel that opens everything but msr's event 1 and, on request, nothing at all. */
struct fake {
	int refuse_all, opened, closed, last_cpu;
};

static int fake_open(void *arg, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags)
{
	struct fake *k = arg;

	if (k->refuse_all)
		return k->refuse_all;
	if (attr->type == 15 && attr->config == 1)
		return -EINVAL;
	if (attr->type >= 20 && (pid != -1 || cpu < 0))
		return -EINVAL;
	if (attr->type >= 20)
		k->last_cpu = cpu;
	return 100 + k->opened++;
}

static int fake_close(void *arg, int fd)
{
	((struct fake *)arg)->closed++;
	return 0;
}

static const struct sys_ops fake_ops = { .open = fake_open, .close = fake_close };

static char *list_text(const char *tree, struct fake *kernel, const char *const *words,
		       struct tacho_list_opts opts, int *n)
{
	struct tacho *t = open_tree(tree);
	struct seen s = { 0 };

	t->sys.ops = &fake_ops;
	t->sys.ops_arg = kernel;
	opts.size = sizeof(opts);
	opts.words = words;
	while (words && words[opts.n_words])
		opts.n_words++;
	assert_int_equal(tacho_list(t, &opts, note, &s, NULL), 0);
	assert_int_equal(kernel->opened, kernel->closed);
	tacho_close(t);
	if (n)
		*n = s.n;
	if (!s.n)
		buf_puts(&s.text, "");
	return buf_take(&s.text);
}

static void lists_classes(void **state)
{
	static const char *const sw[] = { "sw", NULL }, *const hw[] = { "hw", NULL };
	static const char *const bp[] = { "bp", "raw", NULL }, *const cache[] = { "cache", NULL };
	struct fake kernel = { 0 };
	char *text = list_text("none", &kernel, sw, (struct tacho_list_opts){ 0 }, NULL);
	int n;

	assert_string_equal(text, "alignment-faults\nbpf-output\ncgroup-switches\ncontext-switches|cs\n"
			    "cpu-clock msec\ncpu-migrations|migrations\ndummy\nemulation-faults\n"
			    "major-faults\nminor-faults\npage-faults|faults\ntask-clock msec\n");
	free(text);
	text = list_text("none", &kernel, hw, (struct tacho_list_opts){ 0 }, &n);
	assert_int_equal(n, 10);
	assert_non_null(strstr(text, "cpu-cycles|cycles -\n"));
	free(text);
	text = list_text("spr", &kernel, hw, (struct tacho_list_opts){ .details = true }, NULL);
	assert_non_null(strstr(text, "cpu-cycles|cycles =0:0x0\n"));
	free(text);
	text = list_text("spr", &kernel, cache, (struct tacho_list_opts){ 0 }, &n);
	assert_int_equal(n, 2 * (3 + 2 + 3 + 3 + 1 + 1 + 3));
	assert_non_null(strstr(text, "L1-dcache-load-misses\nL1-dcache-loads\n"));
	assert_non_null(strstr(text, "LLC-prefetches\n"));
	free(text);
	text = list_text("spr", &kernel, bp, (struct tacho_list_opts){ 0 }, &n);
	assert_int_equal(n, 3);
	assert_non_null(strstr(text, "mem:<addr>[/len][:access] -\n"));
	free(text);
}

static void lists_pmu_events(void **state)
{
	static const char *const pmu[] = { "pmu", NULL };
	struct fake kernel = { 0 };
	char *text = list_text("spr", &kernel, pmu, (struct tacho_list_opts){ .probe = true }, NULL);

	assert_string_equal(text, "cpu/cache-misses/\ncpu/cpu-cycles/\ncpu/instructions/\n"
			    "cpu/ref-cycles/\ncpu/slots/\ncpu/topdown-retiring/\nmsr/aperf/ -\nmsr/tsc/\n"
			    "power/energy-pkg/ Joules\nuncore_cha/clockticks/\n"
			    "uncore_imc/cas_count_read/ MiB\nuncore_imc/clockticks/\n"
			    "uncore_imc_free_running_0/read/ MiB\n");
	assert_int_equal(kernel.last_cpu, 0);
	free(text);
	text = list_text("spr", &kernel, NULL, (struct tacho_list_opts){ .pmu = "uncore_i*",
									 .details = true }, NULL);
	assert_string_equal(text, "uncore_imc/cas_count_read/ MiB =uncore_imc/event=0x05,umask=0xcf/\n"
			    "uncore_imc/clockticks/ =uncore_imc/event=0x01,umask=0x00/\n"
			    "uncore_imc_free_running_0/read/ MiB "
			    "=uncore_imc_free_running_0/event=0xff,umask=0x20/\n");
	free(text);
	text = list_text("power", &kernel, pmu, (struct tacho_list_opts){ .details = true }, NULL);
	assert_non_null(strstr(text, "hv_24x7/PM_PB_CYC/ - ="));
	free(text);
}

static void lists_tracepoints(void **state)
{
	static const char *const sched[] = { "sched:*W*", NULL }, *const all[] = { "tracepoint", NULL };
	static const char *const none[] = { "zz*", NULL };
	struct fake kernel = { 0 };
	char *text = list_text("none", &kernel, sched, (struct tacho_list_opts){ .details = true },
			       NULL);
	int n;

	assert_string_equal(text, "sched:sched_switch =tracepoint/config=0x13c/\n"
			    "sched:sched_wakeup =tracepoint/config=0x13f/\n"
			    "sched:sched_waking =tracepoint/config=0x13e/\n");
	free(text);
	free(list_text("none", &kernel, all, (struct tacho_list_opts){ 0 }, &n));
	assert_int_equal(n, 8);
	free(list_text("none", &kernel, none, (struct tacho_list_opts){ 0 }, &n));
	assert_int_equal(n, 0);
}

/* If not even a dummy event can be opened, no kernel event is available. */
static void knows_when_nothing_opens(void **state)
{
	static const char *const words[] = { "cs", "duration_time", NULL };
	struct fake kernel = { .refuse_all = -EACCES };
	char *text = list_text("none", &kernel, words, (struct tacho_list_opts){ 0 }, NULL);

	assert_string_equal(text, "context-switches|cs -\nduration_time ns\n");
	free(text);
}

static void stops_on_request(void **state)
{
	struct tacho *t = open_tree("none");
	struct seen s = { .stop_at = 3 };

	assert_int_equal(tacho_list(t, NULL, note, &s, NULL), 42);
	assert_int_equal(s.n, 3);
	buf_done(&s.text);
	tacho_close(t);
}

static void writes_attrs(void **state)
{
	struct perf_event_attr a = { .type = 1, .size = 136, .config = 3, .sample_period = 9,
				     .flags = PERF_ATTR_DISABLED | PERF_ATTR_EXCLUDE_KERNEL |
					      2ULL << PERF_ATTR_PRECISE_SHIFT, .config3 = 5 };
	struct perf_event_attr bp = { .type = 5, .bp_type = 3, .bp_addr = 16, .bp_len = 4 };
	char *text = tacho_attr_text(&a, sizeof(a));

	assert_string_equal(text, "type: 1\nsize: 136\nconfig: 0x3\nsample_period: 9\ndisabled: 1\n"
			    "exclude_kernel: 1\nprecise_ip: 2\nconfig3: 0x5\n");
	free(text);
	text = tacho_attr_text(&a, 64);
	assert_null(strstr(text, "config3"));
	free(text);
	text = tacho_attr_text(&bp, sizeof(bp));
	assert_string_equal(text, "type: 5\nconfig: 0x0\nbp_type: 3\nbp_addr: 0x10\nbp_len: 0x4\n");
	free(text);
}

static void log_line(void *arg, enum tacho_log_level level, const char *text)
{
	assert_int_equal(level, TACHO_LOG_INFO);
	snprintf(arg, 32, "%s", text);
}

static void opens_contexts(void **state)
{
	struct { struct tacho_opts opts; void *later; } newer = { .opts.size = sizeof(newer) };
	struct tacho_error e = { 0 };
	struct tacho *t = NULL;
	char line[32] = "";

	assert_int_equal(tacho_open(&t, NULL, NULL), 0);
	tacho_log(t, TACHO_LOG_WARN, "nobody listens");
	tacho_close(t);
	tacho_close(NULL);
	assert_int_equal(tacho_open(&t, &newer.opts, &e), 0);
	tacho_close(t);
	newer.later = line;
	assert_int_equal(tacho_open(&t, &newer.opts, &e), -E2BIG);
	assert_non_null(strstr(e.message, tacho_version()));
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .log = log_line, .log_arg = line), &e),
			 0);
	tacho_log(t, TACHO_LOG_INFO, "%d events", 3);
	assert_string_equal(line, "3 events");
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_classes), cmocka_unit_test(lists_pmu_events),
		cmocka_unit_test(lists_tracepoints), cmocka_unit_test(knows_when_nothing_opens),
		cmocka_unit_test(stops_on_request), cmocka_unit_test(writes_attrs),
		cmocka_unit_test(opens_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
