/*
 * libarchive, loaded when `tacho archive` runs, so that no other command pays for it.
 */
#ifndef CLI_FILES_LIBARCHIVE_H
#define CLI_FILES_LIBARCHIVE_H

#include <tacho/common.h>

#include <archive.h>
#include <archive_entry.h>

/* The functions that are used, without the prefix "archive_". */
#define LIBARCHIVE_FUNCTIONS(f)                                                                     \
	f(error_string) f(entry_new) f(entry_free) f(entry_clear)                                   \
	f(entry_pathname) f(entry_filetype) f(entry_hardlink) f(entry_symlink) f(entry_size)        \
	f(entry_perm) f(entry_sparse_count)                                                         \
	f(entry_set_pathname) f(entry_set_filetype) f(entry_set_symlink) f(entry_set_size)          \
	f(entry_set_perm) f(entry_set_mtime) f(entry_set_uname) f(entry_set_gname)                  \
	f(read_new) f(read_support_format_tar) f(read_support_filter_bzip2)                         \
	f(read_support_filter_gzip) f(read_support_filter_xz) f(read_support_filter_zstd)           \
	f(read_open_fd) f(read_next_header) f(read_data_into_fd) f(read_extract2) f(read_free)      \
	f(write_new) f(write_set_format_gnutar) f(write_add_filter_by_name)                         \
	f(write_set_filter_option) f(write_open_fd) f(write_header) f(write_data)                   \
	f(write_finish_entry) f(write_close) f(write_free)                                          \
	f(write_disk_new) f(write_disk_set_options)

struct libarchive {
	void *handle;			/* NULL: not loaded */
	__typeof__(&archive_errno) error_code;	/* not in the list: errno is a macro */
#define FIELD(name) __typeof__(&archive_##name) name;
	LIBARCHIVE_FUNCTIONS(FIELD)
#undef FIELD
};

extern struct libarchive libarchive;

/* Loads the library; it stays loaded. 0, or -EOPNOTSUPP with a hint. */
int libarchive_load(struct tacho_error *e);
/* The negative errno of the last error of `a`; -EBADMSG for damaged input. */
int libarchive_error(struct archive *a);

#endif
