/*
 * The header of a recording: events with their ids, groups, tracepoint formats, and features.
 *
 * Events that could not be opened are not in the file, so the file's numbering of events may differ from the
 * sampler's.
 */
#include "recorder/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sampler.h"

#define ATTR_BYTES 256
#define DIR_VERSION 1
#define BUILD_ID_ENTRY_BYTES (36 + 64)	/* and the path, padded */

/* Writes the groups that have several open events. number[i] is event i's number in the file, UINT32_MAX if it
 * is not there. */
static void write_groups(struct tacho_recorder *r, const uint32_t *number, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t first = UINT32_MAX, members = 0;

		for (size_t k = i; k < n && tacho_sampler_event(r->sampler, k)->leader == i; k++) {
			members += number[k] != UINT32_MAX;
			first = min_of(first, number[k]);
		}
		if (members > 1)
			tacho_writer_group(r->writer, "{anon_group}", first, members);
	}
}

static int write_events(struct tacho_recorder *r)
{
	size_t n = tacho_sampler_size(r->sampler);
	scoped(freep) uint32_t *number = calloc(n + 1, sizeof(*number));
	uint32_t next = 0;

	if (!number)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct tacho_event *ev = tacho_sampler_event(r->sampler, i);
		_Alignas(uint64_t) unsigned char attr[ATTR_BYTES] = { 0 };
		const uint64_t *ids;
		uint32_t size;
		size_t n_ids;
		int err = tacho_sampler_attr(r->sampler, i, attr, sizeof(attr), NULL);

		number[i] = UINT32_MAX;
		if (err == -ENODEV)		/* could not be opened */
			continue;
		if (r->stacks)
			stack_recorder_attr(r->stacks, i, (struct perf_event_attr *)attr);
		memcpy(&size, attr + 4, sizeof(size));
		if (err == 0)
			err = tacho_sampler_ids(r->sampler, i, &ids, &n_ids);
		if (err == 0)
			err = tacho_writer_event(r->writer, ev->name, attr, size, ids, n_ids);
		if (err < 0)
			return err;
		number[i] = next++;
	}
	write_groups(r, number, n);
	return 0;
}

/* Writes the formats of the tracepoints among the events. */
static int write_tracing(struct tacho_recorder *r)
{
	size_t n = tacho_sampler_size(r->sampler), n_names = 0;
	scoped(freep) const char **names = calloc(n + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (tacho_sampler_event(r->sampler, i)->kind == TACHO_EVENT_TRACEPOINT &&
		    tacho_sampler_attr(r->sampler, i, &(char){ 0 }, 1, NULL) == 0)
			names[n_names++] = tacho_sampler_event(r->sampler, i)->name;
	return n_names ? tacho_writer_tracing(r->writer, NULL, names, n_names, &r->error) : 0;
}

/* Writes the features that do not change while records are written. */
static int write_features(struct tacho_recorder *r, const struct tacho_recorder_output *out)
{
	const struct tacho_sampler_opts *o = &r->sampler->opts;
	struct tacho_perfdata_writer *w = r->writer;
	int err = tacho_writer_host(w, NULL, NULL);

	if (err == 0)
		err = tacho_writer_string(w, TACHO_FEATURE_VERSION, tacho_version());
	if (err == 0)
		err = tacho_writer_cmdline(w, out->argv, out->n_argv);
	if (err == 0 && o->use_clockid)
		err = tacho_writer_clock(w, o->clockid);
	if (err == 0 && r->directory)
		err = tacho_writer_feature(w, TACHO_FEATURE_DIR_FORMAT, &(uint64_t){ DIR_VERSION },
					   sizeof(uint64_t));
	if (err == 0 && (o->branch_filter || o->chain == TACHO_CHAIN_LBR))
		err = tacho_writer_feature(w, TACHO_FEATURE_BRANCH_STACK, "", 0);
	return err;
}

int recorder_write_header(struct tacho_recorder *r, const struct tacho_recorder_output *out)
{
	int err = write_events(r);

	if (err == 0)
		err = write_tracing(r);
	if (err == 0 && !r->events_only)
		err = write_features(r, out);
	return err == 0 ? tacho_writer_begin(r->writer, &r->error) : err;
}

int recorder_update_features(struct tacho_recorder *r)
{
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };

	if (r->pipe || r->events_only)
		return 0;
	tacho_sampler_stats(r->sampler, SIZE_MAX, &stats);
	return tacho_writer_sample_time(r->writer, stats.first_ns, stats.last_ns);
}

/* With a size limit, entries that do not fit are left out: mmap records have the build IDs as well. */
static int write_build_id(void *arg, const struct tacho_sampled_object *o)
{
	struct tacho_recorder *r = arg;
	uint64_t size = BUILD_ID_ENTRY_BYTES + strlen(o->path);

	if (r->limit.on && size > r->reserved_bytes / 2)
		return 0;
	r->reserved_bytes -= r->limit.on ? size : 0;
	return tacho_writer_build_id(r->writer, o->kernel ? 1 : 2, -1, o->build_id, o->n_build_id, o->path);
}

int recorder_write_build_ids(struct tacho_recorder *r)
{
	if (r->pipe || r->events_only || r->no_build_ids)
		return 0;
	return tacho_sampler_objects(r->sampler, r->all_build_ids, write_build_id, r);
}
