/*
 * The web page as built by tools/make-page: compressed and plain, and the values for its headers.
 */
#ifndef AGENT_HTTP_PAGE_H
#define AGENT_HTTP_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct page {
	const unsigned char *packed, *plain;	/* gzip, and uncompressed */
	size_t n_packed, n_plain;
	const char *etag;
	const char *script_hash, *style_hash;	/* "sha256-..." of the page's script and style */
	bool small;				/* built without npm: status and links only */
};
extern const struct page page_data;

#endif
