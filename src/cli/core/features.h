/* The optional features of a build, for `version --build-options` and `check feature`. */
#ifndef CLI_CORE_FEATURES_H
#define CLI_CORE_FEATURES_H

#include "base/json.h"

struct build_feature {
	const char *name, *macro;
	bool built_in;
	const char *tip;	/* advice on how to get the missing feature, or NULL */
};

extern const struct build_feature features[];
extern const size_t n_features;

const struct build_feature *feature_find(struct str name);	/* finds it by name or macro; NULL: unknown */
void feature_line(const struct build_feature *f, struct buf *out);
void feature_json(const struct build_feature *f, struct json *j);

#endif
