/*
 * The dictionary of an OTLP profiles message: strings, attributes, mappings, functions, locations and stacks, each stored
 * once and referred to by its index. Element 0 of each table is the zero value and means "none". Elements are added
 * when they are referred to for the first time, so that the tables have no others.
 */
#ifndef OUTPUT_OTLP_DICTIONARY_H
#define OUTPUT_OTLP_DICTIONARY_H

#include "output/output.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/protobuf.h"

enum otlp_table { OTLP_MAPPINGS = 1, OTLP_LOCATIONS, OTLP_FUNCTIONS, OTLP_LINKS, OTLP_STRINGS, OTLP_ATTRIBUTES,
		  OTLP_STACKS, N_OTLP_TABLES };	/* field numbers of the dictionary */

struct otlp_dictionary {
	const struct tacho_profile *p;
	struct functions functions;
	struct locations locations;
	struct address_span *spans;		/* object -> pages of its frames */
	uint32_t *mapping_of, *function_of, *location_of, *stack_of;	/* object, function, location, node -> index */
	struct { struct buf bytes; uint32_t n; } tables[N_OTLP_TABLES];
	struct map strings, attributes, known_functions;
	struct arena arena;
	struct buf message, part, indices;
	bool failed;				/* out of memory */
};

int otlp_dictionary_init(struct otlp_dictionary *d, const struct tacho_profile *p);	/* 0 or -ENOMEM */
void otlp_dictionary_done(struct otlp_dictionary *d);
/* The index of an element. `text` must live as long as the dictionary. After a failure 0, and d->failed is set. */
uint32_t otlp_string(struct otlp_dictionary *d, const char *text);
uint32_t otlp_text_attribute(struct otlp_dictionary *d, const char *key, const char *value);
uint32_t otlp_number_attribute(struct otlp_dictionary *d, const char *key, uint64_t value);
uint32_t otlp_stack(struct otlp_dictionary *d, uint32_t node);
/* Appends the encoded dictionary. */
void otlp_dictionary_put(struct otlp_dictionary *d, struct buf *out);
/* Appends text as protobuf requires it: bytes that are not valid UTF-8 become U+FFFD. */
void otlp_put_utf8(struct buf *out, struct str text);

#endif
