/*
 * Live data as Server-Sent Events: one frame per batch, formatted once for all clients.
 *
 *	event: batch
 *	data: {"t":1700000000123,"source":"system","p":[[ID,VALUE,STATE],...]}
 *
 * A client that reads too slowly loses its oldest frames and receives their number; the collector never
 * waits. A stream without data gets a comment every 15 s, so that dead connections are noticed.
 */
#include "agent/http/request.h"

#include <errno.h>
#include <stdio.h>

#include "agent/core/collector.h"
#include "base/clock.h"

#define MAX_STREAMS 64
#define STREAM_BYTES (512u << 10)	/* limit of unsent data per client */
#define HEARTBEAT_NS 15000000000ull

struct live_connection {
	struct live *live;
	struct MHD_Connection *connection;
	struct buf waiting;
	size_t sent;			/* bytes of `waiting` already sent */
	uint64_t lost;			/* number of dropped frames */
	bool mid_frame;			/* `waiting` begins in the middle of a frame */
	bool suspended;
	char *source;			/* only batches of this source; NULL: all */
};

struct live {
	struct agent *agent;
	pthread_mutex_t lock;
	struct live_connection *streams[MAX_STREAMS];
	size_t n;
	bool ended, listening;
	uint64_t heartbeat_ns;
	struct buf frame;
};

static void on_batch(void *arg, const struct point_batch *b);

int live_new(struct live **out, struct agent *a)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->agent = a;
	pthread_mutex_init(&l->lock, NULL);
	if (a->collector && collector_listen_live(a->collector, on_batch, l) == 0)
		l->listening = true;
	*out = l;
	return 0;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	buf_done(&l->frame);
	free(l);
}

static void resume(struct live_connection *st)
{
	if (st->suspended) {
		st->suspended = false;
		MHD_resume_connection(st->connection);
	}
}

void live_end(struct live *l)
{
	if (!l)
		return;
	if (l->listening)
		collector_unlisten(l->agent->collector, on_batch, l);
	pthread_mutex_lock(&l->lock);
	l->ended = true;
	for (size_t i = 0; i < l->n; i++)
		resume(l->streams[i]);
	pthread_mutex_unlock(&l->lock);
}

/* ---- frames ---- */

