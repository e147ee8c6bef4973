/*
 * Opens the file that a running process has mapped, also when it was deleted or its path names another file now.
 */
#ifndef SYMBOL_MAPPED_FILE_H
#define SYMBOL_MAPPED_FILE_H

#include "symbol/objects.h"

/* Whether the file at an object's path is not the one that was mapped: it has another inode of the same device. Files of
 * file systems whose mappings have other device numbers than their files (btrfs, overlayfs) count as the same. */
bool mapped_file_is_replaced(const struct object *obj, int fd);
/* Opens the mapped file by /proc/PID/map_files, which needs CAP_CHECKPOINT_RESTORE or root. Returns 0, -ENOENT if the
 * process has ended or does not map the object, or another negative errno. */
int mapped_file_open(struct elf *out, const struct object *obj, const struct symbol_search *search);

#endif
