/*
 * What the parser's files share: the cursor over the spec, the terms between slashes, and the
 * steps from a name to events.
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
	bool open_names;		/* the item's events are named; modifiers still go behind */
};

/* Points the error at a part of the spec and returns `code`. */
int parse_refuse(struct event_parser *p, int code, struct str where);

/* scan.c: blanks are skipped before every token. */
char scan_peek(struct event_parser *p);			/* '\0' at the end */
bool scan_take(struct event_parser *p, char c);
struct str scan_word(struct event_parser *p);			/* a NAME, empty: none stands here */
struct str scan_here(struct event_parser *p, size_t n);	/* the next n bytes, for a message */
struct str scan_since(const struct event_parser *p, size_t start);	/* without blanks at the ends */
bool scan_name_char(char c);

/* term.c */
struct term {
	struct str key, value;
	struct str where;		/* in the spec */
	bool has_value, quoted;
	bool driver;			/* @driver-config: all of it in key */
	bool used;			/* taken by a fixed term or an event's parameter */
};

struct term_list {
	struct term *v;
	size_t n, cap;
	struct str text;		/* between the slashes */
};

void term_list_done(struct term_list *l);
/* Reads "/ terms /"; the cursor stands on the first slash. `of` is for messages. */
int term_list_scan(struct event_parser *p, struct str of, struct term_list *out);
/* A bare word as a term of its own, before the others. */
int term_list_push_front(struct term_list *l, struct str word);
void term_list_drop_front(struct term_list *l);
bool term_is_fixed(struct str key);
/* Applies name, period, cpu and the like to an event and marks them used. */
int term_apply_fixed(struct event_parser *p, struct term_list *l, struct event *ev);
/* Refuses the first term nothing took. */
int term_refuse_rest(struct event_parser *p, const struct term_list *l, const char *of);
/* "config, config1 ...": the fixed terms that are allowed here. */
void term_fixed_names(const struct event_parser *p, struct buf *out, struct name_guess *g);
int term_number(struct event_parser *p, const struct term *term, uint64_t *out);

/* modifier.c */
struct modifiers {
	bool user, kernel, hv, idle, guest, host, precise_max, leader_sampling, pinned, weak;
	bool exclusive, bpf, retire_latency, no_regroup;
	uint8_t precise;
};
#define MODIFIER_LETTERS "ukhIGHpPSDWebRX"
bool modifiers_look_like(struct str word);		/* only such letters, 1 to 17 of them */
int modifiers_parse(struct event_parser *p, struct str word, struct modifiers *out);
/* `leads` is false for the members of a group that its own modifiers reach. */
int modifiers_apply(struct event_parser *p, const struct modifiers *m, struct str where, bool leads,
		    struct event *ev);

/* Adds an event with the defaults of its kind; valid until the next one is added. */
int parse_add(struct event_parser *p, enum tacho_event_kind kind, const char *pmu, struct event **out);
/* A copy in the list's arena; NULL with the error set. */
char *parse_str(struct event_parser *p, struct str s);
/* Drops the events from index `n` on. */
void parse_drop(struct event_list *list, size_t n);

/* resolve.c: each adds one or more events. */
int resolve_word(struct event_parser *p, struct str word);
int resolve_terms(struct event_parser *p, struct str word, struct term_list *terms);
int resolve_number(struct event_parser *p, uint32_t type, uint64_t config, struct term_list *terms);
/* True when the word means an event by itself. */
bool resolve_knows(struct str word);
/* The last event adds up with those from `first` on that count on instances of the same PMU. */
void resolve_merge_instance(struct event_parser *p, size_t first, const struct pmu *pmu);
/* On hybrid cores the names say which core is meant: cpu_core/cycles/. */
int resolve_name_hybrid(struct event_parser *p, struct str word, const struct term_list *terms,
			const struct pmu *pmu, struct event *ev);

/* vendor_add.c: an event of a vendor's list, with further terms or NULL. 1, 0 where no list knows
 * the word, or a negative errno. */
int resolve_listed(struct event_parser *p, struct str word, struct term_list *terms);
/* A list's name between a PMU's slashes: its terms on that PMU, and what else the list says. 1, 0 where no
 * list has it for this PMU, -EOPNOTSUPP where it cannot be counted, or another negative errno. */
struct vendor_slashed {
	struct buf terms;		/* "event=0x4,umask=0x3" */
	char unit[64];
	double scale;
	bool per_pkg;
};
int vendor_slashed(struct event_parser *p, const struct pmu *pmu, struct str word, struct vendor_slashed *out);
/* The kernel's name for a part of Intel's PERF_METRICS register; NULL: it is none. */
const char *vendor_topdown(struct str word);
void vendor_guess(struct tacho *t, struct name_guess *g);	/* offers the names of the lists that are read */

/* pfm.c: libpfm4's text for an event. `asked`: it was meant for libpfm4, and a refusal is an error;
 * else it is the last who is asked. 1, 0 where it does not know the name, or a negative errno. */
int resolve_pfm(struct event_parser *p, struct str text, bool asked);

/* pmu_event.c */
int pmu_event_add(struct event_parser *p, struct pmu *pmu, struct term_list *terms);
int pmu_event_place(struct event_parser *p, const struct pmu *pmu, struct event *ev);

/* tracepoint.c */
int tracepoint_add(struct event_parser *p, struct str system, struct str name, struct term_list *terms);
bool tracepoint_has_system(struct tacho *t, struct str system);
void tracepoint_guess(struct tacho *t, struct name_guess *g);	/* offers every system:name */

/* breakpoint.c: the cursor stands behind "mem:". */
int breakpoint_parse(struct event_parser *p, size_t start);

/* group.c: the events from `first` on become a group; `start` is its '{'. */
int group_close(struct event_parser *p, size_t first, struct str name, bool no_regroup);

#endif
