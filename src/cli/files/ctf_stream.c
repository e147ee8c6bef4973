/*
 * Writes the packets of a trace, one stream per CPU. A stream's file is open only while a packet is appended,
 * so that a thousand CPUs do not need a thousand file descriptors.
 */
#include "cli/files/ctf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"

#define CTF_MAGIC 0xc1fc1fc1u
#define PACKET_BYTES (32u << 10)

static void put32(struct buf *b, uint32_t v) { buf_put(b, &v, sizeof(v)); }
static void put64(struct buf *b, uint64_t v) { buf_put(b, &v, sizeof(v)); }

static struct ctf_stream *stream_of(struct ctf_streams *s, uint32_t cpu)
{
	if (cpu >= s->n) {
		size_t n = (size_t)cpu + 1;
		struct ctf_stream **v = reallocarray(s->v, n, sizeof(struct ctf_stream *));

		if (!v)
			return NULL;
		memset(v + s->n, 0, (n - s->n) * sizeof(*v));
		s->v = v;
		s->n = n;
	}
	if (!s->v[cpu])
		s->v[cpu] = calloc(1, sizeof(struct ctf_stream));
	return s->v[cpu];
}

/* Samples with an implausible CPU number go to the first stream. */
static uint32_t valid_cpu(uint32_t cpu)
{
	return cpu < CTF_CPUS_MAX ? cpu : 0;
}

struct buf *ctf_event(struct ctf_streams *s, uint32_t cpu, uint64_t time_ns, uint32_t id)
{
	struct ctf_stream *st = stream_of(s, valid_cpu(cpu));

	if (!st)
		return NULL;
	time_ns = max_of(time_ns, st->last_ns);
	if (!st->n++)
		st->first_ns = time_ns;
	st->last_ns = time_ns;
	put32(&st->events, id);
	put64(&st->events, time_ns);
	return &st->events;
}

int ctf_lost(struct ctf_streams *s, uint32_t cpu, uint64_t n)
{
	struct ctf_stream *st = stream_of(s, valid_cpu(cpu));

	if (!st)
		return -ENOMEM;
	st->lost += n;
	return 0;
}

static int write_packet(struct ctf_streams *s, uint32_t cpu)
{
	enum { HEAD_BYTES = 4 + 16 + 4, CONTEXT_BYTES = 5 * 8 + 4 };
	struct ctf_stream *st = s->v[cpu];
	uint64_t bits = (HEAD_BYTES + CONTEXT_BYTES + st->events.n) * 8;
	scoped(buf_done) struct buf head = { 0 };
	scoped(closep) int fd = -1;
	char name[32];
	int err;

	put32(&head, CTF_MAGIC);
	buf_put(&head, s->uuid, sizeof(s->uuid));
	put32(&head, 0);
	put64(&head, st->n ? st->first_ns : st->last_ns);
	put64(&head, st->last_ns);
	put64(&head, bits);
	put64(&head, bits);
	put64(&head, st->lost);
	put32(&head, cpu);
	if (buf_failed(&head) || buf_failed(&st->events))
		return -ENOMEM;
	snprintf(name, sizeof(name), "perf_stream_%u", cpu);
	fd = openat(s->dir, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return -errno;
	err = io_write_all(fd, head.bytes, head.n);
	if (err == 0)
		err = io_write_all(fd, st->events.bytes, st->events.n);
	s->bytes += bits / 8;
	buf_clear(&st->events);
	st->n = 0;
	return err;
}

int ctf_flush_full(struct ctf_streams *s, uint32_t cpu)
{
	cpu = valid_cpu(cpu);
	return s->v[cpu]->events.n < PACKET_BYTES ? 0 : write_packet(s, cpu);
}

int ctf_flush_all(struct ctf_streams *s)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < s->n && err == 0; cpu++)
		if (s->v[cpu] && (s->v[cpu]->n || s->v[cpu]->lost))
			err = write_packet(s, cpu);
	return err;
}

void ctf_streams_done(struct ctf_streams *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i])
			buf_done(&s->v[i]->events);
		free(s->v[i]);
	}
	free(s->v);
}

void ctf_remove(int dir)
{
	int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!d) {
		closep(&copy);
		return;
	}
	rewinddir(d);
	while ((entry = readdir(d)))
		if (strcmp(entry->d_name, "metadata") == 0 || strncmp(entry->d_name, "perf_stream_", 12) == 0)
			unlinkat(dir, entry->d_name, 0);
	closedir(d);
}
