/*
 * Verifies the signature of a file by a public key.
 */
#ifndef AGENT_CORE_SIGNATURE_H
#define AGENT_CORE_SIGNATURE_H

#include "base/buf.h"
#include "base/str.h"

#include <tacho/common.h>

/* `key` is a public key in PEM format. The signature is as openssl writes it: raw for Ed25519 and RSA, DER for ECDSA;
 * ECDSA and RSA sign the SHA-256 of the data. Returns 0, -EBADMSG if the signature is wrong, or another negative errno. */
int signature_check(struct str key, struct str data, struct str signature, struct tacho_error *e);

#endif
