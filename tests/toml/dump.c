/* Prints a TOML file as the tagged JSON of the toml-test suite; exit status 1 where it is refused. */
#include <stdio.h>

#include "base/io.h"
#include "base/json.h"
#include "base/toml.h"

static const char *const tags[] = {
	[TOML_STRING] = "string", [TOML_INTEGER] = "integer", [TOML_FLOAT] = "float",
	[TOML_BOOL] = "bool", [TOML_DATETIME] = "datetime", [TOML_LOCAL_DATETIME] = "datetime-local",
	[TOML_DATE] = "date-local", [TOML_TIME] = "time-local",
};

static void put(struct buf *out, const struct toml_value *v)
{
	char open = v->kind == TOML_TABLE ? '{' : '[', close = v->kind == TOML_TABLE ? '}' : ']';

	if (v->kind < TOML_ARRAY) {
		buf_printf(out, "{\"type\": \"%s\", \"value\": ", tags[v->kind]);
		if (v->kind == TOML_INTEGER)
			buf_printf(out, "\"%lld\"", (long long)v->integer);
		else if (v->kind == TOML_FLOAT)
			buf_printf(out, "\"%.17g\"", v->real);
		else if (v->kind == TOML_BOOL)
			buf_puts(out, v->boolean ? "\"true\"" : "\"false\"");
		else
			json_quote(out, v->text);
		buf_putc(out, '}');
		return;
	}
	buf_putc(out, open);
	for (const struct toml_value *m = v->first; m; m = m->next) {
		if (m != v->first)
			buf_puts(out, ", ");
		if (v->kind == TOML_TABLE) {
			json_quote(out, m->key);
			buf_puts(out, ": ");
		}
		put(out, m);
	}
	buf_putc(out, close);
}

int main(int argc, char **argv)
{
	struct buf text = { 0 }, out = { 0 };
	struct tacho_error e = { 0 };
	struct toml doc;

	if (argc != 2 || io_read(argv[1], IO_FILE_MAX, &text))
		return 2;
	if (toml_parse(&doc, buf_view(&text), &e)) {
		printf("%d:%d: %s\n", doc.at.line, doc.at.column, e.message);
		buf_done(&text);
		return 1;
	}
	put(&out, doc.root);
	puts(out.bytes);
	toml_done(&doc);
	buf_done(&text);
	buf_done(&out);
	return 0;
}
