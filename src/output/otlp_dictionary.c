/*
 * The dictionary's tables are built as encoded messages, one buffer per table, and joined at the end.
 */
#include "output/otlp_dictionary.h"

#include <errno.h>

/* Field numbers, by message. */
enum { KEY_VALUE_UNIT_KEY = 1, KEY_VALUE_UNIT_VALUE = 2, ANY_STRING = 1, ANY_INT = 3,
       MAPPING_START = 1, MAPPING_LIMIT = 2, MAPPING_OFFSET = 3, MAPPING_FILENAME = 4, MAPPING_ATTRIBUTES = 5,
       FUNCTION_NAME = 1, FUNCTION_FILENAME = 3,
       LOCATION_MAPPING = 1, LOCATION_ADDRESS = 2, LOCATION_LINES = 3, LOCATION_ATTRIBUTES = 4,
       LINE_FUNCTION = 1, LINE_LINE = 2, STACK_LOCATIONS = 1, LINK_TRACE_ID = 1, LINK_SPAN_ID = 2 };

void otlp_put_utf8(struct buf *out, struct str text)
{
	while (text.n) {
		size_t n = str_utf8_len(text);

		if (n)
			buf_put(out, text.s, n);
		else
			buf_puts(out, "\xef\xbf\xbd");
		n = max_of(n, (size_t)1);
		text = str_n(text.s + n, text.n - n);
	}
}

/* Appends an element to a table and returns its index. */
static uint32_t add_element(struct otlp_dictionary *d, enum otlp_table table, struct str element)
{
	pb_element(&d->tables[table].bytes, table, element);
	return d->tables[table].n++;
}

uint32_t otlp_string(struct otlp_dictionary *d, const char *text)
{
	const uint64_t *there = map_get(&d->strings, str_of(text));
	scoped(buf_done) struct buf valid = { 0 };
	uint32_t index;

	if (there)
		return (uint32_t)*there;
	otlp_put_utf8(&valid, str_of(text));
	index = add_element(d, OTLP_STRINGS, buf_view(&valid));
	if (buf_failed(&valid) || map_put(&d->strings, str_of(text), index) < 0) {
		d->failed = true;
		return 0;
	}
	return index;
}

/* The element encoded in `message`, which is cleared; an equal one is there once. */
static uint32_t intern_message(struct otlp_dictionary *d, enum otlp_table table, struct map *known)
{
	const uint64_t *there = map_get(known, buf_view(&d->message));
	char *key = there ? NULL : arena_alloc(&d->arena, d->message.n + 1);
	uint32_t index = there ? (uint32_t)*there : 0;

	if (key) {
		memcpy(key, d->message.bytes, d->message.n);
		index = add_element(d, table, buf_view(&d->message));
	}
	if (!there && (!key || map_put(known, str_n(key, d->message.n), index) < 0))
		d->failed = true;
	buf_clear(&d->message);
	return index;
}

uint32_t otlp_text_attribute(struct otlp_dictionary *d, const char *key, const char *value)
{
	scoped(buf_done) struct buf text = { 0 };

	otlp_put_utf8(&text, str_of(value));
	pb_message(&d->part, ANY_STRING, &text);
	pb_u64(&d->message, KEY_VALUE_UNIT_KEY, otlp_string(d, key));
	pb_message(&d->message, KEY_VALUE_UNIT_VALUE, &d->part);
	buf_clear(&d->part);
	return intern_message(d, OTLP_ATTRIBUTES, &d->attributes);
}

uint32_t otlp_number_attribute(struct otlp_dictionary *d, const char *key, uint64_t value)
{
	pb_varint(&d->part, ANY_INT << 3);	/* written even if it is 0: a member of a oneof must be present */
	pb_varint(&d->part, value);
	pb_u64(&d->message, KEY_VALUE_UNIT_KEY, otlp_string(d, key));
	pb_message(&d->message, KEY_VALUE_UNIT_VALUE, &d->part);
	buf_clear(&d->part);
	return intern_message(d, OTLP_ATTRIBUTES, &d->attributes);
}

/* Appends the indices collected in d->indices as a packed field of `message`, and clears them. */
static void put_indices(struct otlp_dictionary *d, unsigned field)
{
	pb_bytes(&d->message, field, buf_view(&d->indices));
	d->message.bad = d->message.bad || d->indices.bad;
	buf_clear(&d->indices);
}

/* Adds `message` to a table and clears it. */
static uint32_t add_message(struct otlp_dictionary *d, enum otlp_table table)
{
	uint32_t index = add_element(d, table, buf_view(&d->message));

	d->failed = d->failed || buf_failed(&d->message);
	buf_clear(&d->message);
	return index;
}

static uint32_t mapping(struct otlp_dictionary *d, uint32_t object)
{
	const struct tacho_profile_object *o = tacho_profile_object(d->p, object);
	scoped(buf_done) struct buf build_id = { 0 };
	uint32_t attribute = 0;

	if (!object || d->mapping_of[object])
		return d->mapping_of[object];
	put_build_id(&build_id, o);
	if (build_id.n)
		attribute = otlp_text_attribute(d, "process.executable.build_id.gnu", build_id.bytes);
	if (attribute)
		pb_varint(&d->indices, attribute);
	pb_u64(&d->message, MAPPING_START, d->spans[object].from);
	pb_u64(&d->message, MAPPING_LIMIT, d->spans[object].to);
	pb_u64(&d->message, MAPPING_OFFSET, d->spans[object].from);
	pb_u64(&d->message, MAPPING_FILENAME, otlp_string(d, o->path));
	put_indices(d, MAPPING_ATTRIBUTES);
	return d->mapping_of[object] = add_message(d, OTLP_MAPPINGS);
}

