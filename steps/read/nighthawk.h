/* nighthawk.h - the result document of the load generator Nighthawk.
 *
 * The same document stands alone (a file of one or several) and behind each step of a job log.
 * Which counters count depends on the mode of the load; a document shows it only by what is in it,
 * and a failed step may show nothing.  So a caller with several documents of one run takes the
 * strongest evidence of all of them:
 *
 *     r = fb_nighthawk_parse(text, n, steps, step, &result, &used, err);      each document
 *     mode = max over documents of result.mode;
 *     fb_nighthawk_apply(&result, mode, steps, step);                         each step */
#ifndef FB_STEPS_READ_NIGHTHAWK_H
#define FB_STEPS_READ_NIGHTHAWK_H

#include "steps/list.h"

/* In the order of evidence: a gRPC document also has the HTTP counters. */
enum fb_nighthawk_mode {
    FB_NIGHTHAWK_HTTP,
    FB_NIGHTHAWK_GRPC_UNARY,
    FB_NIGHTHAWK_GRPC_STREAM,
    FB_NIGHTHAWK_MODES
};

enum { FB_NIGHTHAWK_POINTS = 4 };

struct fb_nighthawk_latency { /* p50, p90, p99, p999: the nearest point of the grid */
    double seconds[FB_NIGHTHAWK_POINTS], points[FB_NIGHTHAWK_POINTS]; /* NAN unknown */
};

struct fb_nighthawk {            /* what a document says beside its counters */
    enum fb_nighthawk_mode mode; /* by the evidence of this document */
    const char *http;            /* "http", "http1" or "http2"       */
    double secs, rps, workers;   /* NAN unknown                      */
    int64_t start_ns;            /* 0 unknown                        */
    struct fb_nighthawk_latency latency[FB_NIGHTHAWK_MODES];
};

/* Reads one document at the start of the text and puts the counters of its result "global" into the
 * step.  Fails (and changes nothing) where the document is cut, damaged or has no such result. */
enum fb_status fb_nighthawk_parse(const char *text, size_t n, struct fb_steps *steps,
                                  struct fb_step *s, struct fb_nighthawk *ret_result,
                                  size_t *ret_used, struct fb_err *err);

/* Sets mode, secs, sent, delivered, not_sent, errors, conns and the latencies.  A counter that the
 * document leaves out is 0, since the generator does not print zeros. */
void fb_nighthawk_apply(const struct fb_nighthawk *result, enum fb_nighthawk_mode mode,
                        struct fb_steps *steps, struct fb_step *s);

#endif
