/*
 * The functions of libbpf that are used: each row of the table is a function pointer, filled in by libbpf_open(), and
 * a function of libbpf's own name that calls it. The headers declare the same names, so the compiler compares the
 * types. Skeletons and other callers are written as if libbpf were linked.
 */
#include "bpf/load_libbpf.h"

#include <errno.h>

#include "base/defs.h"
#include "base/error.h"
#include "base/shared_library.h"

/* result, name, parameters, arguments, value without the library */
#define LIBBPF_FUNCTIONS(F) \
	F(int, bpf_object__open_skeleton, (struct bpf_object_skeleton *s, const struct bpf_object_open_opts *o), (s, o), -EOPNOTSUPP) \
	F(int, bpf_object__load_skeleton, (struct bpf_object_skeleton *s), (s), -EOPNOTSUPP) \
	F(int, bpf_object__attach_skeleton, (struct bpf_object_skeleton *s), (s), -EOPNOTSUPP) \
	F(void, bpf_object__detach_skeleton, (struct bpf_object_skeleton *s), (s), ) \
	F(void, bpf_object__destroy_skeleton, (struct bpf_object_skeleton *s), (s), ) \
	F(libbpf_print_fn_t, libbpf_set_print, (libbpf_print_fn_t fn), (fn), NULL) \
	F(int, bpf_map__fd, (const struct bpf_map *m), (m), -1) \
	F(int, bpf_map__set_max_entries, (struct bpf_map *m, __u32 n), (m, n), -EOPNOTSUPP) \
	F(int, bpf_map__set_value_size, (struct bpf_map *m, __u32 n), (m, n), -EOPNOTSUPP) \
	F(int, bpf_map_update_elem, (int fd, const void *k, const void *v, __u64 flags), (fd, k, v, flags), -EOPNOTSUPP) \
	F(int, bpf_map_lookup_elem, (int fd, const void *k, void *v), (fd, k, v), -EOPNOTSUPP) \
	F(int, bpf_map_delete_elem, (int fd, const void *k), (fd, k), -EOPNOTSUPP) \
	F(int, bpf_map_lookup_batch, (int fd, void *in, void *out, void *k, void *v, __u32 *n, const struct bpf_map_batch_opts *o), (fd, in, out, k, v, n, o), -EOPNOTSUPP) \
	F(int, bpf_map_get_next_key, (int fd, const void *k, void *next), (fd, k, next), -EOPNOTSUPP) \
	F(int, bpf_map_create, (enum bpf_map_type t, const char *name, __u32 k, __u32 v, __u32 n, const struct bpf_map_create_opts *o), (t, name, k, v, n, o), -EOPNOTSUPP) \
	F(int, bpf_map_freeze, (int fd), (fd), -EOPNOTSUPP) \
	F(int, bpf_map_get_next_id, (__u32 id, __u32 *next), (id, next), -EOPNOTSUPP) \
	F(int, bpf_map_get_fd_by_id, (__u32 id), (id), -EOPNOTSUPP) \
	F(int, bpf_prog_test_run_opts, (int fd, struct bpf_test_run_opts *o), (fd, o), -EOPNOTSUPP) \
	F(int, bpf_program__set_autoload, (struct bpf_program *p, bool on), (p, on), -EOPNOTSUPP) \
	F(int, bpf_program__fd, (const struct bpf_program *p), (p), -1) \
	F(struct bpf_link *, bpf_program__attach, (const struct bpf_program *p), (p), NULL) \
	F(struct bpf_link *, bpf_program__attach_perf_event, (const struct bpf_program *p, int fd), (p, fd), NULL) \
	F(struct bpf_link *, bpf_program__attach_perf_event_opts, (const struct bpf_program *p, int fd, const struct bpf_perf_event_opts *o), (p, fd, o), NULL) \
	F(int, bpf_obj_get_info_by_fd, (int fd, void *info, __u32 *n), (fd, info, n), -EOPNOTSUPP) \
	F(struct bpf_link *, bpf_program__attach_tracepoint, (const struct bpf_program *p, const char *c, const char *n), (p, c, n), NULL) \
	F(int, bpf_link__destroy, (struct bpf_link *l), (l), 0) \
	F(int, bpf_obj_pin, (int fd, const char *path), (fd, path), -EOPNOTSUPP) \
	F(int, bpf_obj_get, (const char *path), (path), -EOPNOTSUPP) \
	F(struct btf *, btf__load_vmlinux_btf, (void), (), NULL) \
	F(void, btf__free, (struct btf *b), (b), ) \
	F(__s32, btf__find_by_name_kind, (const struct btf *b, const char *name, __u32 kind), (b, name, kind), -EOPNOTSUPP) \
	F(const struct btf_type *, btf__type_by_id, (const struct btf *b, __u32 id), (b, id), NULL) \
	F(const char *, btf__name_by_offset, (const struct btf *b, __u32 at), (b, at), NULL) \
	F(int, libbpf_num_possible_cpus, (void), (), -EOPNOTSUPP) \
	F(struct ring_buffer *, ring_buffer__new, (int fd, ring_buffer_sample_fn fn, void *arg, const struct ring_buffer_opts *o), (fd, fn, arg, o), NULL) \
	F(void, ring_buffer__free, (struct ring_buffer *r), (r), ) \
	F(int, ring_buffer__consume, (struct ring_buffer *r), (r), -EOPNOTSUPP) \
	F(int, ring_buffer__epoll_fd, (const struct ring_buffer *r), (r), -1)

#define DEFINE(type, name, params, args, without) \
	static type (*p_##name) params; \
	type name params \
	{ \
		if (!p_##name) \
			return without; \
		return p_##name args; \
	}
LIBBPF_FUNCTIONS(DEFINE)

static const struct libbpf_function {
	const char *name;
	void **at;
} functions[] = {
#define ENTRY(type, name, params, args, without) { #name, (void **)&p_##name },
	LIBBPF_FUNCTIONS(ENTRY)
};

int libbpf_open(struct tacho_error *e)
{
	static void *library;

	libbpf_forget_message();
	if (library)
		return 0;
	library = shared_library_open("libbpf.so.1");
	for (size_t i = 0; library && i < countof(functions); i++) {
		*functions[i].at = shared_library_find(library, functions[i].name);
		if (!*functions[i].at) {
			error_set(e, -EOPNOTSUPP, "libbpf.so.1 has no function %s", functions[i].name);
			error_hint(e, "it is too old: install libbpf 1.0 or later");
			shared_library_close(library);
			library = NULL;
			return -EOPNOTSUPP;
		}
	}
	if (!library) {
		error_set(e, -EOPNOTSUPP, "BPF programs need libbpf.so.1, which is not installed");
		error_hint(e, "install libbpf (Debian: libbpf1)");
		return -EOPNOTSUPP;
	}
	libbpf_set_print(libbpf_keep_message);
	return 0;
}
