/* See ramp.h.  Knee and plateau are what users read off a ramp by eye; the rules here are those
 * that reproduce their figures where the figures follow from their tables (docs/steps.md). */
#include "steps/ramp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/steps.h"

/* ---- knee ---- */

static bool is_sent(const struct fb_step *s, double percent)
{
    bool inferred;

    return fb_step_shed(s, &inferred) <= percent / 100 * (1 + 1e-9);
}

static bool has_p50(const struct fb_step *s, double ms)
{
    return s->p50_s * 1e3 < ms;
}

static bool has_p99(const struct fb_step *s, double ms)
{
    return s->p99_s * 1e3 <= ms;
}

const struct fb_knee_rule fb_knee_rules[] = {
    {"not-sent", "at most %.10g %% of the offered load not sent", 0.1, is_sent},
    {"p50", "p50 under %.10g ms", 10, has_p50},
    {"p99", "p99 at most %.10g ms", 400, has_p99},
    {0},
};

struct fb_knee fb_knee_default(void)
{
    return (struct fb_knee){&fb_knee_rules[0], fb_knee_rules[0].value};
}

const char *fb_knee_words(const struct fb_knee *knee, char text[80])
{
    const char *words = knee->rule->words, *at = strchr(words, '%');
    const char *rest = at + strlen("%.10g");
    char unit[40];
    size_t n = 0;

    for (; *rest && n + 1 < sizeof unit; rest += rest[0] == '%' ? 2 : 1)
        unit[n++] = *rest;
    unit[n] = '\0';
    (void)snprintf(text, 80, "%.*s%.10g%s", (int)(at - words), words, knee->value, unit);
    return text;
}

enum fb_status fb_knee_parse(const char *text, struct fb_knee *ret_knee, struct fb_err *err)
{
    size_t n = strcspn(text, "=");

    for (const struct fb_knee_rule *r = fb_knee_rules; r->name; r++) {
        struct fb_knee knee = {r, r->value};
        char *end = NULL;

        if (strlen(r->name) != n || memcmp(r->name, text, n) != 0)
            continue;
        if (text[n] == '=')
            knee.value = strtod(text + n + 1, &end);
        if (end && (end == text + n + 1 || *end != '\0' || !(knee.value >= 0 && knee.value < 1e9)))
            break;
        *ret_knee = knee;
        return FB_OK;
    }
    return fb_fail(err, FB_EUSAGE,
                   "'--knee %s': not-sent[=PERCENT], p50[=MS] or p99[=MS] was expected", text);
}

/* ---- the steps that count ---- */

struct ranked {
    double offered;
    size_t index;
};

static int by_offered(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->offered != y->offered)
        return x->offered < y->offered ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

size_t *fb_ramp_order(const struct fb_steps *steps, size_t *ret_count)
{
    struct ranked *ranked = fb_alloc_array(steps->count, sizeof *ranked);
    size_t *order = fb_alloc_array(steps->count, sizeof *order), n = 0;

    for (size_t i = 0; i < steps->count; i++) {
        const struct fb_step *s = &steps->items[i];

        if (!s->warmup && !(s->health & FB_STEP_VOID) && !isnan(s->offered))
            ranked[n++] = (struct ranked){s->offered, i};
    }
    qsort(ranked, n, sizeof *ranked, by_offered);
    for (size_t i = 0; i < n; i++)
        order[i] = ranked[i].index;
    free(ranked);
    *ret_count = n;
    return order;
}

static void knee_find(const struct fb_steps *steps, const size_t *order, size_t n,
                      const struct fb_knee *knee, struct fb_ramp *ramp)
{
    for (size_t i = 0; i < n; i++) {
        const struct fb_step *s = &steps->items[order[i]];

        if (!(s->health & FB_STEP_CLIENT) && knee->rule->holds(s, knee->value))
            ramp->knee = s;
        if (!ramp->most || fb_step_delivered_per_s(s) > fb_step_delivered_per_s(ramp->most))
            ramp->most = isnan(fb_step_delivered_per_s(s)) ? ramp->most : s;
        ramp->top = s;
    }
    ramp->knee_is_open = ramp->knee && ramp->knee->offered == ramp->top->offered;
}

/* ---- plateau ---- */

/* "733, 517, 544, 657" */
static void values_put(char *text, size_t cap, const double *values, size_t n)
{
    enum { MOST = 6 };
    size_t used = 0;

    for (size_t i = 0; i < n && i < MOST && used < cap; i++)
        used += (size_t)snprintf(text + used, cap - used, "%s%.0f", i ? ", " : "", values[i]);
    if (n > MOST && used < cap)
        (void)snprintf(text + used, cap - used, " ...");
}

