/*
 * The last warning of libbpf, which is the reason why a program could not be loaded.
 */
#include "bpf/load_libbpf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char last_message[400];

/* Stores the last warning. The first line of the verifier's log is the reason in most cases, but the library prints
 * the log as one message after a marker. */
int libbpf_keep_message(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[sizeof(last_message)];
	char *end;

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	end = strchr(text, '\n');
	if (end)
		*end = '\0';
	if (!last_message[0] || strstr(text, "failed"))
		snprintf(last_message, sizeof(last_message), "%s",
			 strncmp(text, "libbpf: ", 8) == 0 ? text + 8 : text);
	return 0;
}

void libbpf_forget_message(void)
{
	last_message[0] = '\0';
}

const char *libbpf_last_message(void)
{
	return last_message;
}
