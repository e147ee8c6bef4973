/*
 * Reads perf's configuration files. Their syntax is git's: sections, name = value, comments with # or ;, quotes
 * and backslashes. A file of another user is ignored, because an option may name programs and files.
 */
#include "cli/core/perf_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/vec.h"

#define SYSTEM_FILE "/etc/perfconfig"

struct perf_config_scan {
	struct perf_config *to;
	struct str text;
	size_t at;
	unsigned line, file;
	char section[256];
	const char *why;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static char peek(const struct perf_config_scan *s)
{
	return s->at < s->text.n ? s->text.s[s->at] : '\n';
}

static char next(struct perf_config_scan *s)
{
	char c = peek(s);

	s->line += s->at < s->text.n && c == '\n';
	s->at += s->at < s->text.n;
	return c;
}

static int damaged(struct perf_config_scan *s, const char *why)
{
	s->why = why;
	return -EINVAL;
}

static void skip_blanks(struct perf_config_scan *s)
{
	while (peek(s) == ' ' || peek(s) == '\t' || peek(s) == '\r')
		next(s);
}

static void skip_line(struct perf_config_scan *s)
{
	while (peek(s) != '\n')
		next(s);
}

/* Reads [section] or [section "sub"], whose keys are section.sub.name. */
static int scan_section(struct perf_config_scan *s)
{
	size_t n = 0;
	bool quoted = false;

	next(s);
	for (char c = peek(s); c != '\n' && (c != ']' || quoted); c = peek(s)) {
		next(s);
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (c == '\\' && quoted && peek(s) != '\n')
			c = next(s);
		if (c == ' ' && !quoted)
			c = '.';
		if (n + 1 == sizeof(s->section))
			return damaged(s, "the name of the section is too long");
		if (!quoted && !is_word(c) && c != '.')
			return damaged(s, "a section is written as [name]");
		s->section[n++] = c;
	}
	s->section[n] = '\0';
	if (next(s) != ']' || !n)
		return damaged(s, "a section is written as [name]");
	return 0;
}

/* Reads what follows the equals sign. Unquoted blanks at the end are dropped. */
static int scan_value(struct perf_config_scan *s, struct buf *out)
{
	size_t end = 0;
	bool quoted = false;

	skip_blanks(s);
	for (char c = peek(s); c != '\n' && (quoted || (c != '#' && c != ';')); c = peek(s)) {
		bool escaped = false;

		next(s);
		if (c == '"') {
			quoted = !quoted;
			end = out->n;
			continue;
		}
		if (c == '\\') {
			c = next(s);
			if (c == '\n')		/* the value goes on in the next line */
				continue;
			if (!strchr("ntb\"\\", c))
				return damaged(s, "after \\ comes one of n t b \" \\ or a new line");
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
			escaped = true;
		}
		buf_putc(out, c);
		if (quoted || escaped || (c != ' ' && c != '\t' && c != '\r'))
			end = out->n;
	}
	if (quoted)
		return damaged(s, "a quote is not closed");
	skip_line(s);
	if (!buf_failed(out) && out->bytes) {
		out->n = end;
		out->bytes[end] = '\0';
	}
	return buf_failed(out) ? -ENOMEM : 0;
}

static int scan_entry(struct perf_config_scan *s)
{
	scoped(buf_done) struct buf key = { 0 }, value = { 0 };
	size_t begin = s->at;
	unsigned line = s->line;
	struct perf_config_entry *entry;
	int err;

	while (begin && s->text.s[begin - 1] != '\n')
		begin--;
	if (!s->section[0])
		return damaged(s, "a [section] has to come first");
	buf_printf(&key, "%s.", s->section);
	while (is_word(peek(s)))
		buf_putc(&key, next(s));
	skip_blanks(s);
	if (next(s) != '=')
		return damaged(s, "a line is written as name = value");
	err = scan_value(s, &value);
	if (err < 0)
		return err;
	buf_puts(&value, "");
	entry = vec_add(&s->to->entries);
	if (!entry || buf_failed(&key))
		return -ENOMEM;
	next(s);
	*entry = (struct perf_config_entry){ .file = s->file, .line = line, .begin = begin, .end = s->at };
	entry->key = buf_take(&key);
	entry->value = value.bytes ? buf_take(&value) : strdup("");
	return entry->key && entry->value ? 0 : -ENOMEM;
}

int perf_config_parse(struct perf_config *c, unsigned file, struct str text, unsigned *line, const char **why)
{
	struct perf_config_scan s = { .to = c, .text = text, .line = 1, .file = file };
	int err = 0;

	while (err == 0 && s.at < text.n) {
		skip_blanks(&s);
		*line = s.line;
		if (peek(&s) == '\n')
			next(&s);
		else if (peek(&s) == '#' || peek(&s) == ';')
			skip_line(&s);
		else if (peek(&s) == '[')
			err = scan_section(&s);
		else if (is_word(peek(&s)))
			err = scan_entry(&s);
		else
			err = damaged(&s, "a line is written as name = value");
	}
	*why = s.why;
	return err;
}

/* Whether the file may be used: files of other users than this one and root are not. */
static bool is_trusted(const char *path, bool named)
{
	struct stat st;

	if (stat(path, &st) < 0 || named || !st.st_uid || st.st_uid == geteuid())
		return true;
	message_text(NULL, "'%s' belongs to another user and is ignored", path);
	return false;
}

static int read_file(struct perf_config *c, const char *path, bool named)
{
	scoped(buf_done) struct buf text = { 0 };
	unsigned line = 0;
	const char *why = NULL;
	int err;

	if (!is_trusted(path, named))
		return 0;
	err = io_read(path, PERF_CONFIG_FILE_MAX, &text);
	if (err == -ENOENT || err == -ENOTDIR)
		return 0;
	if (err < 0 && err != -ENOMEM) {
		message_text(NULL, "cannot read '%s': %s", path, strerror(-err));
		return -EINVAL;
	}
	if (err == 0)
		err = strlist_add(&c->files, str_of(path));
	if (err == 0)
		err = perf_config_parse(c, (unsigned)c->files.n - 1, buf_view(&text), &line, &why);
	if (err == -EINVAL)
		message_text(NULL, "%s:%u: %s; the rest of the file is ignored", path, line, why);
	return err;
}

static bool env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value && perf_config_bool(value) != 0;
}

