/* align.c - pairing of runs and of steps. */
#include "diff/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "diff/match_by.h"

static const double rate_tolerance = 0.005;

static uint64_t run_of(const struct fb_diff_arm *arm)
{
    return arm->profile ? arm->profile->run_id : 0;
}

/* Adds the arm to the replicate of its run, or as a new one. */
static void lineup_add(struct fb_lineup *l, const struct fb_diff_input *in, size_t arm)
{
    const struct fb_diff_arm *a = &in->arms[arm];
    struct fb_replicate *r = NULL;

    for (size_t i = 0; i < l->count && run_of(a) != 0; i++)
        if (l->replicates[i].is_variant == a->is_variant &&
            run_of(&in->arms[l->replicates[i].arms[0]]) == run_of(a))
            r = &l->replicates[i];
    if (!r) {
        r = &l->replicates[l->count++];
        r->is_variant = a->is_variant;
        r->arms = fb_alloc_array(in->arms_count, sizeof *r->arms);
        *(a->is_variant ? &l->variants : &l->controls) += 1;
    }
    r->arms[r->arms_count++] = arm;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Whether two runs used one cgroup at one time: then neither has a CPU count of its own. */
static bool is_shared(const struct fb_profile *a, const struct fb_profile *b)
{
    return a && b && a->has_times && b->has_times &&
           is_same_text(fb_profile_manifest_get(a, "host"), fb_profile_manifest_get(b, "host")) &&
           is_same_text(fb_profile_manifest_get(a, "cgroup_path"),
                        fb_profile_manifest_get(b, "cgroup_path")) &&
           a->first_ns < b->last_ns && b->first_ns < a->last_ns;
}

static bool is_same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_same_step(const struct fb_step *a, const struct fb_step *b)
{
    return a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
           is_same_number(a->offered, b->offered) &&
           is_same_number(fb_step_delivered_per_s(a), fb_step_delivered_per_s(b)) &&
           is_same_number(fb_step_ms_per_request(a), fb_step_ms_per_request(b)) &&
           is_same_number(a->p50_s, b->p50_s) && is_same_number(a->p99_s, b->p99_s) &&
           is_same_number(a->p999_s, b->p999_s) && is_same_number(a->throttled_s, b->throttled_s);
}

/* Two runs do not agree to the last digit in all of their steps: not at one time, nor, where the
 * times are unknown, in the cost of several. */
static bool is_same_steps(const struct fb_steps *a, const struct fb_steps *b)
{
    enum { COSTS_MIN = 3 };
    size_t times = 0, costs = 0;

    if (!a || !b || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!is_same_step(&a->items[i], &b->items[i]))
            return false;
        times += a->items[i].start_ns != 0;
        costs += fb_step_ms_per_request(&a->items[i]) > 0;
    }
    return times > 0 || costs >= COSTS_MIN;
}

/* The same whatever the order of the samples. */
static uint64_t content_hash(const struct fb_diff_arm *arm)
{
    const struct fb_samples *s = &arm->profile->samples;
    uint64_t sum = 0;

    for (size_t i = 0; i < s->count; i++)
        sum += fb_hash_pair(fb_hash_pair(arm->node_of_stack[s->stack[i]], s->weight[i]),
                            arm->profile->has_times ? (uint64_t)s->time_ns[i] : 0);
    return sum;
}

/* Profiles of other tools have no id: one file under two names, or in two formats, is one run. */
static bool is_same_content(const struct fb_diff_arm *a, const struct fb_diff_arm *b)
{
    const struct fb_profile *p = a->profile, *q = b->profile;

    return p->run_id == q->run_id && p->samples.count > 0 && p->samples.count == q->samples.count &&
           p->has_times == q->has_times && a->node_of_stack && b->node_of_stack &&
           content_hash(a) == content_hash(b);
}

