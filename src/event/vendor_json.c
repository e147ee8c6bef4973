/*
 * Reads event lists in JSON: Intel's object with Header and Events, the plain array of older Intel files and
 * the kernel's files, Arm's object with events, and Intel's tables of offcore requests and FP_ARITH
 * bits. Objects that are not events, such as metrics, are skipped.
 */
#include "event/vendor.h"

#include <errno.h>
#include <stdio.h>

#include "base/json_read.h"
#include "base/num.h"
#include "base/vec.h"

struct offcore {
	struct str name;
	uint64_t value;
};

struct offcores {
	struct offcore *v;
	size_t n, cap;
};

struct vendor_reader {
	struct json_in in;
	struct vendor_builder *b;
	struct offcores requests, responses;
	bool any;			/* an array of events was found, possibly empty */
};

static int add_offcore(struct offcores *l, struct str name, uint64_t value)
{
	struct offcore *o = vec_add(l);

	if (!o)
		return -ENOMEM;
	*o = (struct offcore){ name, value };
	return 0;
}

/* Stores an offcore request or response; an event is a combination of both. */
static int add_matrix_row(struct vendor_reader *r, const struct vendor_fields *f)
{
	uint64_t value;

	if (!vendor_field_num(f, F_MATRIX_VALUE, &value))
		return 0;
	if (vendor_field_given(f, F_REQUEST))
		return add_offcore(&r->requests, f->v[F_REQUEST], value);
	return vendor_field_given(f, F_RESPONSE) ? add_offcore(&r->responses, f->v[F_RESPONSE], value) : 0;
}

static int add_event(struct vendor_reader *r, struct buf *name, struct buf *terms, struct str desc)
{
	struct vendor_event *ev = buf_failed(name) || buf_failed(terms) ? NULL :
				  vendor_add(r->b, buf_view(name));

	if (ev) {
		ev->terms = vendor_put(r->b, buf_view(terms));
		ev->desc = vendor_put(r->b, desc);
	}
	buf_done(name);
	buf_done(terms);
	return ev && !buf_failed(&r->b->pool) ? 0 : -ENOMEM;
}

static int add_matrix_events(struct vendor_reader *r)
{
	int err = 0;

	if (r->requests.n > 512 || r->responses.n > 512)
		return -EFBIG;
	for (size_t i = 0; !err && i < r->requests.n; i++)
		for (size_t k = 0; !err && k < r->responses.n; k++) {
			struct buf name = { 0 }, terms = { 0 };

			buf_printf(&name, "OFFCORE_RESPONSE.%.*s.%.*s", STR(r->requests.v[i].name),
				   STR(r->responses.v[k].name));
			buf_printf(&terms, "event=0xb7,umask=0x1,offcore_rsp=0x%llx",
				   (unsigned long long)(r->requests.v[i].value | r->responses.v[k].value));
			err = add_event(r, &name, &terms, STR_LIT(""));
		}
	return err;
}

static int add_fp_arith_event(struct vendor_reader *r, const struct vendor_fields *f)
{
	struct buf name = { 0 }, terms = { 0 };
	uint64_t bit;

	if (!vendor_field_num(f, F_BIT_INDEX, &bit) || bit > 31)
		return 0;
	buf_printf(&name, "FP_ARITH_INST_RETIRED.%.*s", STR(f->v[F_BIT_NAME]));
	buf_printf(&terms, "event=0xc7,umask=0x%llx", 1ULL << bit);
	return add_event(r, &name, &terms, f->v[F_BRIEF]);
}

static int add_arm_event(struct vendor_reader *r, const struct vendor_fields *f)
{
	struct vendor_event *ev = vendor_add(r->b, f->v[F_ARM_NAME]);
	char terms[40];
	uint64_t code;
	int n;

	if (!ev)
		return -ENOMEM;
	ev->desc = vendor_put(r->b, f->v[F_ARM_DESC]);
	ev->topic = vendor_put(r->b, f->v[F_ARM_TYPE]);
	if (vendor_field_num(f, F_ARM_CODE, &code)) {
		n = snprintf(terms, sizeof(terms), "event=0x%llx", (unsigned long long)code);
		ev->terms = vendor_put(r->b, str_n(terms, (size_t)n));
	} else {
		ev->refused = vendor_put(r->b, STR_LIT("its code is not a number"));
	}
	return buf_failed(&r->b->pool) ? -ENOMEM : 0;
}

