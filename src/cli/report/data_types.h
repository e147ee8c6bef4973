/*
 * The data types that instructions access, for the keys type, typeoff and typecln: the instruction at the address of a sample
 * is disassembled, and its memory operand looked up in the debug data.
 */
#ifndef CLI_REPORT_DATA_TYPES_H
#define CLI_REPORT_DATA_TYPES_H

#include <tacho/profile.h>

/* Sets opts.data_type if the profile keeps data types. */
void data_types_use(struct tacho_profile_opts *opts);
/* To be called after loading: closes the debug data, and prints a message if types are unknown because a library is
 * missing. */
void data_types_finish(const char *command);

#endif
