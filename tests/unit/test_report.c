/*
 * The table of columns is complete; entries come in the order of their keys; two reports with different fields of
 * tracepoints, and different keys, do not disturb each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "profile/detail.h"
#include "profile/intern.h"
#include "profile/trie.h"
#include "profile/profile.h"
#include "report/columns.h"

/* ---- the table ---- */

static void columns_are_complete(void **state)
{
	for (size_t i = 0; i < n_columns; i++) {
		const struct column *c = &columns[i];

		assert_non_null(c->pub.name);
		assert_non_null(c->pub.title);
		assert_ptr_equal(tacho_report_column_at(i), &c->pub);
		if (is_value(c)) {
			assert_true(c->pub.id != TACHO_COLUMN_OTHER || c->pub.average);
			assert_false(c->numbers && c->amount);
			continue;
		}
		assert_non_null(c->print);
		assert_true(is_frame_key(c) ? c->identity && c->compare && !c->value : !c->identity && c->value);
		assert_true(!c->of_thread || c->pub.kind == TACHO_REPORT_ROW_KEY);
	}
	assert_null(tacho_report_column_at(n_columns));
}

static void names_and_ids_are_unique(void **state)
{
	for (size_t i = 0; i < n_columns; i++)
		for (size_t k = 0; k < i; k++) {
			const struct tacho_report_column *a = &columns[i].pub, *b = &columns[k].pub;

			assert_string_not_equal(a->name, b->name);
			assert_true(!a->alias || (strcmp(a->alias, b->name) != 0 && (!b->alias || strcmp(a->alias, b->alias) != 0)));
			assert_true(a->id == TACHO_COLUMN_OTHER || a->id != b->id);
		}
	for (int id = TACHO_COLUMN_OTHER + 1; id < TACHO_COLUMN_COUNT; id++)
		assert_int_equal(tacho_report_column((enum tacho_report_column_id)id)->id, id);
}

/* ---- keys ---- */

struct keys {
	struct tacho_report_fields *fields;
	struct tacho_report_opts opts;
};

static int parse(struct keys *k, const char *text, struct tacho_error *e)
{
	k->opts.size = sizeof(k->opts);
	if (!k->fields)
		assert_int_equal(tacho_report_fields_new(&k->fields), 0);
	return tacho_report_parse_keys(k->fields, text, k->opts.keys, &k->opts.n_keys, e);
}

static void keys_parse(void **state)
{
	struct keys k = { 0 };
	struct tacho_error e = { 0 };
	char many[400] = "";

	assert_int_equal(parse(&k, "sym,, dso ,symbol,sched:sched_switch.prev_comm,pid", NULL), 0);
	assert_int_equal(k.opts.n_keys, 4);
	assert_string_equal(k.opts.keys[0]->name, "symbol");
	assert_string_equal(k.opts.keys[1]->name, "dso");
	assert_string_equal(k.opts.keys[2]->title, "prev_comm");
	assert_int_equal(k.opts.keys[2]->kind, TACHO_REPORT_FIELD_KEY);
	assert_int_equal(tacho_report_n_fields(k.fields), 1);
	for (int i = 0; i < TACHO_FIELDS_MAX; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "f%d,", i);
	assert_int_equal(parse(&k, many, &e), -EINVAL);
	assert_non_null(strstr(e.message, "more than 16 fields"));
	assert_int_equal(tacho_report_unknown_key("dso,sylbom", 4, 6, &e), -EINVAL);
	assert_int_equal(e.column, 4);
	assert_non_null(strstr(e.hint, "'symbol'"));
	tacho_report_fields_free(k.fields);
}

static void needs_of_keys(void **state)
{
	struct tacho_profile_opts opts = { .no_chains = true };
	struct keys k = { 0 };

	assert_int_equal(parse(&k, "cpu,srcline,weight,parent", NULL), 0);
	tacho_report_wants(k.opts.keys, k.opts.n_keys, &opts);
	assert_true(opts.per_cpu && opts.per_srcline && !opts.per_time && !opts.per_address && !opts.no_chains);
	assert_int_equal(opts.keep, TACHO_KEEP_WEIGHT);
	tacho_report_fields_free(k.fields);
}

/* ---- a profile ---- */

static uint32_t frame(struct tacho_profile *p, const char *name, const char *object)
{
	struct tacho_profile_object ob = { .path = object, .name = object };
	struct frame_desc desc = { .space = TACHO_SPACE_USER, .known = true, .address = 0x1000 };

	desc.object = profile_intern_object(p, &ob);
	desc.symbol = profile_intern_name(p, name);
	return profile_intern_frame(p, &desc);
}

/* A sample of function `name`, called by main. */
static void sample(struct tacho_profile *p, const char *comm, const char *name, uint64_t period, uint32_t detail)
{
	struct tacho_profile_row row = { .cpu = -1, .samples = 1, .period = period, .detail = detail };

	row.event = profile_intern_event(p, "cycles");
	row.thread = profile_intern_thread(p, 7, 7, comm);
	row.node = profile_intern_node(p, 0, frame(p, "main", "prog"));
	row.node = profile_intern_node(p, row.node, frame(p, name, "lib"));
	assert_int_equal(profile_add_row(p, &row), 0);
	p->events.v[row.event].all_period += period;
	p->events.v[row.event].all_samples++;
}

