/*
 * Copies a perf.data file with the public API: events, features, records.
 *
 *	perfdata-copy [-p] [-z LEVEL] [-H] [-k] IN OUT
 *
 * -p writes the pipe format, -z compresses, -H sets the features of this machine instead of copying them
 * (including the formats of tracepoints), -k exits like a killed recorder, without finishing. Records that
 * describe the file itself are omitted, because the writer generates its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/perfdata.h>
#include <unistd.h>

static struct tacho_error why;

static int say(const char *what, int err)
{
	fprintf(stderr, "perfdata-copy: %s: %s (%s)\n", what, why.message, strerror(-err));
	return 1;
}

static bool describes(const struct tacho_record *rec)
{
	return rec->type == TACHO_RECORD_HEADER_ATTR || rec->type == TACHO_RECORD_HEADER_FEATURE ||
	       rec->type == TACHO_RECORD_TRACING_DATA || rec->type == TACHO_RECORD_AUXTRACE;
}

static int copy_features(struct tacho_perfdata_writer *w, const struct tacho_perfdata *in)
{
	for (int f = 1; f < TACHO_FEATURE_MAX; f++) {
		size_t n;
		const void *at = tacho_perfdata_feature(in, f, &n);
		int err = at ? tacho_writer_feature(w, f, at, n) : 0;

		if (err < 0)
			return err;
	}
	return 0;
}

static int own_features(struct tacho_perfdata_writer *w, const struct tacho_perfdata *in)
{
	static const char *const argv[] = { "tacho", "record", "-a" };
	const char *names[64];
	size_t n = 0;
	int err = tacho_writer_host(w, NULL, NULL);

	for (size_t i = 0; i < tacho_perfdata_n_events(in) && n < 64; i++)
		if (strchr(tacho_perfdata_event(in, i)->name, ':') &&
		    *(const uint32_t *)tacho_perfdata_event(in, i)->attr == 2)
			names[n++] = tacho_perfdata_event(in, i)->name;
	if (err == 0)
		err = tacho_writer_cmdline(w, argv, 3);
	if (err == 0)
		err = tacho_writer_sample_time(w, 1, 2);
	if (err == 0)
		err = tacho_writer_build_id(w, 2, -1, "0123456789abcdefghij", 20, "/bin/true");
	for (size_t i = 0; i < tacho_perfdata_n_events(in) && err == 0; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(in, i);

		if (ev->leader == i && ev->group_size > 1)
			err = tacho_writer_group(w, "{group}", (uint32_t)i, ev->group_size);
	}
	if (err == 0 && n)
		err = tacho_writer_tracing(w, NULL, names, n, &why);
	return err;
}

static int copy_records(struct tacho_perfdata_writer *w, struct tacho_perfdata *in)
{
	struct tacho_record rec;
	int err;

	while ((err = tacho_perfdata_next(in, &rec, &why)) > 0) {
		if (describes(&rec))
			continue;
		err = tacho_writer_records(w, rec.bytes, rec.size, &why);
		if (err < 0)
			return err;
	}
	return err;
}

int main(int argc, char **argv)
{
	bool pipe = false, host = false, killed = false;
	struct tacho_perfdata_writer *w;
	struct tacho_perfdata *in;
	int level = 0, opt, err, fd;

	while ((opt = getopt(argc, argv, "pz:Hk")) != -1) {
		pipe |= opt == 'p';
		host |= opt == 'H';
		killed |= opt == 'k';
		level = opt == 'z' ? atoi(optarg) : level;
	}
	if (argc - optind != 2)
		return 2;
	err = tacho_perfdata_open(&in, argv[optind], NULL, &why);
	if (err < 0)
		return say(argv[optind], err);
	fd = open(argv[optind + 1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = tacho_writer_open(&w, fd,
				TACHO_OPTS(tacho_writer_opts, .pipe = pipe, .compress_level = level),
				&why);
	if (err < 0)
		return say(argv[optind + 1], err);
	for (size_t i = 0; i < tacho_perfdata_n_events(in) && err == 0; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(in, i);

		err = tacho_writer_event(w, ev->name, ev->attr, ev->attr_size, ev->ids, ev->n_ids);
	}
	if (err == 0)
		err = host ? own_features(w, in) : copy_features(w, in);
	if (err == 0)
		err = tacho_writer_begin(w, &why);
	if (err == 0)
		err = copy_records(w, in);
	if (err == 0)
		err = killed ? tacho_writer_flush(w, &why) : tacho_writer_finish(w, &why);
	if (err < 0)
		tacho_writer_finish(w, NULL);	/* makes the data so far readable */
	tacho_writer_free(w);
	tacho_perfdata_close(in);
	close(fd);
	return err < 0 ? say(argv[optind + 1], err) : 0;
}
