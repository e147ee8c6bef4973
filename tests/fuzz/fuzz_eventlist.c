/*
 * The readers of vendors' lists fed with anything: they must end, and what they make of it must be a
 * block that would be taken from the cache, in which every name is found again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/vendor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(struct vendor_builder *b)
{
	struct vendor_list l = { 0 };
	size_t size, found;

	if (vendor_build(b, &l) < 0)
		return;
	size = sizeof(*l.head) + l.head->n * sizeof(*l.v) + l.head->pool_n;
	if (!vendor_block_ok(l.block, size))
		abort();
	for (size_t i = 0; i < l.head->n; i++) {
		struct str name = str_of(vendor_str(&l, l.v[i].name));

		if (name.n && !vendor_find(&l, name, &found))
			abort();
	}
	free(l.block);
}

static void read_as(const uint8_t *bytes, size_t n, bool json)
{
	struct vendor_builder b = { 0 };
	struct tacho_error e = { 0 };
	char *text = malloc(n + 1);
	int err;

	if (!text)
		return;
	memcpy(text, bytes, n);
	vendor_block_ok(text, n);
	err = json ? vendor_read_json(&b, text, n, &e) : vendor_read_text(&b, str_n(text, n), &e);
	if (err && (e.code != err || !e.message[0]))
		abort();
	if (!err)
		check(&b);
	vendor_builder_done(&b);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	read_as(bytes, n, true);
	read_as(bytes, n, false);
	return 0;
}
