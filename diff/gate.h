/* gate.h - conditions that a change must meet, for continuous integration.
 *
 *     r = fb_gate_parse("layer:codec ms > +5%", &condition, err);
 *     condition.sum = ...                    for frame: and sum:, the sum that the caller made
 *     fb_gate_judge(diff, step, &condition, is_strict, &result);
 *     fb_gate_done(&condition);
 *
 * A condition is SUBJECT QUANTITY > THRESHOLD, or <.  SUBJECT is total, layer:NAME, sum:NAME or
 * frame:REGEX (all stacks that end in such a frame); without one, QUANTITY is a metric: cpu, cores,
 * delivered, p50, p99, p999, throttled, heap, rss.  Else it is ms (per request), share or cores.
 * A THRESHOLD with a sign is a change: "+5%" of the control, "+2 points" of share; without one it
 * is the variant's own level: "1%" of its samples, "0.2" ms.
 *
 * A condition names what is *not* wanted.  It fails where the whole 95 % interval lies beyond the
 * threshold; in strict mode also where the interval does not exclude it, and where nothing could be
 * judged. */
#ifndef FB_DIFF_GATE_H
#define FB_DIFF_GATE_H

#include "diff/diff.h"

enum fb_gate_subject { FB_GATE_METRIC, FB_GATE_TOTAL, FB_GATE_LAYER, FB_GATE_SUM, FB_GATE_FRAME };

enum fb_gate_quantity { FB_GATE_MS, FB_GATE_SHARE, FB_GATE_CORES, FB_GATE_VALUE };

struct fb_gate_condition {
    char *text; /* as given */
    enum fb_gate_subject subject;
    char *name;                 /* of the layer or sum, the pattern; NULL */
    enum fb_diff_metric metric; /* FB_GATE_METRIC */
    enum fb_gate_quantity quantity;
    bool is_more;     /* > : more than the threshold is not wanted */
    bool is_change;   /* the threshold has a sign                  */
    bool is_points;   /* of share, else relative                   */
    double threshold; /* 0.05 for 5 %; a level in its unit         */
    size_t sum;       /* index of the diff's sums                  */
};

enum fb_gate_outcome { FB_GATE_PASS, FB_GATE_FAIL, FB_GATE_NOT_JUDGED };

struct fb_gate_result {
    enum fb_gate_outcome outcome;
    double value, lo, hi; /* in the threshold's terms; NAN where unknown */
    const char *reason;   /* borrowed from the diff or constant; ""      */
};

enum fb_status fb_gate_parse(const char *text, struct fb_gate_condition *ret_condition,
                             struct fb_err *err);
void fb_gate_done(struct fb_gate_condition *condition);

/* Fails where the diff has no layer or sum of that name. */
enum fb_status fb_gate_judge(const struct fb_diff *diff, size_t step,
                             const struct fb_gate_condition *condition, bool is_strict,
                             struct fb_gate_result *ret_result, struct fb_err *err);

#endif
