/*
 * The handler of SIGBUS finds the mapping of the faulting address in a list, and maps zero pages over the rest of it. The
 * list consists of blocks of slots that are never freed, so the handler can walk it while other threads open and close
 * mappings; a mapping is removed from its slot before it is unmapped.
 */
#include "base/file_map.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_SLOTS 64

struct slot_block {
	struct file_map *_Atomic maps[BLOCK_SLOTS];
	struct slot_block *_Atomic next;
};

static struct slot_block first_block;
static struct sigaction action_before;
static atomic_bool catches;

/* Stores the mapping in a free slot, perhaps of a new block. */
static int add_to_list(struct file_map *m)
{
	struct slot_block *b = &first_block;

	for (;;) {
		struct slot_block *next, *none = NULL;

		for (size_t i = 0; i < BLOCK_SLOTS; i++) {
			struct file_map *unused = NULL;

			if (atomic_compare_exchange_strong(&b->maps[i], &unused, m))
				return 0;
		}
		next = atomic_load(&b->next);
		if (!next) {
			next = calloc(1, sizeof(*next));
			if (!next)
				return -ENOMEM;
			if (!atomic_compare_exchange_strong(&b->next, &none, next)) {
				free(next);		/* another thread was faster */
				next = none;
			}
		}
		b = next;
	}
}

static void remove_from_list(struct file_map *m)
{
	for (struct slot_block *b = &first_block; b; b = atomic_load(&b->next))
		for (size_t i = 0; i < BLOCK_SLOTS; i++) {
			struct file_map *self = m;

			atomic_compare_exchange_strong(&b->maps[i], &self, NULL);
		}
}

static struct file_map *map_of(uintptr_t address)
{
	for (struct slot_block *b = &first_block; b; b = atomic_load(&b->next))
		for (size_t i = 0; i < BLOCK_SLOTS; i++) {
			struct file_map *m = atomic_load(&b->maps[i]);

			if (m && address - (uintptr_t)m->at < m->mapped)
				return m;
		}
	return NULL;
}

int file_map_open(struct file_map *m, int fd, size_t n, size_t slack)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped;
	void *at;
	int err;

	if (__builtin_add_overflow(n, slack + page - 1, &mapped))
		return -EFBIG;
	mapped &= ~(page - 1);
	at = mmap(NULL, mapped, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	if (mmap(at, n, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		err = -errno;
		munmap(at, mapped);
		return err;
	}
	m->at = at;
	m->n = n;
	m->mapped = mapped;
	atomic_store(&m->shrunk, false);
	err = add_to_list(m);
	if (err < 0)
		file_map_close(m);
	return err;
}

void file_map_close(struct file_map *m)
{
	if (!m->at)
		return;
	remove_from_list(m);
	munmap((void *)m->at, m->mapped);
	m->at = NULL;
	m->n = m->mapped = 0;
}

bool file_map_catches_truncation(void)
{
	return atomic_load(&catches);
}

bool file_map_shrunk(const struct file_map *m)
{
	/* The end is the first to go. Without the handler, reading it could end the program. */
	if (m->at && atomic_load(&catches))
		(void)*(const volatile uint8_t *)(m->at + m->n - 1);
	return atomic_load(&m->shrunk);
}

/* Maps zeros from the page of `address` to the end. Uses only async-signal-safe calls. */
static bool replace_rest(struct file_map *m, uintptr_t address)
{
	uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1), end = (uintptr_t)m->at + m->mapped;

	atomic_store(&m->shrunk, true);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the address is in a mapping of ours */
	return mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	int before = errno;
	uintptr_t address = (uintptr_t)info->si_addr;
	struct file_map *m = info->si_code == BUS_ADRERR ? map_of(address) : NULL;

	(void)context;
	if (!m || !replace_rest(m, address)) {
		/* A fault repeats after the return from this handler; a signal that was sent does not. */
		sigaction(sig, &action_before, NULL);
		if (info->si_code <= 0)
			raise(sig);
	}
	errno = before;
}

void file_map_catch_truncation(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_RESTART };

	if (sigaction(SIGBUS, &action, &action_before) == 0)
		atomic_store(&catches, true);
}