bool fb_diff_is_one_run(const struct fb_diff_arm *a, const struct fb_diff_arm *b)
{
    const struct fb_profile *p = a->profile, *q = b->profile;

    if (p && q)
        return p == q ||
               (p->writer_id != 0 && p->run_id == q->run_id && p->writer_id == q->writer_id) ||
               (p->writer_id == 0 && q->writer_id == 0 &&
                (is_same_text(a->label, b->label) || is_same_content(a, b)));
    return !p && !q && (is_same_text(a->label, b->label) || is_same_steps(a->steps, b->steps));
}

/* One run that is given twice would be summed with itself, or be its own replicate. */
static enum fb_status twice_check(const struct fb_diff_input *in, struct fb_err *err)
{
    for (size_t i = 0; i < in->arms_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct fb_diff_arm *a = &in->arms[j], *b = &in->arms[i];

            if (a->is_variant == b->is_variant && fb_diff_is_one_run(a, b))
                return fb_fail(
                    err, FB_EUSAGE, "'%s' and '%s' are one %s: every run is given once on its side",
                    a->label, b->label, a->profile && a->profile->writer_id != 0 ? "bank" : "run");
        }
    return FB_OK;
}

static enum fb_status replicates_check(const struct fb_diff_input *in, const struct fb_lineup *l,
                                       struct fb_err *err)
{
    for (size_t i = 0; i < l->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct fb_diff_arm *a = &in->arms[l->replicates[j].arms[0]];
            const struct fb_diff_arm *b = &in->arms[l->replicates[i].arms[0]];

            if (a->is_variant == b->is_variant && is_shared(a->profile, b->profile))
                return fb_fail(err, FB_EFORMAT,
                               "'%s' and '%s' ran at the same time in one cgroup: they cannot be "
                               "replicates of each other",
                               a->label, b->label);
        }
    return FB_OK;
}

enum fb_status fb_lineup_build(const struct fb_diff_input *in, struct fb_lineup *ret_lineup,
                               struct fb_err *err)
{
    struct fb_lineup l = {0};
    enum fb_status r;

    l.replicates = fb_alloc_array(in->arms_count, sizeof *l.replicates);
    for (int variant = 0; variant < 2; variant++)
        for (size_t i = 0; i < in->arms_count; i++)
            if (in->arms[i].is_variant == (variant == 1))
                lineup_add(&l, in, i);
    l.pairs = l.controls < l.variants ? l.controls : l.variants;
    if (l.pairs == 0) {
        fb_lineup_done(&l);
        return fb_fail(err, FB_EUSAGE, "a diff needs at least one control and one variant");
    }
    r = twice_check(in, err);
    if (r == FB_OK)
        r = replicates_check(in, &l, err);
    if (r != FB_OK) {
        fb_lineup_done(&l);
        return r;
    }
    *ret_lineup = l;
    return FB_OK;
}

void fb_lineup_done(struct fb_lineup *lineup)
{
    for (size_t i = 0; i < lineup->count; i++)
        free(lineup->replicates[i].arms);
    free(lineup->replicates);
    memset(lineup, 0, sizeof *lineup);
}

const struct fb_replicate *fb_lineup_side(const struct fb_lineup *lineup, size_t pair,
                                          bool is_variant)
{
    return &lineup->replicates[is_variant ? lineup->controls + pair : pair];
}

static const struct fb_steps *steps_of(const struct fb_diff_input *in, const struct fb_replicate *r)
{
    return in->arms[r->arms[0]].steps;
}

static bool has_rate(const struct fb_step *s)
{
    return s->offered > 0;
}

/* The one mode of all steps that have one; NULL where there are several, or none. */
static const char *mode_of(const struct fb_steps *steps)
{
    const char *mode = NULL;

    for (size_t i = 0; i < steps->count; i++) {
        if (steps->items[i].mode[0] == '\0')
            continue;
        if (mode != NULL && strcmp(mode, steps->items[i].mode) != 0)
            return NULL;
        mode = steps->items[i].mode;
    }
    return mode;
}

/* Arms that are each driven in one mode, and not in the same one, are compared over their rates:
 * the mode is what differs.  Else a step is matched within its mode. */