/* All entries' texts of the keys, "a b;c d". */
static void assert_entries(const struct tacho_profile *p, struct keys *k, const char *wanted)
{
	struct tacho_report *r = NULL;
	uint32_t event = 0;
	char text[2000] = "", one[100];

	assert_int_equal(tacho_report_new(&r, p, &k->opts, &event, 1, NULL), 0);
	for (size_t i = 0; i < r->n_order; i++) {
		const struct tacho_report_entry *e = &r->entries[r->order[i]];

		for (size_t key = 0; key < k->opts.n_keys; key++) {
			const struct tacho_report_column *c = k->opts.keys[key];

			if (c->kind == TACHO_REPORT_VALUE)
				snprintf(one, sizeof(one), "%g", (double)tacho_report_value(r, e, c, 0));
			else
				assert_true(tacho_report_text(r, e, c, one, sizeof(one)) >= 0);
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", key ? " " : i ? ";" : "", one);
		}
	}
	assert_string_equal(text, wanted);
	tacho_report_free(r);
}

static void entries_are_ordered(void **state)
{
	static const struct { bool children; const char *keys, *wanted; } cases[] = {
		{ false, "overhead,symbol", "30 [.] b;20 [.] a;20 [.] c" },
		{ false, "symbol,overhead", "[.] a 20;[.] b 30;[.] c 20" },
		{ false, "comm,overhead", "job1 40;job2 30" },
		{ false, "comm_nodigit,overhead", "job<N> 70" },
		{ true, "overhead_children,overhead,symbol",
		  "70 0 [.] main;30 30 [.] b;20 20 [.] a;20 20 [.] c" },
		{ false, "dso,comm,sample", "lib job1 2;lib job2 1" },
		{ false, "nosuch,overhead", " 70" },
	};
	struct tacho_profile *p = NULL;

	assert_int_equal(tacho_profile_new(&p, NULL, NULL), 0);
	sample(p, "job1", "c", 20, 0);
	sample(p, "job1", "a", 20, 0);
	sample(p, "job2", "b", 30, 0);
	for (size_t i = 0; i < countof(cases); i++) {
		struct keys k = { .opts = { .children = cases[i].children, .callgraphs = cases[i].children,
					    .caller = true } };

		assert_int_equal(parse(&k, cases[i].keys, NULL), 0);
		assert_entries(p, &k, cases[i].wanted);
		tacho_report_fields_free(k.fields);
	}
	tacho_profile_free(p);
}

/* ---- two reports at once ---- */

/* A profile of one field, with two samples that differ in its value. */
static struct tacho_profile *profile_of_field(struct keys *k, const char *field, const char *one, const char *two)
{
	const char *texts[] = { one, two };
	struct tacho_profile_opts opts = { .size = sizeof(opts) };
	struct tacho_profile *p = NULL;

	assert_int_equal(parse(k, field, NULL), 0);
	opts.fields = tacho_report_field_names(k->fields);
	opts.n_fields = tacho_report_n_fields(k->fields);
	assert_int_equal(opts.n_fields, 1);
	assert_string_equal(opts.fields[0], field);
	assert_int_equal(tacho_profile_new(&p, &opts, NULL), 0);
	for (size_t i = 0; i < countof(texts); i++) {
		struct tacho_profile_value value = {
			.bytes = texts[i], .n_bytes = strlen(texts[i]), .text = texts[i],
			.size = (uint32_t)strlen(texts[i]), .is_string = true,
		};
		struct tacho_profile_detail d = { 0 };

		d.fields[0] = profile_intern_value(p, 1, &value);
		sample(p, "job", "f", 10 + i, profile_intern_detail(p, &d));
	}
	return p;
}

static void two_reports_have_their_own_fields(void **state)
{
	struct keys a = { 0 }, b = { 0 };
	struct tacho_profile *pa = profile_of_field(&a, "prev_comm", "bash", "sshd");
	struct tacho_profile *pb = profile_of_field(&b, "sched:sched_wakeup.pid", "12", "13");
	struct tacho_report *ra = NULL, *rb = NULL;
	uint32_t event = 0;
	char text[100];

	assert_int_equal(tacho_report_new(&ra, pa, &a.opts, &event, 1, NULL), 0);
	assert_int_equal(tacho_report_new(&rb, pb, &b.opts, &event, 1, NULL), 0);
	assert_string_equal(a.opts.keys[0]->title, "prev_comm");
	assert_string_equal(b.opts.keys[0]->title, "pid");
	assert_int_equal(ra->n_order, 2);
	assert_int_equal(rb->n_order, 2);
	/* The greatest bytes first. */
	assert_int_equal(tacho_report_text(ra, &ra->entries[ra->order[0]], a.opts.keys[0], text, sizeof(text)), 4);
	assert_string_equal(text, "sshd");
	assert_int_equal(tacho_report_text(rb, &rb->entries[rb->order[0]], b.opts.keys[0], text, sizeof(text)), 2);
	assert_string_equal(text, "13");
	tacho_report_free(ra);
	tacho_report_free(rb);
	tacho_profile_free(pa);
	tacho_profile_free(pb);
	tacho_report_fields_free(a.fields);
	tacho_report_fields_free(b.fields);
}

