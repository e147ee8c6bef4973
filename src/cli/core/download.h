/*
 * Shows the download of debug data (see debuginfod in struct tacho_symbols_opts) on the terminal.
 */
#ifndef CLI_CORE_DOWNLOAD_H
#define CLI_CORE_DOWNLOAD_H

#include <stdint.h>

typedef int (*download_fn)(void *arg, const char *name, uint64_t done, uint64_t total);

/* For tacho_symbols_opts.progress; NULL if stderr is not a terminal. */
download_fn download_progress(void);

#endif
