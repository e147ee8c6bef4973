/* Takes the place of the page until it is there. */
#include "agent/http_.h"

void page_index(struct request *q) { request_fail(q, 501, "none"); }
