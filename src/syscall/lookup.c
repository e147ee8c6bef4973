/*
 * Finding system calls by number, name and expression, and the parsed form of their arguments, which is built once.
 */
#include "syscall/syscall.h"

#include <errno.h>
#include <pthread.h>
#include <regex.h>

#include "base/error.h"

#define MAX_CALLS 400

static struct call_spec specs[MAX_CALLS];
static int16_t by_nr[2][TACHO_SYSCALL_MAX];	/* index in the table plus one */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint8_t length_of(struct str text)
{
	if (str_is(text, "ret"))
		return TACHO_LENGTH_RETURNED;
	if (text.n == 2 && text.s[0] == '*')
		return (uint8_t)(TACHO_LENGTH_POINTED_TO + (text.s[1] - '0'));
	return (uint8_t)(text.s[0] - '0');
}

static void parse_arg(struct arg_spec *a, struct str text)
{
	struct str type, length;

	str_cut(&text, ':', &a->name);
	if (str_starts(text, ">")) {
		a->output = true;
		text = str_n(text.s + 1, text.n - 1);
	}
	str_cut(&text, '[', &type);
	a->length_from = TACHO_LENGTH_FIXED;
	if (str_cut(&text, ']', &length) && length.n)
		a->length_from = length_of(length);
	a->type = arg_type_find(type);
	if (!a->type)
		a->flags = flag_set_find(type);
	if (!a->type && !a->flags)
		a->type = arg_type_find(STR_LIT("hex"));	/* a unit test finds such types */
}

static bool is_one_of(const struct tacho_syscall *sc, const char *names)
{
	struct str rest = str_of(names), one;

	while (str_cut(&rest, ' ', &one))
		if (str_is(one, sc->name))
			return true;
	return false;
}

static void set_returned(const struct tacho_syscall *sc, struct call_spec *spec)
{
	spec->returns_fd = is_one_of(sc, "open openat openat2 creat socket accept accept4 dup dup2 dup3 epoll_create epoll_create1 "
				     "eventfd eventfd2 signalfd signalfd4 timerfd_create inotify_init inotify_init1 memfd_create "
				     "memfd_secret perf_event_open userfaultfd pidfd_open pidfd_getfd fanotify_init mq_open "
				     "open_by_handle_at open_tree open_tree_attr fsopen fsmount fspick io_uring_setup "
				     "landlock_create_ruleset");
	spec->returns_address = is_one_of(sc, "mmap mremap brk shmat");
	spec->never_returns = is_one_of(sc, "exit exit_group");
}

static void parse_table(void)
{
	for (size_t i = 0; i < n_syscalls && i < MAX_CALLS; i++) {
		struct str rest = str_of(syscall_table[i].args), one;

		while (specs[i].n < TACHO_SYSCALL_ARGS && str_cut(&rest, ' ', &one))
			if (one.n)
				parse_arg(&specs[i].args[specs[i].n++], one);
		set_returned(&syscall_table[i], &specs[i]);
		for (size_t arch = 0; arch < 2; arch++)
			if (syscall_table[i].nr[arch] >= 0)
				by_nr[arch][syscall_table[i].nr[arch]] = (int16_t)(i + 1);
	}
}

const struct call_spec *call_spec_of(const struct tacho_syscall *sc)
{
	pthread_once(&once, parse_table);
	return &specs[sc - syscall_table];
}

int tacho_syscall_host_arch(void)
{
#if defined(__x86_64__)
	return TACHO_SYSCALL_X86_64;
#elif defined(__aarch64__)
	return TACHO_SYSCALL_ARM64;
#else
	return -EOPNOTSUPP;
#endif
}

const struct tacho_syscall *tacho_syscall_by_nr(enum tacho_syscall_arch arch, uint64_t nr)
{
	pthread_once(&once, parse_table);
	if (nr >= TACHO_SYSCALL_MAX || (unsigned)arch > 1 || !by_nr[arch][nr])
		return NULL;
	return &syscall_table[by_nr[arch][nr] - 1];
}

/* Names of the C library and of older kernels. */
static const struct { const char *alias, *name; } aliases[] = {
	{ "fstatat", "newfstatat" }, { "fstatat64", "newfstatat" }, { "newstat", "stat" }, { "newfstat", "fstat" },
	{ "newlstat", "lstat" }, { "newuname", "uname" }, { "umount", "umount2" }, { "pread", "pread64" },
	{ "pwrite", "pwrite64" }, { "sendfile64", "sendfile" }, { "prlimit", "prlimit64" }, { "fadvise", "fadvise64" },
	{ "arch_prctl", "arch_prctl" },
};

