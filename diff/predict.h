/* predict.h - what was predicted before a run, checked against its diff.
 *
 *     r = fb_predictions_register(text, len, name, now_ns, &new_text, &added, err);   before it
 *     r = fb_predictions_read(text, len, name, &predictions, err);                    after it
 *     r = fb_prediction_judge(diff, &predictions->items[i], &result, err);
 *     fb_predictions_free(predictions);
 *
 * A prediction counts only if it was made before the result could be seen: registering writes its
 * time and the SHA-256 of what it says into the file, and one that was registered after the step's
 * window began is refused.  What is changed or added later is registered apart, as an amendment
 * with its own time; the first registration stays as it was.  A hash can be published; it cannot
 * keep the owner of the file from writing another one.
 *
 * A prediction has outcomes, each with conditions on one quantity (gate.h); the outcome whose
 * conditions the whole 95 % interval meets decides whether it held or failed, and where there is
 * none it is indeterminate.  docs/predictions.md has the file. */
#ifndef FB_DIFF_PREDICT_H
#define FB_DIFF_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "diff/gate.h"

struct fb_prediction_outcome {
    char *name; /* "flat", "climb" */
    bool held;  /* what it says of the prediction */
    struct fb_gate_condition *conditions;
    size_t count;
};

struct fb_prediction {
    char *name, *metric, *note;
    char *step;              /* by name or offered rate; NULL: every step   */
    char *control, *variant; /* text in the arm's name or labels; NULL: any */
    struct fb_prediction_outcome *outcomes;
    size_t count;
    int64_t registered_ns; /* 0: not registered                               */
    bool is_amendment;     /* not of the first registration                   */
    const char *hash;      /* of its registration, borrowed from the file; "" */
};

struct fb_predictions {
    struct fb_prediction *items; /* by registration, then what is not registered */
    size_t count, room;
    char (*hashes)[FB_SHA256_TEXT]; /* by registration */
    size_t registrations;
};

enum fb_prediction_state {
    FB_PREDICTION_HELD,
    FB_PREDICTION_FAILED,
    FB_PREDICTION_INDETERMINATE,
    FB_PREDICTION_UNANSWERED, /* cannot be answered: see the reason */
    FB_PREDICTION_REFUSED,    /* registered too late, or never      */
};

struct fb_prediction_result {
    enum fb_prediction_state state;
    const char *outcome; /* its name; "" for none  */
    double value, lo, hi;
    char reason[200];
};

/* Fails with FB_EFORMAT for what is no predictions file, and for a registration whose hash does not
 * fit what it holds. */
enum fb_status fb_predictions_read(const char *text, size_t len, const char *name,
                                   struct fb_predictions **ret_predictions, struct fb_err *err);
void fb_predictions_free(struct fb_predictions *predictions);

/* Appends the file with what is not registered yet registered at now_ns; *ret_added counts it, and
 * with 0 nothing is to be written. */
enum fb_status fb_predictions_register(const char *text, size_t len, const char *name,
                                       int64_t now_ns, struct fb_buf *out, size_t *ret_added,
                                       struct fb_err *err);

/* Of the step `step` of the diff.  Fails where the diff has no such layer or sum. */
enum fb_status fb_prediction_judge(const struct fb_diff *diff, size_t step,
                                   const struct fb_prediction *prediction,
                                   struct fb_prediction_result *ret_result, struct fb_err *err);

/* Whether the prediction is about that step: by name, or by its offered rate. */
bool fb_prediction_is_of(const struct fb_prediction *prediction, const struct fb_diff_step *step);

const char *fb_prediction_state_text(enum fb_prediction_state state); /* "held" ... */

#endif
