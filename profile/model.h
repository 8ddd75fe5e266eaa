/* model.h - a profile in memory: who ran, when, on which stack, and what it cost.
 *
 *     struct fb_profile *p = fb_profile_new();
 *     uint32_t name = fb_strings_put_z(&p->strings, "main");
 *     fb_frame_id f = fb_profile_frame_put(p, &(struct fb_frame){.kind = ..., .name = name});
 *     fb_stack_id s = fb_profile_stack_put(p, FB_STACK_ROOT, f);
 *     fb_profile_sample_add(p, time_ns, thread, s, 1);
 *     fb_profile_free(p);
 *
 * All ids are indices of the arrays below.  Frame 0 and stack 0 are reserved: stack 0 is the
 * root (the empty stack), a parent is always smaller than its child, and the outermost frame is
 * the child of the root.  Times are Unix nanoseconds (wall clock): readers add
 * wall_offset_ns to the arm's monotonic times, and writers subtract it again.
 *
 * The arrays may be read directly; only the functions here add to them.  The profile owns
 * everything; borrowed texts live until fb_profile_free(). */
#ifndef FB_PROFILE_MODEL_H
#define FB_PROFILE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"
#include "profile/raw_format.h"

typedef struct {
    uint32_t n;
} fb_frame_id;

typedef struct {
    uint32_t n;
} fb_stack_id;

#define FB_STACK_ROOT ((fb_stack_id){0})
#define FB_NO_MODULE  0u /* modules[0] is "no module" */
#define FB_NO_THREAD  0u /* threads[0] is "unknown thread" */

/* How a frame's code was made, where a profiler says so (folded text: _[0] _[1] _[j]; a bank's
 * FRAME_FACTS). */
enum fb_tier {
    FB_TIER_UNKNOWN = FB_FRAME_TIER_UNKNOWN,
    FB_TIER_INTERPRETED = FB_FRAME_TIER_INTERPRETED,
    FB_TIER_C1 = FB_FRAME_TIER_C1,
    FB_TIER_C2 = FB_FRAME_TIER_C2,
    FB_TIER_JIT, /* generated code of an unknown tier; this and those below follow from the kind */
    FB_TIER_INLINED,
    FB_TIER_NATIVE,
    FB_TIER_KERNEL,
    FB_TIER_STUB,
    FB_TIER_COUNT
};

struct fb_frame {
    enum fb_frame_kind kind;
    enum fb_tier tier;  /* UNKNOWN, INTERPRETED, C1 or C2 */
    uint32_t module;    /* index of modules[]                                             */
    uint64_t address;   /* ELF virtual address in the module, else runtime address or 0   */
    uint32_t name;      /* string; 0 while the address has no name                        */
    uint32_t file;      /* string; 0 unknown                                              */
    uint32_t line;      /* 0 unknown                                                      */
    uint32_t signature; /* string: a JVM descriptor, "(I)V"; 0 none                       */
};

struct fb_stack {
    fb_stack_id parent;
    fb_frame_id frame;
};

struct fb_module {
    uint32_t path;     /* string                                          */
    uint32_t build_id; /* string, lower-case hex; 0 none                  */
    uint64_t start, end, bias;
    uint64_t offset;            /* of `start` in the file                 */
    bool by_offset;             /* addresses of its frames are offsets in the file, since no header
                                   of it was at hand; symbolizing makes them ELF addresses */
    int64_t load_ns, unload_ns; /* unload_ns INT64_MAX while it is loaded */
};

struct fb_thread {
    uint32_t tid;
    uint32_t name; /* string: the latest name                     */
    uint32_t pid;  /* 0 unknown                                   */
};

struct fb_thread_name { /* a name from `time_ns` on */
    uint32_t thread, name;
    int64_t time_ns;
};

/* What else is known of a sample (a request's route, the class of an object): key and text, or a
 * number with its unit. */
struct fb_label {
    uint32_t key, text; /* strings; text 0: the number counts */
    int64_t number;
    uint32_t unit; /* string */
};

struct fb_label_set { /* label_items[first .. first + count) */
    uint32_t first, count;
};

/* Rows of equal length; the order is that of the file (not sorted by time). */
struct fb_samples {
    int64_t *time_ns; /* 0 where the profile has no times (has_times is false)    */
    uint32_t *thread;
    uint32_t *stack;
    uint64_t *weight; /* in the profile's `unit`                                     */
    uint32_t *labels; /* of label_sets[], labels_room of them: see fb_profile_sample_labels() */
    size_t count, room, labels_room;
};

#define FB_COUNTER_ABSENT INT64_MIN

