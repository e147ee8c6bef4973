#include "event/sample_filter.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/error.h"
#include "base/num.h"
#include "base/str.h"
#include "record/perf_abi.h"
#include "sys/cgroup.h"

struct named_value {
	const char *name;
	uint64_t value;
};

/* The values of PERF_MEM_* in the kernel's perf_event.h, each relative to the first bit of its part. */
static const struct named_value ops[] = {
	{ "na", 1 }, { "load", 2 }, { "store", 4 }, { "pfetch", 8 }, { "exec", 16 }, { NULL, 0 },
};
static const struct named_value levels[] = {
	{ "l1", 1 }, { "l2", 2 }, { "l3", 3 }, { "l4", 4 }, { "cxl", 9 }, { "io", 10 }, { "any_cache", 11 }, { "lfb", 12 },
	{ "ram", 13 }, { "pmem", 14 }, { NULL, 0 },
};
static const struct named_value snoops[] = {
	{ "na", 1 }, { "none", 2 }, { "hit", 4 }, { "miss", 8 }, { "hitm", 16 }, { "fwd", 32 }, { "peer", 64 }, { NULL, 0 },
};
static const struct named_value remotes[] = { { "remote", 1 }, { NULL, 0 } };
static const struct named_value locks[] = { { "na", 1 }, { "locked", 2 }, { NULL, 0 } };
static const struct named_value tlbs[] = {
	{ "na", 1 }, { "l1_hit", 8 | 2 }, { "l1_miss", 8 | 4 }, { "l2_hit", 16 | 2 }, { "l2_miss", 16 | 4 }, { "any_hit", 2 },
	{ "any_miss", 4 }, { "walk", 32 }, { "fault", 64 }, { NULL, 0 },
};
static const struct named_value blocks[] = { { "na", 1 }, { "by_data", 2 }, { "by_addr", 4 }, { NULL, 0 } };
static const struct named_value hops[] = { { "hops0", 1 }, { "hops1", 2 }, { "hops2", 3 }, { "hops3", 4 }, { NULL, 0 } };

