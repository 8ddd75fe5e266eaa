/* See follow.h. */
#include "diff/follow.h"

#include <math.h>

static double value_of(const struct fb_diff_row *r, bool is_variant)
{
    const struct fb_diff_side *side = is_variant ? &r->variant : &r->control;

    return r->on_share ? side->share : side->ms;
}

/* What is the whole's beside the part stays (the mean of both arms, so that swapped arms negate
 * it).  Of shares, its part of all that is not the part stays. */
double fb_follow_d(const struct fb_diff_row *part, const struct fb_diff_row *whole)
{
    double own[2], rest = 0, left[2];

    for (int a = 0; a < 2; a++) {
        own[a] = value_of(part, a == 1);
        left[a] = whole->on_share ? 1 - own[a] : 1;
        rest += left[a] > 0 ? fmax(0, value_of(whole, a == 1) - own[a]) / left[a] / 2 : (double)NAN;
    }
    return log((rest * left[1] + own[1]) / (rest * left[0] + own[0]));
}

bool fb_follow_fails(const struct fb_diff_row *part, const struct fb_diff_row *whole)
{
    double d = fb_follow_d(part, whole);

    if (isnan(whole->d) || isnan(d))
        return false;
    return (d < whole->d_lo || d > whole->d_hi) && fabs(whole->d) < fabs(d) / 2;
}

/* A change of the row and the half of its interval on one side, in units of `unit` of the arms;
 * about the geometric mean of both, so that swapped arms negate it. */
static double change_of(const struct fb_diff_row *r, const double *unit, bool upper,
                        double *ret_half)
{
    double c = value_of(r, false) / unit[0], v = value_of(r, true) / unit[1], mean = sqrt(c * v);
    double d = log(v / c);

    *ret_half = mean * fabs((upper ? r->d_hi : r->d_lo) - r->d);
    return 2 * mean * sinh(d / 2);
}

bool fb_follow_opposes(const struct fb_diff_row *part, const struct fb_diff_row *whole)
{
    double unit[2] = {1, 1}, change, all, part_half, whole_half;
    bool grew;

    if (isnan(part->d) || isnan(whole->d) || part->on_share != whole->on_share)
        return false;
    for (int a = 0; a < 2 && whole->on_share; a++) /* what is outside of the whole stays */
        unit[a] = 1 - value_of(whole, a == 1);
    for (int a = 0; a < 2; a++)
        if (!(unit[a] > 0) || !(value_of(part, a == 1) > 0) ||
            !(value_of(part, a == 1) <= value_of(whole, a == 1)))
            return false; /* it is not the inside */
    grew = part->d > 0;
    change = change_of(part, unit, !grew, &part_half);
    all = change_of(whole, unit, grew, &whole_half);
    if (whole->on_share) /* d ln(p / (1 - p)) = d ln p / (1 - p) */
        whole_half /= (unit[0] + unit[1]) / 2;
    return grew ? change - all > hypot(part_half, whole_half)
                : all - change > hypot(part_half, whole_half);
}
