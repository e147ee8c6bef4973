/*
 * Lists the events of vendors' lists. Events that cannot be counted here have the reason in `why`.
 * Deprecated events are marked as not available, so that they are shown on request only.
 */
#include "event/list.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"

#include <tacho/eventlist.h>

struct emitter {
	struct lister *l;
	int ended;			/* last result of the caller's function */
};

/* Appends the description: "Counts X. Can be sampled precisely. Errata: SKL091". */
static void describe(const struct tacho_listed *ev, const char *text, struct buf *out)
{
	struct str desc = str_trim(str_of(text));

	while (desc.n && desc.s[desc.n - 1] == '.')
		desc.n--;
	buf_str(out, desc);
	if (ev->must_be_precise)
		buf_puts(out, ". Must be sampled precisely");
	else if (ev->precise)
		buf_puts(out, ". Can be sampled precisely");
	if (*ev->unit)
		buf_printf(out, ". Each is %g %s", ev->scale, ev->unit);
	if (*ev->errata)
		buf_printf(out, ". Errata: %s", ev->errata);
	if (ev->notice)
		buf_printf(out, ". Note: %s", ev->notice);
}

static int emit_listed(void *arg, const struct tacho_listed *ev)
{
	struct emitter *x = arg;
	struct lister *l = x->l;
	struct buf desc = { 0 }, details = { 0 }, encoding = { 0 };
	struct tacho_listing item = {
		.name = ev->name, .kind = "Vendor event", .class_ = "vendor", .pmu = ev->pmu,
		.topic = ev->topic, .unit = *ev->unit ? ev->unit : NULL, .scale = ev->scale,
		.available = !ev->reason && !ev->deprecated,
		.why = ev->reason ? ev->reason : ev->deprecated ? "its list calls it deprecated" : NULL,
		.deprecated = ev->deprecated,
	};

	if (!lister_wants(l, "vendor", ev->pmu))
		return 0;
	describe(ev, ev->desc, &desc);
	if (strcmp(ev->desc, ev->details) != 0)
		describe(ev, ev->details, &details);
	if (l->opts->details)
		buf_printf(&encoding, "%s/%s/", ev->pmu, ev->terms ? ev->terms : ev->asked);
	item.desc = desc.n ? desc.bytes : NULL;
	item.long_desc = details.n ? details.bytes : NULL;
	item.encoding = encoding.n ? encoding.bytes : NULL;
	x->ended = buf_failed(&desc) || buf_failed(&details) || buf_failed(&encoding) ? -ENOMEM : lister_emit(l, &item);
	buf_done(&desc);
	buf_done(&details);
	buf_done(&encoding);
	return x->ended;
}

int list_vendor(struct lister *l)
{
	struct emitter x = { .l = l };
	int n = lister_wants(l, "vendor", NULL) ? tacho_eventlist_walk(l->t, NULL, emit_listed, &x, NULL) : 0;

	return n < 0 ? n : x.ended;
}
