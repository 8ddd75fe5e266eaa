/* steps.h - the public header of this folder: the load steps of a run, and whether each is sound.
 *
 *     r = fb_steps_read("run.log.gz", &steps, err);      job log, TSV ... told by the content
 *  or steps = fb_steps_of_profile(profile, name);        marks in a bank; NULL if it has none
 *     fb_steps_add_counters(steps, profile);             from the bank, what a step lacks
 *     fb_steps_judge(steps);                             health marks, after everything is known
 *     fb_step_mark(step, FB_STEP_GC, "...");             a mark that the caller found
 *     fb_steps_free(steps);
 *
 * One record per step whatever the source; what is unknown is NAN (numbers) or 0 (times), never a
 * made-up 0.  Times are Unix nanoseconds.  docs/steps.md has the formats and the health rules. */
#ifndef FB_STEPS_STEPS_H
#define FB_STEPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/source.h"
#include "base/strings.h"
#include "profile/profile.h"
#include "steps/coverage.h"
#include "steps/limits.h"
#include "steps/matched.h"
#include "steps/plan.h"
#include "steps/ramp.h"
#include "steps/side.h"

/* Health marks of a step; FB_STEP_VOID ... give no verdict, the *_NOTE ones only warn. */
enum fb_step_health {
    FB_STEP_WARMUP = 1 << 0,     /* the warm-up itself                                        */
    FB_STEP_FIRST = 1 << 1,      /* first step after the warm-up                              */
    FB_STEP_SHED = 1 << 2,       /* 0.1-2 % of offered not sent: CPU verdict, no latency one  */
    FB_STEP_OVER = 1 << 3,       /* over 2 % not sent: past the knee                          */
    FB_STEP_EVENT = 1 << 4,      /* throttling and p99 stand out against the neighbours       */
    FB_STEP_GC = 1 << 5,         /* JIT+GC share stands out                                   */
    FB_STEP_CLIENT = 1 << 6,     /* the generator was throttled or off its schedule           */
    FB_STEP_NODE = 1 << 7,       /* node busy over 95 %                                       */
    FB_STEP_YIELD = 1 << 8,      /* sample yield outside 0.9-1.1                              */
    FB_STEP_VOID = 1 << 9,       /* restart, or nothing delivered                             */
    FB_STEP_RATE = 1 << 10,      /* delivered more than offered                               */
    FB_STEP_UNSTEADY = 1 << 11,  /* the machine's own speed moved                             */
    FB_STEP_INVERSION = 1 << 12, /* contradicts both neighbours: warns only                  */
    FB_STEP_MEMORY = 1 << 13,    /* heap or RSS rise: a note only                             */
    FB_STEP_SHORT = 1 << 14,     /* window under 30 s: widest floor                               */
    FB_STEP_FAILING = 1 << 15,   /* "ERRORS": over 0.1 % of the answers were failures             */
};

/* Marks that deny a CPU verdict. */
#define FB_STEP_SICK                                                                               \
    (FB_STEP_WARMUP | FB_STEP_FIRST | FB_STEP_OVER | FB_STEP_EVENT | FB_STEP_GC | FB_STEP_CLIENT | \
     FB_STEP_NODE | FB_STEP_YIELD | FB_STEP_VOID | FB_STEP_RATE | FB_STEP_FAILING)

/* Classes of requests that failed; fb_step_error_word() has their words. */
enum fb_step_error {
    FB_ERROR_HTTP_4XX,
    FB_ERROR_HTTP_5XX,
    FB_ERROR_HTTP_OTHER, /* an answer of another status that the tool counts as a failure */
    FB_ERROR_GRPC,       /* a status other than 0               */
    FB_ERROR_RESET,      /* streams or connections cut off      */
    FB_ERROR_CONNECT,    /* no connection                       */
    FB_ERROR_TIMEOUT,
    FB_ERROR_CHECK, /* an answer that the tool's own checks refused */
    FB_ERROR_OTHER, /* a failure whose class the tool does not say  */
    FB_STEP_ERRORS
};

struct fb_step_counter { /* one of the generator's own, by its own name */
    const char *name;    /* owned by the list */
    double value;
};

