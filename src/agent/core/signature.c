/*
 * Signatures by GnuTLS, which the HTTP server uses as well.
 */
#include "agent/core/signature.h"

#include <errno.h>
#include <gnutls/abstract.h>

#include "base/error.h"

static gnutls_datum_t datum_of(struct str s)
{
	return (gnutls_datum_t){ .data = (unsigned char *)s.s, .size = (unsigned)s.n };
}

static gnutls_sign_algorithm_t algorithm_of(gnutls_pubkey_t key)
{
	int kind = gnutls_pubkey_get_pk_algorithm(key, NULL);

	return kind < 0 ? GNUTLS_SIGN_UNKNOWN :
	       kind == GNUTLS_PK_EDDSA_ED25519 ? GNUTLS_SIGN_EDDSA_ED25519 :
						 gnutls_pk_to_sign((gnutls_pk_algorithm_t)kind, GNUTLS_DIG_SHA256);
}

static int verify(gnutls_pubkey_t key, struct str data, struct str signature, struct tacho_error *e)
{
	gnutls_datum_t bytes = datum_of(data), sig = datum_of(signature);
	gnutls_sign_algorithm_t algorithm = algorithm_of(key);
	int err;

	if (algorithm == GNUTLS_SIGN_UNKNOWN)
		return error_set(e, -EOPNOTSUPP, "the public key is neither Ed25519, ECDSA nor RSA");
	err = gnutls_pubkey_verify_data2(key, algorithm, 0, &bytes, &sig);
	return err >= 0 ? 0 : error_set(e, -EBADMSG, "the signature does not match the file: %s", gnutls_strerror(err));
}

int signature_check(struct str key, struct str data, struct str signature, struct tacho_error *e)
{
	gnutls_datum_t pem = datum_of(key);
	gnutls_pubkey_t own;
	int err;

	if (gnutls_pubkey_init(&own) < 0)
		return error_nomem(e);
	err = gnutls_pubkey_import(own, &pem, GNUTLS_X509_FMT_PEM);
	err = err < 0 ? error_set(e, -EINVAL, "the public key cannot be read: %s", gnutls_strerror(err)) :
			verify(own, data, signature, e);
	gnutls_pubkey_deinit(own);
	return err;
}
