/*
 * The screen of one function, for the browser of `tacho report` and for `tacho annotate`.
 */
#ifndef CLI_BROWSER_ANNOTATE_VIEW_H
#define CLI_BROWSER_ANNOTATE_VIEW_H

#include "cli/annotate/annotate.h"
#include "cli/browser/browser.h"

struct annotate_shown {
	struct screen *screen;
	const char *title;		/* the first line */
	const char *name;		/* of the function */
	uint64_t all_samples, all_period;	/* what global percentages refer to */
	struct source_files *sources;	/* NULL: no source lines */
	bool source;			/* source lines are shown at first */
};

/* Shows the function until the user leaves it. Returns 0 or -ENOMEM. */
int annotate_show(const struct annotate_shown *what, const struct annotate *a);

#endif
