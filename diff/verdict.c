/* verdict.c - intervals of a difference between arms.
 *
 * One pair: Var = v_c + v_v + 2 tau^2, with the t of 21 degrees of freedom on the floor's part.
 * k pairs: the sd of the paired d's pooled over the healthy steps of the ramp (Cochran and Cox,
 * Experimental Designs, 2.3: pooled error), and never less than the windows themselves say.
 * Equivalence is two one-sided tests at 5 % (Schuirmann 1987): the 90 % interval within delta. */
#include "diff/verdict.h"

#include <math.h>

#include "diff/distribution.h"

/* 97.5 % and 95 % points of t with 21 degrees of freedom: 22 blocks of 5 s in 110 s. */
static const double t21 = 2.0796138447276795, t21_90 = 1.7207429028118777;
static const double pooled_df_min = 4; /* under it the floor is the better witness */

const char *fb_verdict_word(enum fb_verdict v)
{
    static const char *const words[FB_VERDICT_COUNT] = {
        [FB_VERDICT_NONE] = "NO VERDICT",  [FB_VERDICT_DIFF] = "DIFF",
        [FB_VERDICT_SAME] = "SAME",        [FB_VERDICT_UNRESOLVED] = "UNRESOLVED",
        [FB_VERDICT_BURSTY] = "BURSTY",    [FB_VERDICT_ABSENT] = "absent",
        [FB_VERDICT_NOT_SEEN] = "not seen"};

    return (unsigned)v < FB_VERDICT_COUNT ? words[v] : "NO VERDICT";
}

double fb_verdict_pair_half(double control_half, double variant_half)
{
    return hypot(control_half, variant_half);
}

static void interval_of_floor(const struct fb_evidence *e, double within, double s,
                              struct fb_judged *j)
{
    double k = (double)e->pairs, floor_half = t21 * M_SQRT2 * e->tau;

    j->half = e->is_assumed ? fmax(within, floor_half) : hypot(within, floor_half);
    j->half = fmax(j->half, t21 * s) / sqrt(k);
    j->half90 = j->half * t21_90 / t21;
}

static void interval_of_pairs(const struct fb_evidence *e, double within, double s,
                              struct fb_judged *j)
{
    double root = sqrt((double)e->pairs);

    j->half = fmax(fb_t_quantile(0.975, e->pooled_df) * s, within) / root;
    j->half90 = fmax(fb_t_quantile(0.95, e->pooled_df) * s, within * t21_90 / t21) / root;
}

void fb_verdict_judge(const struct fb_evidence *e, struct fb_judged *ret_judged)
{
    struct fb_judged j = {.verdict = FB_VERDICT_UNRESOLVED};
    double within = 0, s = e->pooled_df > 0 ? sqrt(e->pooled_sum2 / e->pooled_df) : 0;
    bool is_same;

    for (size_t i = 0; i < e->pairs; i++) {
        j.d += e->d[i] / (double)e->pairs;
        within += e->half[i] * e->half[i] / (double)e->pairs;
    }
    within = sqrt(within);
    if (e->pairs >= 2 && e->pooled_df >= pooled_df_min)
        interval_of_pairs(e, within, s, &j);
    else
        interval_of_floor(e, within, s, &j);
    is_same = fabs(j.d) + j.half90 < e->delta;
    if (fabs(j.d) > j.half && fabs(j.d) >= e->tau) {
        j.verdict = FB_VERDICT_DIFF;
        j.within_delta = is_same;
    } else if (is_same) {
        j.verdict = FB_VERDICT_SAME;
    }
    *ret_judged = j;
}

double fb_verdict_mde(double p, double deff, double n, double tau, size_t pairs)
{
    double sampling = p > 0 && n > 0 ? (1 - p) * (deff > 0 ? deff : 1) / (p * n) : 0;

    return 2.8 * sqrt(2 * (fmax(0, sampling) + tau * tau) / (double)pairs);
}

enum fb_verdict fb_verdict_absent(const struct fb_share *living)
{
    uint32_t runs = living->is_sparse ? living->clusters : living->hit_cells;

    return runs >= 6 ? FB_VERDICT_ABSENT : FB_VERDICT_NOT_SEEN;
}

const char *fb_verdict_latency(const struct fb_latency_evidence *e, struct fb_judged *ret_judged)
{
    double d[64], half[64] = {0}, mean = 0, sum2 = 0;
    size_t k = e->pairs < 64 ? e->pairs : 64;
    bool is_one_bucket = true;
    struct fb_evidence evidence = {
        .d = d, .half = half, .pairs = k, .tau = e->floor, .delta = e->delta};

    for (size_t i = 0; i < k; i++) {
        d[i] = log(e->variant[i] / e->control[i]);
        mean += d[i] / (double)k;
        is_one_bucket = is_one_bucket && fabs(d[i]) < 1e-9;
    }
    for (size_t i = 0; i < k; i++)
        sum2 += (d[i] - mean) * (d[i] - mean);
    evidence.pooled_sum2 = sum2;
    evidence.pooled_df = k > 1 ? (double)(k - 1) : 0;
    fb_verdict_judge(&evidence, ret_judged);
    if (!e->is_below_knee)
        return "past the knee latency is the generator's queue";
    if (is_one_bucket)
        return "same bucket";
    if (k < 2)
        return "latency needs two pairs";
    if (!(e->floor > 0))
        return "latency needs a floor from same-arm runs";
    return "";
}