const struct tacho_syscall *tacho_syscall_by_name(const char *name)
{
	for (size_t i = 0; i < n_syscalls; i++)
		if (!strcmp(syscall_table[i].name, name))
			return &syscall_table[i];
	for (size_t i = 0; i < countof(aliases); i++)
		if (!strcmp(aliases[i].alias, name) && strcmp(name, aliases[i].name) != 0)
			return tacho_syscall_by_name(aliases[i].name);
	return NULL;
}

const char *tacho_syscall_tracepoint_name(const struct tacho_syscall *sc)
{
	static const struct { const char *name, *event; } others[] = {
		{ "stat", "newstat" }, { "fstat", "newfstat" }, { "lstat", "newlstat" }, { "uname", "newuname" },
		{ "umount2", "umount" }, { "sendfile", "sendfile64" },
	};

	for (size_t i = 0; i < countof(others); i++)
		if (!strcmp(sc->name, others[i].name))
			return others[i].event;
	return sc->name;
}

int tacho_syscall_nr(const struct tacho_syscall *sc, enum tacho_syscall_arch arch)
{
	return (unsigned)arch > 1 || sc->nr[arch] < 0 ? -ENOSYS : sc->nr[arch];
}

const char *tacho_syscall_name(const struct tacho_syscall *sc)
{
	return sc->name;
}

unsigned tacho_syscall_n_args(const struct tacho_syscall *sc)
{
	return call_spec_of(sc)->n;
}

static const struct arg_spec *arg_of(const struct tacho_syscall *sc, unsigned arg)
{
	static const struct arg_spec none = { .length_from = TACHO_LENGTH_FIXED };
	const struct call_spec *spec = call_spec_of(sc);

	return arg < spec->n ? &spec->args[arg] : &none;
}

size_t tacho_syscall_arg_name(const struct tacho_syscall *sc, unsigned arg, const char **name)
{
	const struct arg_spec *a = arg_of(sc, arg);

	*name = a->name.s;
	return a->name.n;
}

bool tacho_syscall_arg_is_output(const struct tacho_syscall *sc, unsigned arg)
{
	return arg_of(sc, arg)->output;
}

static bool has_type(const struct tacho_syscall *sc, unsigned arg, const char *type)
{
	const struct arg_spec *a = arg_of(sc, arg);

	return a->type && !strcmp(a->type->name, type);
}

bool tacho_syscall_arg_is_fd(const struct tacho_syscall *sc, unsigned arg)
{
	return has_type(sc, arg, "fd") || has_type(sc, arg, "at");
}

bool tacho_syscall_arg_is_path(const struct tacho_syscall *sc, unsigned arg)
{
	return has_type(sc, arg, "path");
}

bool tacho_syscall_returns_fd(const struct tacho_syscall *sc)
{
	return call_spec_of(sc)->returns_fd;
}

bool tacho_syscall_returns_address(const struct tacho_syscall *sc)
{
	return call_spec_of(sc)->returns_address;
}

bool tacho_syscall_never_returns(const struct tacho_syscall *sc)
{
	return call_spec_of(sc)->never_returns;
}

static bool has_arg(const struct tacho_syscall *sc, bool (*is)(const struct tacho_syscall *, unsigned))
{
	for (unsigned i = 0; i < TACHO_SYSCALL_ARGS; i++)
		if (is(sc, i))
			return true;
	return false;
}

static bool is_file_call(const struct tacho_syscall *sc)
{
	return has_arg(sc, tacho_syscall_arg_is_path) || is_one_of(sc, "getcwd");
}

static bool is_desc_call(const struct tacho_syscall *sc)
{
	return has_arg(sc, tacho_syscall_arg_is_fd) || tacho_syscall_returns_fd(sc) ||
	       is_one_of(sc, "pipe pipe2 poll ppoll select pselect6 socketpair close_range");
}

static const struct { const char *name; uint16_t bits; bool (*is)(const struct tacho_syscall *sc); const char *calls; } classes[] = {
	{ "file", 0, is_file_call, NULL },
	{ "desc", 0, is_desc_call, NULL },
	{ "process", SYSCALL_PROCESS, NULL, NULL },
	{ "signal", SYSCALL_SIGNAL, NULL, NULL },
	{ "ipc", SYSCALL_IPC, NULL, NULL },
	{ "network", SYSCALL_NETWORK, NULL, NULL },
	{ "net", SYSCALL_NETWORK, NULL, NULL },
	{ "memory", SYSCALL_MEMORY, NULL, NULL },
	{ "creds", SYSCALL_CREDS, NULL, NULL },
	{ "clock", SYSCALL_CLOCK, NULL, NULL },
	{ "pure", SYSCALL_PURE, NULL, NULL },
	{ "stat", 0, NULL, "stat" },
	{ "lstat", 0, NULL, "lstat" },
	{ "fstat", 0, NULL, "fstat newfstatat" },
	{ "%stat", 0, NULL, "stat lstat fstat newfstatat statx" },
	{ "statfs", 0, NULL, "statfs" },
	{ "fstatfs", 0, NULL, "fstatfs" },
	{ "%statfs", 0, NULL, "statfs fstatfs ustat" },
};