struct fb_step {
    char *name; /* "200 (warmup)", "3000", a mark's name; never NULL */
    /* never NULL, owned by the list */
    const char *arm;       /* as the source names it; "" unknown              */
    const char *mode;      /* "http1", "grpc-unary" ...; "" unknown           */
    const char *tier;      /* "tiny", "realistic" ...; "" unknown             */
    const char *generator; /* its command line, {rate} where the rate stood; "" unknown */
    const char *source;    /* path of the file that it was read from; "" none */
    uint32_t line;         /* of that file; 0 none                            */
    bool warmup;
    int64_t start_ns, end_ns;           /* as stated by the source; 0 unknown        */
    double grain_s;                     /* how exact they are: 1 for whole seconds   */
    int64_t load_start_ns, load_end_ns; /* trimmed to the load: the profile's window */
    double secs;                        /* of load, as the generator measured it     */
    double offered;                     /* per second                                */
    double sent, delivered, not_sent;   /* counts                                    */
    double errors;                      /* count of requests that failed             */
    double errors_by[FB_STEP_ERRORS];   /* the same by class; NAN unknown            */
    double p50_s, p90_s, p99_s, p999_s; /* latency, seconds                          */
    double p50_point, p90_point;        /* the percentile points really used (0.990625) */
    double p99_point, p999_point;
    double stated_delivered_per_s, stated_knee_per_s; /* rates of a source that has no counts */
    double stated_ms_per_request;                     /* CPU, of a source that has no cpu_s   */
    double cpu_s, throttled_s; /* of the arm over the step                  */
    double cpu_span_s;         /* the span that cpu_s was measured over     */
    double heap_bytes, heap_max_bytes, rss_bytes, conns;
    double node_busy, node_softirq; /* 0..1 of all CPUs            */
    double client_cpu_s, client_throttled_s;
    double uptime_before_s, uptime_after_s;
    double speed_change;          /* largest relative move of the machine's speed */
    double cpu_se, cpu_lag1;      /* of the CPU per second: relative SE over blocks, lag-1
                                     autocorrelation; NAN in windows under 20 s  */
    const char *cpu_source;       /* "cgroup", "process", "metrics", "table"; NULL unknown */
    double samples, sample_cpu_s; /* of the profile in the window: count, Σ weight × interval */
    double yield;                 /* sample_cpu_s / CPU of the same window     */
    double gc_share;              /* of the samples in layers of JIT and GC    */
    double bank_cpu_s;            /* of the bank over [start, end], beside the source's own cpu_s */
    uint32_t health;              /* set of enum fb_step_health                */
    char *why; /* one sentence for each health mark, joined by "; "; "" if healthy */
    struct fb_step_counter *counters; /* in the order of the source */
    size_t counters_count, counters_room;
};

struct fb_steps {
    char *source;          /* path, or "marks of <bank>" */
    const char *format;    /* a reader's name, "marks", "whole", "plan" */
    bool has_generator;    /* a load generator wrote them: no result is a failure of the step */
    double clock_offset_s; /* was added to all times of the source; 0 none */
    const struct fb_plan *plan; /* while they are read; NULL none */
    bool is_planned;            /* their times are those of a plan */
    double onset_s;             /* shift with which the arm's CPU follows them best; NAN unknown */
    const double *limits;       /* of the health rules, by enum fb_limit; NULL: the defaults */
    struct fb_step *items;
    size_t count, room;
    struct fb_strings texts; /* what the steps' texts are kept in */
    char **warnings;         /* sentences about the file itself (cut JSON at line n ...) */
    size_t warnings_count, warnings_room;
};

/* Derived values: the counts' where they are known, else what the source states; NAN where an
 * input is unknown. */
double fb_step_delivered_per_s(const struct fb_step *s);
double fb_step_knee_per_s(const struct fb_step *s);     /* not sent per second                 */
double fb_step_ms_per_request(const struct fb_step *s); /* cpu_s * 1000 / delivered            */
/* ms per request * delivered/s / 1000; where the requests are unknown, cpu_s / cpu_span_s. */
double fb_step_cores(const struct fb_step *s);
/* Share of the offered load that was not sent; where nobody counted that, that was not delivered
 * (*ret_inferred).  NAN unknown. */
double fb_step_shed(const struct fb_step *s, bool *ret_inferred);

/* A counter of the generator by its own name; NAN where the source has none. */
double fb_step_counter(const struct fb_step *s, const char *name);
/* "http 4xx", "timeout" ...: the words of a class of errors. */
const char *fb_step_error_word(enum fb_step_error error);

