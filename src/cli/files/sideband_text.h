/*
 * What perf prints of a sideband record after its name:
 *
 *	 16704/16704: [0x5623d04b4000(0x13000) @ 0x4000 08:01 1234 0]: r-xp /usr/bin/sh
 */
#ifndef CLI_FILES_SIDEBAND_TEXT_H
#define CLI_FILES_SIDEBAND_TEXT_H

#include "base/buf.h"

#include <tacho/record.h>

/* Appends the fields. Returns false if nothing is printed of records of that type. */
bool sideband_text(struct buf *out, const struct tacho_sideband *r);

#endif