struct fb_counter {
    uint32_t name, unit; /* strings */
    enum fb_counter_kind kind;
    int64_t *values; /* by row; FB_COUNTER_ABSENT where the row has none */
    size_t room;
};

struct fb_counters {
    struct fb_counter *items;
    size_t count, room;
    int64_t *time_ns; /* by row, rising */
    size_t rows, rows_room;
};

struct fb_mark {
    uint32_t name; /* string */
    int64_t time_ns;
    uint8_t flags;  /* enum fb_mark_flags            */
    double offered; /* per second; NAN where unknown */
};

struct fb_sampler_event { /* of the sampler itself */
    int64_t time_ns;
    uint64_t value;
    uint8_t kind; /* enum fb_event_kind */
};

struct fb_manifest_item {
    uint32_t key, value; /* strings */
};

struct fb_profile {
    struct fb_strings strings;
    struct fb_frame *frames; /* [0] is a reserved blank */
    size_t frames_count, frames_room;
    struct fb_stack *stacks; /* [0] is the root         */
    size_t stacks_count, stacks_room;
    bool stacks_repeat; /* some were appended without a look whether they are there already */
    struct fb_module *modules;
    size_t modules_count, modules_room;
    struct fb_thread *threads;
    size_t threads_count, threads_room;
    struct fb_thread_name *thread_names;
    size_t thread_names_count, thread_names_room;
    struct fb_samples samples;
    struct fb_label_set *label_sets; /* [0] is the empty set */
    size_t label_sets_count, label_sets_room;
    struct fb_label *label_items;
    size_t label_items_count, label_items_room;
    struct fb_counters counters;
    struct fb_mark *marks; /* by time */
    size_t marks_count, marks_room;
    struct fb_sampler_event *events; /* by time */
    size_t events_count, events_room;
    struct fb_manifest_item *manifest; /* one item a key, in order of first appearance */
    size_t manifest_count, manifest_room;
    uint64_t losses[FB_LOSS_CAUSE_COUNT];
    uint64_t run_id, writer_id; /* 0 where the file has none               */
    int64_t wall_offset_ns;     /* wall clock - monotonic clock of the arm */
    int64_t first_ns, last_ns;  /* span that the profile covers; 0, 0 without times */
    int64_t grain_ns;           /* times of samples are exact to so much; 0 to the ns */
    uint64_t interval_ns;       /* CPU (or wall) time between two samples; 0 unknown */
    bool has_times;
    bool ended; /* the writer closed the file in order (or the format has no such notion) */
    uint64_t
        rows_merged; /* > 0: a row of `samples` stands for `weight` observations (folded text) */
    uint32_t unit;   /* string: "samples" (ticks of interval_ns), or what a weight is an amount of:
                        "nanoseconds", "bytes" ... */
    uint32_t type;   /* string: the event or value that was counted ("cycles:u", "alloc_space"); 0
                        unknown */
    struct fb_index frame_index, stack_index, label_index; /* private */
};

/* An empty profile; never NULL. */
struct fb_profile *fb_profile_new(void);
void fb_profile_free(struct fb_profile *p);

/* The id of the frame that is equal in every member, added if new. */
fb_frame_id fb_profile_frame_put(struct fb_profile *p, const struct fb_frame *frame);
/* A frame of its own, though another may be equal to it: they get different names later on. */
fb_frame_id fb_profile_frame_append(struct fb_profile *p, const struct fb_frame *frame);
/* The id of the stack `parent` + `frame`, added if new. */
fb_stack_id fb_profile_stack_put(struct fb_profile *p, fb_stack_id parent, fb_frame_id frame);
/* The id of a whole stack of n frames, leaf first: one call costs less than n. */
fb_stack_id fb_profile_stack_put_all(struct fb_profile *p, const fb_frame_id *frames, size_t n);
/* Adds it without looking, for a file whose stacks are a tree of distinct nodes already; a later
 * fb_profile_stack_put() of the same does not find it. */
fb_stack_id fb_profile_stack_append(struct fb_profile *p, fb_stack_id parent, fb_frame_id frame);

void fb_profile_sample_add(struct fb_profile *p, int64_t time_ns, uint32_t thread,
                           fb_stack_id stack, uint64_t weight);

/* The id of the set of these labels (in this order), added if new; 0 for none. */
uint32_t fb_profile_labels_put(struct fb_profile *p, const struct fb_label *labels, size_t n);
/* Gives row `row` of the samples these labels. */
void fb_profile_sample_labels_set(struct fb_profile *p, size_t row, uint32_t label_set);
/* Takes all labels away. */
void fb_profile_labels_clear(struct fb_profile *p);
/* The label set of a row, whether the profile has labels or not. */
static inline uint32_t fb_profile_sample_labels(const struct fb_profile *p, size_t row)
{
    return row < p->samples.labels_room ? p->samples.labels[row] : 0;
}

