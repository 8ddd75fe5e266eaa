/* ramp.h - what a whole ramp says: the knee by a named rule, the plateau, fixed and marginal cost.
 *
 *     r = fb_knee_parse("p50=12", &knee, err);       or FB_KNEE_DEFAULT
 *     fb_ramp_measure(steps, &knee, &ramp);          after fb_steps_judge()
 *
 * Steps count by their offered rate, not by their place in the list, so that continuations of a
 * ramp in further files are one ramp.  The warm-up and void steps count nowhere; the first step
 * after a warm-up is never part of a plateau or of the cost, since it under-reads. */
#ifndef FB_STEPS_RAMP_H
#define FB_STEPS_RAMP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct fb_step;
struct fb_steps;

/* The knee is the last step, by offered rate, of which `holds` is true and whose generator kept its
 * schedule. */
struct fb_knee_rule {
    const char *name;  /* as typed after --knee                    */
    const char *words; /* "%.10g" stands for the value             */
    double value;      /* the default                              */
    bool (*holds)(const struct fb_step *s, double value);
};
extern const struct fb_knee_rule
    fb_knee_rules[]; /* ends with a NULL name; the first is the default */

struct fb_knee {
    const struct fb_knee_rule *rule;
    double value;
};

/* "not-sent", "p50=12", "p99=300".  FB_EUSAGE for anything else. */
enum fb_status fb_knee_parse(const char *text, struct fb_knee *ret_knee, struct fb_err *err);
struct fb_knee fb_knee_default(void);
/* "p50 under 12 ms" in text[80], returned. */
const char *fb_knee_words(const struct fb_knee *knee, char text[80]);

struct fb_ramp {
    const struct fb_step *knee; /* NULL: no step satisfies the rule                    */
    bool knee_is_open;          /* it is the ramp's highest step: the knee lies beyond */
    const struct fb_step *top;  /* the highest offered rate; NULL: no rate is known    */
    double plateau;             /* per second; NAN: see no_plateau                     */
    double plateau_least, plateau_most;
    double plateau_cores; /* mean over the same steps; NAN unknown               */
    size_t plateau_steps;
    char no_plateau[200]; /* why there is none, a clause; "" if there is one       */
    double fixed_cores;   /* what the arm uses at no load; NAN under 3 sound steps */
    double marginal_ms;   /* CPU of one more request                               */
    double fit_off;       /* the largest relative distance of a step from the line */
    size_t fit_steps;
    const struct fb_step *most; /* the step that delivered most; NULL unknown          */
};

void fb_ramp_measure(const struct fb_steps *steps, const struct fb_knee *knee,
                     struct fb_ramp *ret_ramp);

/* Indices of the steps that count, by offered rate, then by their order; yours. */
size_t *fb_ramp_order(const struct fb_steps *steps, size_t *ret_count);

#endif