static void format_frame(struct live *l, const struct point_batch *b)
{
	struct json j = { .out = &l->frame };

	buf_clear(&l->frame);
	l->frame.bad = false;
	buf_puts(&l->frame, "event: batch\ndata: ");
	json_begin(&j, '{');
	json_member(&j, "t", i64, b->time_ns / 1000000);
	json_member(&j, "source", str, b->source);
	json_key(&j, "p");
	json_begin(&j, '[');
	for (size_t i = 0; i < b->n_points; i++) {
		json_begin(&j, '[');
		json_u64(&j, b->points[i].series);
		put_value(&j, b->points[i].value);
		json_u64(&j, (uint64_t)b->points[i].state);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_puts(&l->frame, "\n\n");
}

/* Removes sent data from the buffer, which would otherwise grow if the client never catches up. */
static void remove_sent(struct live_connection *st)
{
	if (st->sent == 0)
		return;
	st->mid_frame = st->waiting.n > st->sent &&
			!(st->sent >= 2 && !memcmp(st->waiting.bytes + st->sent - 2, "\n\n", 2));
	memmove(st->waiting.bytes, st->waiting.bytes + st->sent, st->waiting.n - st->sent);
	st->waiting.n -= st->sent;
	st->sent = 0;
}

static uint64_t count_batches(struct str text)
{
	static const char head[] = "event: batch\n";
	const char *at;
	uint64_t n = 0;

	while (text.n && (at = memmem(text.s, text.n, head, sizeof(head) - 1))) {
		n++;
		at += sizeof(head) - 1;
		text = str_n(at, text.n - (size_t)(at - text.s));
	}
	return n;
}

/* Drops the waiting frames, except the rest of a frame whose beginning was already sent. */
static void drop_frames(struct live_connection *st)
{
	const char *end = st->mid_frame ? memmem(st->waiting.bytes, st->waiting.n, "\n\n", 2) : NULL;
	size_t kept = end ? (size_t)(end - st->waiting.bytes) + 2 : 0;

	st->lost += count_batches(str_n(st->waiting.bytes + kept, st->waiting.n - kept));
	st->waiting.n = kept;
	buf_printf(&st->waiting, "event: lost\ndata: %llu\n\n", (unsigned long long)st->lost);
}

/* Appends a frame. If the buffer is full, the old frames are dropped: a live view needs the newest. */
static void append_frame(struct live_connection *st, struct str frame)
{
	if (st->sent > STREAM_BYTES / 8 || st->waiting.n - st->sent + frame.n > STREAM_BYTES)
		remove_sent(st);
	if (st->waiting.n - st->sent + frame.n > STREAM_BYTES)
		drop_frames(st);
	buf_str(&st->waiting, frame);
	resume(st);
}

static void on_batch(void *arg, const struct point_batch *b)
{
	struct live *l = arg;
	uint64_t now = clock_mono_ns();

	pthread_mutex_lock(&l->lock);
	if (l->n) {
		format_frame(l, b);
		for (size_t i = 0; i < l->n && !buf_failed(&l->frame); i++)
			if (!l->streams[i]->source || !strcmp(l->streams[i]->source, b->source))
				append_frame(l->streams[i], buf_view(&l->frame));
		for (size_t i = 0; i < l->n && now > l->heartbeat_ns; i++)
			append_frame(l->streams[i], STR_LIT(": beat\n\n"));
		if (now > l->heartbeat_ns)
			l->heartbeat_ns = now + HEARTBEAT_NS;
	}
	pthread_mutex_unlock(&l->lock);
}

/* ---- one stream ---- */

static ssize_t read_stream(void *cls, uint64_t pos, char *out, size_t max)
{
	struct live_connection *st = cls;
	struct live *l = st->live;
	bool ended;
	size_t n;

	(void)pos;
	pthread_mutex_lock(&l->lock);
	ended = l->ended;
	n = min_of(max, st->waiting.n - st->sent);
	if (n) {
		memcpy(out, st->waiting.bytes + st->sent, n);
		st->sent += n;
		if (st->sent == st->waiting.n) {
			buf_clear(&st->waiting);
			st->sent = 0;
			st->mid_frame = false;
		}
	} else if (!ended) {
		st->suspended = true;
		MHD_suspend_connection(st->connection);
	}
	pthread_mutex_unlock(&l->lock);
	return n || !ended ? (ssize_t)n : MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_stream(void *cls)
{
	struct live_connection *st = cls;
	struct live *l = st->live;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->n; i++)
		if (l->streams[i] == st) {
			l->streams[i] = l->streams[--l->n];
			break;
		}
	pthread_mutex_unlock(&l->lock);
	buf_done(&st->waiting);
	free(st->source);
	free(st);
}

static int add_stream(struct live *l, struct live_connection *st)
{
	int err = -EUSERS;

	pthread_mutex_lock(&l->lock);
	if (l->n < MAX_STREAMS && !l->ended) {
		l->streams[l->n++] = st;
		err = 0;
	}
	pthread_mutex_unlock(&l->lock);
	return err;
}

void page_live(struct request *q)
{
	struct live *l = http_live(q->http);
	struct live_connection *st = calloc(1, sizeof(*st));
	const char *source = request_arg(q, "source");

	if (st) {
		st->live = l;
		st->connection = q->connection;
		st->source = source ? strdup(source) : NULL;
		buf_puts(&st->waiting, "retry: 2000\n\n");
	}
	if (!st || add_stream(l, st) < 0) {
		if (st)
			free_stream(st);
		request_fail(q, 503, "%d live streams are open: close one", MAX_STREAMS);
		return;
	}
	q->response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_stream, st,
							free_stream);
	if (!q->response) {
		free_stream(st);
		request_fail(q, 500, "out of memory");
		return;
	}
	http_mark_stream(q);
	MHD_add_response_header(q->response, "Content-Type", "text/event-stream");
	MHD_add_response_header(q->response, "X-Accel-Buffering", "no");
}
