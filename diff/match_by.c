/* match_by.c - see match_by.h. */
#include "diff/match_by.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const double utilization_tolerance = 0.05;

static const struct fb_diff_arm *arm_of(const struct fb_diff_input *in,
                                        const struct fb_lineup *lineup, size_t replicate)
{
    return &in->arms[lineup->replicates[replicate].arms[0]];
}

static struct fb_matching matching_new(const struct fb_lineup *lineup, size_t rows)
{
    struct fb_matching m = {.count = rows, .replicates = lineup->count};

    m.steps = fb_alloc_array(m.count * m.replicates, sizeof *m.steps);
    return m;
}

/* ---- by the user's word ---- */

static const struct fb_step *step_named(const struct fb_steps *steps, const char *wanted)
{
    char *end;
    double offered = strtod(wanted, &end);

    for (size_t i = 0; i < steps->count; i++)
        if (strcmp(steps->items[i].name, wanted) == 0)
            return &steps->items[i];
    for (size_t i = 0; end != wanted && *end == '\0' && i < steps->count; i++)
        if (steps->items[i].offered == offered && !steps->items[i].warmup)
            return &steps->items[i];
    return NULL;
}

enum fb_status fb_matching_by_steps(const struct fb_diff_input *in, const struct fb_lineup *lineup,
                                    const struct fb_diff_options *options,
                                    struct fb_matching *ret_matching, struct fb_err *err)
{
    struct fb_matching m = matching_new(lineup, options->match_count);

    for (size_t row = 0; row < m.count; row++) {
        for (size_t r = 0; r < lineup->count; r++) {
            bool is_variant = lineup->replicates[r].is_variant;
            const char *wanted =
                is_variant ? options->match_variant[row] : options->match_control[row];
            const struct fb_diff_arm *arm = arm_of(in, lineup, r);
            const struct fb_step *step = step_named(arm->steps, wanted);

            if (step == NULL) {
                fb_matching_done(&m);
                return fb_fail(err, FB_EUSAGE, "'%s' has no step '%s'", arm->label, wanted);
            }
            m.steps[row * m.replicates + r] = step;
        }
    }
    *ret_matching = m;
    return FB_OK;
}

/* ---- by utilization ---- */

/* The offered rate of an arm's knee. */
static enum fb_status knee_of(const struct fb_diff_arm *arm, const struct fb_knee *knee,
                              double *ret_offered, struct fb_err *err)
{
    struct fb_ramp ramp;
    char words[80];

    fb_ramp_measure(arm->steps, knee, &ramp);
    if (ramp.knee == NULL || !(ramp.knee->offered > 0))
        return fb_fail(err, FB_EFORMAT, "'%s' has no knee (%s): its utilization is not known",
                       arm->label, fb_knee_words(knee, words));
    if (ramp.knee_is_open)
        return fb_fail(err, FB_EFORMAT,
                       "'%s' has its knee beyond the highest step, %s (%s): its utilization is not "
                       "known",
                       arm->label, ramp.knee->name, fb_knee_words(knee, words));
    *ret_offered = ramp.knee->offered;
    return FB_OK;
}

static const struct fb_step *step_nearest(const struct fb_steps *steps, double knee, double wanted,
                                          bool warmup, bool *used)
{
    double best = utilization_tolerance;
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < steps->count; i++) {
        double distance = fabs(steps->items[i].offered / knee - wanted);

        if (used[i] || steps->items[i].warmup != warmup || !(distance <= best))
            continue;
        best = distance;
        found = i;
    }
    if (found == SIZE_MAX)
        return NULL;
    used[found] = true;
    return &steps->items[found];
}

static void column_fill(struct fb_matching *m, const struct fb_steps *reference,
                        double reference_knee, const struct fb_steps *steps, double knee,
                        size_t column)
{
    bool *used = fb_alloc_array(steps->count, sizeof *used);

    for (size_t i = 0; i < reference->count; i++) {
        const struct fb_step *s = &reference->items[i];

        if (s->offered > 0)
            m->steps[i * m->replicates + column] =
                step_nearest(steps, knee, s->offered / reference_knee, s->warmup, used);
    }
    free(used);
}

enum fb_status fb_matching_by_utilization(const struct fb_diff_input *in,
                                          const struct fb_lineup *lineup,
                                          const struct fb_diff_options *options,
                                          struct fb_matching *ret_matching, struct fb_err *err)
{
    const struct fb_steps *reference = arm_of(in, lineup, 0)->steps;
    struct fb_matching m = matching_new(lineup, reference->count);
    double *knees = fb_alloc_array(lineup->count, sizeof *knees);
    enum fb_status r = FB_OK;

    for (size_t i = 0; i < lineup->count && r == FB_OK; i++)
        r = knee_of(arm_of(in, lineup, i), &options->knee, &knees[i], err);
    for (size_t i = 0; i < reference->count && r == FB_OK; i++)
        m.steps[i * m.replicates] = &reference->items[i];
    for (size_t i = 1; i < lineup->count && r == FB_OK; i++)
        column_fill(&m, reference, knees[0], arm_of(in, lineup, i)->steps, knees[i], i);
    free(knees);
    if (r != FB_OK)
        fb_matching_done(&m);
    else
        *ret_matching = m;
    return r;
}