static int add_object(struct vendor_reader *r, const struct vendor_fields *f)
{
	if (r->b->events.n >= VENDOR_EVENTS_MAX)
		return -EFBIG;
	if (f->v[F_NAME].n || f->v[F_ARCH_STD].n)
		return vendor_intel_event(r->b, f);
	if (f->v[F_MATRIX_VALUE].n)
		return add_matrix_row(r, f);
	if (f->v[F_BIT_NAME].n)
		return add_fp_arith_event(r, f);
	return f->v[F_ARM_NAME].n && f->v[F_ARM_CODE].n ? add_arm_event(r, f) : 0;
}

/* Reads the members of an event's object; arrays and objects among them are skipped. */
static int read_object(struct vendor_reader *r)
{
	struct vendor_fields f = { 0 };
	struct str key = { 0 }, value = { 0 };
	enum json_token token;

	while ((token = json_next(&r->in, &key)) == JSON_IN_KEY) {
		token = json_next(&r->in, &value);
		if (token >= JSON_IN_STRING)
			vendor_field_set(&f, key, value);
		else if (!json_skip(&r->in, token))
			return -EINVAL;
	}
	return token == JSON_IN_CLOSE ? add_object(r, &f) : -EINVAL;
}

static int read_array(struct vendor_reader *r)
{
	enum json_token token;
	struct str ignored;
	int err = 0;

	r->any = true;
	while (!err && (token = json_next(&r->in, &ignored)) != JSON_IN_CLOSE) {
		if (token == JSON_IN_OBJECT)
			err = read_object(r);
		else if (!json_skip(&r->in, token))
			err = -EINVAL;
	}
	return err;
}

/* Stores Arm's cpuid, e.g. "0x41d0c": implementer and part number as in MIDR. */
static void set_cpuid(struct vendor_reader *r, struct str value)
{
	uint64_t id;

	if (num_u64(value, &id) == 0 && id <= UINT32_MAX)
		r->b->midr = (uint32_t)id;
}

static int read_top(struct vendor_reader *r)
{
	struct str key = { 0 }, value = { 0 };
	enum json_token token;
	int err = 0;

	while (!err && (token = json_next(&r->in, &key)) != JSON_IN_CLOSE) {
		if (token != JSON_IN_KEY)
			return -EINVAL;
		token = json_next(&r->in, &value);
		if (token == JSON_IN_ARRAY && (str_is(key, "Events") || str_is(key, "events")))
			err = read_array(r);
		else if (!json_skip(&r->in, token))
			err = -EINVAL;
		else if (token == JSON_IN_STRING && str_is(key, "cpuid"))
			set_cpuid(r, value);
		else if (str_is(key, "Metrics") || str_is(key, "Data"))	/* event/metric_json.c reads them */
			r->any = true;
	}
	return err;
}

static int refuse_json(struct vendor_reader *r, int err, struct tacho_error *e)
{
	unsigned line, column;

	if (err == -EFBIG)
		return error_set(e, err, "more than %u events", VENDOR_EVENTS_MAX);
	if (err != -EINVAL)
		return error_nomem(e);
	json_position(&r->in, &line, &column);
	return error_set(e, err, "line %u, column %u: %s", line, column,
			 r->in.why ? r->in.why : "not a list of events");
}

int vendor_read_json(struct vendor_builder *b, char *text, size_t n, struct tacho_error *e)
{
	struct vendor_reader r = { .in = { .text = text, .n = n }, .b = b };
	struct str ignored;
	enum json_token token = json_next(&r.in, &ignored);
	int err = token == JSON_IN_OBJECT ? read_top(&r) :
		  token == JSON_IN_ARRAY ? read_array(&r) : -EINVAL;

	if (!err)
		err = json_next(&r.in, &ignored) == JSON_IN_DONE ? add_matrix_events(&r) : -EINVAL;
	vec_done(&r.requests);
	vec_done(&r.responses);
	if (err)
		return refuse_json(&r, err, e);
	if (!r.any)
		return error_set(e, -EINVAL, "JSON without a list of events");
	return 0;
}
