/*
 * Where the fields of events are: in the data that raw programs put together, in the registers of a probed function, or
 * in a tracepoint as its format file says.
 */
#ifndef VIEW_FIELDS_H
#define VIEW_FIELDS_H

#include "view/plan.h"

struct view_field {
	uint16_t offset;
	uint8_t size;			/* of an element; more than 255 bytes: 255 */
	bool is_signed, is_loc, is_array, is_string;
	int8_t addend;
};

/* 0, or -ENOENT with a sentence. */
int view_field_find(const struct view_plan *p, size_t event, const char *name, struct view_field *out, struct tacho_error *e);

/* The registers of a sample as the kernel's struct pt_regs, in which the fields of functions are found. */
#define VIEW_REGISTER_BYTES 272
uint64_t view_sampled_registers(void);	/* mask for samples */
void view_registers_fill(uint8_t out[VIEW_REGISTER_BYTES], uint64_t mask, const uint64_t *values, size_t n);
/* How many arguments of a function are in registers. */
unsigned view_n_arguments(void);

#endif