int perf_config_path(enum perf_config_scope scope, char *out, size_t size)
{
	const char *home = getenv("HOME"), *named = getenv("PERF_CONFIG");
	int n;

	if (named && *named)
		n = snprintf(out, size, "%s", named);
	else if (scope == PERF_CONFIG_SYSTEM)
		n = snprintf(out, size, "%s", SYSTEM_FILE);
	else if (home && *home)
		n = snprintf(out, size, "%s/.perfconfig", home);
	else
		return -ENOENT;
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int perf_config_read(struct perf_config *c, enum perf_config_scope scope)
{
	const char *named = getenv("PERF_CONFIG");
	char path[PATH_MAX];
	int err = 0, user;

	if (named && *named)
		return read_file(c, named, true);
	if (scope != PERF_CONFIG_USER && !env_is_set("PERF_CONFIG_NOSYSTEM"))
		err = read_file(c, SYSTEM_FILE, false);
	if (scope == PERF_CONFIG_SYSTEM || err == -ENOMEM || env_is_set("PERF_CONFIG_NOGLOBAL") ||
	    perf_config_path(PERF_CONFIG_USER, path, sizeof(path)) < 0)
		return err;
	user = read_file(c, path, false);
	return user < 0 ? user : err;
}

void perf_config_done(struct perf_config *c)
{
	for (size_t i = 0; i < c->entries.n; i++) {
		free(c->entries.v[i].key);
		free(c->entries.v[i].value);
	}
	vec_done(&c->entries);
	strlist_done(&c->files);
}

const struct perf_config_entry *perf_config_find(const struct perf_config *c, const char *key)
{
	for (size_t i = c->entries.n; i-- > 0;)
		if (!strcmp(c->entries.v[i].key, key))
			return &c->entries.v[i];
	return NULL;
}

const char *perf_config_value(const struct perf_config *c, const char *key)
{
	const struct perf_config_entry *entry = perf_config_find(c, key);

	return entry ? entry->value : NULL;
}

bool perf_config_is_key(const char *key)
{
	const char *dot = strrchr(key, '.');

	if (!dot || dot == key || !dot[1])
		return false;
	for (const char *c = key; *c; c++)
		if (c < dot ? (unsigned char)*c < ' ' || *c == 0x7f || *c == ']' : c > dot && !is_word(*c))
			return false;
	return true;
}

int perf_config_bool(const char *value)
{
	static const char *const words[][2] = {
		{ "false", "true" }, { "off", "on" }, { "no", "yes" }, { "0", "1" },
	};

	for (size_t i = 0; i < countof(words); i++)
		for (int answer = 0; answer < 2; answer++)
			if (str_ieq(str_of(value), str_of(words[i][answer])))
				return answer;
	return -EINVAL;
}
