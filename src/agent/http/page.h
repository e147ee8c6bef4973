/*
 * The page as the build made it (tools/make-page): packed and plain, with what its headers need.
 */
#ifndef AGENT_HTTP_PAGE_H
#define AGENT_HTTP_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct page {
	const unsigned char *packed, *plain;	/* gzip'ed, and as it is */
	size_t n_packed, n_plain;
	const char *etag;
	const char *script_hash, *style_hash;	/* "sha256-..." of the one script and style */
	bool small;				/* the build had no npm: status and links only */
};
extern const struct page page_data;

#endif
