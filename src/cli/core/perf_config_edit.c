/*
 * Sets a key in perf's configuration file. Unlike perf, which writes the file anew, this keeps comments, order and
 * all other lines. The new file takes the place of the old one at once, so that no reader sees half of it.
 */
#include "cli/core/perf_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"

/* Where in the text the assignment goes: the bytes from begin to end are replaced. */
struct perf_config_place {
	size_t begin, end;
	bool new_section;
};

/* A new key goes after the last key of its section, so that it also works where the section comes twice. */
static struct perf_config_place find_place(const struct perf_config *c, const char *key, size_t n_text)
{
	const char *dot = strrchr(key, '.');
	struct perf_config_place place = { n_text, n_text, true };

	for (size_t i = 0; i < c->entries.n; i++) {
		const struct perf_config_entry *entry = &c->entries.v[i];
		const char *own_dot = strrchr(entry->key, '.');
		bool same = own_dot - entry->key == dot - key && !memcmp(entry->key, key, (size_t)(dot - key));

		if (same)
			place = (struct perf_config_place){ entry->end, entry->end, false };
	}
	for (size_t i = 0; i < c->entries.n; i++)
		if (!strcmp(c->entries.v[i].key, key))
			place = (struct perf_config_place){ c->entries.v[i].begin, c->entries.v[i].end, false };
	return place;
}

static void put_value(struct buf *out, const char *value)
{
	size_t n = strlen(value);
	bool quote = !n || strpbrk(value, "#;\"\\\n\t\b") || value[0] == ' ' || value[n - 1] == ' ';

	if (quote)
		buf_putc(out, '"');
	for (; *value; value++) {
		const char *special = strchr("\nn\tt\bb\"\"\\\\", *value);

		if (special && (*value < ' ' || *value == '"' || *value == '\\'))
			buf_printf(out, "\\%c", *value == '"' || *value == '\\' ? *value : special[1]);
		else
			buf_putc(out, *value);
	}
	if (quote)
		buf_putc(out, '"');
}

static void put_assignment(struct buf *out, const char *key, const char *value, bool new_section)
{
	const char *dot = strrchr(key, '.');

	if (out->n && out->bytes[out->n - 1] != '\n')
		buf_putc(out, '\n');
	if (new_section) {
		size_t plain = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

		if (key + plain >= dot)
			buf_printf(out, "[%.*s]\n", (int)(dot - key), key);
		else
			buf_printf(out, "[\"%.*s\"]\n", (int)(dot - key), key);
	}
	buf_printf(out, "\t%s = ", dot + 1);
	put_value(out, value);
	buf_putc(out, '\n');
}

/* If the old assignment shares its line with the header of its section, that header stays. */
static size_t keep_header(struct str text, struct perf_config_place place)
{
	struct str line = str_n(text.s + place.begin, place.end - place.begin), trimmed = str_trim(line);
	ptrdiff_t end = trimmed.n && trimmed.s[0] == '[' ? str_find(line, ']') : -1;

	return end < 0 ? place.begin : place.begin + (size_t)end + 1;
}

static int write_new(const char *path, const struct buf *text, mode_t mode)
{
	char part[PATH_MAX];
	int fd, err;

	if (snprintf(part, sizeof(part), "%s.%d.new", path, (int)getpid()) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	err = io_write_all(fd, text->bytes, text->n);
	if (err == 0 && fchmod(fd, mode) < 0)
		err = -errno;
	if (close(fd) < 0 && err == 0)
		err = -errno;
	if (err == 0 && rename(part, path) < 0)
		err = -errno;
	if (err < 0)
		unlink(part);
	return err;
}

static int set_in(struct perf_config *c, const char *path, mode_t mode, const char *key, const char *value)
{
	scoped(buf_done) struct buf text = { 0 }, out = { 0 };
	struct perf_config_place place;
	const char *why = NULL;
	unsigned line = 0;
	int err = io_read(path, PERF_CONFIG_FILE_MAX, &text);

	if (err == -ENOENT)
		err = 0;
	if (err == 0)
		err = perf_config_parse(c, 0, buf_view(&text), &line, &why);
	if (err == -EINVAL) {
		message_text("config", "%s:%u: %s; the file is left as it is", path, line, why);
		return -EBADMSG;
	}
	if (err < 0)
		return err;
	place = find_place(c, key, text.n);
	if (!place.new_section && place.begin < place.end)
		place.begin = keep_header(buf_view(&text), place);
	buf_put(&out, text.bytes, place.begin);
	put_assignment(&out, key, value, place.new_section);
	buf_put(&out, text.bytes + place.end, text.n - place.end);
	return buf_failed(&text) || buf_failed(&out) ? -ENOMEM : write_new(path, &out, mode);
}

int perf_config_set(const char *path, const char *key, const char *value)
{
	struct perf_config c = { 0 };
	char real[PATH_MAX];
	struct stat st;
	mode_t mode = 0600;
	int err;

	if (realpath(path, real))	/* a linked file is changed, not its link */
		path = real;
	else if (errno != ENOENT)
		return -errno;
	if (stat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return -EINVAL;
		mode = st.st_mode & 0777;
	}
	err = set_in(&c, path, mode, key, value);
	perf_config_done(&c);
	return err;
}