/* Whether a call is in class i. */
static bool is_in_class(const struct tacho_syscall *sc, size_t i)
{
	return (sc->classes & classes[i].bits) || (classes[i].is && classes[i].is(sc)) ||
	       (classes[i].calls && is_one_of(sc, classes[i].calls));
}

static int select_regex(struct str one, const struct tacho_syscall *sc, regex_t *re)
{
	(void)one;
	return regexec(re, sc->name, 0, NULL, 0) == 0;
}

/* Sets the bits of one word. Returns how many calls it matches, or a negative errno. */
static int select_word(struct str one, enum tacho_syscall_arch arch, uint64_t *bits)
{
	char name[256];
	regex_t re;
	bool is_regex = str_starts(one, "/"), is_class = str_starts(one, "%") ;
	size_t class_i = 0;
	int n = 0;

	if (one.n >= sizeof(name))
		return -EINVAL;
	memcpy(name, one.s, one.n);
	name[one.n] = '\0';
	for (; class_i < countof(classes); class_i++)
		if (is_class && !strcmp(classes[class_i].name, name + 1))
			break;
	if (is_class && class_i == countof(classes))
		return 0;
	if (is_regex && regcomp(&re, name + 1, REG_EXTENDED | REG_NOSUB) != 0)
		return -EINVAL;
	for (size_t i = 0; i < n_syscalls; i++) {
		const struct tacho_syscall *sc = &syscall_table[i];
		bool hit = is_class ? is_in_class(sc, class_i) : is_regex ? select_regex(one, sc, &re) :
			   str_is(one, "all") || str_glob(one, str_of(sc->name)) || sc == tacho_syscall_by_name(name);
		int nr = hit ? tacho_syscall_nr(sc, arch) : -1;

		if (hit)
			n++;
		if (nr >= 0)
			bits[nr / 64] |= 1ull << (nr & 63);
	}
	if (is_regex)
		regfree(&re);
	return n;
}

static void hint_nearest(struct str one, struct tacho_error *e)
{
	struct str_nearest near = { .word = one };

	for (size_t i = 0; i < n_syscalls; i++)
		str_nearest_try(&near, str_of(syscall_table[i].name));
	if (near.distance)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
}

int tacho_syscall_select(const char *expr, enum tacho_syscall_arch arch, uint64_t bits[TACHO_SYSCALL_MAX / 64],
			 struct tacho_error *e)
{
	struct str rest = str_of(expr), one;
	bool others = str_starts(rest, "!");
	int n = 0;

	call_spec_of(syscall_table);
	memset(bits, 0, TACHO_SYSCALL_MAX / 8);
	if (others)
		rest = str_n(rest.s + 1, rest.n - 1);
	while (str_cut(&rest, ',', &one)) {
		if (!one.n || str_is(one, "none"))
			continue;
		n = select_word(one.s[0] == '?' ? str_n(one.s + 1, one.n - 1) : one, arch, bits);
		if (n == 0 && one.s[0] == '?')
			continue;	/* strace: the name may be unknown */
		if (n <= 0) {
			error_set(e, -EINVAL, "'%.*s' is not a system call%s", STR(one),
				  one.s[0] == '%' ? " class" : "");
			error_at(e, (size_t)(one.s - expr), one.n);
			hint_nearest(one, e);
			return -EINVAL;
		}
	}
	n = 0;
	for (size_t i = 0; i < TACHO_SYSCALL_MAX / 64; i++) {
		if (others)
			bits[i] = ~bits[i];
		n += __builtin_popcountll(bits[i]);
	}
	return n;
}

void tacho_syscall_captures(const struct tacho_syscall *sc, unsigned string_bytes,
			    struct tacho_syscall_capture out[TACHO_SYSCALL_ARGS])
{
	const struct call_spec *spec = call_spec_of(sc);
	unsigned limit = string_bytes < 4000 ? string_bytes + 1 : 4000;

	memset(out, 0, TACHO_SYSCALL_ARGS * sizeof(*out));
	for (size_t i = 0; i < spec->n; i++) {
		const struct arg_spec *a = &spec->args[i];

		if (!a->type || !a->type->capture)
			continue;
		out[i].kind = a->type->capture;
		out[i].when = a->output ? TACHO_CAPTURE_AT_EXIT : TACHO_CAPTURE_AT_ENTRY;
		if (a->type->both)
			out[i].when = TACHO_CAPTURE_AT_ENTRY | TACHO_CAPTURE_AT_EXIT;
		out[i].length_from = a->length_from;
		out[i].unit = a->type->unit ? a->type->unit : 1;
		out[i].max = a->type->bytes ? a->type->bytes : (uint16_t)limit;
	}
}
