/*
 * Prints the content of a perf.data file as read by the library, one fact per line, for comparison in tests.
 *
 *	perfdata-dump [-o] [-s] FILE
 *
 * -o reads in time order, -s prints counts by type instead of every record.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tacho/perfdata.h>
#include <unistd.h>

static void print_events(const struct tacho_perfdata *pd)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);
		uint64_t words[8];

		memcpy(words, ev->attr, sizeof(words));
		printf("event %zu %s attr %zu type %" PRIu32 " config %#" PRIx64 " sample_type %#" PRIx64
		       " flags %#" PRIx64 " leader %u of %u ids", i, ev->name, ev->attr_size,
		       (uint32_t)words[0], words[1], ev->layout.sample_type, words[5], ev->leader,
		       ev->group_size);
		for (size_t k = 0; k < ev->n_ids; k++)
			printf(" %" PRIu64, ev->ids[k]);
		printf("\n");
	}
}

static void print_features(const struct tacho_perfdata *pd)
{
	for (int f = 0; f < TACHO_FEATURE_MAX; f++) {
		const char *text = tacho_perfdata_string(pd, f);
		size_t n;

		if (tacho_perfdata_feature(pd, f, &n))
			printf("feature %d %zu%s%s\n", f, n, text ? " " : "", text ? text : "");
	}
}

static void print_record(const struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(pd, rec);
	uint64_t time = UINT64_MAX;

	if (event >= 0)
		time = tacho_record_time(rec, &tacho_perfdata_event(pd, event)->layout);
	printf("record %u size %u at %" PRIu64 " event %d", rec->type, rec->size, rec->offset, event);
	if (time != UINT64_MAX)
		printf(" time %" PRIu64, time);
	printf("\n");
}

int main(int argc, char **argv)
{
	static uint64_t types[256];
	bool ordered = false, summary = false;
	struct tacho_error e = { 0 };
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	int opt, err;

	while ((opt = getopt(argc, argv, "os")) != -1) {
		ordered |= opt == 'o';
		summary |= opt == 's';
	}
	if (argc - optind != 1)
		return 2;
	err = tacho_perfdata_open(&pd, argv[optind],
				  TACHO_OPTS(tacho_perfdata_opts, .ordered = ordered), &e);
	if (err < 0) {
		printf("error %d %s\n", err, e.message);
		return 1;
	}
	print_events(pd);
	while ((err = tacho_perfdata_next(pd, &rec, &e)) > 0) {
		types[rec.type & 255]++;
		if (!summary)
			print_record(pd, &rec);
	}
	print_features(pd);
	for (int i = 0; i < 256 && summary; i++)
		if (types[i])
			printf("type %d %" PRIu64 "\n", i, types[i]);
	if (tacho_perfdata_warning(pd))
		printf("warning %s\n", tacho_perfdata_warning(pd));
	if (err < 0)
		printf("error %d %s\n", err, e.message);
	printf("swapped %d pipe %d\n", tacho_perfdata_swapped(pd), tacho_perfdata_is_pipe(pd));
	tacho_perfdata_close(pd);
	return err < 0;
}
