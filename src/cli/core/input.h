/*
 * The recording that a command reads when no -i is given: as in perf, stdin if it is a pipe, else perf.data.
 */
#ifndef CLI_CORE_INPUT_H
#define CLI_CORE_INPUT_H

#define INPUT_HELP "read FILE; - is stdin (default: stdin if it is a pipe, else perf.data)"	/* of -i */

/*
 * Returns `given`, or if that is NULL the default: "-" if stdin is a pipe, else "perf.data". Waits until the pipe has
 * the start of a recording. If it ends first, or has other data, prints a message and returns NULL: falling back to a
 * file would show an old recording in place of the expected one.
 */
const char *input_choose(const char *command, const char *given);

#endif
