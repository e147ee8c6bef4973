/*
 * `tacho config` for the keys of perf: lists, prints and sets them as `perf config` does.
 */
#include "cli/core/perf_config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/core/app.h"

static void put_value(struct buf *out, const char *value)
{
	size_t from = out->n;

	buf_puts(out, value);
	buf_putc(out, '\n');
	if (!buf_failed(out))
		str_make_printable(out->bytes + from, out->n - from - 1);
}

struct config_output {
	const struct perf_config *c;
	struct buf text;
	struct json *json;		/* NULL: text */
};

static void put_entry(struct config_output *o, const struct perf_config_entry *entry)
{
	struct buf *out = &o->text;

	if (o->json) {
		json_begin(o->json, '{');
		json_member(o->json, "key", str, entry->key);
		json_member(o->json, "value", str, entry->value);
		json_member(o->json, "file", str, o->c->files.v[entry->file]);
		json_member(o->json, "line", u64, entry->line);
		json_end(o->json);
		return;
	}
	buf_printf(out, "%s=", entry->key);
	put_value(out, entry->value);
}

/* Each key once, with the value that holds. */
static void put_all(struct config_output *o)
{
	const struct perf_config *c = o->c;

	for (size_t i = 0; i < c->entries.n; i++) {
		const struct perf_config_entry *entry = &c->entries.v[i];
		size_t k = 0;

		while (strcmp(c->entries.v[k].key, entry->key) != 0)
			k++;
		if (k == i)
			put_entry(o, perf_config_find(c, entry->key));
	}
}

static int refuse_word(const char *word)
{
	struct tacho_error e = { .column = -1 };

	error_set(&e, -EINVAL, "'%s' is not a key of perf's configuration", word);
	error_hint(&e, "write section.name or section.name=value, such as report.children=false");
	message_error("config", NULL, NULL, &e);
	return EXIT_USAGE;
}

static int set_key(enum perf_config_scope scope, const char *key, const char *value)
{
	struct tacho_error e = { .column = -1 };
	char path[PATH_MAX];
	int err = perf_config_check(key, value, &e);

	if (err == -EINVAL || err == -ENOMEM) {
		message_error("config", NULL, NULL, &e);
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	if (err)		/* perf may use it */
		message_error("config", NULL, NULL, &e);
	err = perf_config_path(scope, path, sizeof(path));
	if (err == -ENOENT) {
		message_text("config", "no file to write: HOME is not set");
		return EXIT_FAILED;
	}
	if (err == 0)
		err = perf_config_set(path, key, value);
	if (err < 0 && err != -EBADMSG)
		message_text("config", "cannot write '%s': %s", path,
			     err == -EINVAL ? "it is not a regular file" : strerror(-err));
	return err < 0 ? EXIT_FAILED : 0;
}

static int run_word(struct config_output *o, const struct perf_config_request *r, const char *word)
{
	ptrdiff_t eq = str_find(str_of(word), '=');
	scoped(freep) char *key = str_dup(eq < 0 ? str_of(word) : str_n(word, (size_t)eq));
	const struct perf_config_entry *entry;

	if (!key) {
		message_text("config", "out of memory");
		return EXIT_FAILED;
	}
	if (!perf_config_is_key(key))
		return refuse_word(word);
	if (eq >= 0)
		return set_key(r->scope, key, word + eq + 1);
	entry = perf_config_find(o->c, key);
	if (entry)
		put_entry(o, entry);
	return 0;
}

static int get_values(const struct perf_config *c, const struct strlist *keys, struct buf *out)
{
	int status = 0;

	for (size_t i = 0; keys && i < keys->n; i++) {
		const char *value = perf_config_value(c, keys->v[i]);

		if (!perf_config_is_key(keys->v[i]))
			return refuse_word(keys->v[i]);
		if (value)
			put_value(out, value);
		else
			status = EXIT_FAILED;
	}
	return status;
}

static int run_words(struct config_output *o, const struct perf_config_request *r, int n_words, char **words)
{
	int failed = 0;

	if (o->json) {
		json_begin(o->json, '{');
		json_member(o->json, "schema", str, "tacho.config/1");
		json_key(o->json, "keys");
		json_begin(o->json, '[');
	}
	if (r->list)
		put_all(o);
	for (int i = 0; i < n_words && failed != EXIT_USAGE; i++) {
		int word = run_word(o, r, words[i]);

		failed = word ? word : failed;
	}
	if (o->json) {
		json_end(o->json);
		json_end(o->json);
		buf_putc(&o->text, '\n');
	}
	return failed;
}

int perf_config_command(const struct perf_config_request *r, int n_words, char **words)
{
	struct perf_config c = { 0 };
	struct config_output o = { .c = &c };
	struct json json = { .out = &o.text };
	int status = perf_config_read(&c, r->scope) < 0 ? EXIT_FAILED : 0, failed, printed;

	if (r->list && n_words) {
		message_text("config", "-l lists all keys and takes no arguments, but was given '%s'", words[0]);
		perf_config_done(&c);
		return EXIT_USAGE;
	}
	if (r->json)
		o.json = &json;
	failed = get_values(&c, r->get, &o.text);
	if (failed != EXIT_USAGE) {
		int words_failed = run_words(&o, r, n_words, words);

		failed = words_failed ? words_failed : failed;
	}
	printed = print_out("config", &o.text);
	perf_config_done(&c);
	return failed ? failed : printed ? printed : status;
}