static bool modes_are_the_lever(const struct fb_steps *a, const struct fb_steps *b)
{
    const char *of_a = mode_of(a), *of_b = mode_of(b);

    return of_a != NULL && of_b != NULL && strcmp(of_a, of_b) != 0;
}

/* How far apart two steps are; INFINITY where they are no match. */
static double step_distance(const struct fb_step *a, const struct fb_step *b, bool any_mode)
{
    double d;

    if (a->warmup != b->warmup ||
        (!any_mode && a->mode[0] && b->mode[0] && strcmp(a->mode, b->mode) != 0))
        return INFINITY;
    if (!has_rate(a) || !has_rate(b))
        return strcmp(a->name, b->name) == 0 ? 0 : INFINITY;
    d = fabs(b->offered / a->offered - 1);
    return d <= rate_tolerance ? d : INFINITY;
}

/* Fills one replicate's column; returns how many steps were matched. */
static size_t match_column(struct fb_matching *m, const struct fb_steps *reference,
                           const struct fb_steps *steps, size_t column)
{
    bool *used = fb_alloc_array(steps->count, sizeof *used);
    bool any_mode = modes_are_the_lever(reference, steps);
    size_t matched = 0;

    for (size_t i = 0; i < reference->count; i++) {
        size_t best = SIZE_MAX;
        double best_distance = INFINITY;

        for (size_t j = 0; j < steps->count; j++) {
            double d = used[j] ? INFINITY
                               : step_distance(&reference->items[i], &steps->items[j], any_mode);

            if (d < best_distance) {
                best_distance = d;
                best = j;
            }
        }
        if (best == SIZE_MAX)
            continue;
        used[best] = true;
        m->steps[i * m->replicates + column] = &steps->items[best];
        matched++;
    }
    free(used);
    return matched;
}

/* Steps that have neither a rate nor a common name: the i-th with the i-th. */
static void match_by_order(struct fb_matching *m, const struct fb_steps *reference,
                           const struct fb_steps *steps, size_t column)
{
    if (reference->count != steps->count)
        return;
    for (size_t i = 0; i < steps->count; i++)
        if (has_rate(&steps->items[i]) || has_rate(&reference->items[i]) ||
            steps->items[i].warmup != reference->items[i].warmup)
            return;
    for (size_t i = 0; i < steps->count; i++)
        m->steps[i * m->replicates + column] = &steps->items[i];
}

void fb_matching_by_rate(const struct fb_diff_input *in, const struct fb_lineup *lineup,
                         struct fb_matching *ret_matching)
{
    const struct fb_steps *reference = steps_of(in, &lineup->replicates[0]);
    struct fb_matching m = {.count = reference->count, .replicates = lineup->count};

    m.steps = fb_alloc_array(m.count * m.replicates, sizeof *m.steps);
    for (size_t i = 0; i < m.count; i++)
        m.steps[i * m.replicates] = &reference->items[i];
    for (size_t r = 1; r < lineup->count; r++) {
        const struct fb_steps *steps = steps_of(in, &lineup->replicates[r]);

        if (match_column(&m, reference, steps, r) == 0)
            match_by_order(&m, reference, steps, r);
    }
    *ret_matching = m;
}

enum fb_status fb_matching_build(const struct fb_diff_input *in, const struct fb_lineup *lineup,
                                 const struct fb_diff_options *options,
                                 struct fb_matching *ret_matching, struct fb_err *err)
{
    if (options->match == FB_MATCH_STEPS)
        return fb_matching_by_steps(in, lineup, options, ret_matching, err);
    if (options->match == FB_MATCH_UTILIZATION)
        return fb_matching_by_utilization(in, lineup, options, ret_matching, err);
    fb_matching_by_rate(in, lineup, ret_matching);
    return FB_OK;
}

void fb_matching_done(struct fb_matching *matching)
{
    free(matching->steps);
    memset(matching, 0, sizeof *matching);
}