/* Room for `more` further rows; then rows [count, count + more) may be filled in place. */
void fb_profile_samples_reserve(struct fb_profile *p, size_t more);

/* Sets first_ns and last_ns from the samples and counter rows. */
void fb_profile_span_update(struct fb_profile *p);

/* Both return the new index. */
uint32_t fb_profile_module_add(struct fb_profile *p, const struct fb_module *module);
uint32_t fb_profile_thread_add(struct fb_profile *p, uint32_t tid, uint32_t name);
/* Puts every stack of a known thread under a root frame of kind mark, "[name tid=7]" (its latest
 * name), as profilers write threads in folded text.  Samples without a thread stay. */
void fb_profile_root_threads(struct fb_profile *p);
void fb_profile_thread_rename(struct fb_profile *p, uint32_t thread, int64_t time_ns,
                              uint32_t name);
void fb_profile_mark_add(struct fb_profile *p, const struct fb_mark *mark);

/* The index of the counter of that name, added if new (its earlier rows absent). */
uint32_t fb_profile_counter_put(struct fb_profile *p, const char *name, const char *unit,
                                enum fb_counter_kind kind);
/* A new row, all absent; set its values with counters.items[i].values[row]. */
size_t fb_profile_counter_row_add(struct fb_profile *p, int64_t time_ns);

/* The counter of that name or NULL. */
const struct fb_counter *fb_profile_counter_find(const struct fb_profile *p, const char *name);

/* The first row at or after a time; the number of rows where all are before it. */
size_t fb_profile_counter_row(const struct fb_profile *p, int64_t time_ns);

/* Growth of a cumulative counter over [from_ns, to_ns], linear between rows.  False (and nothing
 * set) where the counter is missing, fell within the span (a restart), or its rows do not reach
 * both ends within 1.5 s. */
bool fb_profile_counter_delta(const struct fb_profile *p, const char *name, int64_t from_ns,
                              int64_t to_ns, double *ret_delta);
/* Largest and last value of a gauge within [from_ns, to_ns]; false where there is none. */
bool fb_profile_counter_level(const struct fb_profile *p, const char *name, int64_t from_ns,
                              int64_t to_ns, double *ret_max, double *ret_last);

void fb_profile_manifest_set(struct fb_profile *p, const char *key, const char *value);
void fb_profile_manifest_set_number(struct fb_profile *p, const char *key, int64_t value);
/* NULL where the key is missing. */
const char *fb_profile_manifest_get(const struct fb_profile *p, const char *key);

/* Borrowed text of a string id of this profile. */
static inline const char *fb_profile_text(const struct fb_profile *p, uint32_t string)
{
    return fb_strings_get(&p->strings, string);
}

/* Σ weight over all samples. */
uint64_t fb_profile_weight(const struct fb_profile *p);

/* What the weight is an amount of, in a word: a bank's are ticks of its clock, of which one sample
 * may stand for several; else the profile's unit. */
const char *fb_profile_unit_word(const struct fb_profile *p);

/* Nanoseconds that one unit of weight stands for; 0 where it is no time. */
double fb_profile_weight_ns(const struct fb_profile *p);

/* The weights are time that threads lived, whether they ran or waited: no CPU time. */
bool fb_profile_is_wall(const struct fb_profile *p);

/* The part of the weight, 0..1, that is missed expiries of the timer (weight - samples); NAN for a
 * profile without a timer or without weight, and for wall time.  Over FB_OVERRUNS_MOST the clock
 * could not resolve the bursts that the program works in: totals are right, shares may not be. */
#define FB_OVERRUNS_MOST 0.2
double fb_profile_overruns(const struct fb_profile *p);

/* Why it may be so much, by the clock, its rate and the kernel's tick: a clause. */
const char *fb_profile_overruns_cause(const struct fb_profile *p);

/* The text for a loss cause ("no sample memory left" ...), and its unit ("samples", "threads"). */
const char *fb_loss_text(enum fb_loss_cause cause);
const char *fb_loss_unit(enum fb_loss_cause cause);
/* "native", "kernel" ... ; and back, false for an unknown word. */
const char *fb_frame_kind_text(enum fb_frame_kind kind);
bool fb_frame_kind_parse(const char *text, enum fb_frame_kind *ret_kind);
const char *fb_tier_text(enum fb_tier tier); /* "unknown", "interpreted", "c1" ... */

#endif