static uint32_t function(struct otlp_dictionary *d, uint32_t id)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(d->p, d->functions.first[id]);
	scoped(buf_done) struct buf name = { 0 };
	char *text;

	if (d->function_of[id])
		return d->function_of[id];
	put_label(&name, f);
	text = buf_failed(&name) ? NULL : arena_str(&d->arena, buf_view(&name));
	if (!text) {
		d->failed = true;
		return 0;
	}
	pb_u64(&d->message, FUNCTION_NAME, otlp_string(d, text));
	if (f->code->srcfile)
		pb_u64(&d->message, FUNCTION_FILENAME, otlp_string(d, f->code->srcfile));
	/* Functions of the same name and file may be in several objects, which a function does not name. */
	return d->function_of[id] = intern_message(d, OTLP_FUNCTIONS, &d->known_functions);
}

/* The values of profile.frame.type; NULL: none of them applies. */
static const char *frame_type(const struct tacho_profile_frame *f)
{
	if (f->space == TACHO_SPACE_KERNEL || f->space == TACHO_SPACE_GUEST_KERNEL)
		return "kernel";
	return jit_runtime(f);
}

static uint32_t location(struct otlp_dictionary *d, uint32_t id)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(d->p, location_function_frame(&d->locations, id));
	const char *type = frame_type(f);
	uint32_t at, attribute = 0, object;

	if (d->location_of[id])
		return d->location_of[id];
	object = mapping(d, f->code->object);
	if (type)
		attribute = otlp_text_attribute(d, "profile.frame.type", type);
	for (at = id; at; at = d->locations.v[at].outer)
		function(d, d->functions.of_frame[d->locations.v[at].frame]);
	pb_u64(&d->message, LOCATION_MAPPING, object);
	pb_u64(&d->message, LOCATION_ADDRESS, f->address);
	for (at = id; at; at = d->locations.v[at].outer) {	/* the innermost function first */
		uint32_t frame = d->locations.v[at].frame;

		pb_u64(&d->part, LINE_FUNCTION, function(d, d->functions.of_frame[frame]));
		pb_u64(&d->part, LINE_LINE, tacho_profile_frame(d->p, frame)->code->srcfile ?
		       tacho_profile_frame(d->p, frame)->srcline : 0);
		pb_message(&d->message, LOCATION_LINES, &d->part);
		buf_clear(&d->part);
	}
	if (attribute)
		pb_varint(&d->indices, attribute);
	put_indices(d, LOCATION_ATTRIBUTES);
	return d->location_of[id] = add_message(d, OTLP_LOCATIONS);
}

uint32_t otlp_stack(struct otlp_dictionary *d, uint32_t node)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(d->p);
	const struct locations *l = &d->locations;

	if (!node || d->stack_of[node])
		return node ? d->stack_of[node] : 0;
	for (uint32_t at = node; at; at = nodes[l->outermost[at]].parent)
		location(d, l->of_node[at]);
	for (uint32_t at = node; at; at = nodes[l->outermost[at]].parent)
		pb_varint(&d->indices, d->location_of[l->of_node[at]]);
	put_indices(d, STACK_LOCATIONS);
	return d->stack_of[node] = add_message(d, OTLP_STACKS);
}

/* The zero value of a link has IDs of the usual length. */
static void add_zero_elements(struct otlp_dictionary *d)
{
	static const char zeros[16];

	pb_element(&d->message, LINK_TRACE_ID, str_n(zeros, 16));
	pb_element(&d->message, LINK_SPAN_ID, str_n(zeros, 8));
	add_message(d, OTLP_LINKS);
	for (enum otlp_table t = 1; t < N_OTLP_TABLES; t++)
		if (t != OTLP_STRINGS && t != OTLP_LINKS)
			add_element(d, t, STR_LIT(""));
	otlp_string(d, "");
}

int otlp_dictionary_init(struct otlp_dictionary *d, const struct tacho_profile *p)
{
	int err;

	*d = (struct otlp_dictionary){ .p = p };
	err = functions_init(&d->functions, p);
	if (!err)
		err = locations_init(&d->locations, p);
	d->spans = object_spans(p);
	d->mapping_of = calloc(tacho_profile_n_objects(p) + 1, sizeof(*d->mapping_of));
	d->function_of = calloc(d->functions.n + 1, sizeof(*d->function_of));
	d->location_of = calloc(d->locations.n + 1, sizeof(*d->location_of));
	d->stack_of = calloc(tacho_profile_n_nodes(p) + 1, sizeof(*d->stack_of));
	if (err || !d->spans || !d->mapping_of || !d->function_of || !d->location_of || !d->stack_of)
		return -ENOMEM;
	add_zero_elements(d);
	return d->failed ? -ENOMEM : 0;
}

void otlp_dictionary_done(struct otlp_dictionary *d)
{
	for (enum otlp_table t = 1; t < N_OTLP_TABLES; t++)
		buf_done(&d->tables[t].bytes);
	buf_done(&d->message);
	buf_done(&d->part);
	buf_done(&d->indices);
	map_done(&d->strings);
	map_done(&d->attributes);
	map_done(&d->known_functions);
	arena_done(&d->arena);
	free(d->spans);
	free(d->mapping_of);
	free(d->function_of);
	free(d->location_of);
	free(d->stack_of);
	functions_done(&d->functions);
	locations_done(&d->locations);
}

void otlp_dictionary_put(struct otlp_dictionary *d, struct buf *out)
{
	for (enum otlp_table t = 1; t < N_OTLP_TABLES; t++) {
		buf_str(out, buf_view(&d->tables[t].bytes));
		d->failed = d->failed || buf_failed(&d->tables[t].bytes);
	}
	d->failed = d->failed || buf_failed(&d->message) || buf_failed(&d->part) || buf_failed(&d->indices);
}