static void plateau_deny(struct fb_ramp *ramp, const struct fb_step *deepest, const double *values,
                         const double *limits)
{
    double shed = limits[FB_LIMIT_PLATEAU_SHED] * 100;
    char list[100] = "";
    bool inferred;

    values_put(list, sizeof list, values, ramp->plateau_steps);
    if (ramp->plateau_steps > 1)
        (void)snprintf(ramp->no_plateau, sizeof ramp->no_plateau,
                       "delivered does not stay at one level past the knee: %s", list);
    else if (ramp->plateau_steps == 1)
        (void)snprintf(ramp->no_plateau, sizeof ramp->no_plateau,
                       "one step alone (%s/s) sheds over %.3g %%, and two are needed", list, shed);
    else if (!deepest)
        (void)snprintf(ramp->no_plateau, sizeof ramp->no_plateau,
                       "it is not known what the steps shed");
    else if (fb_step_shed(deepest, &inferred) <= limits[FB_LIMIT_OVER])
        (void)snprintf(ramp->no_plateau, sizeof ramp->no_plateau,
                       "the last step sheds %.2g %%, under %.3g %%: the ramp ends before the "
                       "arm does",
                       fmax(0, fb_step_shed(deepest, &inferred)) * 100,
                       limits[FB_LIMIT_OVER] * 100);
    else
        (void)snprintf(ramp->no_plateau, sizeof ramp->no_plateau, "no step sheds over %.3g %%",
                       shed);
}

/* The mean of the steps that are far past the knee, if they agree. */
static void plateau_find(const struct fb_steps *steps, const size_t *order, size_t n,
                         const double *limits, struct fb_ramp *ramp)
{
    double *values = fb_alloc_array(n, sizeof *values), sum = 0, cores = 0;
    const struct fb_step *deepest = NULL;
    size_t count = 0;
    bool inferred;

    ramp->plateau_least = INFINITY;
    ramp->plateau_most = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fb_step *s = &steps->items[order[i]];
        double rate = fb_step_delivered_per_s(s), shed = fb_step_shed(s, &inferred);

        if (!isnan(shed))
            deepest = s;
        if (!(shed > limits[FB_LIMIT_PLATEAU_SHED]) || !(rate > 0) || (s->health & FB_STEP_FIRST))
            continue;
        values[count++] = rate;
        sum += rate;
        cores += fb_step_cores(s);
        ramp->plateau_least = fmin(ramp->plateau_least, rate);
        ramp->plateau_most = fmax(ramp->plateau_most, rate);
    }
    ramp->plateau_steps = count;
    if (count >= 2 &&
        ramp->plateau_most <= ramp->plateau_least * (1 + limits[FB_LIMIT_PLATEAU_SPREAD])) {
        ramp->plateau = sum / (double)count;
        ramp->plateau_cores = cores / (double)count;
    } else {
        plateau_deny(ramp, deepest, values, limits);
    }
    free(values);
}

/* ---- cost ---- */

/* Sound, and not queueing: what a request costs there is not what it costs below the knee. */
static bool is_for_cost(const struct fb_step *s)
{
    return !(s->health & FB_STEP_SICK) && fb_step_delivered_per_s(s) > 0 && fb_step_cores(s) > 0;
}

static const double rounding = 1e-9;

/* Least squares of cores over the delivered rate. */
static void cost_fit(const struct fb_steps *steps, const size_t *order, size_t n,
                     struct fb_ramp *ramp)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fb_step *s = &steps->items[order[i]];

        if (!is_for_cost(s))
            continue;
        count++;
        x += fb_step_delivered_per_s(s);
        y += fb_step_cores(s);
    }
    x /= (double)count;
    y /= (double)count;
    for (size_t i = 0; i < n; i++) {
        const struct fb_step *s = &steps->items[order[i]];
        double dx = fb_step_delivered_per_s(s) - x;

        if (!is_for_cost(s))
            continue;
        xx += dx * dx;
        xy += dx * (fb_step_cores(s) - y);
    }
    ramp->fit_steps = count;
    if (count < 3 || !(xx > 1e-6 * x * x))
        return;
    ramp->marginal_ms = xy / xx * 1000;
    ramp->fixed_cores = y - xy / xx * x;
    ramp->fit_off = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fb_step *s = &steps->items[order[i]];
        double line = ramp->fixed_cores + xy / xx * fb_step_delivered_per_s(s);

        if (is_for_cost(s))
            ramp->fit_off = fmax(ramp->fit_off, fabs(fb_step_cores(s) / line - 1));
    }
    if (fabs(ramp->fixed_cores) < rounding * y) /* what the arithmetic leaves of nothing */
        ramp->fixed_cores = 0;
    if (ramp->fit_off < rounding)
        ramp->fit_off = 0;
}

void fb_ramp_measure(const struct fb_steps *steps, const struct fb_knee *knee,
                     struct fb_ramp *ret_ramp)
{
    double usual[FB_LIMIT_COUNT];
    size_t n, *order = fb_ramp_order(steps, &n);

    fb_limits_default(usual);
    *ret_ramp = (struct fb_ramp){.plateau = NAN,
                                 .plateau_cores = NAN,
                                 .fixed_cores = NAN,
                                 .marginal_ms = NAN,
                                 .fit_off = NAN};
    knee_find(steps, order, n, knee, ret_ramp);
    plateau_find(steps, order, n, steps->limits ? steps->limits : usual, ret_ramp);
    cost_fit(steps, order, n, ret_ramp);
    free(order);
}
