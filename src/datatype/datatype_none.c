/*
 * Stub for builds without the headers of elfutils: no type is known.
 */
#include <tacho/datatype.h>

#include <errno.h>

int tacho_data_types_new(struct tacho_data_types **out)
{
	*out = NULL;
	return 0;
}

void tacho_data_types_free(struct tacho_data_types *t)
{
	(void)t;
}

int tacho_data_types_find(struct tacho_data_types *t, struct tacho_symbols *s, const struct tacho_frame *f,
			  const struct tacho_memory_operand *operand, struct tacho_data_type *out)
{
	(void)t, (void)s, (void)f, (void)operand, (void)out;
	return -EOPNOTSUPP;
}
