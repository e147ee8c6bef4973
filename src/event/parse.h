/*
 * Shared by the files of the event parser: the cursor over the spec, the terms between slashes, and the
 * functions that resolve a name to events.
 */
#ifndef EVENT_PARSE_H
#define EVENT_PARSE_H

#include "event/event.h"
#include "event/nearest_name.h"
#include "event/names.h"
#include "event/pmu.h"

#define SPEC_MAX (1u << 20)		/* bytes of one spec */
#define SPEC_EVENTS_MAX 65536u		/* events one spec may expand to */

struct event_parser {
	struct tacho *t;
	struct str text;
	size_t at;
	unsigned flags;			/* EVENT_FOR_STAT */
	struct event_list *list;
	struct tacho_error *e;
	bool open_names;		/* the events have names to which modifiers must still be appended */
};

/* Sets the error's position to `where` in the spec and returns `code`. */
int parse_refuse(struct event_parser *p, int code, struct str where);

/* scan.c: blanks are skipped before every token. */
char scan_peek(struct event_parser *p);			/* '\0' at the end */
bool scan_take(struct event_parser *p, char c);
struct str scan_word(struct event_parser *p);		/* a NAME; empty if there is none */
struct str scan_here(struct event_parser *p, size_t n);	/* the next n bytes, for a message */
struct str scan_since(const struct event_parser *p, size_t start);	/* trimmed text since `start` */
bool scan_name_char(char c);

/* term.c */
struct term {
	struct str key, value;
	struct str where;		/* position in the spec */
	bool has_value, quoted;
	bool driver;			/* @driver-config; key is the whole text */
	bool used;			/* consumed as a common term or as an event's parameter */
};

struct term_list {
	struct term *v;
	size_t n, cap;
	struct str text;		/* between the slashes */
};

void term_list_done(struct term_list *l);
/* Parses "/terms/" if the cursor is at a slash. `of`: the name before the slash, for messages. */
int term_list_scan(struct event_parser *p, struct str of, struct term_list *out);
/* Inserts a word as a term without a value before the others. */
int term_list_push_front(struct term_list *l, struct str word);
void term_list_drop_front(struct term_list *l);
bool term_is_fixed(struct str key);
/* Applies the common terms (name, period, cpu ...) to an event and marks them used. */
int term_apply_fixed(struct event_parser *p, struct term_list *l, struct event *ev);
/* Fails if there is an unused term. `of`: the kind of event, for the message. */
int term_refuse_rest(struct event_parser *p, const struct term_list *l, const char *of);
/* Appends the allowed common terms, "config, config1 ...", for a message. */
void term_fixed_names(const struct event_parser *p, struct buf *out, struct name_guess *g);
int term_number(struct event_parser *p, const struct term *term, uint64_t *out);

/* modifier.c */
struct modifiers {
	bool user, kernel, hv, idle, guest, host, precise_max, leader_sampling, pinned, weak;
	bool exclusive, bpf, retire_latency, no_regroup;
	uint8_t precise;
};
#define MODIFIER_LETTERS "ukhIGHpPSDWebRX"
bool modifiers_look_like(struct str word);		/* consists of 1 to 17 modifier letters */
int modifiers_parse(struct event_parser *p, struct str word, struct modifiers *out);
/* `leads`: the event is ungrouped or leads its group. */
int modifiers_apply(struct event_parser *p, const struct modifiers *m, struct str where, bool leads,
		    struct event *ev);

/* Adds an event with the defaults of its kind. The pointer is valid until the next one is added. */
int parse_add(struct event_parser *p, enum tacho_event_kind kind, const char *pmu, struct event **out);
/* Copies a string into the list's arena. On failure returns NULL and sets the error. */
char *parse_str(struct event_parser *p, struct str s);
/* Removes the events from index `n` on. */
void parse_drop(struct event_list *list, size_t n);

/* resolve.c: each adds one or more events. */
int resolve_word(struct event_parser *p, struct str word);
int resolve_terms(struct event_parser *p, struct str word, struct term_list *terms);
int resolve_number(struct event_parser *p, uint32_t type, uint64_t config, struct term_list *terms);
/* Returns whether the word, without terms, is a generic event. */
bool resolve_knows(struct str word);
/* Sets the last event's merge index to the first event since `first` on an instance of the same PMU. */
void resolve_merge_instance(struct event_parser *p, size_t first, const struct pmu *pmu);
/* scope.c: applies tacho_set_event_scope() to the events since `first`, which `typed` stands for. 0 or -ENOENT. */
int scope_apply(struct event_parser *p, size_t first, struct str typed);
/* Names an event after the core type on hybrid CPUs: cpu_core/cycles/. */
int resolve_name_hybrid(struct event_parser *p, struct str word, const struct term_list *terms,
			const struct pmu *pmu, struct event *ev);

/* vendor_add.c: adds the events of that name in vendors' lists, with additional terms unless NULL. Returns
 * 1, 0 if no list has the name, or a negative errno. */
int resolve_listed(struct event_parser *p, struct str word, struct term_list *terms);
/* An event of a vendor's list that is given as a term of a PMU (cpu/NAME/), and its lookup: returns 1, 0 if
 * no list has it for this PMU, -EOPNOTSUPP if it cannot be counted, or another negative errno. */
struct vendor_slashed {
	struct buf terms;		/* "event=0x4,umask=0x3" */
	char unit[64];
	double scale;
	bool per_pkg;
};
int vendor_slashed(struct event_parser *p, const struct pmu *pmu, struct str word, struct vendor_slashed *out);
/* The kernel's event for an Intel name such as PERF_METRICS.RETIRING, or NULL. */
const char *vendor_topdown(struct str word);
void vendor_guess(struct tacho *t, struct name_guess *g);	/* tries the names in all loaded lists */

/* pfm.c: resolves a name in libpfm4's syntax. `asked`: the user wrote pfm::, so an unknown name is
 * an error. Returns 1, 0 if the name is unknown, or a negative errno. */
int resolve_pfm(struct event_parser *p, struct str text, bool asked);

/* pmu_event.c */
int pmu_event_add(struct event_parser *p, struct pmu *pmu, struct term_list *terms);
int pmu_event_set_cpus(struct event_parser *p, const struct pmu *pmu, struct event *ev);

/* tracepoint.c */
int tracepoint_add(struct event_parser *p, struct str system, struct str name, struct term_list *terms);
bool tracepoint_has_system(struct tacho *t, struct str system);
void tracepoint_guess(struct tacho *t, struct name_guess *g);	/* tries every system:name */

/* breakpoint.c: the cursor is after "mem:". */
int breakpoint_parse(struct event_parser *p, size_t start);

/* probe.c: uprobe:, usdt:, kprobe: ... The cursor is after the word and its ':'. */
bool probe_event_is(struct str word);
int probe_event_parse(struct event_parser *p, struct str word);

/* group.c: makes a group of the events from `first` on. */
int group_close(struct event_parser *p, size_t first, struct str name, bool no_regroup);

/* ratio.c: applies the terms ratio-to-prev of the events from `first` on, when all groups are closed. */
int ratios_apply(struct event_parser *p, size_t first);

#endif
