/*
 * Prints a record as one JSON object. Addresses are strings ("0x..."), because many JSON readers keep
 * only 53 bits of a number; bytes are a string of hexadecimal digits.
 */
#include "record/dump.h"

#include <stdio.h>

#include "base/json.h"

#define SCHEMA "tacho.record/1"

static void put_key(struct json *j, const char *key)
{
	if (key)
		json_key(j, key);
}

static void json_open(void *to, const char *key, char kind)
{
	struct json *j = to;
	bool first = j->depth == 0;

	put_key(j, key);
	json_begin(j, kind);
	if (first)
		json_member(j, "schema", str, SCHEMA);
}

static void json_close(void *to)
{
	json_end(to);
}

static void json_number(void *to, const char *key, uint64_t v)
{
	put_key(to, key);
	json_u64(to, v);
}

static void json_address(void *to, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v);
	put_key(to, key);
	json_str(to, text);
}

static void json_text(void *to, const char *key, const char *s)
{
	put_key(to, key);
	json_str(to, s);
}

static void json_names(void *to, const char *key, const char *const *names, size_t n)
{
	put_key(to, key);
	json_begin(to, '[');
	for (size_t i = 0; i < n; i++)
		json_str(to, names[i]);
	json_end(to);
}

static void json_bytes(void *to, const char *key, const void *bytes, size_t n)
{
	struct json *j = to;
	scoped(buf_done) struct buf hex = { 0 };

	dump_hex(&hex, bytes, n);
	if (buf_failed(&hex))
		j->out->bad = true;
	put_key(j, key);
	json_strn(j, buf_view(&hex));
}

char *tacho_record_json(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	static const struct dump_ops ops = { json_open,	json_close, json_number, json_address,
					     json_text, json_names, json_bytes };
	scoped(buf_done) struct buf out = { 0 };
	struct json j = { .out = &out };
	struct dump d = { &ops, &j };

	if (dump_record(&d, rec, lay) < 0)
		return NULL;
	return buf_take(&out);
}
