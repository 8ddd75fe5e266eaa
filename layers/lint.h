/* lint.h - what is wrong with rules, seen on the profiles that they are meant for.
 *
 *     r = fb_layers_lint(&in, &report, err);
 *     ... report.items[i].text, .share ...
 *     fb_lint_done(&report);
 *
 * Errors are faults whatever the profile: a rule that an earlier one of its file repeats, a pattern
 * that was given up.  Warnings want a look: rules that an earlier one covers, that take much
 * without looking at a name, that hit in one arm alone, much weight without a rule.  Notes are for
 * reading. */
#ifndef FB_LAYERS_LINT_H
#define FB_LAYERS_LINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/profile.h"

struct fb_layers;
struct fb_layers_applied;

enum fb_lint_level { FB_LINT_ERROR, FB_LINT_WARNING, FB_LINT_NOTE };

struct fb_lint_item {
    enum fb_lint_level level;
    const char *what; /* "shadowed", "catch-all" ...; static      */
    uint16_t rule;    /* FB_NO_RULE where it is about no rule      */
    char *text;       /* a sentence                                */
    double share;     /* of the weight it is about, 0..1; NAN none */
};

struct fb_lint {
    struct fb_lint_item *items; /* errors first */
    size_t count, room;
    size_t errors;
};

struct fb_lint_input {
    const struct fb_layers *layers;
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    const struct fb_layers_applied *applied;
    const double *const *self; /* weight by node, of one arm or two */
    const char *const *arms;   /* their names */
    size_t arms_count;
};

enum fb_status fb_layers_lint(const struct fb_lint_input *in, struct fb_lint *ret_lint,
                              struct fb_err *err);
void fb_lint_done(struct fb_lint *lint);

const char *fb_lint_level_text(enum fb_lint_level level);

#endif
