/* nighthawk.h - the result document of the load generator Nighthawk.
 *
 * The same document stands alone (a file of one or several) and behind each step of a job log.
 * Which counters count depends on the mode of the load; a document shows it only by what is in it,
 * and a failed step may show nothing.  So a caller with several documents of one run takes the
 * strongest evidence for all of them:
 *
 *     mode = max over documents of fb_nighthawk_mode(root);
 *     r = fb_nighthawk_fill(root, mode, step, err); */
#ifndef FB_STEPS_NIGHTHAWK_H
#define FB_STEPS_NIGHTHAWK_H

#include "base/json.h"
#include "steps/list.h"

/* In the order of evidence: a gRPC document also has the HTTP counters. */
enum fb_nighthawk_mode {
    FB_NIGHTHAWK_HTTP,
    FB_NIGHTHAWK_GRPC_UNARY,
    FB_NIGHTHAWK_GRPC_STREAM,
};

enum fb_nighthawk_mode fb_nighthawk_mode(const struct fb_json *root);

/* Sets mode, secs, sent, delivered, not_sent, errors, conns and the latencies.  Fails (and sets
 * nothing) where there is no result named "global".  A counter that the document leaves out is 0,
 * since the generator does not print zeros. */
enum fb_status fb_nighthawk_fill(const struct fb_json *root, enum fb_nighthawk_mode mode,
                                 struct fb_step *s, struct fb_err *err);

bool fb_nighthawk_sniff(const char *text, size_t len);
enum fb_status fb_nighthawk_read(const char *text, size_t len, struct fb_steps *steps,
                                 struct fb_err *err);

#endif