/* Bytes at the start of a source that tell whether it is steps (fb_source_head()). */
#define FB_STEPS_HEAD ((size_t)1 << 20)

/* Whether the bytes look like steps at all: then a failure of a read is the sentence to show. */
bool fb_steps_sniff(const char *head, size_t n);

/* The name of the i-th format and one line on it; NULL behind the last. */
const char *fb_steps_format(size_t i, const char **ret_what);

/* Reads a job log, a table or a load generator's output, told by its content; gzip and zstd are
 * unpacked.  Errors name the source.  `plan` (NULL: none) says where the steps are in a source that
 * does not mark them. */
enum fb_status fb_steps_read_source(struct fb_source *in, const struct fb_plan *plan,
                                    struct fb_steps **ret_steps, struct fb_err *err);
enum fb_status fb_steps_read(const char *path, struct fb_steps **ret_steps, struct fb_err *err);
enum fb_status fb_steps_parse(const char *text, size_t len, const char *name,
                              struct fb_steps **ret_steps, struct fb_err *err);

/* Times for steps that have none, by a plan; first_ns: of the profile's first sample, 0 without
 * one.  Fails where the source has times of its own. */
enum fb_status fb_steps_plan(struct fb_steps *steps, const struct fb_plan *plan, int64_t first_ns,
                             struct fb_err *err);
/* Steps that a plan alone gives, without a file of results. */
enum fb_status fb_steps_of_plan(const struct fb_plan *plan, int64_t first_ns,
                                struct fb_steps **ret_steps, struct fb_err *err);

/* Where the arm's own CPU says that the steps began: sets onset_s, and warns where that is further
 * from what they say than their times are exact.  Nothing is moved. */
void fb_steps_onset_check(struct fb_steps *steps, const struct fb_profile *p);
/* For steps that do not overlap the profile: "; they would with '--clock-offset 7200' ..." where
 * that is so, else "".  Yours. */
char *fb_steps_offset_hint(const struct fb_steps *steps, const struct fb_profile *p);

/* "1.5", "-250ms", "2h" to seconds. */
enum fb_status fb_steps_offset_parse(const char *text, double *ret_s, struct fb_err *err);
/* A time as tools write it (epoch seconds ... nanoseconds, ISO 8601 with a zone); false for others.
 */
bool fb_steps_time(const char *text, int64_t *ret_ns);

/* Steps of which only a span and a rate are known (of profiles that were banked step by step). */
struct fb_step_span {
    int64_t start_ns, end_ns;
    double offered;
    const char *source;
};
struct fb_steps *fb_steps_of_spans(const char *name, const struct fb_step_span *spans,
                                   size_t count);

/* Adds seconds to all times: from the generator's clock to the arm's. */
void fb_steps_clock_offset(struct fb_steps *steps, double seconds);

/* Appends the steps of `more`, which is freed: one arm in several ramps.  Each step keeps its
 * source. */
void fb_steps_join(struct fb_steps *steps, struct fb_steps *more);

/* Steps from the marks of a bank; NULL if it has none. */
struct fb_steps *fb_steps_of_profile(const struct fb_profile *p, const char *name);
/* One step that spans the whole profile, for a profile without any steps. */
struct fb_steps *fb_steps_whole(const struct fb_profile *p, const char *name);
void fb_steps_free(struct fb_steps *steps);

/* Fills what a step lacks (cpu_s, throttled_s, rss, node_busy, speed_change ...) from the bank's
 * counters over its load window, and samples, sample_cpu_s and yield from its samples.  Returns
 * the number of steps that overlap the profile. */
size_t fb_steps_add_counters(struct fb_steps *steps, const struct fb_profile *p);

/* Sets health and why of every step anew, by the rules of docs/steps.md and steps->limits.
 * FB_STEP_GC needs gc_share, which a caller with layers fills in before. */
void fb_steps_judge(struct fb_steps *steps);
/* Adds a mark and its sentence ("27.4 % JIT+GC, the run's median is 12.4 %"). */
void fb_step_mark(struct fb_step *s, enum fb_step_health mark, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "FIRST", "SHED" ...: the word of one mark. */
const char *fb_step_health_word(enum fb_step_health mark);
/* Appends the words of a set, comma separated, "healthy" for none. */
void fb_step_health_text(uint32_t health, struct fb_buf *out);

#endif
