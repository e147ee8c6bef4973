/* A trigger's condition, fed with anything: it is understood, or the error points into the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1);
	struct tacho_error e = { .column = -1 };
	struct condition c = { 0 };

	if (!text)
		return 0;
	if (n)
		memcpy(text, bytes, n);
	text[n] = '\0';
	if (condition_parse(&c, text, &e) == 0) {
		if (!c.event || c.labels.n % 2)
			abort();
		condition_holds(&c, 1);
		condition_done(&c);
	} else if (!e.message[0] || (e.column >= 0 && (size_t)e.column > strlen(text))) {
		abort();
	}
	free(text);
	return 0;
}