#define ANY_WEIGHT (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
#define DATA_SRC_FIELD(name, field, shift, mask, values) \
	{ name, field, shift, mask, PERF_SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d", values }
#define WEIGHT_FIELD(name, shift, mask, type, type_name) \
	{ name, FILTERED_WEIGHT, shift, mask, type, type_name, "--weight", NULL }

static const struct filter_term_kind {
	const char *name;
	uint8_t field, shift;
	uint32_t mask;
	uint64_t sample_type;		/* one of these bits is needed; 0: none */
	const char *type_name, *option;
	const struct named_value *values;	/* NULL: numbers only */
} kinds[] = {
	{ "ip", FILTERED_IP, 0, 0, PERF_SAMPLE_IP, "PERF_SAMPLE_IP", NULL, NULL },
	{ "id", FILTERED_ID, 0, 0, PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, "PERF_SAMPLE_ID", NULL, NULL },
	{ "tid", FILTERED_TID, 0, 0, PERF_SAMPLE_TID, "PERF_SAMPLE_TID", NULL, NULL },
	{ "pid", FILTERED_PID, 0, 0, PERF_SAMPLE_TID, "PERF_SAMPLE_TID", NULL, NULL },
	{ "cpu", FILTERED_CPU, 0, 0, PERF_SAMPLE_CPU, "PERF_SAMPLE_CPU", "--sample-cpu", NULL },
	{ "time", FILTERED_TIME, 0, 0, PERF_SAMPLE_TIME, "PERF_SAMPLE_TIME", "-T", NULL },
	{ "addr", FILTERED_ADDR, 0, 0, PERF_SAMPLE_ADDR, "PERF_SAMPLE_ADDR", "-d", NULL },
	{ "period", FILTERED_PERIOD, 0, 0, 0, NULL, NULL, NULL },
	{ "txn", FILTERED_TXN, 0, 0, PERF_SAMPLE_TRANSACTION, "PERF_SAMPLE_TRANSACTION", "--transaction", NULL },
	WEIGHT_FIELD("weight", 0, 0, ANY_WEIGHT, "PERF_SAMPLE_WEIGHT"),
	WEIGHT_FIELD("weight1", 0, 0xffffffff, PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT"),
	WEIGHT_FIELD("weight2", 32, 0xffff, PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT"),
	WEIGHT_FIELD("weight3", 48, 0xffff, PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT"),
	WEIGHT_FIELD("ins_lat", 32, 0xffff, PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT"),
	WEIGHT_FIELD("retire_lat", 48, 0xffff, PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT"),
	WEIGHT_FIELD("p_stage_cyc", 48, 0xffff, PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT"),
	{ "phys_addr", FILTERED_PHYS_ADDR, 0, 0, PERF_SAMPLE_PHYS_ADDR, "PERF_SAMPLE_PHYS_ADDR", "--phys-data", NULL },
	{ "code_pgsz", FILTERED_CODE_PAGE_SIZE, 0, 0, PERF_SAMPLE_CODE_PAGE_SIZE, "PERF_SAMPLE_CODE_PAGE_SIZE",
	  "--code-page-size", NULL },
	{ "data_pgsz", FILTERED_DATA_PAGE_SIZE, 0, 0, PERF_SAMPLE_DATA_PAGE_SIZE, "PERF_SAMPLE_DATA_PAGE_SIZE",
	  "--data-page-size", NULL },
	DATA_SRC_FIELD("mem_op", FILTERED_DATA_SRC, 0, 0x1f, ops),
	DATA_SRC_FIELD("mem_lvl", FILTERED_DATA_SRC, 33, 0xf, levels),
	DATA_SRC_FIELD("mem_snoop", FILTERED_SNOOP, 0, 0, snoops),
	DATA_SRC_FIELD("mem_lock", FILTERED_DATA_SRC, 24, 0x3, locks),
	DATA_SRC_FIELD("mem_locked", FILTERED_DATA_SRC, 24, 0x3, locks),
	DATA_SRC_FIELD("mem_dtlb", FILTERED_DATA_SRC, 26, 0x7f, tlbs),
	DATA_SRC_FIELD("mem_remote", FILTERED_DATA_SRC, 37, 0x1, remotes),
	DATA_SRC_FIELD("mem_blk", FILTERED_DATA_SRC, 40, 0x7, blocks),
	DATA_SRC_FIELD("mem_hops", FILTERED_DATA_SRC, 43, 0x7, hops),
	{ "uid", FILTERED_UID, 0, 0, 0, NULL, NULL, NULL },
	{ "gid", FILTERED_GID, 0, 0, 0, NULL, NULL, NULL },
	{ "cgroup", FILTERED_CGROUP, 0, 0, PERF_SAMPLE_CGROUP, "PERF_SAMPLE_CGROUP", "--all-cgroups", NULL },
};

struct sample_filter_parser {
	const char *text;
	size_t at;
	const char *event;
	const struct sys *sys;
	struct tacho_error *e;
};

static int refuse(struct sample_filter_parser *p, struct str word, const char *what, const char *why)
{
	error_set(p->e, -EINVAL, "the filter of %s is not valid: %s", p->event, what);
	error_at(p->e, word.n ? (size_t)(word.s - p->text) : p->at, word.n ? word.n : 1);
	error_hint(p->e, "%s", why);
	return -EINVAL;
}

static void skip_blanks(struct sample_filter_parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

static bool take_mark(struct sample_filter_parser *p, const char *mark)
{
	skip_blanks(p);
	if (strncmp(p->text + p->at, mark, strlen(mark)) != 0)
		return false;
	p->at += strlen(mark);
	return true;
}

/* A name, a number, or the path of a control group. */
static struct str take_word(struct sample_filter_parser *p)
{
	size_t from;

	skip_blanks(p);
	from = p->at;
	while (p->text[p->at] && !isspace((unsigned char)p->text[p->at]) && !strchr("=!<>&,|", p->text[p->at]))
		p->at++;
	return str_n(p->text + from, p->at - from);
}

static int find_kind(struct sample_filter_parser *p, struct str word, const struct filter_term_kind **out)
{
	struct str_nearest near = { .word = word };

	for (size_t i = 0; i < countof(kinds); i++) {
		if (str_is(word, kinds[i].name)) {
			*out = &kinds[i];
			return 0;
		}
		str_nearest_try(&near, str_of(kinds[i].name));
	}
	if (!word.n)
		return refuse(p, word, "a field is missing", "a filter is FIELD OPERATOR VALUE, e.g. period > 1000");
	refuse(p, word, "samples have no such field", "fields are ip, pid, tid, cpu, period, addr, weight, mem_op, uid ...");
	if (near.best.n)
		error_hint(p->e, "did you mean '%.*s'?", STR(near.best));
	return -EINVAL;
}

static int take_op(struct sample_filter_parser *p, uint8_t *out)
{
	/* Those that begin with another one come first. */
	static const struct { const char *mark; uint8_t op; } marks[] = {
		{ "==", FILTER_EQ }, { "!=", FILTER_NE }, { ">=", FILTER_GE }, { "<=", FILTER_LE }, { ">", FILTER_GT },
		{ "<", FILTER_LT }, { "&", FILTER_AND },
	};

	for (size_t i = 0; i < countof(marks); i++)
		if (take_mark(p, marks[i].mark)) {
			*out = marks[i].op;
			return 0;
		}
	return refuse(p, (struct str){ 0 }, "an operator is missing", "operators are == != > >= < <= and &");
}

/* The ID of a control group is the number of its directory's inode. */
static int cgroup_id(struct sample_filter_parser *p, struct str word, uint64_t *out)
{
	scoped(freep) char *path = str_dup(word);
	struct stat st;
	int fd, err;

	if (!path)
		return error_nomem(p->e);
	fd = cgroup_open(p->sys, path);
	err = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (err < 0) {
		error_set(p->e, err, "cannot open the control group '%s': %s", path, strerror(-err));
		error_at(p->e, (size_t)(word.s - p->text), word.n);
		return err;
	}
	*out = st.st_ino;
	return 0;
}

static int take_value(struct sample_filter_parser *p, const struct filter_term_kind *kind, uint64_t *out)
{
	struct str word = take_word(p);

	for (const struct named_value *v = kind->values; v && v->name; v++)
		if (str_is(word, v->name)) {
			*out = v->value;
			return 0;
		}
	if (num_u64(word, out) == 0)
		return 0;
	if (kind->field == FILTERED_CGROUP && word.n)
		return cgroup_id(p, word, out);
	if (!kind->values)
		return refuse(p, word, "a number is missing", "numbers are decimal, or hexadecimal with 0x");
	refuse(p, word, "the field has no such value", "");
	error_hint(p->e, "use a number, or '%s', '%s' ...", kind->values[0].name, kind->values[1].name ? kind->values[1].name : "0");
	return -EINVAL;
}

static int parse_term(struct sample_filter_parser *p, struct sample_filter *f)
{
	struct sample_filter_term *t = &f->terms[f->n];
	const struct filter_term_kind *kind;
	uint64_t value = 0;
	int err;

	if (f->n == SAMPLE_FILTER_TERMS)
		return refuse(p, (struct str){ 0 }, "it is too long", "a filter has at most 64 comparisons");
	err = find_kind(p, take_word(p), &kind);
	if (err < 0)
		return err;
	*t = (struct sample_filter_term){ .field = kind->field, .shift = kind->shift, .mask = kind->mask };
	err = take_op(p, &t->op);
	if (err == 0)
		err = take_value(p, kind, &value);
	t->value = value;
	f->n += err == 0;
	return err;
}

int sample_filter_parse(struct sample_filter *f, const struct sys *sys, const char *text, const char *event,
			struct tacho_error *e)
{
	struct sample_filter_parser p = { .text = text, .event = event, .sys = sys, .e = e };
	bool more;
	int err;

	do {
		err = parse_term(&p, f);
		if (err < 0)
			return err;
		more = take_mark(&p, "||");
		if (!more) {
			f->terms[f->n - 1].ends_group = 1;
			more = take_mark(&p, ",");
		}
	} while (more);
	skip_blanks(&p);
	if (!text[p.at])
		return 0;
	return refuse(&p, (struct str){ 0 }, "something follows a complete comparison",
		      "comparisons are joined by a comma (and) or || (or)");
}

bool sample_filter_lacks(const struct sample_filter *f, uint64_t sample_type, struct sample_filter_need *out)
{
	for (size_t t = 0; t < f->n; t++)
		for (size_t i = 0; i < countof(kinds); i++) {
			const struct filter_term_kind *k = &kinds[i];

			if (k->field != f->terms[t].field || k->shift != f->terms[t].shift || k->mask != f->terms[t].mask)
				continue;
			if (!k->sample_type || (sample_type & k->sample_type))
				break;
			*out = (struct sample_filter_need){ k->name, k->type_name, k->option };
			return true;
		}
	return false;
}