/* ---- reports side by side ---- */

/* "SYMBOL old/new;", with - where a report lacks the row. */
static void assert_joined(const struct tacho_report *const *reports, const char *wanted)
{
	struct tacho_report_join *j = NULL;
	char text[500] = "", one[100];

	assert_int_equal(tacho_report_join_new(&j, reports, 2), 0);
	for (size_t i = 0; i < j->n_rows; i++) {
		const struct tacho_report_cell_sum *c = &j->cells[2 * i];
		size_t from = c[0].entry ? 0 : 1;

		assert_true(tacho_report_text(reports[from], c[from].entry, reports[from]->opts->keys[0], one, sizeof(one)) > 0);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %g%s/%g%s;", one, (double)c[0].period,
			 c[0].entry ? "" : "-", (double)c[1].period, c[1].entry ? "" : "-");
	}
	assert_string_equal(text, wanted);
	tacho_report_join_free(j);
}

static void reports_are_joined_by_name(void **state)
{
	struct tacho_profile *p[2] = { NULL };
	struct tacho_report *r[2] = { NULL }, *other = NULL;
	struct keys k = { 0 }, by_comm = { 0 };
	struct tacho_report_join *j = NULL;
	const struct tacho_report *pair[2] = { NULL };
	uint32_t event = 0;

	assert_int_equal(parse(&k, "symbol", NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(tacho_profile_new(&p[i], NULL, NULL), 0);
	sample(p[0], "job", "b", 20, 0);
	sample(p[0], "job", "a", 10, 0);
	sample(p[1], "work", "c", 5, 0);
	sample(p[1], "work", "b", 7, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(tacho_report_new(&r[i], p[i], &k.opts, &event, 1, NULL), 0);
	pair[0] = r[0];
	pair[1] = r[1];
	assert_joined(pair, "[.] a 10/0-;[.] b 20/7;[.] c 0-/5;");
	pair[1] = NULL;			/* a recording without the event */
	assert_joined(pair, "[.] a 10/0-;[.] b 20/0-;");
	pair[0] = NULL;
	assert_int_equal(tacho_report_join_new(&j, pair, 2), -EINVAL);
	assert_int_equal(parse(&by_comm, "comm", NULL), 0);
	assert_int_equal(tacho_report_new(&other, p[1], &by_comm.opts, &event, 1, NULL), 0);
	pair[0] = r[0];
	pair[1] = other;
	assert_int_equal(tacho_report_join_new(&j, pair, 2), -EINVAL);
	tacho_report_free(other);
	for (int i = 0; i < 2; i++) {
		tacho_report_free(r[i]);
		tacho_profile_free(p[i]);
	}
	tacho_report_fields_free(k.fields);
	tacho_report_fields_free(by_comm.fields);
}

static void levels_are_named_by_their_number(void **state)
{
	static const struct { uint64_t source; const char *text; } cases[] = {
		{ 0x2ull << 5 | 0x20ull << 5 | 2ull << 33, "L2 hit" }, { 0x2ull << 5 | 0x20ull << 5, "L2 hit" },
		{ 0x4ull << 5 | 0x8ull << 5 | 15ull << 33, "L1 miss" }, { 1ull << 5 | 15ull << 33, "N/A" },
		{ 0x2ull << 5 | 3ull << 33 | 1ull << 37, "Remote L3 hit" }, { 0x2ull << 5 | 13ull << 33, "RAM hit" },
	};
	char text[64];

	for (size_t i = 0; i < countof(cases); i++) {
		assert_true(tacho_data_src_text(TACHO_DATA_SRC_LEVEL, cases[i].source, text, sizeof(text)) > 0);
		assert_string_equal(text, cases[i].text);
	}
}

static void texts_are_cut_to_the_room(void **state)
{
	struct tacho_profile_code code = { .name = "function", .object_name = "lib" };
	struct tacho_profile_frame f = { .code = &code, .known = true, .space = TACHO_SPACE_KERNEL };
	char text[8];

	assert_int_equal(tacho_report_symbol_text(&f, text, sizeof(text)), 12);
	assert_string_equal(text, "[k] fun");
	f.known = false;
	f.offset = 0xabc;
	assert_int_equal(tacho_report_symbol_text(&f, NULL, 0), 22);
	assert_true(tacho_data_src_text(TACHO_DATA_SRC_LOCK, 0, text, sizeof(text)) > 0);
	assert_string_equal(text, "No");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_complete),
		cmocka_unit_test(names_and_ids_are_unique),
		cmocka_unit_test(keys_parse),
		cmocka_unit_test(needs_of_keys),
		cmocka_unit_test(entries_are_ordered),
		cmocka_unit_test(two_reports_have_their_own_fields),
		cmocka_unit_test(reports_are_joined_by_name),
		cmocka_unit_test(levels_are_named_by_their_number),
		cmocka_unit_test(texts_are_cut_to_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
